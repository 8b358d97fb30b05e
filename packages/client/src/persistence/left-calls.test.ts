/** Calls of our tools that a page left open, on a thread that is the server's: who comes back goes on with them, and runs none twice. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRunHandler, type Agent } from '@millrace/server'
import { toNodeListener } from '@millrace/server/node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineTool, fetchServerSentEvents, memoryStorage, sharedTabs, type ChatClientOptions, type ChatStorage, type ClientTool, type StoredThread, type TabChannel } from '@millrace/client'
import { tick, until } from '../../test/events.ts'
import { FakeTabs } from '../../test/fake-tabs.ts'
import { openPage, type Page } from '../../test/pages.ts'
import { texts } from '../../test/scripted.ts'

let url: string
let close: () => Promise<void>
/** What the agent was told of its calls, by each run that went on. */
let told: string[][]
/** Lets the agent call its tools, where it was asked to wait. */
let letGo: () => void

/** Calls the tools that it is asked for; `wait`: when it is let go. `ask`: by interrupts. */
const agent: Agent = async (input, run) => {
  const last = input.messages.at(-1)
  if (last?.role === 'tool' || input.resume !== undefined) {
    told.push(input.messages.flatMap((message) => (message.role === 'tool' ? [String(message.content)] : [])))
    return void (await run.text('Done'))
  }
  const words = String(last?.content).split(' ')
  if (words.includes('wait')) await new Promise<void>((resolve) => (letGo = resolve))
  for (const [index, name] of words.entries()) {
    if (!name.endsWith('Tool')) continue
    const toolCallId = `${name}-${run.runId}-${index}`
    await run.toolCall(name, '{}', { toolCallId })
    if (words.includes('ask')) run.interrupt({ id: `i-${toolCallId}`, reason: 'tanstack:client_tool_execution', toolCallId })
  }
  if (words.includes('question')) run.interrupt({ id: `q-${run.runId}`, reason: 'approval' })
}

