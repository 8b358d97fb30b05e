// Every file of conformance/ through the real program, `check` and `fold`, exit status and shape of the JSON verified.
// A process for each: with the tests that take time, not with those that run at every change.
import { DEFAULT_LIMITS } from '@millrace/protocol'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bin, built, millrace, root } from '../test/bin.ts'
import { findings, parseChecked, type Checked } from '../test/checked.ts'
import { parseFolded, type Folded } from '../test/folded.ts'
import { check as checkSource } from './commands/check.ts'
import { fold as foldSource } from './commands/fold.ts'
import type { Format } from './input/detect.ts'
import type { Source } from './input/source.ts'
import type { Finding } from './report/check-report.ts'

let folder = ''
beforeAll(async () => {
  await built()
  folder = await mkdtemp(join(tmpdir(), 'millrace-conformance-'))
}, 180_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

const streamsFolder = join(root, 'conformance/ag-ui-1.0/streams')
const check = async (...args: string[]): Promise<Checked> => parseChecked(await millrace(['check', '--json', ...args]))
const fold = async (...args: string[]): Promise<Folded> => parseFolded(await millrace(['fold', '--json', ...args]))
const rulesOf = (report: Checked): string[] => findings(report).map(({ rule }) => rule)

describe('every file of conformance/', () => {
  describe.concurrent('ag-ui-1.0', () => {
    for (const name of readdirSync(streamsFolder)) {
      const { stream, expect: wanted } = JSON.parse(readFileSync(join(streamsFolder, name), 'utf8')) as {
        stream: unknown[]
        expect: { outcome: string; noWarnings?: boolean; messageCount?: number }
      }
      // The corpus admits this one: by the specification the unknown role is removed, and the stream is taken.
      const fails = wanted.outcome === 'failed' && name !== 'unknown-enum-value-role-fatal.json'
      it(name, async () => {
        const report = await check(`conformance/ag-ui-1.0/streams/${name}`)
        expect(report.format).toBe('json')
        expect(report.events).toBe(stream.length)
        expect(report.summary.errors > 0, JSON.stringify(report.diagnostics)).toBe(fails)
        if (wanted.noWarnings === true) expect(findings(report)).toEqual([])
        for (const { line } of report.diagnostics) if (line !== undefined) expect(line).toBeGreaterThan(4)
        const folded = await fold(`conformance/ag-ui-1.0/streams/${name}`)
        expect(['violation', 'malformed'].includes(folded.outcome)).toBe(fails)
        if (wanted.messageCount !== undefined) expect(folded.messages).toHaveLength(wanted.messageCount)
      })
    }
  })

  const recordings: Record<string, string[]> = {
    'copilotkit-client-tool.sse': ['event.unknown-field'],
    'copilotkit-error.sse': ['event.unknown-field', 'event.unknown-field'],
    'copilotkit-hello.sse': ['event.unknown-field'],
    'copilotkit-reasoning.sse': ['event.unknown-field'],
    'copilotkit-tools.sse': ['event.unknown-field'],
    'tanstack-error.sse': [],
    'tanstack-hello-ndjson.ndjson': [],
    'tanstack-hello.sse': [],
    'tanstack-reasoning.sse': ['state.no-target', 'step.close', 'state.no-target'],
    'tanstack-tools.sse': ['run.after-finish', 'state.result-id-taken', 'state.result-id-taken'],
  }
  const expected = JSON.parse(readFileSync(join(root, 'conformance/recordings/expect.json'), 'utf8')) as Record<
    string,
    { tolerant: { outcome: string; at?: number }; strict: { outcome: string; rule?: string; at?: number }; messages: unknown[] }
  >
  it.each(Object.entries(recordings))('recordings/%s', async (name, rules) => {
    const report = await check(`conformance/recordings/${name}`)
    expect(rulesOf(report)).toEqual(rules)
    expect(report.format).toBe(name.endsWith('.ndjson') ? 'ndjson' : 'sse')
    expect(report.runs.map(({ outcome }) => outcome)).toEqual([name.includes('error') ? 'error' : 'finished'])
    const wanted = expected[name]
    const tolerant = await fold(`conformance/recordings/${name}`, '--mode', 'tolerant')
    expect([tolerant.outcome, tolerant.at]).toEqual([wanted?.tolerant.outcome, wanted?.tolerant.at ?? null])
    expect(tolerant.messages).toHaveLength(wanted?.messages.length ?? -1)
    const strict = await fold(`conformance/recordings/${name}`)
    expect([strict.outcome, strict.at, strict.error?.rule]).toEqual([wanted?.strict.outcome, wanted?.strict.at ?? null, wanted?.strict.rule])
  })

  it('ag-ui-0.x/named-streams.json, each stream as an array', async () => {
    const streams = JSON.parse(await readFile(join(root, 'conformance/ag-ui-0.x/named-streams.json'), 'utf8')) as object
    const rejected: Record<string, string[]> = { error_handling: ['run.after-error'], reasoning_events: ['reasoning.open'] }
    for (const [name, events] of Object.entries(streams)) {
      const report = parseChecked(await millrace(['check', '--json', '-'], { input: JSON.stringify(events, null, 1) }))
      const errors = report.diagnostics.filter(({ severity }) => severity === 'error').map(({ rule }) => rule)
      expect(errors.slice(0, 1), name).toEqual(rejected[name] ?? [])
      expect(report.runs.length, name).toBe(name === 'multiple_runs' ? 2 : 1)
      const folded = parseFolded(await millrace(['fold', '--json', '-'], { input: JSON.stringify(events) }))
      expect(folded.outcome, name).toBe(rejected[name] === undefined ? 'finished' : 'violation')
    }
  })

  it('ag-ui-0.x/sse-streams.txt, which goes on after each malformed frame', async () => {
    const report = await check('conformance/ag-ui-0.x/sse-streams.txt')
    expect(report).toMatchObject({ format: 'sse', events: 31 })
    expect(findings(report).filter(({ rule }) => /^(frame|event)/.test(rule)).map(({ rule, line }) => [rule, line])).toEqual([
      ['frame.not-json', 63],
      ['event.unknown-type', 65],
      ['event.malformed', 67],
      ['frame.not-json', 71],
    ])
  })

  it('ag-ui-0.x/null-omission.json, whose entries are no events', async () => {
    const report = await check('conformance/ag-ui-0.x/null-omission.json')
    expect(rulesOf(report)).toEqual([...Array<string>(28).fill('event.malformed'), 'run.empty'])
  })

  interface Case {
    id: string
    input: { kind: string; events?: unknown[]; text?: string; history?: unknown[] }
    expect: { outcome: string; at?: number; messages?: { id?: string }[]; state?: unknown; ui?: string[][]; diagnostics?: string[] }
  }
  const { cases } = JSON.parse(readFileSync(join(root, 'conformance/cases/cases.json'), 'utf8')) as { cases: Case[] }
  describe.concurrent('cases', () => {
    for (const { id, input, expect: wanted } of cases.filter(({ input: { kind } }) => kind !== 'client')) {
      it(id, async () => {
        const text = input.text ?? input.events?.map((event) => `${JSON.stringify(event)}\n`).join('') ?? ''
        const report = parseChecked(await millrace(['check', '--json', '-'], { input: text }))
        expect(report.format).toBe(input.kind === 'sse' ? 'sse' : 'ndjson')
        const bad = ['truncated', 'violation', 'malformed'].includes(wanted.outcome)
        expect(report.summary.errors > 0, JSON.stringify(report.diagnostics)).toBe(bad)
        for (const rule of wanted.diagnostics ?? []) expect(rulesOf(report)).toContain(rule)
        if (wanted.at !== undefined) {
          expect(findings(report).find(({ severity }) => severity === 'error')).toMatchObject({ event: wanted.at })
          expect(findings(report).find(({ severity }) => severity === 'error')?.line).toBe(wanted.at + 1)
        }
        const history = join(folder, `${id}.json`)
        await writeFile(history, JSON.stringify(input.history ?? []))
        const folded = parseFolded(await millrace(['fold', '--json', '-', '--history', history], { input: text }))
        expect([folded.outcome, folded.at]).toEqual([wanted.outcome, wanted.at ?? folded.at])
        if (wanted.messages !== undefined) expect(folded.messages.map((message) => message.id)).toEqual(wanted.messages.map((message) => message.id))
        if ('state' in wanted) expect(folded.state).toEqual(wanted.state)
        if (wanted.ui !== undefined) expect(folded.ui.map(({ parts }) => parts.length)).toEqual(wanted.ui.map((parts) => parts.length))
      })
    }
  })
})

// In this process, through what the commands call: a process for each of these streams would take minutes.
describe('every rule of conformance/rules/ is found where it is broken, and nowhere else', () => {
  /** Events, SSE text, or frames in base64. */
  type RuleStream = unknown[] | string | { protobuf: string }
  interface RuleCase {
    rule: string
    finds: RuleStream[]
    quiet: RuleStream[]
    needs?: 'tolerant' | 'hygiene'
    limits?: object
  }

  const inputOf = (stream: RuleStream): { format: Format; bytes: Uint8Array } => {
    if (typeof stream === 'string') return { format: 'sse', bytes: Buffer.from(stream) }
    if (Array.isArray(stream)) return { format: 'ndjson', bytes: Buffer.from(stream.map((event) => `${JSON.stringify(event)}\n`).join('')) }
    return { format: 'protobuf', bytes: Buffer.from(stream.protobuf, 'base64') }
  }
  const sourceOf = (chunks: () => Iterable<Uint8Array>): Source => ({
    name: 'case',
    hint: '',
    chunks: (async function* () {
      yield* chunks()
    })(),
  })
  const found = async (stream: RuleStream, needs: RuleCase['needs']): Promise<Finding[]> => {
    const { format, bytes } = inputOf(stream)
    const source = sourceOf(() => [bytes])
    // `check` lists what breaks a rule and lets nothing pass; `fold` is what has modes.
    const { diagnostics } =
      needs === 'tolerant'
        ? await foldSource(source, { format, mode: 'tolerant', message: '', header: [] })
        : await checkSource(source, { format }, new Map())
    return [...diagnostics]
  }
  const ids = (diagnostics: readonly Finding[]): string[] => diagnostics.map(({ rule }) => rule)

  const rows = JSON.parse(readFileSync(join(root, 'conformance/rules/cases.json'), 'utf8')) as RuleCase[]
  const rules = JSON.parse(readFileSync(join(root, 'conformance/rules/rules.json'), 'utf8')) as { id: string; severity: string }[]
  const start = '{"type":"RUN_STARTED","threadId":"t","runId":"r"}\n'
  const lines = (...texts: string[]): Uint8Array[] => texts.map((text) => Buffer.from(text))

  /** No option of the command changes a limit: streams that pass the default ones. */
  const PAST_LIMITS: Record<string, () => Iterable<Uint8Array>> = {
    'frame.too-long': () => lines(start, `{"type":"RUN_ERROR","message":"${'x'.repeat(DEFAULT_LIMITS.frameLength)}"}\n`),
    'event.too-deep': () => lines(start, `{"type":"RAW","event":${'['.repeat(201)}${']'.repeat(201)}}\n`),
    'run.ledger-full': function* () {
      yield Buffer.from(start)
      for (let from = 0; from <= DEFAULT_LIMITS.ledgerItems; from += 10_000) {
        yield Buffer.from(Array.from({ length: 10_000 }, (_, index) => `{"type":"STEP_STARTED","stepName":"${from + index}"}\n`).join(''))
      }
    },
  }

  it('each rule has its cases, and each limit a stream that passes it', () => {
    expect(rows.map(({ rule }) => rule).toSorted()).toEqual(rules.map(({ id }) => id).toSorted())
    expect(rows.filter(({ limits }) => limits !== undefined).map(({ rule }) => rule).toSorted()).toEqual(Object.keys(PAST_LIMITS).toSorted())
  })

  it.each(rows)('$rule', async ({ rule, finds, quiet, needs, limits }) => {
    const { severity } = rules.find(({ id }) => id === rule) ?? {}
    if (limits === undefined) {
      for (const stream of finds) {
        const diagnostics = await found(stream, needs)
        expect(ids(diagnostics), JSON.stringify(stream)).toContain(rule)
        for (const finding of diagnostics) if (finding.rule === rule) expect(finding.severity).toBe(severity)
      }
    }
    for (const stream of quiet) {
      const diagnostics = await found(stream, needs)
      expect(ids(diagnostics), JSON.stringify(stream)).not.toContain(rule)
      expect(ids(diagnostics.filter((one) => one.severity !== 'info')), JSON.stringify(stream)).toEqual([])
    }
  })

  it.each(Object.entries(PAST_LIMITS))('%s, past the limit of the command', { timeout: 120_000 }, async (rule, chunks) => {
    const { diagnostics } = await checkSource(sourceOf(chunks), { format: 'ndjson' }, new Map())
    expect(ids(diagnostics)).toContain(rule)
  })
})

// The way in which others run the same cases on their program, with ours as the program.
describe('conformance/run.mjs', () => {
  const runCases = promisify(execFile)
  it.each(['check', 'fold'])('%s', { timeout: 600_000 }, async (kind) => {
    const { stdout } = await runCases(process.execPath, ['conformance/run.mjs', kind, process.execPath, bin, kind, '-', '--json'], { cwd: root })
    expect(stdout).toMatch(/^[1-9]\d* passed, 0 failed, \d+ left out\n$/)
  })

  it('tells of a program that finds nothing', { timeout: 120_000 }, async () => {
    const blind = 'process.stdin.resume().on("end", () => console.log(JSON.stringify({ diagnostics: [] })))'
    const failed = await runCases(process.execPath, ['conformance/run.mjs', 'check', process.execPath, '-e', blind], { cwd: root }).catch((error: unknown) => error)
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringMatching(/differs {2}frame\.not-json found 1: diagnostics: \[\]\n/) })
  })
})
