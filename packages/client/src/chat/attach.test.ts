/** Leaving a run and coming back to it: in the same page, and in a new one from what the server has stored. */
import { recordedRun, startFaultServer, status, type FaultServer, type FaultServerOptions } from '@millrace/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { ChatClient, defineTool, fetchServerSentEvents, persisted, stream, type ChatClientOptions, type ChatSnapshot, type ConnectConnectionAdapter } from '@millrace/client'
import { caught, hello, iterate, started, text, tick, until } from '../../test/events.ts'
import { FakeClock } from '../../test/fake-clock.ts'
import { callId, linesOf } from '../../test/model-runs.ts'
import { World } from '../../test/model-world.ts'
import { scripted, texts } from '../../test/scripted.ts'

let server: FaultServer | undefined
afterEach(async () => server?.close())

async function served(options: FaultServerOptions = {}): Promise<FaultServer> {
  server = await startFaultServer({ events: recordedRun('mixed'), ...options })
  return server
}

const chatOn = ({ url }: FaultServer, options: Partial<ChatClientOptions> = {}): ChatClient =>
  new ChatClient({ threadId: 't1', connection: fetchServerSentEvents(url, { reconnect: { delayMs: 0 } }), ...options })

/** What there is to see, apart from what stands beside it. */
const shown = ({ messages, state, interrupts }: ChatSnapshot): unknown =>
  JSON.parse(JSON.stringify({ messages: messages.filter(({ role }) => role !== 'user').map(({ id, parts }) => ({ id, parts })), state, interrupts }))

const length = (chat: ChatClient): number => JSON.stringify(chat.getSnapshot().messages).length

/** The whole of the run, read without a break. */
async function whole(): Promise<unknown> {
  const other = await startFaultServer({ events: recordedRun('mixed') })
  const chat = chatOn(other)
  await chat.sendMessage('Hi')
  await other.close()
  return shown(chat.getSnapshot())
}