beforeEach(async () => {
  told = []
  letGo = () => {}
  const handler = createRunHandler({ agent, authorize: () => true })
  const server = createServer(toNodeListener(handler))
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

/** Pages of one browser. `ran`: the tools that were run, in all of them. */
function browser(disk: ChatStorage = memoryStorage()) {
  const ran: string[] = []
  const tools: ClientTool[] = [
    defineTool({ name: 'quickTool', description: 'd', execute: () => (ran.push('quick'), 'quick') }),
    defineTool({ name: 'slowTool', description: 'd', execute: () => (ran.push('slow'), new Promise<never>(() => {})) }),
    defineTool({ name: 'manualTool', description: 'd' }),
  ]
  const open = (options: Partial<ChatClientOptions> = {}, more: object = {}): Page => {
    const page = openPage(disk, url, { threadId: 't1', tools, ...options }, { mode: 'server', ...more })
    opened.push(page)
    return page
  }
  return { disk, ran, open }
}
const calls = ({ chat }: Page): unknown[] => chat.getSnapshot().messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-call' ? [[part.name, part.result?.content]] : [])))
const LEFT = 'The page was left while it ran.'

describe('a call that a page left open', () => {
  it('is run by who comes back, if nobody had begun it, and the agent goes on', async () => {
    const { ran, open } = browser()
    const first = open()
    void first.chat.sendMessage('wait quickTool')
    await until(() => first.chat.getSnapshot().status === 'streaming')
    first.crash()
    letGo()
    await tick(20)
    const second = open()
    expect(await second.chat.attach()).toEqual({ outcome: 'finished' })
    expect([ran, told]).toEqual([['quick'], [['quick']]])
    expect(texts(second.chat).at(-1)).toBe('[tool-call]|Done')
    expect(await second.chat.attach()).toBeUndefined()
    expect(await open().chat.attach()).toBeUndefined()
    expect(ran).toEqual(['quick'])
  })

  it('is not run twice if it had been begun, and the agent is told so', async () => {
    const { ran, open, disk } = browser()
    const first = open()
    void first.chat.sendMessage('slowTool quickTool')
    await until(() => ran.length === 2)
    await until(() => ((disk.load('t1') as StoredThread).begun ?? []).length === 2)
    first.crash()
    const second = open()
    expect(await second.chat.attach()).toEqual({ outcome: 'finished' })
    expect(ran).toEqual(['slow', 'quick'])
    expect(told).toEqual([[LEFT, LEFT]])
  })

  it.each(['server', 'client'] as const)('nor by a component that went and comes back: it is open meanwhile, and is no word of the user (%s)', async (mode) => {
    const { ran, open } = browser()
    const first = open({}, { mode })
    const sent = first.chat.sendMessage('slowTool quickTool')
    await until(() => ran.length === 2)
    await tick()
    first.chat.dispose('leave')
    expect(await sent).toEqual({ outcome: 'cancelled' })
    expect(calls(first)).toEqual([['slowTool', undefined], ['quickTool', 'quick']])
    const second = open({}, { mode })
    expect(await second.chat.attach()).toEqual({ outcome: 'finished' })
    expect(ran).toEqual(['slow', 'quick'])
    expect(told).toEqual([[LEFT, 'quick']])
  })

  it('of a component whose client comes back itself, with nothing stored', async () => {
    const { ran, open } = browser()
    const { chat } = open({ persistence: undefined, connection: { ...fetchServerSentEvents(url), hydrate: undefined } } as never)
    void chat.sendMessage('slowTool')
    await until(() => ran.length === 1)
    chat.dispose('leave')
    expect(await chat.attach()).toEqual({ outcome: 'finished' })
    expect([ran, told]).toEqual([['slow'], [[LEFT]]])
    void chat.sendMessage('slowTool')
    await until(() => ran.length === 2)
    chat.dispose('leave')
    await chat.sendMessage('something else')
    expect(calls({ chat } as Page)).toEqual([['slowTool', LEFT], ['slowTool', LEFT]])
  })

  it('what others of its run gave is there again, though only this page knew', async () => {
    const { ran, open, disk } = browser()
    const asked: string[] = []
    const first = open()
    await first.chat.sendMessage('quickTool manualTool manualTool')
    const [, one, two] = first.chat.getSnapshot().messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])))
    expect([one, two].every((id) => id?.startsWith('manualTool'))).toBe(true)
    await until(() => ((disk.load('t1') as StoredThread).results ?? []).length === 1)
    first.crash()
    const second = open({ onToolCall: ({ toolName }) => asked.push(toolName) })
    expect(await second.chat.attach()).toBeUndefined()
    expect(calls(second)[0]).toEqual(['quickTool', 'quick'])
    expect(asked.length).toBeGreaterThan(0)
    await second.chat.addToolResult({ toolCallId: one as string, output: 'first' })
    await second.chat.addToolResult({ toolCallId: two as string, output: 'second' })
    expect(ran).toEqual(['quick'])
    expect(told[0]?.[0]).toBe('quick')
  })

  it('is left alone if the user had stopped it', async () => {
    const { ran, open } = browser()
    const first = open()
    void first.chat.sendMessage('slowTool')
    await until(() => ran.length === 1)
    first.chat.stop()
    first.crash()
    const second = open()
    expect(await second.chat.attach()).toBeUndefined()
    expect(calls(second)).toEqual([['slowTool', 'The user stopped it.']])
    expect([ran, told]).toEqual([['slow'], []])
  })

  it('is left alone by a browser that did not begin its run, until the user says something', async () => {
    const { open } = browser()
    const there = open({ tools: [] })
    await there.chat.sendMessage('quickTool')
    const other = browser()
    const page = other.open()
    expect(await page.chat.attach()).toBeUndefined()
    expect([other.ran, calls(page)]).toEqual([[], [['quickTool', undefined]]])
    await page.chat.sendMessage('something else')
    expect(calls(page)).toEqual([['quickTool', 'The user said something else instead.']])
  })

  it('is found by what is stored if the server does not tell how its runs ended', async () => {
    const { ran, open } = browser()
    const connection = fetchServerSentEvents(url)
    const hydrate = async (...args: Parameters<NonNullable<typeof connection.hydrate>>) => {
      const thread = await connection.hydrate?.(...args)
      const { runs: _, ...rest } = thread ?? {}
      return thread && (rest as typeof thread)
    }
    const silent = { ...connection, hydrate }
    const first = open({ tools: [], connection: silent })
    await first.chat.sendMessage('quickTool')
    first.crash()
    expect(await open({ connection: silent }).chat.attach()).toEqual({ outcome: 'finished' })
    expect([ran, told]).toEqual([['quick'], [['quick']]])
    expect(await open({ connection: silent }).chat.attach()).toBeUndefined()
    expect(ran).toEqual(['quick'])
  })

  it('is answered the way it was asked for, also beside a question', async () => {
    const { ran, open } = browser()
    const first = open({ tools: [] })
    await first.chat.sendMessage('ask quickTool question')
    first.crash()
    const second = open()
    expect(await second.chat.attach()).toEqual({ outcome: 'interrupted' })
    expect(ran).toEqual(['quick'])
    second.crash()
    const third = open()
    await third.chat.attach()
    const [question] = third.chat.getSnapshot().interrupts
    expect(question?.id).toMatch(/^q-/)
    expect(await third.chat.respond(question?.id as string, { status: 'resolved' })).toEqual({ outcome: 'finished' })
    expect([ran, told]).toEqual([['quick'], [['quick']]])
  })
})

