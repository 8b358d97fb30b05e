// `millrace check` as a child process: its forms, its options, its exit status.
import { XMLValidator } from 'fast-xml-parser'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { built, millrace } from '../test/bin.ts'
import { parseChecked, type Checked } from '../test/checked.ts'

let folder = ''
beforeAll(async () => {
  await built()
  folder = await mkdtemp(join(tmpdir(), 'millrace-check-'))
}, 180_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

const check = async (...args: string[]): Promise<Checked> => parseChecked(await millrace(['check', '--json', ...args]))

const event = {
  start: { type: 'RUN_STARTED', threadId: 't', runId: 'r', timestamp: 1 },
  ghost: { type: 'TEXT_MESSAGE_CONTENT', messageId: 'ghost "<&>\u0007', delta: 'x', timestamp: 1 },
  odd: { type: 'CUSTOM', name: 'acme.n', value: 1, extra: 'é', timestamp: 1 },
  end: { type: 'RUN_FINISHED', threadId: 't', runId: 'r', timestamp: 1 },
}
const sse = (...events: unknown[]): string => events.map((item) => `data: ${JSON.stringify(item)}\n\n`).join('')
/** One error (event 1, line 3) and one warning (event 2, line 5). */
const faulty = sse(event.start, event.ghost, event.odd, event.end)

describe('what it says', () => {
  const file = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name)
    await writeFile(path, text)
    return path
  }

  it('the JSON object of the contract', async () => {
    const report = await check(await file('a.sse', faulty))
    expect(report).toEqual({
      format: 'sse',
      events: 4,
      runs: [{ threadId: 't', runId: 'r', outcome: 'finished' }],
      diagnostics: [
        expect.objectContaining({ rule: 'text.continue', severity: 'error', event: 1, line: 3, type: 'TEXT_MESSAGE_CONTENT', pointer: '/messageId' }),
        expect.objectContaining({ rule: 'event.unknown-field', severity: 'warning', event: 2, line: 5, type: 'CUSTOM', pointer: '/extra' }),
      ],
      summary: { errors: 1, warnings: 1, infos: 0 },
    })
  })

  it('text for people, without escape sequences of ours or of the stream', async () => {
    const { status, out, err } = await millrace(['check', '-'], { input: faulty })
    expect([status, err]).toEqual([1, ''])
    expect(out).toContain('text.continue')
    expect(out).toContain('event 1, line 3')
    expect(out).toContain('→ Send TEXT_MESSAGE_START with this messageId first.')
    expect(out).toContain('1 error, 1 warning, 0 infos')
    expect(out).toContain('ghost "<&>\\u0007')
    // oxlint-disable-next-line no-control-regex
    expect(out).not.toMatch(/[\u0007\u001b]/)
  })

  it('colours if asked, unless NO_COLOR is set', async () => {
    const coloured = await millrace(['check', '-'], { input: faulty, env: { FORCE_COLOR: '1' } })
    expect(coloured.out).toContain('\u001b[31m')
    const plain = await millrace(['check', '-'], { input: faulty, env: { FORCE_COLOR: '1', NO_COLOR: '1' } })
    expect(plain.out).not.toContain('\u001b')
  })

  it('SARIF', async () => {
    const path = await file('odd name #1.sse', faulty)
    const { status, out } = await millrace(['check', '--sarif', path])
    expect(status).toBe(1)
    const log = JSON.parse(out) as {
      version: string
      runs: [{ tool: { driver: { name: string; rules: { id: string }[] } }; results: { ruleId: string; ruleIndex: number; level: string }[] }]
    }
    expect(log.version).toBe('2.1.0')
    const [{ tool, results }] = log.runs
    expect(tool.driver.name).toBe('millrace')
    expect(results.map(({ ruleId, level }) => [ruleId, level])).toEqual([
      ['text.continue', 'error'],
      ['event.unknown-field', 'warning'],
    ])
    for (const { ruleId, ruleIndex } of results) expect(tool.driver.rules[ruleIndex]?.id).toBe(ruleId)
    expect(results[0]).toMatchObject({
      message: { text: expect.any(String) as string },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: expect.stringMatching(/^file:.*odd%20name%20%231\.sse$/) as string },
            region: { startLine: 3 },
          },
        },
      ],
    })
  })

  it('SARIF of a clean stream from standard input, which has no place', async () => {
    const { status, out } = await millrace(['check', '--sarif', '-'], { input: sse(event.start, event.end) })
    expect(status).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ version: '2.1.0', runs: [{ results: [] }] })
  })

  it('JUnit', async () => {
    const { status, out } = await millrace(['check', '--junit', '-'], { input: faulty })
    expect(status).toBe(1)
    expect(XMLValidator.validate(out)).toBe(true)
    expect(out).toContain('<testsuite name="standard input" tests="3" failures="1" errors="0"')
    expect(out).toContain('<failure type="text.continue"')
    const clean = await millrace(['check', '--junit', '-'], { input: sse(event.start, event.end) })
    expect(XMLValidator.validate(clean.out)).toBe(true)
    expect([clean.status, clean.out.includes('<failure')]).toEqual([0, false])
  })

  it('GitHub workflow commands, one a line', async () => {
    const path = await file('b,1:2.sse', faulty)
    const { status, out } = await millrace(['check', '--github', path])
    expect(status).toBe(1)
    const escaped = path.replaceAll(':', '%3A').replaceAll(',', '%2C')
    expect(out.split('\n')).toEqual([
      expect.stringContaining(`::error file=${escaped},line=3,title=millrace%3A text.continue::`) as string,
      expect.stringContaining(`::warning file=${escaped},line=5,title=millrace%3A event.unknown-field::`) as string,
      '',
    ])
  })
})

describe('--rule and --max-warnings', () => {
  const status = async (...args: string[]): Promise<number | null> => (await millrace(['check', '-', ...args], { input: faulty })).status

  it('change what counts', async () => {
    expect(await status('--rule', 'text.continue=warning')).toBe(0)
    expect(await status('--rule', 'text.continue=off', '--rule', 'event.unknown-field=error')).toBe(1)
    expect(await status('--rule', 'text.continue=info', '--max-warnings', '1')).toBe(0)
    expect(await status('--rule', 'text.continue=info', '--max-warnings', '0')).toBe(1)
  })

  it('show in the report', async () => {
    const { out } = await millrace(['check', '-', '--json', '--rule', 'text.continue=info', '--rule', 'event.unknown-field=off'], { input: faulty })
    expect(JSON.parse(out)).toMatchObject({ diagnostics: [{ rule: 'text.continue', severity: 'info' }], summary: { errors: 0, warnings: 0, infos: 1 } })
  })

  it.each([
    [['--rule', 'text.contniue=off'], 'Did you mean text.continue?'],
    [['--rule', 'zzzzzzzz=off'], 'there is no rule zzzzzzzz'],
    [['--rule', 'toString=off'], 'there is no rule toString'],
    [['--rule', 'text.continue=loud'], 'is no severity'],
    [['--rule', 'text.continue'], 'is no severity'],
    [['--max-warnings', '-1'], 'not a whole number'],
    [['--json', '--sarif'], 'cannot be used with'],
  ])('%s is refused', async (args, message) => {
    const { status: code, out, err } = await millrace(['check', '-', ...args], { input: faulty })
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(message)
  })
})
