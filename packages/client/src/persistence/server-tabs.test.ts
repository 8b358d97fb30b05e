/** Several tabs on one thread that is the server's: they show the same, and what only one may do is done once. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRunHandler, type Agent } from '@millrace/server'
import { toNodeListener } from '@millrace/server/node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  defineTool,
  fetchServerSentEvents,
  memoryStorage,
  sharedTabs,
  type ChatClientOptions,
  type ChatStorage,
  type ConnectConnectionAdapter,
  type StoredThread,
} from '@millrace/client'
import { caught, tick, until } from '../../test/events.ts'
import { FakeTabs } from '../../test/fake-tabs.ts'
import { openPage, shown, type Page } from '../../test/pages.ts'
import { texts } from '../../test/scripted.ts'

let url: string
/** Requests so far: a method, and what is asked for. */
let requests: string[]
/** What lets the agents go that wait, by what they were asked. */
let gates: Map<string, () => void>
let close: () => Promise<void>

/** Says half of it and waits; asks for a tool of the page, or a question, if it is told to. */
const agent: Agent = async (input, run) => {
  const last = input.messages.at(-1)
  const asked = JSON.stringify(last?.content)
  if (last?.role === 'tool' || input.resume !== undefined) return void (await run.text('Done'))
  if (asked.includes('tool')) return void (await run.toolCall('ask', '{}'))
  if (asked.includes('question')) return run.interrupt({ id: `i-${run.runId}`, reason: 'approval' })
  if (asked.includes('call')) await run.toolCall('ask', '{}')
  const writer = await run.text()
  await writer.write('Half')
  await new Promise<void>((resolve) => {
    gates.set(asked, resolve)
    run.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await writer.write(` of ${asked}`)
  // One that is told to goes on until it is stopped.
  if (asked.includes('endless')) await new Promise<void>((resolve) => run.signal.addEventListener('abort', () => resolve(), { once: true }))
}

beforeEach(async () => {
  requests = []
  gates = new Map()
  const handler = createRunHandler({ agent, authorize: () => true })
  const listener = toNodeListener(handler)
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://here')
    requests.push([request.method, ...searchParams.keys()].join(' '))
    listener(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`
  close = async () => {
    server.closeAllConnections()
    server.close()
    await handler.stop()
  }
})
const opened: Page[] = []
afterEach(async () => {
  for (const { chat } of opened.splice(0)) chat.dispose()
  await close()
})

const count = (request: string): number => requests.filter((each) => each === request).length
const release = (): void => {
  for (const asked of gates.keys()) letGo(asked)
}
const letGo = (asked: string): void => {
  gates.get(asked)?.()
  gates.delete(asked)
}

/** Long enough for a busy machine to object in time. */
const CLAIM_MS = 200

interface Tab extends Page {
  close(): void
}

type Agreement = 'locks' | 'channel' | 'a channel of the platform'

/** Tabs of one browser over one disk. */
function browser(agreement: Agreement) {
  const tabs = new FakeTabs()
  const disk: ChatStorage = memoryStorage()
  // The channels of tests that run side by side are of one platform.
  const threadId = `t-${Math.random()}`
  let tab = 0
  const open = (options: Partial<ChatClientOptions> = {}): Tab => {
    const locks = tabs.locks()
    const line = sharedTabs({
      ...(agreement !== 'a channel of the platform' && { channel: tabs.channel }),
      locks: agreement === 'locks' ? locks : null,
      id: `tab-${tab++}`,
      claimMs: CLAIM_MS,
    })
    const page = openPage(disk, url, { threadId, ...options }, { tabs: line, mode: 'server' })
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
  /** As many as are taken of them. */
  const attached = async (many: 2 | 3): Promise<readonly [Tab, Tab, ...Tab[]]> => {
    const [a, b, ...more] = [open(), open(), ...Array.from({ length: many - 2 }, () => open())] as const
    const pages = [a, b, ...more] as const
    await Promise.all(pages.map(({ chat }) => chat.attach()))
    return pages
  }
  return { tabs, disk, threadId, open, attached }
}

/** A connection whose streams come late: what came of them is held until it is let go. */
function late(changes: Partial<ConnectConnectionAdapter> = {}) {
  let held: Promise<void> | undefined
  let letThrough: () => void = () => {}
  const fetchClient: typeof fetch = async (...args) => {
    const response = await fetch(...args)
    if (response.headers.get('content-type') !== 'text/event-stream') return response
    const delayed = new TransformStream<Uint8Array, Uint8Array>({
      async transform(bytes, controller) {
        await held
        controller.enqueue(bytes)
      },
    })
    return new Response(response.body?.pipeThrough(delayed), response)
  }
  return {
    connection: { ...fetchServerSentEvents(url, { fetchClient, reconnect: { delayMs: 0 } }), ...changes },
    hold: () => {
      held = new Promise((resolve) => (letThrough = resolve))
    },
    letThrough: () => letThrough(),
  }
}

const resting = (pages: readonly Page[], last: string): Promise<void> =>
  until(() => pages.every(({ chat }) => chat.getSnapshot().status === 'ready' && texts(chat).at(-1) === last))

function expectSame(pages: readonly Page[]): void {
  const [first, ...others] = pages.map(({ chat }) => shown(chat.getSnapshot()))
  for (const other of others) expect(other).toEqual(first)
}

describe('after a stop', () => {
  const stopped = async (changes: Partial<ConnectConnectionAdapter>, act: (tab: Tab) => void = () => {}): Promise<Tab> => {
    const { open } = browser('locks')
    const slow = late(changes)
    const tab = open({ connection: slow.connection })
    void tab.chat.sendMessage('endless')
    await until(() => texts(tab.chat).at(-1) === 'Half')
    slow.hold()
    release()
    await tick(20)
    tab.chat.stop()
    act(tab)
    await tick(50)
    slow.letThrough()
    await tick(20)
    return tab
  }
  const told = (messages: unknown[]) => async () => ({ messages, activeRun: null, interrupts: null })

  it.each<[string, Partial<ConnectConnectionAdapter>]>([
    ['cannot end runs', { cancelRun: undefined } as never],
    ['does not end it', { cancelRun: () => Promise.reject(new Error('no')) }],
    ['ends it later', { cancelRun: async () => 'cancelling' }],
    ['does not know it', { cancelRun: async () => 'unknown' }],
    ['tells of no threads', { hydrate: undefined } as never],
    ['cannot be asked', { hydrate: () => Promise.reject(new Error('down')) }],
    ['tells no thread', { hydrate: async () => undefined }],
    ['tells nonsense', { hydrate: async () => ({ messages: [5], activeRun: null, interrupts: null }) }],
    ['has less of it', { hydrate: told([{ id: 'u', role: 'user', content: 'endless' }]) }],
    ['has another run under way', { hydrate: async () => ({ messages: [], activeRun: { runId: 'other' }, interrupts: null }) }],
  ])('a server that %s leaves what the tab had, and nothing fails', async (_, changes) => {
    const { chat } = await stopped(changes)
    expect(texts(chat)).toEqual(['endless', 'Half'])
    expect(chat.getSnapshot()).toMatchObject({ status: 'ready', error: undefined })
  })

  it.each<[string, (tab: Tab) => void, readonly string[]]>([
    ['clear()', ({ chat }) => chat.clear(), []],
    ['setMessages()', ({ chat }) => chat.setMessages([]), []],
    ['dispose()', ({ chat }) => void chat.dispose(), ['endless', 'Half']],
  ])('%s counts, and the server is not asked', async (_, act, left) => {
    const { chat } = await stopped({}, act)
    expect(texts(chat)).toEqual(left)
    expect(count('GET threadId')).toBe(0)
  })

  it('an answer to a call that was given meanwhile stays', async () => {
    const { open } = browser('locks')
    const tools = [defineTool({ name: 'ask', description: 'd' })]
    const { chat } = open({ tools })
    void chat.sendMessage('call and wait')
    await until(() => texts(chat).at(-1)?.includes('Half') === true)
    const call = chat.getSnapshot().messages.flatMap(({ parts }) => parts).find(({ type }) => type === 'tool-call') as { id: string }
    await chat.addToolResult({ toolCallId: call.id, output: 'mine' })
    chat.stop()
    await until(() => count('GET threadId') === 1)
    await tick(20)
    expect(chat.getSnapshot().messages.flatMap(({ parts }) => parts)).toContainEqual(expect.objectContaining({ id: call.id, output: 'mine' }))
  })
})

describe.each<Agreement>(['locks', 'channel', 'a channel of the platform'])('tabs that agree by %s', (agreement) => {
  /** Until a claim that nobody objects to is had. */
  const claimed = (): Promise<void> => tick(agreement === 'locks' ? 20 : 2 * CLAIM_MS)

  it('a tab that is idle shows what another one sends, as it streams; each asks once', async () => {
    const { attached, disk, threadId } = browser(agreement)
    const pages = await attached(3)
    const [a, b, c] = pages
    const sent = a.chat.sendMessage('one')
    await until(() => pages.every(({ chat }) => texts(chat).join() === 'one,Half' && chat.getSnapshot().status === 'streaming'))
    release()
    expect(await sent).toEqual({ outcome: 'finished' })
    await resting(pages, 'Half of "one"')
    await claimed()
    expectSame(pages)
    expect([count('POST'), count('GET threadId'), count('GET runId offset')]).toEqual([1, 5, 2])
    for (const tab of [b, c]) expect(tab?.saves).toEqual([])
    expect((await disk.load(threadId)) as StoredThread).not.toHaveProperty('run')
    // And the other way about.
    const back = b.chat.sendMessage('two')
    await until(() => pages.every(({ chat }) => texts(chat).join() === 'one,Half of "one",two,Half'))
    release()
    expect(await back).toEqual({ outcome: 'finished' })
    await resting(pages, 'Half of "two"')
    await claimed()
    expectSame(pages)
    expect([count('POST'), count('GET threadId'), count('GET runId offset')]).toEqual([2, 7, 4])
  })

  it('what is shown never gets less', async () => {
    const { attached } = browser(agreement)
    const [a, b] = await attached(2)
    const lengths: number[] = []
    b.chat.subscribe(() => lengths.push(texts(b.chat).join().length))
    for (const say of ['one', 'two']) {
      const sent = a.chat.sendMessage(say)
      await until(() => texts(b.chat).at(-1) === 'Half')
      release()
      await sent
      await resting([a, b], `Half of "${say}"`)
    }
    await claimed()
    expect(lengths).toEqual([...lengths].sort((one, other) => one - other))
  })

  it('if the tab that sent is closed in the middle, the others lose nothing, and one of them stores how it ended', async () => {
    const { attached, disk, tabs, threadId } = browser(agreement)
    const pages = await attached(3)
    const [a, ...others] = pages
    void a.chat.sendMessage('one')
    await until(() => pages.every(({ chat }) => texts(chat).join() === 'one,Half'))
    await claimed()
    a.close()
    if (agreement === 'channel') [...tabs.open][0]?.close()
    if (agreement === 'a channel of the platform') a.chat.dispose('leave')
    release()
    await resting(others, 'Half of "one"')
    await until(() => disk.load(threadId) !== undefined && !('run' in (disk.load(threadId) as StoredThread)))
    expectSame(others)
    expect(count('POST')).toBe(1)
  })

  it('stop() in one tab stops it in all', async () => {
    const { attached } = browser(agreement)
    const pages = await attached(2)
    const [a, b] = pages
    const sent = a.chat.sendMessage('one')
    await until(() => pages.every(({ chat }) => texts(chat).join() === 'one,Half'))
    b.chat.stop()
    expect(await sent).toEqual({ outcome: 'cancelled' })
    await resting(pages, 'Half')
    await claimed()
    expect(count('DELETE runId')).toBe(1)
    expect(count('POST')).toBe(1)
  })

  it.each(['sent', 'reads along'])('letters on their way to the tab that stops, which %s, show there too: all tabs and the server have the same', async (which) => {
    const { open } = browser(agreement)
    const slow = late()
    const pages = [open(which === 'sent' ? { connection: slow.connection } : {}), open(which === 'sent' ? {} : { connection: slow.connection }), open()]
    await Promise.all(pages.map(({ chat }) => chat.attach()))
    const [a, b, c] = pages as [Tab, Tab, Tab]
    const [stopping, other] = which === 'sent' ? [a, b] : [b, a]
    const sent = a.chat.sendMessage('endless')
    await until(() => pages.every(({ chat }) => texts(chat).at(-1) === 'Half'))
    slow.hold()
    release()
    await until(() => [other, c].every(({ chat }) => texts(chat).at(-1) === 'Half of "endless"'))
    expect(texts(stopping.chat).at(-1)).toBe('Half')
    stopping.chat.stop()
    expect(await sent).toEqual({ outcome: 'cancelled' })
    await resting(pages, 'Half of "endless"')
    slow.letThrough()
    await claimed()
    const later = open()
    await later.chat.attach()
    expectSame([...pages, later])
    expect(stopping.chat.getSnapshot()).toMatchObject({ status: 'ready', runs: [{ outcome: 'cancelled' }] })
    const before = requests.length
    await claimed()
    expect(requests.length).toBe(before)
  })

  it('a message that is sent at once after a stop waits for nobody, and what it was sent with is what all show', async () => {
    const { open } = browser(agreement)
    let asked = 0
    // A server that takes for ever.
    const slow = late({ hydrate: () => (asked++, new Promise<never>(() => {})) })
    const a = open({ connection: slow.connection })
    const b = open()
    await b.chat.attach()
    void a.chat.sendMessage('endless')
    await until(() => [a, b].every(({ chat }) => texts(chat).at(-1) === 'Half'))
    slow.hold()
    release()
    await until(() => texts(b.chat).at(-1) === 'Half of "endless"')
    a.chat.stop()
    const next = a.chat.sendMessage('two')
    expect(texts(a.chat)).toEqual(['endless', 'Half', 'two'])
    slow.letThrough()
    await until(() => gates.size === 1)
    release()
    expect(await next).toEqual({ outcome: 'finished' })
    await resting([a, b], 'Half of "two"')
    expect(texts(a.chat)).toEqual(['endless', 'Half', 'two', 'Half of "two"'])
    await claimed()
    expectSame([a, b])
    // Nor does one that is sent while the server is asked.
    void a.chat.sendMessage('endless again')
    await until(() => gates.size === 1)
    a.chat.stop()
    await until(() => asked === 1)
    const last = a.chat.sendMessage('three')
    await until(() => gates.size === 2)
    release()
    expect(await last).toEqual({ outcome: 'finished' })
    expect(texts(a.chat).slice(-2)).toEqual(['three', 'Half of "three"'])
  })

  it('a tool of ours runs in one tab, the one that sent, and the others show how it went on', async () => {
    const { open } = browser(agreement)
    const ran: string[] = []
    const tool = (name: string) => defineTool({ name: 'ask', description: 'd', execute: () => (ran.push(name), 'yes') })
    const pages = ['a', 'b', 'c'].map((name) => open({ tools: [tool(name)] }))
    await Promise.all(pages.map(({ chat }) => chat.attach()))
    expect(await pages[1]?.chat.sendMessage('tool')).toEqual({ outcome: 'finished' })
    await resting(pages, '[tool-call]|Done')
    await claimed()
    expect(ran).toEqual(['b'])
    expect(count('POST')).toBe(2)
    expectSame(pages)
  })

  it('a question is answered once, however many tabs answer it at the same time', async () => {
    const { attached } = browser(agreement)
    const pages = await attached(3)
    await pages[0]?.chat.sendMessage('question')
    await until(() => pages.every(({ chat }) => chat.getSnapshot().interrupts.length === 1 && chat.getSnapshot().status === 'ready'))
    const id = pages[0]?.chat.getSnapshot().interrupts[0]?.id as string
    const answers = await Promise.all(pages.map(({ chat }) => caught(() => chat.respond(id, { status: 'resolved' }))))
    expect(answers.filter((error) => error === undefined)).toHaveLength(1)
    for (const error of answers) if (error !== undefined) expect(error).toMatchObject({ code: 'answered-elsewhere' })
    await resting(pages, 'Done')
    expect(pages.map(({ chat }) => chat.getSnapshot().interrupts)).toEqual([[], [], []])
    expect(count('POST')).toBe(2)
  })

  it('a tab that is opened in the middle reads along, and nobody asks in circles', async () => {
    const { open } = browser(agreement)
    const a = open()
    await a.chat.attach()
    const sent = a.chat.sendMessage('one')
    await until(() => texts(a.chat).at(-1) === 'Half')
    await claimed()
    const b = open()
    const joined = b.chat.attach()
    await until(() => texts(b.chat).at(-1) === 'Half')
    release()
    expect([await sent, await joined]).toEqual([{ outcome: 'finished' }, { outcome: 'finished' }])
    await claimed()
    expectSame([a, b])
    expect(b.saves).toEqual([])
    expect(requests.filter((each) => each !== 'GET threadId')).toEqual(['POST', 'GET runId offset'])
    expect(count('GET threadId')).toBeLessThanOrEqual(3)
  })

  it('two tabs that send at the same time show in the end what the server has', async () => {
    const { attached, open } = browser(agreement)
    const pages = await attached(2)
    const [a, b] = pages
    const sent = [a.chat.sendMessage('one'), b.chat.sendMessage('two')]
    await until(() => gates.size === 2)
    await tick(20)
    release()
    expect(await Promise.all(sent)).toEqual([{ outcome: 'finished' }, { outcome: 'finished' }])
    await until(() => JSON.stringify(shown(a.chat.getSnapshot())) === JSON.stringify(shown(b.chat.getSnapshot())))
    await claimed()
    await until(() => pages.every(({ chat }) => chat.getSnapshot().status === 'ready'))
    const later = open()
    await later.chat.attach()
    expectSame([...pages, later])
    expect(count('POST')).toBe(2)
  })

  it('what another tab said from its start to its end while this one was busy shows when it is not', async () => {
    const { attached } = browser(agreement)
    const pages = await attached(2)
    const [a, b] = pages
    const sent = [a.chat.sendMessage('one'), b.chat.sendMessage('two')] as const
    await until(() => gates.size === 2 && pages.every(({ chat }) => texts(chat).at(-1) === 'Half'))
    letGo('"two"')
    await sent[1]
    await until(() => b.chat.getSnapshot().status === 'streaming')
    expect(texts(a.chat)).toEqual(['one', 'Half'])
    letGo('"one"')
    await sent[0]
    await until(() => texts(a.chat).includes('two'))
    await until(() => JSON.stringify(shown(a.chat.getSnapshot())) === JSON.stringify(shown(b.chat.getSnapshot())))
  })

  it('clear() empties all', async () => {
    const { attached, disk, threadId } = browser(agreement)
    const pages = await attached(2)
    const [a, b] = pages
    const sent = a.chat.sendMessage('one')
    await until(() => pages.every(({ chat }) => texts(chat).at(-1) === 'Half'))
    b.chat.clear()
    expect(await sent).toEqual({ outcome: 'cancelled' })
    await tick(30)
    for (const { chat } of pages) expect(chat.getSnapshot()).toMatchObject({ status: 'ready', messages: [] })
    expect(await disk.load(threadId)).toBeUndefined()
  })

  it('dispose() leaves nothing: no channel, no lock, no timer', async () => {
    const { attached, tabs } = browser(agreement)
    const pages = await attached(2)
    const sent = pages[0]?.chat.sendMessage('one')
    await until(() => pages.every(({ chat }) => texts(chat).at(-1) === 'Half'))
    release()
    await sent
    await resting(pages, 'Half of "one"')
    for (const { chat } of pages) chat.dispose()
    await tick(10)
    expect(tabs.open.size).toBe(0)
    expect(tabs.held.size).toBe(0)
    for (const { clock, window } of pages) expect([clock.pending, window.listeners.size]).toEqual([0, 0])
  })
})
