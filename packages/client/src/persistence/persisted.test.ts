/** A chat that is stored: what comes back after a reload, what is written and when, and what happens when that fails. */
import { recordedRun, startFaultServer, status, type FaultServer, type FaultServerOptions } from '@millrace/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { ChatClient, defineTool, memoryStorage, persisted, stream, type ChatStorage, type StoredThread } from '@millrace/client'
import { caught, finished, hello, interrupted, iterate, started, text, tick, until } from '../../test/events.ts'
import { openPage, shown } from '../../test/pages.ts'
import { texts } from '../../test/scripted.ts'

let server: FaultServer | undefined
afterEach(async () => server?.close())

async function served(options: FaultServerOptions = {}): Promise<FaultServer> {
  server = await startFaultServer({ events: recordedRun('mixed'), ...options })
  return server
}

/** The whole of the run, read without a break and without a disk. */
async function whole(): Promise<unknown> {
  const other = await startFaultServer({ events: recordedRun('mixed') })
  const { chat } = openPage(memoryStorage(), other.url)
  await chat.sendMessage('Hi')
  await other.close()
  return shown(chat.getSnapshot())
}

describe('what comes back', () => {
  it('is what was shown: messages with dates that are dates, state, how the last run ended', async () => {
    const { url } = await served()
    const disk = memoryStorage()
    const first = openPage(disk, url, { now: () => Date.parse('2026-05-06T07:08:09.010Z') })
    await first.chat.sendMessage('Hi')
    const { chat } = openPage(disk, url)
    expect(chat.getSnapshot().messages).toEqual([])
    const attached = chat.attach()
    // At once, from a storage that answers at once: no view sees an empty chat.
    expect(shown(chat.getSnapshot())).toEqual(shown(first.chat.getSnapshot()))
    expect(await attached).toBeUndefined()
    const [user] = chat.getSnapshot().messages
    expect(user?.createdAt).toEqual(new Date('2026-05-06T07:08:09.010Z'))
    expect(chat.getSnapshot()).toMatchObject({ threadId: 't1', status: 'ready', storageError: undefined, runs: [{ outcome: 'finished' }] })
    expect(server?.started).toHaveLength(1)
  })

  it('goes back to the agent as it would have without a reload', async () => {
    const { url } = await served()
    const disk = memoryStorage()
    const kept = openPage(memoryStorage(), url)
    await kept.chat.sendMessage({ content: 'Hi', id: 'u1' })
    const first = openPage(disk, url)
    await first.chat.sendMessage({ content: 'Hi', id: 'u1' })
    const second = openPage(disk, url)
    await second.chat.attach()
    await kept.chat.sendMessage({ content: 'More', id: 'u2' })
    await second.chat.sendMessage({ content: 'More', id: 'u2' })
    const [, , uninterrupted, restored] = (server?.started ?? []).map(({ messages, state }) => ({ messages, state }))
    expect(uninterrupted?.messages).toHaveLength(7)
    expect(restored).toEqual(uninterrupted)
  })

  it('a thread of which nothing is stored is empty, and the server is not asked for it', async () => {
    const there = await served()
    const { chat, saves } = openPage(memoryStorage(), there.url)
    expect(await chat.attach()).toBeUndefined()
    expect(chat.getSnapshot()).toMatchObject({ messages: [], status: 'ready' })
    expect(there.requests).toEqual([])
    expect(saves).toEqual([])
  })

  it('open questions are open again, and the answer has the run that asked as its parent', async () => {
    const disk = memoryStorage()
    const asking = interrupted('r1', { id: 'i1', reason: 'approval' }, { id: 'i2', reason: 'approval' })
    const first = openPage(disk, undefined, { connection: stream(() => iterate(asking)) })
    expect(await first.chat.sendMessage('Hi')).toEqual({ outcome: 'interrupted' })
    const calls: unknown[][] = []
    const second = openPage(disk, undefined, {
      connection: stream((...args) => {
        calls.push(args)
        return iterate(hello('r2', 'Done'))
      }),
    })
    await second.chat.attach()
    expect(second.chat.getSnapshot().interrupts.map(({ id }) => id)).toEqual(['i1', 'i2'])
    expect(await caught(() => second.chat.sendMessage('More'))).toMatchObject({ code: 'interrupts-pending' })
    await second.chat.respond('i1', { status: 'resolved' })
    expect(await second.chat.respond('i2', { status: 'cancelled' })).toEqual({ outcome: 'finished' })
    expect(calls[0]?.[3]).toMatchObject({ threadId: 't1', parentRunId: 'r1', resume: [{ interruptId: 'i1' }, { interruptId: 'i2' }] })
    const third = openPage(disk, undefined, { connection: stream(() => iterate([])) })
    await third.chat.attach()
    expect(third.chat.getSnapshot().interrupts).toEqual([])
    expect(texts(third.chat)).toEqual(['Hi', 'Done'])
  })

  it('an open call of a tool of ours can be answered, and the agent goes on', async () => {
    const disk = memoryStorage()
    const tools = [{ name: 'f', description: '', parameters: {} }]
    const calling = [started('r1'), { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'f' }, { type: 'TOOL_CALL_END', toolCallId: 'c1' }, finished('r1')] as const
    const first = openPage(disk, undefined, { tools, connection: stream(() => iterate(calling)) })
    await first.chat.sendMessage('Hi')
    const second = openPage(disk, undefined, { tools, connection: stream(() => iterate(hello('r2', 'Done'))) })
    await second.chat.attach()
    expect(await second.chat.addToolResult({ toolCallId: 'c1', output: 1 })).toEqual({ outcome: 'finished' })
    expect(texts(second.chat)).toEqual(['Hi', '[tool-call]|Done'])
  })

  it('is under a key of its own if it has one, and then the chat finds its thread by it', async () => {
    const disk = memoryStorage()
    const connection = stream(() => iterate(hello()))
    const first = new ChatClient({ connection, persistence: persisted(disk, { key: 'current' }) })
    await first.sendMessage('Hi')
    const second = new ChatClient({ connection, persistence: persisted(disk, { key: 'current' }) })
    await second.attach()
    expect(second.threadId).toBe(first.threadId)
    expect(texts(second)).toEqual(['Hi', 'Hello'])
    const other = new ChatClient({ threadId: 'another', connection, persistence: persisted(disk, { key: 'current' }) })
    await other.attach()
    expect(other.getSnapshot()).toMatchObject({ threadId: 'another', messages: [] })
  })
})