describe.each(['server', 'client'] as const)('a call that the agent asks for by an interrupt, on a thread of the %s', (mode) => {
  it('is not run again by who comes back after the user stopped it', async () => {
    const { ran, open } = browser()
    const first = open({}, { mode })
    void first.chat.sendMessage('ask slowTool')
    await until(() => ran.length === 1)
    await tick(20)
    first.chat.stop()
    await tick(50)
    first.crash()
    const asked: unknown[] = []
    const second = open({ onToolCall: ({ toolName }) => asked.push(toolName) }, { mode })
    await second.chat.attach()
    await tick(50)
    expect([ran, told]).toEqual([['slow'], []])
    expect(calls(second)).toEqual([['slowTool', 'The user stopped it.']])
    expect(asked).toEqual(['slowTool'])
    expect(second.chat.getSnapshot().interrupts).toHaveLength(1)
  })
})

it('a call that the agent asks for by an interrupt is not run again if its answer never reached the server', async () => {
  const { ran, open } = browser()
  let posts = 0
  const lost: typeof fetch = (input, init) => (init?.method === 'POST' && ++posts > 1 ? new Promise<never>(() => {}) : fetch(input, init))
  const first = open({ connection: fetchServerSentEvents(url, { fetchClient: lost }) })
  void first.chat.sendMessage('ask quickTool')
  await until(() => posts === 2)
  await tick(50)
  first.crash()
  const second = open()
  expect(await second.chat.attach()).toEqual({ outcome: 'finished' })
  expect([ran, told]).toEqual([['quick'], [['quick']]])
})

it.each(['locks', 'channel'])('a call that is left open runs in one tab, however many come back at once (%s)', async (agreement) => {
  const tabs = new FakeTabs()
  const { ran, open } = browser()
  const tab = (id: string, options: Partial<ChatClientOptions> = {}) => {
    const locks = tabs.locks()
    const channels: TabChannel[] = []
    const channel = (name: string): TabChannel => (channels.push(tabs.channel(name)), channels.at(-1) as TabChannel)
    const page = open(options, { tabs: sharedTabs({ channel, locks: agreement === 'locks' ? locks : null, id, claimMs: 60 }) })
    const close = (): void => {
      page.crash()
      locks.gone()
      for (const each of channels) each.close()
    }
    return { ...page, close }
  }
  const first = tab('a', { tools: [] })
  await first.chat.sendMessage('quickTool slowTool')
  await tick(100)
  first.close()
  const pages = ['b', 'c', 'd'].map((id) => tab(id))
  const attached = pages.map(({ chat }) => chat.attach())
  await until(() => ran.length === 2)
  await tick(200)
  expect(ran.sort()).toEqual(['quick', 'slow'])
  // The one that runs them goes, and its claim with it.
  const at = pages.findIndex(({ chat }) => chat.getSnapshot().status === 'streaming')
  pages[at]?.close()
  await tick(100)
  const next = pages.findIndex((_, index) => index !== at)
  expect(await pages[next]?.chat.attach()).toEqual({ outcome: 'finished' })
  expect(ran.sort()).toEqual(['quick', 'slow'])
  expect(told).toHaveLength(1)
  await Promise.all(attached.filter((_, index) => index !== at))
})

it('a result that the server has not heard of shows in the other tabs, and is still there when they have asked the server', async () => {
  const tabs = new FakeTabs()
  const { open } = browser()
  const tab = (id: string): Page => open({}, { tabs: sharedTabs({ channel: tabs.channel, locks: tabs.locks(), id }) })
  const [first, second] = [tab('a'), tab('b')]
  await second.chat.attach()
  expect(await first.chat.sendMessage('manualTool manualTool')).toEqual({ outcome: 'finished' })
  await until(() => calls(second).length === 2)
  const [part] = first.chat.getSnapshot().messages.flatMap(({ parts }) => parts.flatMap((each) => (each.type === 'tool-call' ? [each] : [])))
  await first.chat.addToolResult({ toolCallId: part?.id ?? '', output: 'given' })
  const shown = [['manualTool', 'given'], ['manualTool', undefined]]
  await until(() => JSON.stringify(calls(second)) === JSON.stringify(shown))
  await second.chat.attach()
  expect(calls(second)).toEqual(shown)
  await first.chat.attach()
  expect(calls(first)).toEqual(shown)
})
