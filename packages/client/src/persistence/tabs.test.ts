/** Several tabs on one thread: they show the same, and what only one may do is done once. */
import { startFaultServer, type FaultServer, type FaultServerOptions } from '@millrace/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { defineTool, memoryStorage, sharedTabs, stream, type ChatClientOptions, type ChatStorage, type ConnectionAdapter, type StoredThread, type StreamChunk } from '@millrace/client'
import { caught, finished, hello, interrupted, iterate, started, text, tick, until } from '../../test/events.ts'
import { FakeTabs } from '../../test/fake-tabs.ts'
import { openPage, shown, type Page } from '../../test/pages.ts'
import { texts } from '../../test/scripted.ts'

let server: FaultServer | undefined
afterEach(async () => server?.close())

async function served(options: FaultServerOptions = {}): Promise<FaultServer> {
  server = await startFaultServer(options)
  return server
}

/** Long enough for a busy machine to object in time. */
const CLAIM_MS = 200

type Agreement = 'locks' | 'channel'

/** Tabs of one browser over one disk. */
function browser(agreement: Agreement = 'locks') {
  const tabs = new FakeTabs()
  const disk: ChatStorage = memoryStorage()
  let count = 0
  const opened: Page[] = []
  const open = (connection: ConnectionAdapter | string, options: Partial<ChatClientOptions> = {}): Page & { close(): void } => {
    const locks = tabs.locks()
    const line = sharedTabs({ channel: tabs.channel, locks: agreement === 'locks' ? locks : null, id: `tab-${count++}`, claimMs: CLAIM_MS })
    const page = openPage(disk, typeof connection === 'string' ? connection : undefined, { ...(typeof connection !== 'string' && { connection }), ...options }, { tabs: line })
    opened.push(page)
    return {
      ...page,
      close: () => {
        page.window.hide()
        page.crash()
        locks.gone()
      },
    }
  }
  return { tabs, disk, open, opened }
}