describe('a crash while a run is under way', () => {
  it.each([0, 1, 2, 10, 25, 40, 52])('after %i events: nothing is lost or doubled, and nothing that was stored goes', async (count) => {
    const there = await served({ hold: count })
    const disk = memoryStorage()
    const first = openPage(disk, there.url)
    void first.chat.sendMessage('Hi')
    await there.until(({ requests }) => requests[0]?.events === count)
    await tick(5)
    await first.clock.advance(500)
    const before = shown(first.chat.getSnapshot())
    first.crash()
    const seen: string[] = []
    const finishes: string[] = []
    const second = openPage(disk, there.url, { onEvent: ({ type }) => seen.push(type), onFinish: ({ outcome }) => finishes.push(outcome) })
    const attached = second.chat.attach()
    expect(shown(second.chat.getSnapshot())).toEqual(JSON.parse(JSON.stringify(before).replaceAll('"state":"streaming"', '"state":"done"').replaceAll(/"state":"(awaiting-input|input-streaming)"/g, '"state":"input-complete"')))
    const length = (): number => JSON.stringify(second.chat.getSnapshot().messages.map(({ parts }) => parts.map((part) => ('content' in part ? part.content : '')))).length
    let shortest = length()
    const least = shortest
    second.chat.subscribe(() => {
      shortest = Math.min(shortest, length())
    })
    there.release()
    expect(await attached).toEqual({ outcome: 'finished' })
    expect(shortest).toBe(least)
    expect(shown(second.chat.getSnapshot())).toEqual(await whole())
    expect(there.started).toHaveLength(1)
    expect(finishes).toEqual(['finished'])
    // What was told before the crash is not told again.
    expect(seen).toHaveLength(recordedRun('mixed').length - count)
    const third = openPage(disk, there.url)
    expect(await third.chat.attach()).toBeUndefined()
    expect(shown(third.chat.getSnapshot())).toEqual(await whole())
  })

  it('before a single tick of the clock: the message and the run are there', async () => {
    const there = await served({ hold: 20 })
    const disk = memoryStorage()
    const first = openPage(disk, there.url)
    void first.chat.sendMessage('Hi')
    expect(first.saves).toMatchObject([{ content: { messages: [{ role: 'user' }] }, run: { seen: 0, base: { kept: 1, messages: [] } } }])
    await there.until(({ requests }) => requests[0]?.events === 20)
    first.crash()
    const { chat } = openPage(disk, there.url)
    const attached = chat.attach()
    there.release()
    expect(await attached).toEqual({ outcome: 'finished' })
    expect(shown(chat.getSnapshot())).toEqual(await whole())
  })

  it('a server that cannot be reached yet is asked again by the next attach()', async () => {
    const there = await served({ hold: 20 })
    const disk = memoryStorage()
    const first = openPage(disk, there.url)
    void first.chat.sendMessage('Hi')
    await there.until(({ requests }) => requests[0]?.events === 20)
    first.crash()
    there.setFaults(() => status(503))
    const second = openPage(disk, there.url)
    expect(await second.chat.attach()).toMatchObject({ outcome: 'error', error: { code: 'http-status' } })
    there.setFaults([])
    there.release()
    second.crash()
    const third = openPage(disk, there.url)
    expect(await third.chat.attach()).toEqual({ outcome: 'finished' })
    expect(shown(third.chat.getSnapshot())).toEqual(await whole())
  })

  it('a run that is gone leaves what was stored, and can be asked for anew', async () => {
    const there = await served({ hold: 20 })
    const disk = memoryStorage()
    const first = openPage(disk, there.url)
    void first.chat.sendMessage('Hi')
    await there.until(({ requests }) => requests[0]?.events === 20)
    await tick(5)
    await first.clock.advance(500)
    const before = texts(first.chat)
    first.crash()
    there.setFaults([status(404)])
    const second = openPage(disk, there.url)
    expect(await second.chat.attach()).toMatchObject({ outcome: 'error', error: { status: 404 } })
    expect(texts(second.chat)).toEqual(before)
    second.crash()
    const third = openPage(disk, there.url)
    expect(await third.chat.attach()).toBeUndefined()
    expect(texts(third.chat)).toEqual(before)
    there.setFaults([])
    const again = third.chat.reload()
    await there.until(({ started: runs }) => runs.length === 2)
    there.release()
    expect(await again).toEqual({ outcome: 'finished' })
    expect(shown(third.chat.getSnapshot())).toEqual(await whole())
  })

  it('over a connection that cannot join, what was stored is shown', async () => {
    const disk = memoryStorage()
    const never = new Promise<void>(() => {})
    const first = openPage(disk, undefined, {
      connection: stream(async function* () {
        yield* [started('r1'), ...text('Half', 'm1').slice(0, 3)]
        await never
      }),
    })
    void first.chat.sendMessage('Hi')
    await until(() => texts(first.chat).length === 2)
    await first.clock.advance(500)
    first.crash()
    const { chat } = openPage(disk, undefined, { connection: stream(() => iterate(hello())) })
    expect(await chat.attach()).toBeUndefined()
    expect(texts(chat)).toEqual(['Hi', 'Ha'])
    expect(await chat.sendMessage('More')).toEqual({ outcome: 'finished' })
  })
})

