/** Connections that are recorded: what is written, that nothing changes by it, and what happens when it cannot be written. */
import { ChatClient, normalizeConnectionAdapter, stream, type StreamChunk } from '@millrace/client'
import { parseRecordingLine, recordConnection, type RecordOptions } from '@millrace/client/recording'
import { describe, expect, it } from 'vitest'
import { channel } from '../../test/channel.ts'
import { caught, collect, collectUntilError, finished, hello, iterate, started, text, until, userMessage } from '../../test/events.ts'

const context = { threadId: 't1', runId: 'r1', headers: { authorization: 'Bearer secret' } }

/** A clock that goes on by 10 ms each time it is asked. */
function ticking() {
  let now = Date.UTC(2026, 0, 1)
  return { now: () => (now += 10) - 10, after: () => () => {} }
}
const recorded = (events: readonly StreamChunk[], options: RecordOptions = {}) => recordConnection(stream(() => iterate(events)), { clock: ticking(), ...options })
const linesOf = (text: string): any[] => text.trimEnd().split('\n').map((line) => JSON.parse(line))

describe('what is written', () => {
  it('is a header, the run input without headers, each event with its time, and the end', async () => {
    const { connection, toText } = recorded(hello())
    expect(await collect(connection.connect([userMessage()], { mood: 'good' }, undefined, context))).toEqual(hello())
    const [header, request, ...rest] = linesOf(toText())
    expect(header).toEqual({ recording: 1, startedAt: '2026-01-01T00:00:00.000Z' })
    expect(request).toMatchObject({ at: 10, of: 1, request: { kind: 'run', input: { threadId: 't1', runId: 'r1', messages: [{ id: 'u1', content: 'Hi' }], forwardedProps: { mood: 'good' } } } })
    expect(rest).toEqual([...hello().map((chunk, index) => ({ at: 20 + index * 10, of: 1, chunk })), { at: 20 + hello().length * 10, of: 1, end: 'done' }])
    expect(toText()).not.toContain('secret')
    for (const line of toText().trimEnd().split('\n')) expect(parseRecordingLine(line)).toEqual(JSON.parse(line))
  })

  it('goes to the sink as it is made, and is not kept then', async () => {
    const written: string[] = []
    const { connection, toText } = recorded(hello(), { sink: (line) => written.push(line) })
    await collect(connection.connect([userMessage()], undefined, undefined, context))
    expect(written).toHaveLength(3 + hello().length)
    expect(written.every((line) => line.endsWith('\n') && line.indexOf('\n') === line.length - 1)).toBe(true)
    expect(linesOf(toText())).toHaveLength(1)
  })

  it('can be less of the input', async () => {
    const { connection, toText } = recorded(hello(), { redact: (input) => ({ ...input, messages: undefined }) })
    await collect(connection.connect([userMessage()], undefined, undefined, context))
    expect(linesOf(toText())[1].request.input).not.toHaveProperty('messages')
  })

  it('says how a stream ended: failed, left, aborted', async () => {
    async function* fails(): AsyncGenerator<StreamChunk> {
      yield started()
      throw Object.assign(new Error('gone'), { code: 'network', status: 502 })
    }
    const failing = recordConnection(stream(fails), { clock: ticking() })
    expect(await collectUntilError(failing.connection.connect([], undefined, undefined, context))).toMatchObject({ items: [started()], error: { message: 'gone' } })
    expect(linesOf(failing.toText()).at(-1)).toMatchObject({ end: 'failed', error: { message: 'gone', code: 'network', status: 502 } })

    const left = recorded(hello())
    for await (const _ of left.connection.connect([], undefined, undefined, context)) break
    expect(linesOf(left.toText()).at(-1)).toMatchObject({ end: 'left' })

    const controller = new AbortController()
    const stopped = recorded(hello())
    for await (const _ of stopped.connection.connect([], undefined, controller.signal, context)) controller.abort()
    expect(linesOf(stopped.toText()).at(-1)).toMatchObject({ end: 'aborted' })
  })

  it('has joins, hydrates and cancels with what was answered', async () => {
    const thread = { messages: [], activeRun: null, interrupts: null }
    const { connection, toText } = recordConnection(
      { ...stream(() => [], { joinRun: () => iterate(hello('r2')), hydrate: async () => thread, cancelRun: async () => 'closed' }), keepsRuns: () => true },
      { clock: ticking() },
    )
    expect(await collect(connection.joinRun?.('r2') ?? iterate([]))).toEqual(hello('r2'))
    expect(await connection.hydrate?.('t1')).toEqual(thread)
    expect(await connection.cancelRun?.('r2')).toBe('closed')
    expect(connection.keepsRuns?.()).toBe(true)
    const lines = linesOf(toText())
    expect(lines.filter(({ request }) => request).map(({ request }) => request)).toEqual([{ kind: 'join', runId: 'r2' }, { kind: 'hydrate', threadId: 't1' }, { kind: 'cancel', runId: 'r2' }])
    expect(lines.filter((line) => 'answer' in line).map(({ answer }) => answer)).toEqual([thread, 'closed'])
  })

  it('has subscriptions and what is sent, side by side', async () => {
    const { connection: inner, emit, onSend, subscribers } = channel()
    const { connection, toText } = recordConnection(inner, { clock: ticking() })
    onSend((runId) => emit(...hello(runId)))
    const chat = new ChatClient({ connection, threadId: 't1', live: true })
    chat.subscribe(() => {})
    await until(() => subscribers() === 1)
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    chat.dispose()
    await until(() => subscribers() === 0)
    const lines = linesOf(toText())
    expect(lines.map(({ of, request, chunk, end }) => [of, request?.kind ?? chunk?.type ?? end])).toEqual(
      expect.arrayContaining([[1, 'subscribe'], [2, 'send'], [1, 'RUN_STARTED'], [1, 'RUN_FINISHED'], [2, 'done'], [1, 'aborted']]),
    )
    expect(lines.map(({ at }) => at ?? 0)).toEqual(lines.map(({ at }) => at ?? 0).sort((a, b) => a - b))
  })
})

