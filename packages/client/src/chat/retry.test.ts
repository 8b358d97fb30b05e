/** A turn that failed, sent again: the same as before in all that it says, and nothing left of what came of it. */
import { describe, expect, it } from 'vitest'
import { defineTool, memoryStorage, persisted, stream, TransportError, type ChatClient, type ChatClientOptions, type StreamChunk, type StreamFactory } from '@millrace/client'
import { caught, failed, finished, hello, interrupted, iterate, started, text, tick, until } from '../../test/events.ts'
import { scripted, texts } from '../../test/scripted.ts'

const broken = new TransportError('The network is gone.', { code: 'network' })
type Turn = readonly StreamChunk[] | { readonly events: readonly StreamChunk[]; readonly thrown: unknown }

/** Turns that may break. */
function chatWith(turns: readonly Turn[], options: Partial<ChatClientOptions> = {}) {
  const calls: Parameters<StreamFactory>[] = []
  const cancelled: string[] = []
  const made = stream((...args) => {
    const turn = turns[calls.push(args) - 1] ?? []
    return 'events' in turn
      ? (async function* () {
          yield* turn.events
          throw turn.thrown
        })()
      : iterate(turn)
  })
  const connection = { ...made, cancelRun: async (runId: string) => (cancelled.push(runId), 'closed' as const) }
  return { chat: scripted([], { connection, ...options }).chat, calls, cancelled }
}
const cut = (...events: StreamChunk[]): Turn => ({ events, thrown: broken })
const half = (runId: string): StreamChunk[] => [started(runId), ...text('Half', `m-${runId}`).slice(0, -1)]
const sent = (call: Parameters<StreamFactory> | undefined) => {
  const [messages, data, , context] = call ?? []
  const { runId: _, ...rest } = context ?? {}
  return JSON.parse(JSON.stringify({ messages, data, rest }))
}