describe('detach and attach', () => {
  it.each([0, 1, 2, 10, 25, 40])('after %i events: nothing is lost or doubled, and nothing that was shown goes', async (count) => {
    const there = await served({ hold: count })
    const finishes: string[] = []
    const seen: string[] = []
    const chat = chatOn(there, { onFinish: ({ outcome }) => finishes.push(outcome), onEvent: ({ type }) => seen.push(type) })
    const sent = chat.sendMessage('Hi')
    await there.until(({ requests }) => requests[0]?.events === count)
    if (count > 0) await until(() => seen.length >= count)
    chat.detach()
    expect(await sent).toEqual({ outcome: 'running' })
    expect(chat.getSnapshot().status).toBe('ready')
    expect(finishes).toEqual([])
    const before = length(chat)
    let shortest = before
    chat.subscribe(() => {
      shortest = Math.min(shortest, length(chat))
    })
    const attached = chat.attach()
    expect(chat.getSnapshot().status).toBe('submitted')
    there.release()
    expect(await attached).toEqual({ outcome: 'finished' })
    expect(shortest).toBe(before)
    expect(shown(chat.getSnapshot())).toEqual(await whole())
    expect(there.started).toHaveLength(1)
    expect(finishes).toEqual(['finished'])
    // Each event is told once, though it was read twice.
    expect(seen).toHaveLength(recordedRun('mixed').length)
    expect(chat.getSnapshot().runs.map(({ outcome }) => outcome)).toEqual(['finished'])
  })

  it('again and again', async () => {
    const there = await served({ hold: 0 })
    const chat = chatOn(there)
    void chat.sendMessage('Hi')
    for (let count = 5; count <= 40; count += 5) {
      await there.until(({ requests }) => requests.length > 0)
      there.release(5)
      await tick(5)
      chat.detach()
      void chat.attach()
      await tick(5)
    }
    there.release()
    await until(() => chat.getSnapshot().status === 'ready' && chat.getSnapshot().runs.at(-1)?.outcome === 'finished')
    expect(shown(chat.getSnapshot())).toEqual(await whole())
    expect(there.started).toHaveLength(1)
  })

  it('keeps what was shown if the run is gone when one comes back', async () => {
    const there = await served({ hold: 30 })
    const errors: unknown[] = []
    const chat = chatOn(there, { onError: (error) => errors.push(error) })
    void chat.sendMessage('Hi')
    await there.until(({ requests }) => requests[0]?.events === 30)
    await until(() => chat.getSnapshot().messages.length > 1)
    chat.detach()
    const before = texts(chat)
    there.setFaults([status(404)])
    expect(await chat.attach()).toMatchObject({ outcome: 'error', error: { code: 'http-status', status: 404 } })
    expect(texts(chat)).toEqual(before)
    expect(chat.getSnapshot()).toMatchObject({ status: 'error', runs: [{ outcome: 'error' }] })
    expect(errors).toHaveLength(1)
  })

  it('stop while coming back keeps what was shown, and cancels the run', async () => {
    const there = await served({ hold: 30 })
    const chat = chatOn(there)
    void chat.sendMessage('Hi')
    await there.until(({ requests }) => requests[0]?.events === 30)
    await until(() => chat.getSnapshot().messages.length > 1)
    chat.detach()
    const before = texts(chat)
    const attached = chat.attach()
    chat.stop()
    expect(await attached).toEqual({ outcome: 'cancelled' })
    expect(texts(chat)).toEqual(before)
    await there.until(({ requests }) => requests.some(({ method }) => method === 'DELETE'))
  })

  it('stop after leaving cancels the run at the server', async () => {
    const there = await served({ hold: 30 })
    const chat = chatOn(there)
    void chat.sendMessage('Hi')
    await there.until(({ requests }) => requests[0]?.events === 30)
    chat.detach()
    chat.stop()
    await there.until(({ requests }) => requests.some(({ method, query }) => method === 'DELETE' && JSON.stringify(query).includes(there.started[0]?.runId ?? '?')))
    expect(await chat.attach()).toBeUndefined()
  })

  it('what is queued while a run is read again has its turn after it', async () => {
    const there = await served({ hold: 30 })
    const chat = chatOn(there, { whenBusy: 'queue' })
    void chat.sendMessage('Hi')
    await there.until(({ requests }) => requests[0]?.events === 30)
    chat.detach()
    void chat.attach()
    const sent = chat.sendMessage('More')
    there.release()
    await until(() => there.started.length === 2)
    expect(chat.getSnapshot().queue).toEqual([])
    there.release()
    expect(await sent).toEqual({ outcome: 'finished' })
  })

  it('what lies of an earlier run says nothing of whether a later one has arrived', async () => {
    const world = new World()
    const chat = new ChatClient({ threadId: 't', connection: world.connection(new FakeClock(), { resume: 'off' }) })
    void chat.sendMessage('Hi')
    chat.detach()
    await tick()
    world.release(2)
    await tick()
    void chat.reload()
    await tick()
    chat.detach()
    const attached = chat.attach()
    await tick()
    // Breaks the request alone, whose run has not been joined yet.
    world.cut()
    await tick()
    expect(chat.getSnapshot().status).toBe('submitted')
    world.release(7)
    expect(await attached).toEqual({ outcome: 'finished' })
  })

  it.each(['before', 'after'])('a call that was answered %s one came back stays answered, and the agent goes on', async (when) => {
    const world = new World()
    const chat = new ChatClient({ threadId: 't', connection: world.connection(new FakeClock()), tools: world.tools() })
    void chat.sendMessage('Hi', { body: { plan: { n: 0, kinds: ['asks'] } } })
    await tick()
    world.release(4)
    await tick()
    chat.detach()
    const answer = (): unknown => chat.addToolResult({ toolCallId: callId(world.runs[0]?.runId ?? '', 0), output: 'yes' })
    if (when === 'before') answer()
    const attached = chat.attach()
    if (when === 'after') answer()
    const answered = (): boolean => linesOf(chat.getSnapshot().messages).some((line) => line.endsWith('yes'))
    await tick()
    expect(answered()).toBe(true)
    world.release(1)
    await until(() => world.runs.length === 2)
    world.release(7)
    expect(await attached).toEqual({ outcome: 'finished' })
    expect(answered()).toBe(true)
  })

  it('does nothing where there is nothing to leave, and gives nothing where a run cannot be joined', async () => {
    const { chat } = scripted([hello()])
    const before = chat.getSnapshot()
    chat.detach()
    expect(chat.getSnapshot()).toBe(before)
    let go: () => void = () => {}
    const held = new ChatClient({
      connection: stream(async function* () {
        yield* [started('r1'), ...text('Half', 'm1').slice(0, 3)]
        await new Promise<void>((resolve) => {
          go = resolve
        })
      }),
    })
    const sent = held.sendMessage('Hi')
    await until(() => texts(held)[1] === 'Ha')
    held.detach()
    expect(await sent).toEqual({ outcome: 'running' })
    expect(await held.attach()).toBeUndefined()
    expect(texts(held)).toEqual(['Hi', 'Ha'])
    go()
  })
})