describe.each<Agreement>(['locks', 'channel'])('tabs that agree by %s', (agreement) => {
  /** Until a claim that nobody objects to is had. */
  const claimed = (): Promise<void> => tick(agreement === 'channel' ? 2 * CLAIM_MS : 20)

  it('a tab that is idle shows what another one sends, as it streams, and reads the same run', async () => {
    const there = await served({ hold: 20 })
    const { open, disk } = browser(agreement)
    const [a, b] = [open(there.url), open(there.url)]
    await Promise.all([a.chat.attach(), b.chat.attach()])
    const sent = a.chat.sendMessage('Hi')
    await until(() => texts(b.chat).length > 1)
    expect(texts(b.chat)[0]).toBe('Hi')
    await there.until(({ requests }) => requests.filter(({ events }) => events === 20).length === 2)
    await until(() => b.chat.getSnapshot().status === 'streaming' && JSON.stringify(shown(b.chat.getSnapshot())) === JSON.stringify(shown(a.chat.getSnapshot())))
    there.release()
    expect(await sent).toEqual({ outcome: 'finished' })
    await until(() => b.chat.getSnapshot().status === 'ready')
    expect(shown(b.chat.getSnapshot())).toEqual(shown(a.chat.getSnapshot()))
    expect(there.started).toHaveLength(1)
    await claimed()
    // The tab that sent stores it; the other one writes nothing.
    expect(b.saves).toEqual([])
    expect((await disk.load('t1')) as StoredThread).not.toHaveProperty('run')
    // And the other way about.
    const back = b.chat.sendMessage('More')
    await until(() => texts(a.chat).some((each) => each === 'More'))
    await until(() => there.started.length === 2)
    there.release()
    expect(await back).toEqual({ outcome: 'finished' })
    await until(() => a.chat.getSnapshot().status === 'ready' && texts(a.chat).length === 4)
    expect(shown(a.chat.getSnapshot())).toEqual(shown(b.chat.getSnapshot()))
    expect(there.started).toHaveLength(2)
  })

  it('what changes without a run is shown by the others too, and so is clear()', async () => {
    const { open } = browser(agreement)
    const connection = stream(() => iterate(hello()))
    const [a, b] = [open(connection), open(connection)]
    await Promise.all([a.chat.attach(), b.chat.attach()])
    await a.chat.sendMessage('Hi')
    await until(() => texts(b.chat).join() === 'Hi,Hello')
    a.chat.setState({ n: 1 })
    await a.clock.advance(500)
    await until(() => JSON.stringify(b.chat.getSnapshot().state) === '{"n":1}')
    b.chat.clear()
    await until(() => a.chat.getSnapshot().messages.length === 0)
    expect(a.chat.getSnapshot().state).toEqual({})
  })

  it('two tabs that send at the same time: both messages and both answers are there in the end, in both', async () => {
    const { open, disk } = browser(agreement)
    const gates: (() => void)[] = []
    const saying = (name: string) =>
      stream(async function* () {
        yield* [started(`r-${name}`), ...text(`Answer ${name}`, `m-${name}`).slice(0, 4)]
        await new Promise<void>((resolve) => gates.push(resolve))
        yield* [...text(`Answer ${name}`, `m-${name}`).slice(4), finished(`r-${name}`)]
      })
    const [a, b] = [open(saying('a')), open(saying('b'))]
    await Promise.all([a.chat.attach(), b.chat.attach()])
    const sent = [a.chat.sendMessage('From a'), b.chat.sendMessage('From b')]
    await until(() => gates.length === 2)
    await tick(10)
    for (const go of gates) go()
    expect(await Promise.all(sent)).toEqual([{ outcome: 'finished' }, { outcome: 'finished' }])
    const all = ['Answer a', 'Answer b', 'From a', 'From b']
    await until(() => [a, b].every(({ chat }) => [...texts(chat)].sort().join() === all.join()))
    await tick(20)
    expect(texts(a.chat)).toEqual(texts(b.chat))
    expect(((await disk.load('t1')) as StoredThread).content?.messages).toHaveLength(4)
  })

  it('clear() in one tab while another one streams ends that, everywhere, and nothing of it comes back', async () => {
    const there = await served({ hold: 20 })
    const { open, disk } = browser(agreement)
    const [a, b] = [open(there.url), open(there.url)]
    await Promise.all([a.chat.attach(), b.chat.attach()])
    const sent = a.chat.sendMessage('Hi')
    await until(() => b.chat.getSnapshot().status === 'streaming')
    b.chat.clear()
    expect(await sent).toEqual({ outcome: 'cancelled' })
    there.release()
    await a.clock.advance(5000)
    await b.clock.advance(5000)
    await tick(30)
    for (const { chat } of [a, b]) expect(chat.getSnapshot()).toMatchObject({ status: 'ready', messages: [] })
    expect(await disk.load('t1')).toBeUndefined()
    // And all goes on as before.
    const again = a.chat.sendMessage('Anew')
    await until(() => there.started.length === 2)
    there.release()
    expect(await again).toEqual({ outcome: 'finished' })
    await until(() => texts(b.chat).length === 2)
  })

  it('over a connection that cannot join, the others show what is stored, also while it streams', async () => {
    const { open } = browser(agreement)
    let go: () => void = () => {}
    const connection = stream(async function* () {
      yield* [started('r1'), ...text('Half', 'm1').slice(0, 3)]
      await new Promise<void>((resolve) => {
        go = resolve
      })
      yield* [...text('Half', 'm1').slice(3), finished('r1')]
    })
    const [a, b] = [open(connection), open(connection)]
    await Promise.all([a.chat.attach(), b.chat.attach()])
    const sent = a.chat.sendMessage('Hi')
    await until(() => texts(a.chat).length === 2)
    await a.clock.advance(500)
    await until(() => texts(b.chat).join() === 'Hi,Ha')
    expect(b.chat.getSnapshot().status).toBe('ready')
    go()
    await sent
    await until(() => texts(b.chat).join() === 'Hi,Half')
    expect(b.saves).toEqual([])
  })

  it('a tool of ours runs in one tab, the one that sent, and the others show how it went on', async () => {
    const events = [started('r'), { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'ask', parentMessageId: 'a1' }, { type: 'TOOL_CALL_END', toolCallId: 'c1' }, finished('r')] as const
    const there = await served({ script: ({ threadId, runId }, count) => (count === 0 ? events : hello(runId, 'Done')).map((event) => ('runId' in event ? { ...event, threadId, runId } : event)) as never, hold: 2 })
    const { open } = browser(agreement)
    const ran: string[] = []
    const tool = (name: string) => defineTool({ name: 'ask', description: 'd', execute: () => (ran.push(name), 'yes') })
    const [a, b, c] = [open(there.url, { tools: [tool('a')] }), open(there.url, { tools: [tool('b')] }), open(there.url, { tools: [tool('c')] })]
    await Promise.all([a, b, c].map(({ chat }) => chat.attach()))
    const sent = b.chat.sendMessage('Hi')
    await there.until(({ requests }) => requests.filter(({ events: count }) => count === 2).length === 3)
    there.release()
    await until(() => there.started.length === 2)
    there.release()
    expect(await sent).toEqual({ outcome: 'finished' })
    await until(() => [a, c].every(({ chat }) => texts(chat).at(-1) === '[tool-call]|Done' && chat.getSnapshot().status === 'ready'))
    await claimed()
    expect(ran).toEqual(['b'])
    expect(there.started).toHaveLength(2)
    for (const { chat } of [a, c]) expect(shown(chat.getSnapshot())).toEqual(shown(b.chat.getSnapshot()))
  })

  it('if the tab that sent is closed, another one runs the tool, once, and stores the thread', async () => {
    const events = [started('r'), { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'ask', parentMessageId: 'a1' }, { type: 'TOOL_CALL_END', toolCallId: 'c1' }, finished('r')] as const
    const there = await served({ script: ({ threadId, runId }, count) => (count === 0 ? events : hello(runId, 'Done')).map((event) => ('runId' in event ? { ...event, threadId, runId } : event)) as never, hold: 2 })
    const { open, disk, tabs } = browser(agreement)
    const ran: string[] = []
    const tool = (name: string) => defineTool({ name: 'ask', description: 'd', execute: () => (ran.push(name), 'yes') })
    const [a, b, c] = [open(there.url, { tools: [tool('a')] }), open(there.url, { tools: [tool('b')] }), open(there.url, { tools: [tool('c')] })]
    await Promise.all([a, b, c].map(({ chat }) => chat.attach()))
    void a.chat.sendMessage('Hi')
    await there.until(({ requests }) => requests.filter(({ events: count }) => count === 2).length === 3)
    await claimed()
    a.close()
    if (agreement === 'channel') [...tabs.open][0]?.close()
    there.release()
    await until(() => there.started.length === 2)
    there.release()
    await until(() => [b, c].every(({ chat }) => texts(chat).at(-1) === '[tool-call]|Done' && chat.getSnapshot().status === 'ready'))
    await claimed()
    expect(ran).toHaveLength(1)
    expect(there.started).toHaveLength(2)
    expect((await disk.load('t1')) as StoredThread).not.toHaveProperty('run')
    expect(((await disk.load('t1')) as StoredThread).content?.messages).toHaveLength(2)
  })

  it('a question is answered once, however many tabs answer it at the same time', async () => {
    const { open } = browser(agreement)
    const calls: string[] = []
    const connection = (name: string) => stream(() => (calls.push(name), iterate(calls.length === 1 ? interrupted('r1', { id: 'i1', reason: 'approval' }) : hello('r2', 'Done'))))
    const pages = ['a', 'b', 'c'].map((name) => open(connection(name)))
    const [a] = pages
    await Promise.all(pages.map(({ chat }) => chat.attach()))
    await a?.chat.sendMessage('Hi')
    await until(() => pages.every(({ chat }) => chat.getSnapshot().interrupts.length === 1))
    await tick(30)
    const answers = await Promise.all(pages.map(({ chat }) => caught(() => chat.respond('i1', { status: 'resolved' }))))
    expect(calls).toHaveLength(2)
    expect(answers.filter((error) => error === undefined)).toHaveLength(1)
    for (const error of answers) if (error !== undefined) expect(error).toMatchObject({ name: 'UsageError' })
    await until(() => pages.every(({ chat }) => chat.getSnapshot().interrupts.length === 0 && texts(chat).join() === 'Hi,Done'))
  })

  it.each<[string, StreamChunk[]]>([
    ['an interrupt', [{ type: 'RUN_FINISHED', threadId: 't1', runId: 'r1', outcome: { type: 'interrupt', interrupts: [{ id: 'a1', reason: 'tool_call', toolCallId: 'c1' }] } } as never]],
    ['a CUSTOM event', [{ type: 'CUSTOM', name: 'approval-requested', value: { toolCallId: 'c1', toolName: 'del', input: {}, approval: { id: 'a1', needsApproval: true } } }, finished('r1')]],
  ])('a call is approved once, however many tabs say so at the same time, and all of them show it: by %s', async (_, ask) => {
    const { open } = browser(agreement)
    const calls: string[] = []
    const call: StreamChunk[] = [started('r1'), { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'del', parentMessageId: 'm1' }, { type: 'TOOL_CALL_END', toolCallId: 'c1' }]
    const done: StreamChunk[] = [started('r2'), { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c1', content: 'gone' }, finished('r2')]
    const connection = (name: string) => stream(() => (calls.push(name), iterate(calls.length === 1 ? [...call, ...ask] : done)))
    const pages = ['a', 'b', 'c'].map((name) => open(connection(name)))
    const states = (): unknown[] => pages.map(({ chat }) => (chat.getSnapshot().messages.at(-1)?.parts[0] as { state?: unknown; approval?: { approved?: unknown } } | undefined)).map((part) => [part?.state, part?.approval?.approved])
    await Promise.all(pages.map(({ chat }) => chat.attach()))
    await pages[0]?.chat.sendMessage('Hi')
    await until(() => states().every((each) => String(each) === 'approval-requested,'))
    await tick(30)
    const answers = await Promise.all(pages.map(({ chat }) => caught(() => chat.approve('a1', { approved: true }))))
    expect(calls).toHaveLength(2)
    expect(answers.filter((error) => error === undefined)).toHaveLength(1)
    for (const error of answers) if (error !== undefined) expect(error).toMatchObject({ name: 'UsageError' })
    await until(() => states().every((each) => String(each) === 'complete,true'))
  })

  it('answers that failed may be given again, by another tab as well', async () => {
    const { open } = browser(agreement)
    let fail = true
    const asked = interrupted('r1', { id: 'i1', reason: 'approval' })
    const resumes: unknown[] = []
    const connection = stream((_messages, _data, _signal, context) => {
      if (context?.resume === undefined) return iterate(asked)
      resumes.push(context.resume)
      return iterate(fail ? [started('r2'), { type: 'RUN_ERROR', message: 'no' }] : hello('r3', 'Done'))
    })
    const [a, b] = [open(connection), open(connection)]
    await Promise.all([a.chat.attach(), b.chat.attach()])
    await a.chat.sendMessage('Hi')
    await until(() => b.chat.getSnapshot().interrupts.length === 1)
    expect(await a.chat.respond('i1', { status: 'resolved' })).toMatchObject({ outcome: 'error' })
    await tick(20)
    fail = false
    expect(await b.chat.respond('i1', { status: 'resolved' })).toEqual({ outcome: 'finished' })
    expect(resumes).toHaveLength(2)
  })

  it('a tab that is opened in the middle reads along, and leaves the storing to the one that sent', async () => {
    const there = await served({ hold: 20 })
    const { open } = browser(agreement)
    const a = open(there.url)
    await a.chat.attach()
    const sent = a.chat.sendMessage('Hi')
    await there.until(({ requests }) => requests[0]?.events === 20)
    await claimed()
    const b = open(there.url)
    const attached = b.chat.attach()
    await there.until(({ requests }) => requests.length === 2)
    there.release()
    expect(await attached).toEqual({ outcome: 'finished' })
    await sent
    await claimed()
    expect(shown(b.chat.getSnapshot())).toEqual(shown(a.chat.getSnapshot()))
    expect(b.saves).toEqual([])
  })

  it('dispose() leaves nothing: no channel, no lock, no timer', async () => {
    const there = await served()
    const { open, tabs } = browser(agreement)
    const [a, b] = [open(there.url), open(there.url)]
    await Promise.all([a.chat.attach(), b.chat.attach()])
    await a.chat.sendMessage('Hi')
    await until(() => texts(b.chat).length === 2 && b.chat.getSnapshot().status === 'ready')
    expect(tabs.open.size).toBe(2)
    a.chat.dispose()
    b.chat.dispose()
    await tick(10)
    expect(tabs.open.size).toBe(0)
    expect(tabs.held.size).toBe(0)
    for (const { clock, window } of [a, b]) expect([clock.pending, window.listeners.size]).toEqual([0, 0])
  })
})

it('what strangers post on the channel changes nothing', async () => {
  const { open, tabs } = browser('channel')
  const a = open(stream(() => iterate(hello())))
  await a.chat.attach()
  await a.chat.sendMessage('Hi')
  const stranger = tabs.channel('millrace:t1')
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none
  for (const message of [undefined, null, 5, 'saved', {}, { kind: 'saved' }, { kind: 'saved', tab: 5 }, { kind: 'held', tab: 'x', name: {} }, { kind: 'claim', tab: 'x', name: 5 }]) stranger.postMessage(message)
  await tick(10)
  expect(texts(a.chat)).toEqual(['Hi', 'Hello'])
})

it('a channel or locks that are forbidden are none', async () => {
  const denied = (): never => {
    throw new DOMException('denied', 'SecurityError')
  }
  const ran: string[] = []
  const tool = defineTool({ name: 'ask', description: 'd', execute: () => (ran.push('ask'), 'yes') })
  const turns = [[started('r1'), { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'ask' }, { type: 'TOOL_CALL_END', toolCallId: 'c1' }, finished('r1')], hello('r2')] as const
  for (const tabs of [sharedTabs({ channel: denied }), sharedTabs({ channel: new FakeTabs().channel, locks: { request: denied } })]) {
    let turn = 0
    const { chat } = openPage(memoryStorage(), undefined, { tools: [tool], connection: stream(() => iterate(turns[turn++] ?? [])) }, { tabs })
    await chat.attach()
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
  }
  expect(ran).toEqual(['ask', 'ask'])
})

it('where tabs cannot speak to each other, a chat is as it is without', async () => {
  const page = openPage(memoryStorage(), undefined, { connection: stream(() => iterate(hello())) }, { tabs: () => undefined })
  await page.chat.attach()
  expect(await page.chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
  expect(page.saves.length).toBeGreaterThan(0)
})
