// `millrace fold` as a child process: its modes and options, and what is kept before a failure.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { built, millrace } from '../test/bin.ts'
import { parseFolded, type Folded } from '../test/folded.ts'

let folder = ''
beforeAll(async () => {
  await built()
  folder = await mkdtemp(join(tmpdir(), 'millrace-fold-'))
}, 180_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

const file = async (name: string, value: unknown): Promise<string> => {
  const path = join(folder, name)
  await writeFile(path, typeof value === 'string' ? value : JSON.stringify(value))
  return path
}

const start = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const end = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }
const text = (messageId: string, delta: string): object[] => [
  { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId, delta },
  { type: 'TEXT_MESSAGE_END', messageId },
]
const ndjson = (...events: unknown[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join('')
const fold = async (input: string, ...args: string[]): Promise<Folded> => parseFolded(await millrace(['fold', '--json', '-', ...args], { input }))

describe('outcomes', () => {
  it.each<[string, string, number | null, string]>([
    ['finished', ndjson(start, ...text('m', 'hi'), end), null, 'm'],
    ['interrupted', ndjson(start, ...text('m', 'hi'), { ...end, outcome: { type: 'interrupt', interrupts: [{ id: 'i', reason: 'ask' }] } }), null, 'm'],
    ['cancelled', ndjson(start, ...text('m', 'hi'), { ...end, outcome: { type: 'cancelled' } }), null, 'm'],
    ['error', ndjson(start, ...text('m', 'hi'), { type: 'RUN_ERROR', message: 'boom', code: 'c' }), 4, 'm'],
    ['truncated', ndjson(start, ...text('m', 'hi')), null, 'm'],
    ['violation', ndjson(start, ...text('m', 'hi'), { type: 'STEP_FINISHED', stepName: 's' }, ...text('n', 'lost'), end), 4, 'm'],
    ['malformed', ndjson(start, ...text('m', 'hi'), { type: 'TEXT_MESSAGE_START', messageId: 5 }, end), 4, 'm'],
    ['malformed', `${ndjson(start, ...text('m', 'hi'))}oops\n${ndjson(end)}`, 4, 'm'],
    ['truncated', '', null, ''],
  ])('%s', async (outcome, input, at, message) => {
    const report = await fold(input)
    expect([report.outcome, report.at]).toEqual([outcome, at])
    expect(report.messages.map(({ id }) => id)).toEqual(message === '' ? [] : [message])
  })

  it('error and interrupts in full', async () => {
    expect((await fold(ndjson(start, { type: 'RUN_ERROR', message: 'boom', code: 'c' }))).error).toEqual({ message: 'boom', code: 'c' })
    const asked = await fold(ndjson(start, { ...end, outcome: { type: 'interrupt', interrupts: [{ id: 'i', reason: 'ask' }] } }))
    expect(asked.interrupts).toEqual([{ id: 'i', reason: 'ask' }])
    const broken = await fold(ndjson(start, { type: 'STEP_FINISHED', stepName: 's' }))
    expect(broken.error).toMatchObject({ code: 'violation', rule: 'step.close', event: 1, line: 2, type: 'STEP_FINISHED', pointer: '/stepName' })
  })

  it('is that of the last run', async () => {
    const report = await fold(ndjson(start, { type: 'RUN_ERROR', message: 'boom' }, { ...start, runId: 'r2' }, { ...end, runId: 'r2' }))
    expect(report.outcome).toBe('finished')
    expect(report.runs.map(({ runId, outcome }) => [runId, outcome])).toEqual([['r', 'error'], ['r2', 'finished']])
  })
})

describe('--mode', () => {
  const input = ndjson(start, { type: 'STEP_FINISHED', stepName: 's' }, ...text('m', 'hi'), end)

  it('report goes on after a violation', async () => {
    const report = await fold(input, '--mode', 'report')
    expect([report.outcome, report.messages.length]).toEqual(['finished', 1])
    expect(report.diagnostics.map(({ rule, severity }) => [rule, severity])).toEqual([['step.close', 'error']])
  })

  it('tolerant takes what loses nothing', async () => {
    const finished = { type: 'STEP_FINISHED', stepName: 's' }
    const twice = ndjson(start, { type: 'STEP_STARTED', stepName: 's' }, finished, finished, end)
    expect((await fold(twice)).outcome).toBe('violation')
    const report = await fold(twice, '--mode', 'tolerant')
    expect([report.outcome, report.diagnostics.map(({ rule }) => rule)]).toEqual(['finished', ['tolerated.step-closed-twice']])
    expect((await fold(input, '--mode', 'tolerant')).outcome).toBe('violation')
  })

  it('is one of three', async () => {
    const { status, err } = await millrace(['fold', '-', '--mode', 'lax'])
    expect(status).toBe(2)
    expect(err).toContain('Allowed choices are strict, tolerant, report')
  })
})

describe('--history and --state', () => {
  it('are what the stream goes on from', async () => {
    const history = await file('history.json', [{ id: 'u', role: 'user', content: 'hello' }])
    const state = await file('state.json', { count: 1 })
    const delta = { type: 'STATE_DELTA', delta: [{ op: 'replace', path: '/count', value: 2 }] }
    const report = await fold(ndjson(start, delta, ...text('m', 'hi'), end), '--history', history, '--state', state)
    expect(report.messages.map(({ id }) => id)).toEqual(['u', 'm'])
    expect(report.state).toEqual({ count: 2 })
    expect(report.ui.map(({ role }) => role)).toEqual(['user', 'assistant'])
  })

  it('may be a thread, and a state that is null', async () => {
    const history = await file('thread.json', { messages: [{ id: 'u', role: 'user', content: 'hello' }] })
    const report = await fold(ndjson(start, end), '--history', history, '--state', await file('null.json', 'null'))
    expect([report.messages.length, report.state]).toEqual([1, null])
  })

  it.each([
    ['--history', 'missing.json', undefined, 'There is no file'],
    ['--state', 'broken.json', '{', 'is not JSON'],
    ['--history', 'object.json', '{}', 'holds no messages'],
    ['--history', 'numbers.json', '[1]', 'holds no messages'],
  ])('%s %s is refused', async (option, name, content, message) => {
    const path = content === undefined ? join(folder, name) : await file(name, content)
    const { status, out, err } = await millrace(['fold', '-', option, path], { input: ndjson(start, end) })
    expect([status, out]).toEqual([2, ''])
    expect(err).toContain(message)
  })
})

it('for people: the conversation, the state, how it ended', async () => {
  const call = [
    { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'look', parentMessageId: 'm' },
    { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{"at":"\u001b[2J"}' },
    { type: 'TOOL_CALL_END', toolCallId: 'c' },
    { type: 'TOOL_CALL_RESULT', messageId: 'tr', toolCallId: 'c', content: 'seen' },
  ]
  const snapshot = { type: 'STATE_SNAPSHOT', snapshot: { count: 2 } }
  const { status, out } = await millrace(['fold', '-'], { input: ndjson(start, ...text('m', 'two\nlines'), ...call, snapshot, end) })
  expect(status).toBe(0)
  expect(out).toContain('assistant  two\n           lines\n')
  expect(out).toContain('tool       look({"at":"\\u001b[2J"})\n           → seen\n')
  expect(out).toContain('state      {\n             "count": 2\n           }\n')
  expect(out).toMatch(/✔ finished\n$/)
  const cut = await millrace(['fold', '-'], { input: ndjson(start, { type: 'STEP_FINISHED', stepName: 's' }) })
  expect(cut.out).toContain('✖ violation at event 1')
  expect(cut.out).toContain('→ Send STEP_STARTED with this name')
})