describe('a crash while tools of ours run', () => {
  const calling = [
    started('r1'),
    ...['c1', 'c2'].flatMap((toolCallId) => [{ type: 'TOOL_CALL_START', toolCallId, toolCallName: toolCallId === 'c1' ? 'slow' : 'asked', parentMessageId: 'a1' }, { type: 'TOOL_CALL_END', toolCallId }]),
    finished('r1'),
  ] as const
  const results = (calls: readonly unknown[][]): unknown[] =>
    ((calls[0]?.[0] ?? []) as { parts: { id?: string; result?: { content: unknown } }[] }[]).flatMap(({ parts }) => parts.flatMap(({ id, result }) => (result === undefined ? [] : [[id, result.content]])))

  it('one that had begun is not run twice, and the agent is told so; the others are run, and it goes on', async () => {
    const disk = memoryStorage()
    const begun: string[] = []
    const slow = defineTool({ name: 'slow', description: 'd', execute: () => (begun.push('slow'), new Promise<never>(() => {})) })
    const asked = defineTool({ name: 'asked', description: 'd', execute: () => (begun.push('asked'), 'yes') })
    const first = openPage(disk, undefined, { tools: [slow], connection: stream(() => iterate(calling)) })
    void first.chat.sendMessage('Hi')
    await until(() => begun.length === 1)
    first.crash()
    const calls: unknown[][] = []
    const finishes: string[] = []
    const second = openPage(disk, undefined, {
      tools: [slow, asked],
      onFinish: ({ outcome }) => finishes.push(outcome),
      connection: stream((...args) => (calls.push(args), iterate(hello('r2', 'Done')))),
    })
    expect(await second.chat.attach()).toEqual({ outcome: 'finished' })
    expect(begun).toEqual(['slow', 'asked'])
    expect(results(calls)).toMatchObject([['c1', expect.stringContaining('left')], ['c2', 'yes']])
    expect(finishes).toEqual(['finished'])
    expect(texts(second.chat)).toEqual(['Hi', '[tool-call]|[tool-call]|Done'])
    expect(await second.chat.attach()).toBeUndefined()
    expect(calls).toHaveLength(1)
  })

  it('a call that the application answers is told again, once, and stays open', async () => {
    const disk = memoryStorage()
    const tools = [{ name: 'slow', description: '', parameters: {} }]
    await openPage(disk, undefined, { tools, connection: stream(() => iterate(calling)) }).chat.sendMessage('Hi')
    const told: string[] = []
    const { chat } = openPage(disk, undefined, { tools, onToolCall: ({ toolCallId }) => told.push(toolCallId), connection: stream(() => iterate([])) })
    expect(await chat.attach()).toBeUndefined()
    expect(await chat.attach()).toBeUndefined()
    expect(told).toEqual(['c1'])
    expect(chat.getSnapshot().status).toBe('ready')
  })

  it('stop() ends what was gone on with', async () => {
    const disk = memoryStorage()
    const calls: unknown[] = []
    const asked = defineTool({ name: 'asked', description: 'd', execute: () => new Promise<never>(() => {}) })
    const first = openPage(disk, undefined, { tools: [], connection: stream(() => iterate(calling)) })
    await first.chat.sendMessage('Hi')
    const { chat } = openPage(disk, undefined, { tools: [asked], connection: stream(() => (calls.push(1), iterate(hello('r2', 'Done')))) })
    const attached = chat.attach()
    await until(() => chat.getSnapshot().status === 'streaming')
    chat.stop()
    expect(await attached).toEqual({ outcome: 'cancelled' })
    expect(chat.getSnapshot()).toMatchObject({ status: 'ready', runs: [{ outcome: 'finished' }] })
    expect(calls).toEqual([])
  })
})

