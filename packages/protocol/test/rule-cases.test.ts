/**
 * Every rule is found where it is broken and nowhere else; and what is published from the tables (the rules and their
 * cases as JSON, a page for each rule, the diagrams) is in step with them. `vitest run -u` writes it anew.
 */
import { describe, expect, it } from 'vitest'
import { compatible, hygieneRules, RULES, SseDecoder, ThreadReader, type RuleId, type Severity } from '../src/index.ts'
import { LengthPrefixedDecoder, parseBinaryFrame } from '../src/proto.ts'
import { BRACKETS } from '../src/verified/brackets.ts'
import { RUN_STATES } from '../src/verified/run-states.ts'
import { TOLERANCES } from '../src/verified/tolerance.ts'
import { RULE_CASES, type RuleCase, type Stream } from './rule-cases.ts'

function rulesIn(stream: Stream, row: RuleCase): string[] {
  return findingsIn(stream, row).map(({ rule }) => rule)
}

interface Found {
  readonly rule: string
  readonly severity: Severity
}

function findingsIn(stream: Stream, { needs, limits }: RuleCase): Found[] {
  const found: Found[] = []
  const reader = new ThreadReader({
    ...compatible(needs === 'tolerant' ? 'tolerant' : 'report'),
    ...(needs === 'hygiene' && { hygiene: hygieneRules }),
    ...(limits !== undefined && { limits }),
    onDiagnostic: (diagnostic) => found.push(diagnostic),
  })
  try {
    if (typeof stream === 'string') {
      const decoder = new SseDecoder((frame) => reader.acceptFrame(frame), limits)
      decoder.feed(stream)
      decoder.finish()
    } else if ('protobuf' in stream) {
      const decoder = new LengthPrefixedDecoder((frame) => reader.acceptFrame(frame, parseBinaryFrame), limits)
      decoder.feed(Buffer.from(stream.protobuf, 'base64'))
      decoder.finish()
    } else {
      for (const event of stream) reader.accept(event)
    }
  } catch (error) {
    // Framing has no reader to report to: it throws.
    found.push({ rule: (error as { rule: string }).rule, severity: 'error' })
  }
  reader.finish()
  return found
}

describe('rules', () => {
  it('each has a case on either side', () => {
    expect(RULE_CASES.map(({ rule }) => rule).toSorted()).toEqual(Object.keys(RULES).toSorted())
    for (const { rule, finds, quiet } of RULE_CASES) expect([rule, finds.length > 0, quiet.length > 0]).toEqual([rule, true, true])
  })

  for (const row of RULE_CASES) {
    it(`${row.rule}: ${RULES[row.rule].title}`, () => {
      for (const stream of row.finds) expect(rulesIn(stream, row), JSON.stringify(stream)).toContain(row.rule)
      for (const stream of row.quiet) expect(rulesIn(stream, row), JSON.stringify(stream)).not.toContain(row.rule)
    })
  }

  it('a stream in which a rule is not found has nothing wrong with it', () => {
    for (const row of RULE_CASES) {
      for (const stream of row.quiet) {
        const found = findingsIn(stream, { ...row, needs: 'hygiene' }).filter(({ severity }) => severity !== 'info')
        expect(found.map(({ rule }) => rule), `${row.rule}: ${JSON.stringify(stream)}`).toEqual([])
      }
    }
  })
})