describe('retry', () => {
  it.each<[string, Turn, boolean]>([
    ['a request that did not arrive', cut(), true],
    ['a stream that broke', cut(...half('r1')), false],
    ['an agent that failed', [...half('r1'), failed()], false],
    ['an agent that failed at once', [failed()], false],
    ['a server that breaks a rule', [started('r1'), { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x' }], false],
    ['a server that says nonsense', [started('r1'), { type: 'STATE_DELTA', delta: 5 } as never], false],
  ])('of %s: the same goes out, what came is gone, and the message of the user stays', async (_, turn, unheard) => {
    const { chat, calls } = chatWith([hello('r0', 'Before'), turn, hello('r2', 'Whole')], { initialState: { a: 1 }, forwardedProps: { f: 1 } })
    await chat.sendMessage('One')
    expect((await chat.sendMessage('Two', { body: { b: 2 } })).error).toBeDefined()
    const before = chat.getSnapshot()
    expect(before.status).toBe('error')
    const two = before.messages[2]?.id
    expect(before.unsent).toEqual(unheard ? [two] : [])
    const seen: string[][] = []
    chat.subscribe(() => seen.push(texts(chat)))
    expect(await chat.retry()).toEqual({ outcome: 'finished' })
    expect(sent(calls[2])).toEqual(sent(calls[1]))
    expect(calls[2]?.[3]?.runId).not.toBe(calls[1]?.[3]?.runId)
    expect(seen[0]).toEqual(['One', 'Before', 'Two'])
    expect(texts(chat)).toEqual(['One', 'Before', 'Two', 'Whole'])
    expect(chat.getSnapshot()).toMatchObject({ error: undefined, unsent: [], runs: [{ runId: 'r0' }, { runId: 'r2' }] })
    expect(chat.getSnapshot().messages[2]?.id).toBe(two)
    expect(chat.getSnapshot().messages[0]).toBe(before.messages[0])
  })

  it('takes shared state back to where it was', async () => {
    const { chat, calls } = chatWith([[started('r1'), { type: 'STATE_SNAPSHOT', snapshot: { a: 2 } }, failed()], hello('r2')], { initialState: { a: 1 } })
    await chat.sendMessage('Hi')
    expect(chat.getSnapshot().state).toEqual({ a: 2 })
    await chat.retry()
    expect(calls[1]?.[3]?.state).toEqual({ a: 1 })
    expect(chat.getSnapshot().state).toEqual({ a: 1 })
  })

  it('can be asked for again and again', async () => {
    const { chat, calls } = chatWith([cut(), cut(...half('r1')), cut(), hello('r2')])
    await chat.sendMessage('Hi')
    for (const unsent of [0, 1]) {
      expect(await chat.retry()).toMatchObject({ error: broken })
      expect(chat.getSnapshot().unsent).toHaveLength(unsent)
    }
    expect(await chat.retry()).toEqual({ outcome: 'finished' })
    expect(calls).toHaveLength(4)
    expect(texts(chat)).toEqual(['Hi', 'Hello'])
  })

  it('brings the same answers to interrupts, which are not asked for meanwhile', async () => {
    const ask = [{ id: 'i1', reason: 'x' }, { id: 'i2', reason: 'x' }]
    const { chat, calls } = chatWith([interrupted('r1', ...ask), cut(...half('r2')), hello('r3')])
    await chat.sendMessage('Hi')
    await chat.respond('i1', { status: 'cancelled' })
    await chat.respond('i2', { status: 'resolved', payload: 5 }, { body: { b: 1 } })
    expect(chat.getSnapshot().interrupts).toHaveLength(2)
    const shown: number[] = []
    chat.subscribe(() => shown.push(chat.getSnapshot().interrupts.length))
    expect(await chat.retry()).toEqual({ outcome: 'finished' })
    expect(sent(calls[2])).toEqual(sent(calls[1]))
    expect(calls[2]?.[3]).toMatchObject({ parentRunId: 'r1', resume: [{ status: 'cancelled' }, { payload: 5 }] })
    expect(new Set(shown)).toEqual(new Set([0]))
  })

  it('an answer that has expired meanwhile is not sent', async () => {
    let now = 0
    const { chat, calls } = chatWith([interrupted('r1', { id: 'i1', reason: 'x', expiresAt: new Date(1000).toISOString() }), cut()], { now: () => now })
    await chat.sendMessage('Hi')
    await chat.respond('i1', { status: 'resolved' })
    now = 2000
    expect(await caught(() => chat.retry())).toMatchObject({ code: 'interrupt-expired' })
    expect(calls).toHaveLength(2)
    expect(chat.getSnapshot().status).toBe('error')
  })

  it.each(['pending calls', 'interrupts'])('brings the same results of tools and runs none twice: %s', async (how) => {
    let runs = 0
    const add = defineTool({ name: 'add', description: 'd', execute: () => ++runs })
    const calling: StreamChunk[] = [started('r1'), { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'add', parentMessageId: 'a1' }, { type: 'TOOL_CALL_END', toolCallId: 'c1' }]
    const end = how === 'interrupts' ? interrupted('r1', { id: 'i1', reason: 'tanstack:client_tool_execution', toolCallId: 'c1' }).slice(1) : [finished('r1')]
    const { chat, calls } = chatWith([[...calling, ...end], cut(...half('r2')), hello('r3', 'One')], { tools: [add] })
    expect(await chat.sendMessage('go')).toMatchObject({ error: broken })
    expect(await chat.retry()).toEqual({ outcome: 'finished' })
    expect(runs).toBe(1)
    expect(sent(calls[2])).toEqual(sent(calls[1]))
    expect(calls).toHaveLength(3)
    expect(chat.getSnapshot().interrupts).toEqual([])
    expect(texts(chat)).toEqual(['go', '[tool-call]|One'])
  })

  it.each(['pending calls', 'interrupts'])('brings what the user answered while the turn went on, but for calls that it made: %s', async (how) => {
    const calling = (id: string): StreamChunk[] => [{ type: 'TOOL_CALL_START', toolCallId: id, toolCallName: 'ask', parentMessageId: `a-${id}` }, { type: 'TOOL_CALL_END', toolCallId: id }]
    const byInterrupts = how === 'interrupts'
    const asks = [{ id: 'i1', reason: 'tanstack:client_tool_execution', toolCallId: 'c1' }, { id: 'i2', reason: 'x' }]
    const first = [started('r1'), ...calling('c1'), ...(byInterrupts ? interrupted('r1', ...asks).slice(1) : [finished('r1')])]
    let fail: () => void = () => {}
    const calls: Parameters<StreamFactory>[] = []
    const connection = stream((...args) => {
      if (calls.push(args) !== 2) return iterate(calls.length === 1 ? first : hello('r3'))
      return (async function* () {
        yield* [started('r2'), ...calling('c2')]
        await new Promise<void>((resolve) => {
          fail = resolve
        })
        throw broken
      })()
    })
    const { chat } = chatWith([], { connection, tools: [defineTool({ name: 'ask', description: 'd' })] })
    await chat.sendMessage('go')
    const second = byInterrupts
      ? chat.respond('i2', { status: 'resolved' }).then(() => chat.addToolResult({ toolCallId: 'c1', output: 'early' }))
      : chat.sendMessage('something else')
    await until(() => chat.getSnapshot().status === 'streaming' && calls.length === 2)
    for (const toolCallId of ['c1', 'c2']) await chat.addToolResult({ toolCallId, output: 'late' })
    fail()
    expect(await second).toMatchObject({ error: broken })
    expect(await chat.retry()).toEqual({ outcome: 'finished' })
    const answered = calls[2]?.[0].flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-call' ? [[part.id, part.output]] : [])))
    expect(answered).toEqual([['c1', 'late']])
    if (byInterrupts) expect(calls[2]?.[3]?.resume).toEqual([{ interruptId: 'i1', status: 'resolved', payload: 'late' }, { interruptId: 'i2', status: 'resolved' }])
  })

  it('brings what the user said to an interrupt since, in the place of what was sent', async () => {
    const { chat, calls } = chatWith([interrupted('r1', { id: 'i1', reason: 'x' }, { id: 'i2', reason: 'x' }), cut(), hello('r3')])
    await chat.sendMessage('Hi')
    await chat.respond('i1', { status: 'cancelled' })
    await chat.respond('i2', { status: 'resolved', payload: 5 })
    await chat.respond('i2', { status: 'resolved', payload: 6 })
    expect(await chat.retry()).toEqual({ outcome: 'finished' })
    expect(calls[2]?.[3]?.resume).toMatchObject([{ status: 'cancelled' }, { payload: 6 }])
  })

  it('brings answers once the server has ended the run that had them: it takes an answer once', async () => {
    const order: string[] = []
    let ended: () => void = () => {}
    const { chat } = chatWith([interrupted('r1', { id: 'i1', reason: 'x' }), cut(...half('r2'))])
    const connection = stream(() => (order.push('sent'), iterate(hello('r3'))))
    await chat.sendMessage('Hi')
    await chat.respond('i1', { status: 'resolved' })
    chat.updateOptions({ connection: { ...connection, cancelRun: () => (order.push('cancel'), new Promise((resolve) => (ended = () => resolve('closed')))) } })
    const again = chat.retry()
    await until(() => order.length === 1)
    await tick()
    expect(order).toEqual(['cancel'])
    ended()
    expect(await again).toEqual({ outcome: 'finished' })
    expect(order).toEqual(['cancel', 'sent'])
    const refused = chatWith([interrupted('r1', { id: 'i1', reason: 'x' }), cut(...half('r2')), hello('r3')])
    await refused.chat.sendMessage('Hi')
    await refused.chat.respond('i1', { status: 'resolved' })
    const late = caught(() => refused.chat.retry())
    refused.chat.clear()
    expect(await late).toMatchObject({ code: 'nothing-to-retry' })
  })

  it('cancels the run that may go on at the server, and no other', async () => {
    for (const [turn, count] of [[cut(...half('r1')), 1], [[started('r1'), failed()], 0]] as const) {
      const { chat, cancelled } = chatWith([turn, hello('r2')])
      await chat.sendMessage('Hi')
      await chat.retry()
      expect(cancelled).toEqual(Array.from({ length: count }, () => 'r1'))
    }
  })

  it('carries all messages that waited together', async () => {
    const { chat } = chatWith([hello('r1'), cut(), hello('r2')], { whenBusy: 'queue', queue: { drain: 'batch' } })
    await Promise.all([chat.sendMessage({ content: 'a', id: 'a' }), chat.sendMessage({ content: 'b', id: 'b' }), chat.sendMessage({ content: 'c', id: 'c' })])
    expect(chat.getSnapshot().unsent).toEqual(['b', 'c'])
    expect(await chat.retry()).toEqual({ outcome: 'finished' })
    expect(texts(chat)).toEqual(['a', 'Hello', 'b', 'c', 'Hello'])
  })

  it.each<[string, readonly Turn[], (chat: ChatClient) => unknown]>([
    ['nothing was sent', [], () => {}],
    ['all went well', [hello('r1')], (chat) => chat.sendMessage('Hi')],
    ['the agent asks', [interrupted('r1', { id: 'i', reason: 'x' })], (chat) => chat.sendMessage('Hi')],
    ['it was stopped', [hello('r1')], async (chat) => { const sending = chat.sendMessage('Hi'); chat.stop(); await sending }],
    ['another message went well', [cut(), hello('r1')], async (chat) => { await chat.sendMessage('Hi'); await chat.sendMessage('Hi') }],
    ['messages were put in place', [cut()], async (chat) => { await chat.sendMessage('Hi'); chat.setMessages([]) }],
    ['the state was set', [cut()], async (chat) => { await chat.sendMessage('Hi'); chat.setState({ b: 1 }) }],
    ['it was cleared', [cut()], async (chat) => { await chat.sendMessage('Hi'); chat.clear() }],
    ['it was retried with success', [cut(), hello('r1')], async (chat) => { await chat.sendMessage('Hi'); await chat.retry() }],
  ])('there is nothing to retry: %s', async (_, turns, act) => {
    const { chat, calls } = chatWith(turns)
    await act(chat)
    const before = chat.getSnapshot()
    const count = calls.length
    expect(await caught(() => chat.retry())).toMatchObject({ name: 'UsageError', code: 'nothing-to-retry' })
    expect(chat.getSnapshot()).toBe(before)
    expect(calls).toHaveLength(count)
  })

  it('a turn that was gone on with too often did not fail itself', async () => {
    let n = 0
    const add = defineTool({ name: 'add', description: 'd', execute: () => 1 })
    const connection = stream(() => iterate([started(`r${++n}`), { type: 'TOOL_CALL_START', toolCallId: `c${n}`, toolCallName: 'add' }, { type: 'TOOL_CALL_END', toolCallId: `c${n}` }, finished(`r${n}`)]))
    const { chat } = chatWith([], { connection, tools: [add], maxContinuations: 1 })
    expect(await chat.sendMessage('go')).toMatchObject({ error: { code: 'too-many-continuations' } })
    expect(chat.getSnapshot().unsent).toEqual([])
    expect((await caught(() => chat.retry())).code).toBe('nothing-to-retry')
  })

  it('is refused while a turn runs, and a retry can be stopped like any other', async () => {
    const { chat } = chatWith([cut(), { events: [], thrown: new Promise(() => {}) }])
    await chat.sendMessage('Hi')
    const again = chat.retry()
    expect((await caught(() => chat.retry())).code).toBe('busy')
    chat.stop()
    expect(await again).toEqual({ outcome: 'cancelled' })
    expect(texts(chat)).toEqual(['Hi'])
  })

  it('a page that was loaded again has nothing to retry; what it shows is whole', async () => {
    const disk = memoryStorage()
    const first = chatWith([cut(...half('r1'))], { persistence: persisted(disk, { throttleMs: 0 }) })
    await first.chat.sendMessage('Hi')
    first.chat.dispose()
    const second = chatWith([hello('r2')], { persistence: persisted(disk) })
    await second.chat.attach()
    await until(() => texts(second.chat).length === 2)
    expect((await caught(() => second.chat.retry())).code).toBe('nothing-to-retry')
    expect(await second.chat.reload()).toEqual({ outcome: 'finished' })
    expect(texts(second.chat)).toEqual(['Hi', 'Hello'])
  })
})