describe('defects of peers that we do not have', () => {
  it('peer defect 1: dates that JSON made text of do not keep the next message from being sent', async () => {
    const there = await served()
    const disk = memoryStorage()
    const first = openPage(disk, there.url)
    await first.chat.sendMessage('Hi')
    expect(typeof (JSON.parse(JSON.stringify(first.saves.at(-1))) as StoredThread).content?.messages[0]?.createdAt).toBe('string')
    const { chat } = openPage(disk, there.url)
    await chat.attach()
    expect(chat.getSnapshot().messages[0]?.createdAt?.toISOString()).toMatch(/^\d{4}-/)
    expect(await chat.sendMessage('More')).toEqual({ outcome: 'finished' })
    expect(there.started).toHaveLength(2)
  })

  it('peer defect 4: an answer that opens with reasoning comes whole behind a thread that ends on the user', async () => {
    const there = await served({ hold: 5 })
    const disk = memoryStorage()
    const first = openPage(disk, there.url)
    void first.chat.sendMessage('Hi')
    await there.until(({ requests }) => requests[0]?.events === 5)
    // Stored before any of the answer: the thread ends on the user.
    first.crash()
    expect((await disk.load('t1')) as StoredThread).toMatchObject({ content: { messages: [{ role: 'user' }] } })
    const { chat } = openPage(disk, there.url)
    const attached = chat.attach()
    there.release()
    expect(await attached).toEqual({ outcome: 'finished' })
    expect(shown(chat.getSnapshot())).toEqual(await whole())
    expect(chat.getSnapshot().messages[1]?.parts[0]).toMatchObject({ type: 'thinking' })
  })
})