describe('attach in a new page', () => {
  it('shows the stored thread and goes on with the run that is under way', async () => {
    const there = await served({ hold: 20 })
    const first = chatOn(there)
    void first.sendMessage('Hi')
    await there.until(({ requests }) => requests[0]?.events === 20)
    first.detach()
    const second = chatOn(there)
    const attached = second.attach()
    await until(() => second.getSnapshot().messages.length > 1)
    there.release()
    expect(await attached).toEqual({ outcome: 'finished' })
    expect(shown(second.getSnapshot())).toEqual(await whole())
    expect(texts(second)[0]).toBe('Hi')
    expect(there.started).toHaveLength(1)
  })

  it('and of a thread that is at rest, all of it', async () => {
    const there = await served()
    await chatOn(there).sendMessage('Hi')
    const chat = chatOn(there)
    expect(await chat.attach()).toBeUndefined()
    expect(texts(chat)[0]).toBe('Hi')
    expect(chat.getSnapshot().status).toBe('ready')
  })

  it('gives nothing for a thread that the server does not know', async () => {
    const there = await served()
    const chat = chatOn(there)
    expect(await chat.attach()).toBeUndefined()
    expect(chat.getSnapshot()).toMatchObject({ status: 'ready', messages: [] })
  })

  it('fails where the server cannot be asked, and is no empty thread', async () => {
    const there = await served({ faults: () => status(500) })
    const errors: unknown[] = []
    const chat = chatOn(there, { initialMessages: [{ id: 'u', role: 'user', parts: [{ type: 'text', content: 'kept' }] }], onError: (error) => errors.push(error) })
    expect(await chat.attach()).toMatchObject({ outcome: 'error', error: { code: 'http-status', status: 500 } })
    expect(chat.getSnapshot()).toMatchObject({ status: 'error', error: { code: 'http-status' } })
    expect(texts(chat)).toEqual(['kept'])
    expect(errors).toHaveLength(1)
  })

  const hydrating = (stored: object): ChatClient =>
    new ChatClient({ threadId: 't1', connection: { connect: () => iterate(hello()), hydrate: async () => ({ activeRun: null, interrupts: null, ...stored }) as never } })

  it('makes a failure good: what the server has is how the thread stands', async () => {
    const connect = (): never => {
      throw new Error('cut')
    }
    const hydrate = async (): Promise<never> => ({ messages: [{ id: 'a', role: 'assistant', content: 'whole' }], activeRun: null, interrupts: null }) as never
    const chat = new ChatClient({ threadId: 't1', connection: { connect, hydrate } })
    await chat.sendMessage('Hi')
    expect(chat.getSnapshot().status).toBe('error')
    expect(await chat.attach()).toBeUndefined()
    expect(chat.getSnapshot()).toMatchObject({ status: 'ready', error: undefined })
    expect(texts(chat)).toEqual(['whole'])
  })

  it('takes UI messages with their parts as well, with dates, and open questions', async () => {
    const chat = hydrating({
      messages: [
        { id: 'u', role: 'user', createdAt: '2026-01-01T00:00:00.000Z', parts: [{ type: 'text', content: 'Hi' }] },
        { id: 'a', role: 'assistant', createdAt: '2026-01-02T00:00:00.000Z', parts: [{ type: 'thinking', content: 'hm' }, { type: 'text', content: 'Hello' }] },
      ],
      state: { n: 1 },
      interrupts: [{ id: 'i', reason: 'x' }],
    })
    await chat.attach()
    expect(texts(chat)).toEqual(['Hi', 'hm|Hello'])
    expect(chat.getSnapshot().messages.map(({ createdAt }) => createdAt?.toISOString())).toEqual(['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'])
    expect(chat.getSnapshot()).toMatchObject({ state: { n: 1 }, interrupts: [{ id: 'i' }] })
    expect(await chat.respond('i', { status: 'resolved' })).toEqual({ outcome: 'finished' })
  })

  it.each<[string, object]>([
    ['a message that is none', { messages: [5] }],
    ['a message without an id', { messages: [{ role: 'user', content: 'x' }] }],
    ['parts that are none', { messages: [{ id: 'a', role: 'assistant', parts: [{ type: 'text', content: 5 }] }] }],
    ['questions that are none', { messages: [], interrupts: [{ id: 5 }] }],
    ['a date that is none is no reason to refuse it; a role is', { messages: [{ id: 'a', role: 'robot', createdAt: 'soon', parts: [] }] }],
    ['no list of questions', { messages: [], interrupts: 'yes' }],
  ])('refuses %s, and shows what it had', async (_, stored) => {
    const chat = hydrating(stored)
    expect(await chat.attach()).toMatchObject({ outcome: 'error', error: { code: 'unexpected-answer' } })
    expect(chat.getSnapshot()).toMatchObject({ status: 'error', messages: [] })
  })

  describe('what the user does while the server is asked', () => {
    const asking = () => {
      let answer: (stored: unknown) => void = () => {}
      const sent: number[] = []
      const connect: ConnectConnectionAdapter['connect'] = (messages) => {
        sent.push(messages.length)
        return iterate(hello())
      }
      const chat = new ChatClient({ threadId: 't1', connection: { connect, hydrate: () => new Promise((resolve) => { answer = resolve as never }) } })
      const attached = chat.attach()
      const old = (more: object = {}): void => answer({ messages: [{ id: 'x', role: 'user', content: 'old' }], activeRun: null, interrupts: null, ...more })
      return { chat, attached, sent, old }
    }

    it('waits for the answer, and goes behind what the thread holds', async () => {
      const { chat, attached, sent, old } = asking()
      const said = chat.sendMessage('Hi')
      await tick()
      expect(sent).toEqual([])
      old()
      expect(await attached).toBeUndefined()
      expect(await said).toEqual({ outcome: 'finished' })
      expect(sent).toEqual([2])
      expect(texts(chat)).toEqual(['old', 'Hi', 'Hello'])
    })

    it('is refused if the thread waits for an answer, which is shown', async () => {
      const { chat, sent, old } = asking()
      const said = caught(() => chat.sendMessage('Hi'))
      old({ interrupts: [{ id: 'i', reason: 'x' }] })
      expect(await said).toMatchObject({ code: 'interrupts-pending' })
      expect(chat.getSnapshot().interrupts).toHaveLength(1)
      expect(sent).toEqual([])
    })

    it.each(['stop', 'clear', 'dispose'] as const)('is let go by %s()', async (method) => {
      const { chat, attached, sent } = asking()
      const said = [chat.sendMessage('Hi'), chat.append({ id: 'm', role: 'user', parts: [{ type: 'text', content: 'Ho' }] }), chat.edit('x', 'Hu'), chat.reload()]
      chat[method]()
      expect((await Promise.all(said)).map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled'])
      expect(await attached).toBeUndefined()
      expect(sent).toEqual([])
    })

    it('and asking again in between changes nothing of that', async () => {
      const { chat, attached, sent, old } = asking()
      const said = chat.sendMessage('Hi')
      const again = chat.attach()
      await tick()
      old()
      await Promise.all([attached, again])
      expect(await said).toEqual({ outcome: 'finished' })
      expect(sent).toEqual([2])
    })
  })
})

describe('stop', () => {
  const methods = ({ requests }: FaultServer): string[] => requests.map(({ method }) => method)

  it('cancels the run at a server that has shown that it keeps runs', async () => {
    const there = await served({ hold: 10 })
    const chat = chatOn(there)
    const sent = chat.sendMessage('Hi')
    await there.until(({ requests }) => requests[0]?.events === 10)
    await until(() => chat.getSnapshot().messages.length > 1)
    chat.stop()
    expect(await sent).toEqual({ outcome: 'cancelled' })
    await there.until((server) => methods(server).includes('DELETE'))
  })

  it('and asks nothing of one that has not', async () => {
    const there = await served({ hold: 10, ids: 'none', resume: 'none' })
    const chat = chatOn(there)
    void chat.sendMessage('Hi')
    await there.until(({ requests }) => requests[0]?.events === 10)
    await until(() => chat.getSnapshot().messages.length > 1)
    chat.stop()
    await tick(20)
    expect(methods(there)).toEqual(['POST'])
  })
})

describe("dispose('leave')", () => {
  const methods = ({ requests }: FaultServer): string[] => requests.map(({ method }) => method)
  const sending = async (there: FaultServer, finishes: string[]): Promise<{ readonly chat: ChatClient; readonly sent: Promise<unknown> }> => {
    const chat = chatOn(there, { onFinish: ({ outcome }) => finishes.push(outcome) })
    const sent = chat.sendMessage('Hi')
    await there.until(({ requests }) => requests[0]?.events === 10)
    await until(() => chat.getSnapshot().messages.length > 1)
    return { chat, sent }
  }

  it('ends the reading of a run that the server keeps, and cancels nothing; the client can come back to it', async () => {
    const there = await served({ hold: 10 })
    const finishes: string[] = []
    const { chat, sent } = await sending(there, finishes)
    chat.dispose('leave')
    expect(await sent).toEqual({ outcome: 'running' })
    await tick(20)
    expect(methods(there)).toEqual(['POST'])
    expect(finishes).toEqual([])
    const attached = chat.attach()
    there.release()
    expect(await attached).toEqual({ outcome: 'finished' })
    expect(shown(chat.getSnapshot())).toEqual(await whole())
  })

  it('does not cancel a run that was left before, as dispose() does', async () => {
    const there = await served({ hold: 10 })
    const { chat } = await sending(there, [])
    chat.detach()
    chat.dispose('leave')
    await tick(20)
    expect(methods(there)).toEqual(['POST'])
    chat.dispose()
    await there.until((server) => methods(server).includes('DELETE'))
  })

  it('stops a run that the server has shown to keep nowhere: it ends with the request', async () => {
    const there = await served({ hold: 10, ids: 'none', resume: 'none' })
    const finishes: string[] = []
    const { chat, sent } = await sending(there, finishes)
    chat.dispose('leave')
    expect(await sent).toEqual({ outcome: 'cancelled' })
    expect(finishes).toEqual(['cancelled'])
  })

  it('ends a tool of ours, which runs here; its call stays open, as nobody stopped it', async () => {
    const there = await served({
      script: ({ threadId, runId }) => [
        { type: 'RUN_STARTED', threadId, runId },
        { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'wait' },
        { type: 'TOOL_CALL_END', toolCallId: 'c' },
        { type: 'RUN_FINISHED', threadId, runId },
      ],
    })
    let signal: AbortSignal | undefined
    const wait = defineTool({ name: 'wait', description: 'Waits', execute: (_, context) => ((signal = context.signal), new Promise(() => {})) })
    const chat = chatOn(there, { tools: [wait] })
    const sent = chat.sendMessage('Hi')
    await until(() => signal !== undefined)
    chat.dispose('leave')
    expect(signal?.aborted).toBe(true)
    expect(await sent).toEqual({ outcome: 'cancelled' })
    expect(methods(there)).toEqual(['POST'])
    expect(chat.getSnapshot().messages[1]?.parts).toMatchObject([{ id: 'c', state: 'input-complete' }])
  })

  it.each(['leave', 'stop'] as const)('a thread that is being restored when it is disposed of (%s) is not attached any more', async (run) => {
    let loaded: () => void = () => {}
    const hydrated: string[] = []
    const hydrate = async (threadId: string): Promise<undefined> => void hydrated.push(threadId)
    const load = (): Promise<undefined> => new Promise((resolve) => { loaded = () => resolve(undefined) })
    const chat = new ChatClient({
      threadId: 't1',
      connection: { connect: () => iterate(hello()), hydrate },
      persistence: persisted({ load, save: () => {}, remove: () => {} }, { mode: 'server' }),
    })
    const attached = chat.attach()
    chat.dispose(run)
    loaded()
    expect(await attached).toBeUndefined()
    expect(hydrated).toEqual([])
  })
})