const conformance = new URL('../../../conformance/rules/', import.meta.url).pathname
const docs = new URL('../../../docs/rules/', import.meta.url).pathname
const json = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`

function page(id: RuleId): string {
  const { severity, title, explanation, source } = RULES[id]
  const { finds, quiet, needs, limits } = RULE_CASES.find(({ rule }) => rule === id) as RuleCase
  const show = (stream: Stream): string => {
    const written = typeof stream === 'string' ? stream.trimEnd() : 'protobuf' in stream ? `protobuf, in base64: ${stream.protobuf}` : undefined
    const lines = written ?? (stream as readonly object[]).map((event) => JSON.stringify(event)).join('\n')
    return `\`\`\`${written !== undefined ? 'text' : 'json'}\n${lines === '' ? '(nothing)' : lines}\n\`\`\`\n`
  }
  const notes = [
    needs === 'hygiene' ? 'Reported by `millrace check`, and wherever `hygiene` is asked for.' : '',
    needs === 'tolerant' ? 'Reported in tolerant mode, where it takes the place of an error.' : '',
    limits === undefined ? '' : `In these examples the limit is ${JSON.stringify(limits)}.`,
  ].filter((note) => note !== '')
  return [
    `# ${id}\n`,
    `${title}.\n`,
    `${explanation}\n`,
    ...notes.map((note) => `${note}\n`),
    `| severity | from |\n|---|---|\n| ${severity} | ${source} |\n`,
    `Found in:\n`,
    ...finds.map(show),
    `Not found in:\n`,
    ...quiet.map(show),
  ].join('\n')
}

function index(): string {
  const all = Object.keys(RULES) as RuleId[]
  const groups = [...new Set(all.map((id) => id.slice(0, id.indexOf('.'))))]
  const tables = groups.map((group) => [group, all.filter((id) => id.startsWith(`${group}.`))] as const).map(([group, ids]) => `## ${group}\n\n| rule | severity | |\n|---|---|---|\n${ids.map((id) => `| [${id}](${id}.md) | ${RULES[id].severity} | ${RULES[id].title} |`).join('\n')}\n`)
  return [
    '# Rules\n',
    'What a reader of Millrace can report. Written from `packages/protocol/src/rules.ts` and its cases; do not edit.\n',
    ...tables,
  ].join('\n')
}

/** The run-state table as a state diagram. */
function diagrams(): string {
  const arrows = Object.entries(RUN_STATES).flatMap(([from, row]) =>
    Object.entries(row.to).map(([event, to]) => `  ${from} --> ${to}: ${event}`),
  )
  const brackets = [...BRACKETS].flatMap(([type, { does, row: { kind, key, rules } }]) => {
    const rule = rules[does === 'open' ? 0 : 1]
    return does === 'chunk' ? [] : [`| ${type} | ${does}s | ${kind} | ${key} | [${rule}](${rule}.md) |`]
  })
  const tolerances = TOLERANCES.map(({ excuses, warns, peer, reason }) => `| [${excuses}](${excuses}.md) | [${warns}](${warns}.md) | ${peer} | ${reason} |`)
  return [
    '# Order, drawn from the tables\n',
    'Written from `packages/protocol/src/verified/`; do not edit.\n',
    '## Runs\n',
    `\`\`\`mermaid\nstateDiagram-v2\n  [*] --> before\n${arrows.join('\n')}\n\`\`\`\n`,
    '## Brackets\n',
    `| event | | item | keyed by | rule |\n|---|---|---|---|---|\n${brackets.join('\n')}\n`,
    '## Tolerated deviations\n',
    `| excuses | reports | peer | reason |\n|---|---|---|---|\n${tolerances.join('\n')}\n`,
  ].join('\n')
}

describe('what is published is in step with the tables', () => {
  it('the rules as JSON', async () => {
    await expect(json(Object.entries(RULES).map(([id, rule]) => ({ id, ...rule })))).toMatchFileSnapshot(`${conformance}rules.json`)
  })

  it('their cases as JSON', async () => {
    await expect(json(RULE_CASES)).toMatchFileSnapshot(`${conformance}cases.json`)
  })

  it('a page for each rule, their index, and the diagrams', async () => {
    await expect(index()).toMatchFileSnapshot(`${docs}README.md`)
    await expect(diagrams()).toMatchFileSnapshot(`${docs}order.md`)
    for (const id of Object.keys(RULES) as RuleId[]) await expect(page(id)).toMatchFileSnapshot(`${docs}${id}.md`)
  })
})