describe('what is written, and when', () => {
  /** A run of 500 deltas that come one by one, every 10 ms of the clock. */
  async function slowly(persistence: Parameters<typeof openPage>[3] = {}) {
    let step: () => void = () => {}
    const next = (): Promise<void> => new Promise((resolve) => { step = resolve })
    const page = openPage(memoryStorage(), undefined, {
      connection: stream(async function* () {
        yield* [started(), ...text('x', 'm1').slice(0, 1)]
        for (let i = 0; i < 500; i++) {
          await next()
          yield { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: `${i} ` }
        }
        yield* [{ type: 'TEXT_MESSAGE_END', messageId: 'm1' }, finished()]
      }),
    }, persistence)
    const sent = page.chat.sendMessage('Hi')
    await until(() => page.chat.getSnapshot().status === 'streaming')
    for (let i = 0; i < 500; i++) {
      step()
      await page.clock.advance(10)
    }
    await sent
    return page
  }

  it('500 deltas in five seconds are a dozen writes, not five hundred', async () => {
    const { saves, clock, window } = await slowly()
    // Start, the run's id, ten of the clock, the end.
    expect(saves.length).toBeLessThanOrEqual(13)
    expect(saves.length).toBeGreaterThanOrEqual(11)
    expect(saves.at(-1)?.content?.messages[1]?.parts).toMatchObject([{ content: Array.from({ length: 500 }, (_, i) => `${i} `).join('') }])
    expect(saves.at(-1)?.run).toBeUndefined()
    expect(clock.pending).toBe(0)
    expect(window.listeners.size).toBe(0)
  }, 60_000)

  it('500 deltas in one burst are three writes', async () => {
    const page = openPage(memoryStorage(), undefined, { connection: stream(() => iterate([started(), ...text('x'.repeat(500)), finished()])) })
    await page.chat.sendMessage('Hi')
    expect(page.saves.length).toBeLessThanOrEqual(3)
  })

  it('a run that goes on from a long thread does not store it twice', async () => {
    const disk = memoryStorage()
    const { chat, saves } = openPage(disk, undefined, {
      initialMessages: Array.from({ length: 200 }, (_, i) => ({ id: `u${i}`, role: 'user' as const, parts: [{ type: 'text' as const, content: 'x'.repeat(100) }] })),
      connection: stream(() => iterate(hello())),
    })
    await chat.sendMessage('Hi')
    expect(saves[0]?.run?.base).toMatchObject({ kept: 201, messages: [] })
    expect(JSON.stringify(saves[0]).length).toBeLessThan(1.1 * JSON.stringify(saves[0]?.content).length)
  })

  it('never an older value over a newer one, however slow the storage is', async () => {
    const disk = memoryStorage()
    const landed: number[] = []
    let waits: (() => void)[] = []
    const slow: ChatStorage = {
      load: async (key) => disk.load(key),
      save: async (key, thread) => {
        await new Promise<void>((resolve) => waits.push(resolve))
        landed.push(thread.content?.messages.length ?? 0)
        await disk.save(key, thread)
      },
      remove: async (key) => disk.remove(key),
    }
    const { chat, clock } = openPage(slow, undefined, { connection: stream(() => iterate(hello())) })
    await chat.attach()
    for (let i = 0; i < 5; i++) {
      chat.setMessages(Array.from({ length: i }, (_, at) => ({ id: `u${at}`, role: 'user', parts: [{ type: 'text', content: 'x' }] })))
      await clock.advance(500)
    }
    // One write is in hand; the rest waits for it.
    expect(waits).toHaveLength(1)
    while (waits.length > 0) {
      const [go] = waits
      waits = []
      go?.()
      await tick(1)
    }
    expect(landed).toEqual([0, 4])
    expect((await disk.load('t1')) as StoredThread).toMatchObject({ content: { messages: [{}, {}, {}, {}] } })
  })

  it('what waits is written when the page goes away, and by detach() and dispose()', async () => {
    const { chat, saves, window, clock } = openPage(memoryStorage(), undefined, { connection: stream(() => iterate(hello())) })
    await chat.attach()
    chat.setState({ n: 1 })
    expect(saves).toHaveLength(0)
    window.hide()
    expect(saves).toMatchObject([{ content: { state: { n: 1 } } }])
    expect(window.listeners.size).toBe(0)
    chat.setState({ n: 2 })
    chat.dispose()
    expect(saves.at(-1)).toMatchObject({ content: { state: { n: 2 } } })
    expect([clock.pending, window.listeners.size]).toEqual([0, 0])
  })

  it('stop() and detach() are stored at once, with what they left', async () => {
    const there = await served({ hold: 20 })
    const { chat, saves } = openPage(memoryStorage(), there.url)
    void chat.sendMessage('Hi')
    await there.until(({ requests }) => requests[0]?.events === 20)
    await until(() => chat.getSnapshot().messages.length > 1)
    chat.detach()
    expect(saves.at(-1)?.run).toMatchObject({ seen: 20 })
    chat.stop()
    expect(saves.at(-1)?.run).toBeUndefined()
    expect(saves.at(-1)?.content?.messages).toHaveLength(2)
  })

  it('clear() removes it, at once and for good', async () => {
    const disk = memoryStorage()
    const { chat } = openPage(disk, undefined, { connection: stream(() => iterate(hello())) })
    await chat.sendMessage('Hi')
    expect(await disk.load('t1')).toBeDefined()
    chat.clear()
    expect(await disk.load('t1')).toBeUndefined()
    await chat.sendMessage('Anew')
    expect(((await disk.load('t1')) as StoredThread).content?.messages).toHaveLength(2)
  })

  it('clear() while it is being read: it does not come back', async () => {
    const disk = memoryStorage()
    await openPage(disk, undefined, { connection: stream(() => iterate(hello())) }).chat.sendMessage('Hi')
    let go: () => void = () => {}
    const slow: ChatStorage = { ...disk, load: async (key) => (await new Promise<void>((resolve) => { go = resolve }), disk.load(key)) }
    const { chat } = openPage(slow, undefined, { connection: stream(() => iterate(hello())) })
    const attached = chat.attach()
    chat.clear()
    go()
    await attached
    expect(chat.getSnapshot().messages).toEqual([])
    expect(await disk.load('t1')).toBeUndefined()
  })
})