describe('a recorded connection', () => {
  it('makes no difference to a chat, also where the end is made up', async () => {
    const events = [started(), ...text('Hello')]
    const chats = [stream(() => iterate(events)), recorded(events).connection].map((connection) => new ChatClient({ connection, threadId: 't1', generateId: (kind) => kind }))
    const results = await Promise.all(chats.map((chat) => chat.sendMessage('Hi')))
    expect(results[1]).toEqual(results[0])
    const [plain, other] = chats.map((chat) => ({ ...chat.getSnapshot(), messages: chat.getSnapshot().messages.map((message) => ({ ...message, createdAt: 0 })) }))
    expect(other).toEqual(plain)
  })

  it('passes on the very events', async () => {
    const events = hello()
    const passed = await collect(recorded(events).connection.connect([], undefined, undefined, context))
    expect(passed.every((event, index) => event === events[index])).toBe(true)
  })

  it('is refused where the one beneath would be', async () => {
    expect(await caught(() => recordConnection(undefined as never))).toMatchObject({ code: 'no-connection' })
    expect(await caught(() => normalizeConnectionAdapter(recordConnection({} as never).connection))).toMatchObject({ code: 'no-adapter-shape' })
    const nothing = recordConnection({ connect: () => undefined as never }).connection
    expect(await caught(() => normalizeConnectionAdapter(nothing).send([], undefined, undefined, context))).toMatchObject({ code: 'connect-not-iterable' })
    for (const bad of [{ sink: 1 }, { keep: -1 }, { redact: true }, 'x']) expect(await caught(() => recordConnection(stream(() => []), bad as never))).toMatchObject({ code: 'bad-options' })
  })
})

describe('what goes wrong in writing', () => {
  it.each([
    ['throws', () => { throw new Error('disk full') }],
    ['rejects', () => Promise.reject(new Error('disk full'))],
  ] as const)('a sink that %s is told once, and ends no session', async (_, sink) => {
    const warnings: unknown[] = []
    const recording = recorded(hello(), { sink, logger: { warn: (message) => warnings.push(message) } })
    expect(await collect(recording.connection.connect([], undefined, undefined, context))).toEqual(hello())
    expect([warnings.length, recording.failure?.message]).toEqual([1, 'disk full'])
  })

  it('an event that is not JSON is passed on, and told', async () => {
    const odd = { type: 'CUSTOM', name: 'n', value: 1n }
    const warnings: unknown[] = []
    const { connection, toText } = recorded([started(), odd, finished()], { logger: { warn: (message) => warnings.push(message) } })
    expect(await collect(connection.connect([], undefined, undefined, context))).toEqual([started(), odd, finished()])
    expect([warnings.length, linesOf(toText()).filter(({ chunk }) => chunk).length]).toEqual([1, 2])
  })

  it('memory is bounded: the oldest exchanges go, and of one that is too long its later events', async () => {
    const recording = recorded(hello(), { keep: 3_000 })
    for (let n = 0; n < 10; n++) await collect(recording.connection.connect([], undefined, undefined, { ...context, runId: `r${n}` }))
    expect(recording.toText().length).toBeLessThan(3_300)
    expect(recording.lost).toBeGreaterThan(0)
    const lines = linesOf(recording.toText())
    expect(lines.find(({ request }) => request).of).toBeGreaterThan(1)
    expect(lines.at(-1)).toMatchObject({ of: 10, end: 'done' })

    const long = recorded([started(), ...text('x'.repeat(200)), finished()], { keep: 3_000 })
    await collect(long.connection.connect([], undefined, undefined, context))
    expect(linesOf(long.toText()).at(-1)).toMatchObject({ of: 1, lost: expect.any(Number) })
    expect(linesOf(long.toText()).at(-2)).toMatchObject({ end: 'done' })
    expect(long.lost).toBe(1)
  })
})

it.each(['', 'nonsense', '[]', '{"at":1}', '{"at":1,"of":1}', '{"at":1,"of":1,"request":{}}', '{"at":1,"of":1,"later":true}'])('%j is no line that is known', (line) => {
  expect(parseRecordingLine(line)).toBeUndefined()
})