describe('used before what is stored was read', () => {
  const talk = async (disk: ChatStorage): Promise<void> => void (await openPage(disk, undefined, { connection: stream(() => iterate(hello('r1', 'Old'))) }).chat.sendMessage('First'))

  it.each(['at once', 'later'])('nothing that was stored is lost (storage answers %s)', async (when) => {
    const disk = memoryStorage()
    await talk(disk)
    const storage: ChatStorage = when === 'at once' ? disk : { ...disk, load: async (key) => (await tick(10), disk.load(key)) }
    const { chat } = openPage(storage, undefined, { connection: stream(() => iterate(hello('r2', 'New'))) })
    await chat.sendMessage('Second')
    await until(() => texts(chat).length === 4)
    expect(texts(chat)).toEqual(['First', 'Old', 'Second', 'New'])
    const next = openPage(disk, undefined, { connection: stream(() => iterate([])) })
    await until(async () => ((await disk.load('t1')) as StoredThread).content?.messages.length === 4)
    await next.chat.attach()
    expect(texts(next.chat)).toEqual(['First', 'Old', 'Second', 'New'])
  })

  it('nor when it crashes in that very run', async () => {
    const there = await served({ hold: 20 })
    const disk = memoryStorage()
    await talk(disk)
    const first = openPage({ ...disk, load: async (key) => (await tick(10), disk.load(key)) }, there.url)
    void first.chat.sendMessage('Second')
    await there.until(({ requests }) => requests[0]?.events === 20)
    await until(() => texts(first.chat).length === 4)
    await first.clock.advance(500)
    first.crash()
    const { chat } = openPage(disk, there.url)
    const attached = chat.attach()
    there.release()
    expect(await attached).toEqual({ outcome: 'finished' })
    expect(texts(chat).slice(0, 3)).toEqual(['First', 'Old', 'Second'])
    expect(texts(chat)).toHaveLength(4)
  })
})

describe('a storage that fails', () => {
  const full = (): Error => new DOMException('full', 'QuotaExceededError')

  it('keeps the chat going, shows, is tried again at the next change, and is good again then', async () => {
    const disk = memoryStorage()
    let failing = true
    const errors: unknown[] = []
    const page = openPage(
      { ...disk, save: (key, thread) => (failing ? (() => { throw full() })() : disk.save(key, thread)) },
      undefined,
      { connection: stream(() => iterate(hello())), onError: (error) => errors.push(error) },
    )
    expect(await page.chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    expect(page.chat.getSnapshot()).toMatchObject({ status: 'ready', error: undefined, storageError: { name: 'StorageError', code: 'quota', key: 't1' } })
    expect(texts(page.chat)).toEqual(['Hi', 'Hello'])
    expect(errors).toEqual([])
    await page.clock.advance(10_000)
    const tried = page.saves.length
    failing = false
    await page.clock.advance(10_000)
    expect(page.saves).toHaveLength(tried)
    let told = 0
    page.chat.subscribe(() => told++)
    page.chat.setState({ n: 1 })
    await page.clock.advance(500)
    expect(page.chat.getSnapshot().storageError).toBeUndefined()
    expect(told).toBe(2)
    expect(await disk.load('t1')).toMatchObject({ content: { state: { n: 1 }, messages: [{}, {}] } })
  })

  it('says so also when it fails later, by a promise', async () => {
    const disk = memoryStorage()
    const { chat } = openPage({ load: async (key) => disk.load(key), save: async () => Promise.reject(new Error('disk on fire')), remove: async () => {} }, undefined, {
      connection: stream(() => iterate(hello())),
    })
    await chat.attach()
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    await until(() => chat.getSnapshot().storageError !== undefined)
    expect(chat.getSnapshot().storageError).toMatchObject({ code: 'unavailable', cause: { message: 'disk on fire' } })
  })

  it('a state that is not JSON is told as that', async () => {
    const { chat, clock } = openPage(memoryStorage(), undefined, { connection: stream(() => iterate(hello())) })
    await chat.attach()
    chat.setState({ big: 1n })
    await clock.advance(500)
    expect(chat.getSnapshot().storageError).toMatchObject({ code: 'not-json' })
  })

  it('one that cannot be read is not written to until it can be', async () => {
    const disk = memoryStorage()
    await openPage(disk, undefined, { connection: stream(() => iterate(hello('r1', 'Old'))) }).chat.sendMessage('First')
    let failing = true
    let loads = 0
    const page = openPage({ ...disk, load: (key) => (loads++, failing ? (() => { throw new Error('denied') })() : disk.load(key)) }, undefined, { connection: stream(() => iterate(hello('r2', 'New'))) })
    expect(await page.chat.attach()).toBeUndefined()
    expect(page.chat.getSnapshot()).toMatchObject({ status: 'ready', storageError: { code: 'unavailable' } })
    expect(await page.chat.sendMessage('Second')).toEqual({ outcome: 'finished' })
    expect(page.saves).toEqual([])
    expect(loads).toBeLessThan(6)
    failing = false
    await page.chat.sendMessage('Third')
    expect(page.chat.getSnapshot().storageError).toBeUndefined()
    expect(texts(page.chat).slice(0, 3)).toEqual(['First', 'Old', 'Second'])
    expect(((await disk.load('t1')) as StoredThread).content?.messages[0]).toMatchObject({ parts: [{ content: 'First' }] })
  })

  it.each<[string, unknown, string]>([
    ['a newer version', { version: 99, threadId: 't1', everything: 'else' }, 'newer-version'],
    ['a version that is none', { version: 'one' }, 'corrupt'],
    ['a number', 5, 'corrupt'],
    ['an empty object', {}, 'corrupt'],
    ['no messages', { version: 1, threadId: 't1', content: { messages: 5 }, interrupts: [], runs: [] }, 'corrupt'],
    ['a message without parts', { version: 1, threadId: 't1', content: { messages: [{ id: 'a', role: 'user' }] }, interrupts: [], runs: [] }, 'corrupt'],
    ['a question without an id', { version: 1, threadId: 't1', content: { messages: [] }, interrupts: [{}], runs: [] }, 'corrupt'],
    ['a run that ended in no known way', { version: 1, threadId: 't1', interrupts: [], runs: [{ outcome: 'well' }] }, 'corrupt'],
    ['a run under way that counts backwards', { version: 1, threadId: 't1', interrupts: [], runs: [], run: { runId: 'r', seen: -1 } }, 'corrupt'],
    ['no thread id', { version: 1, interrupts: [], runs: [] }, 'corrupt'],
  ])('%s is told, and stays as it is until clear()', async (_, value, code) => {
    const disk = memoryStorage()
    await disk.save('t1', value as StoredThread)
    const page = openPage(disk, undefined, { connection: stream(() => iterate(hello())) })
    expect(await page.chat.attach()).toBeUndefined()
    expect(page.chat.getSnapshot().storageError).toMatchObject({ name: 'StorageError', code, key: 't1' })
    expect(await page.chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    await page.clock.advance(1000)
    page.window.hide()
    expect(page.saves).toEqual([])
    expect(await disk.load('t1')).toEqual(value)
    page.chat.clear()
    expect(page.chat.getSnapshot().storageError).toBeUndefined()
    expect(await disk.load('t1')).toBeUndefined()
    await page.chat.sendMessage('Hi')
    expect(await disk.load('t1')).toMatchObject({ version: 1 })
  })
})

describe('versions', () => {
  const message = { id: 'u1', role: 'user', parts: [{ type: 'text', content: 'Old' }], createdAt: '2026-01-01T00:00:00.000Z' }

  it.each<[string, unknown]>([
    ['an object with messages', { messages: [message] }],
    ['a list of messages', [message]],
  ])('what applications stored by themselves is read: %s', async (_, value) => {
    const disk = memoryStorage()
    await disk.save('t1', value as StoredThread)
    const { chat } = openPage(disk, undefined, { connection: stream(() => iterate(hello())) })
    await chat.attach()
    expect(texts(chat)).toEqual(['Old'])
    expect(chat.getSnapshot().messages[0]?.createdAt).toEqual(new Date('2026-01-01T00:00:00.000Z'))
  })

  it('a step of the application goes before ours; one that throws is corrupt', async () => {
    const disk = memoryStorage()
    await disk.save('t1', { said: 'Old' } as never)
    const step = (stored: unknown, threadId: string): unknown => ({
      threadId, interrupts: [], runs: [], content: { messages: [{ ...message, parts: [{ type: 'text', content: (stored as { said: string }).said }] }] },
    })
    const good = openPage(disk, undefined, { connection: stream(() => iterate(hello())) }, { migrate: { 0: step } })
    await good.chat.attach()
    expect(texts(good.chat)).toEqual(['Old'])
    const bad = openPage(disk, undefined, { connection: stream(() => iterate(hello())) }, { migrate: { 0: () => { throw new Error('no') } } })
    await bad.chat.attach()
    expect(bad.chat.getSnapshot().storageError).toMatchObject({ code: 'corrupt', cause: { message: 'no' } })
  })

  it('nothing of what is stored reaches a prototype', async () => {
    const disk = memoryStorage()
    const evil = '{"__proto__":{"polluted":1},"version":1,"threadId":"t1","interrupts":[],"runs":[{"outcome":"finished","__proto__":{"polluted":1}}],"content":{"messages":[{"id":"__proto__","role":"user","__proto__":{"polluted":1},"parts":[{"type":"text","content":"x","__proto__":{"polluted":1}}],"metadata":{"__proto__":{"polluted":1}}}],"state":{"__proto__":{"polluted":1}}}}'
    await disk.save('t1', JSON.parse(evil) as StoredThread)
    const { chat } = openPage(disk, undefined, { connection: stream(() => iterate([started(), { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/a', value: 1 }] }, finished()])) })
    await chat.attach()
    await chat.sendMessage('Hi')
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
    expect((chat.getSnapshot() as { polluted?: number }).polluted).toBeUndefined()
    expect(chat.getSnapshot().messages.every((each) => (each as { polluted?: number }).polluted === undefined)).toBe(true)
    expect(chat.getSnapshot().runs.every((each) => (each as { polluted?: number }).polluted === undefined)).toBe(true)
  })
})

describe('mode server', () => {
  const server = { mode: 'server' } as const

  it('stores which thread it is and what is under way, and no messages; attach() asks the server', async () => {
    const there = await served({ hold: 20 })
    const disk = memoryStorage()
    const first = openPage(disk, there.url, {}, server)
    void first.chat.sendMessage('Hi')
    await there.until(({ requests }) => requests[0]?.events === 20)
    await first.clock.advance(5000)
    first.crash()
    expect(first.saves.length).toBeLessThanOrEqual(2)
    expect(JSON.stringify(first.saves)).not.toContain('messages')
    expect(first.saves.at(-1)).toMatchObject({ threadId: 't1', run: { seen: 0 } })
    const { chat } = openPage(disk, there.url, {}, server)
    const attached = chat.attach()
    await until(() => texts(chat).length > 1)
    there.release()
    expect(await attached).toEqual({ outcome: 'finished' })
    expect(shown(chat.getSnapshot())).toEqual(await whole())
  })

  it('a question that the server tells of is answered with the run that asked it, which only we know', async () => {
    const disk = memoryStorage()
    const asking = interrupted('r1', { id: 'i1', reason: 'approval' })
    const first = openPage(disk, undefined, { connection: stream(() => iterate(asking)) }, server)
    await first.chat.sendMessage('Hi')
    const told = (ids: string[]) => async () => ({ messages: [{ id: 'u', role: 'user', content: 'Hi' }], activeRun: null, interrupts: ids.map((id) => ({ id, reason: 'approval' })) })
    const parentOf = async (ids: string[]): Promise<unknown> => {
      const calls: unknown[][] = []
      const connect = (...args: unknown[]) => (calls.push(args), iterate(hello('r2')))
      const { chat } = openPage({ ...disk, save: () => {} }, undefined, { connection: { connect, hydrate: told(ids) } }, server)
      await chat.attach()
      expect(await chat.respond(ids[0] as string, { status: 'resolved' })).toEqual({ outcome: 'finished' })
      return (calls[0]?.[3] as { parentRunId?: string } | undefined)?.parentRunId
    }
    expect(await parentOf(['i1'])).toBe('r1')
    // Asked by a run that we know nothing of.
    expect(await parentOf(['i9'])).toBeUndefined()
  })

  it('what the server says of questions wins over what is stored', async () => {
    const disk = memoryStorage()
    await openPage(disk, undefined, { connection: stream(() => iterate(interrupted('r1', { id: 'i1', reason: 'approval' }))) }, server).chat.sendMessage('Hi')
    const hydrate = async () => ({ messages: [{ id: 'u', role: 'user', content: 'Hi' }], activeRun: null, interrupts: null })
    const { chat } = openPage(disk, undefined, { connection: { connect: () => iterate(hello()), hydrate } }, server)
    await chat.attach()
    expect(chat.getSnapshot().interrupts).toEqual([])
  })

  it('a run under way is joined by what is stored if the server tells of no threads', async () => {
    const there = await served({ hold: 20 })
    const disk = memoryStorage()
    const first = openPage(disk, there.url, {}, server)
    void first.chat.sendMessage('Hi')
    await there.until(({ requests }) => requests[0]?.events === 20)
    await until(() => first.chat.getSnapshot().messages.length > 1)
    first.crash()
    const page = openPage(disk, there.url, {}, server)
    const { connect, joinRun } = (await import('@millrace/client')).fetchServerSentEvents(there.url)
    page.chat.updateOptions({ connection: { connect, joinRun } })
    const attached = page.chat.attach()
    there.release()
    expect(await attached).toEqual({ outcome: 'finished' })
    expect(page.chat.getSnapshot().messages).toHaveLength(1)
  })
})

describe('options', () => {
  it.each<[string, () => unknown]>([
    ['no storage', () => persisted(undefined as never)],
    ['half a storage', () => persisted({ load: () => undefined } as never)],
    ['a mode that is none', () => persisted(memoryStorage(), { mode: 'both' as never })],
    ['a throttle that is none', () => persisted(memoryStorage(), { throttleMs: Number.NaN })],
    ['a key that is no text', () => persisted(memoryStorage(), { key: 5 as never })],
    ['tabs that are none', () => persisted(memoryStorage(), { tabs: {} as never })],
    ['something that is not what persisted() gives', () => new ChatClient({ connection: stream(() => iterate([])), persistence: memoryStorage() as never })],
  ])('%s is refused', async (_, make) => {
    expect(await caught(make)).toMatchObject({ name: 'UsageError', code: 'bad-options' })
  })
})
