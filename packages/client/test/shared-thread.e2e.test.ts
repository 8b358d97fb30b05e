/** A stored thread in real tabs: BroadcastChannel, Web Locks, storages, reloads and closed tabs are those of Chromium. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { recordedRun, startFaultServer, type FaultServer, type RunInput, type Script } from '@millrace/testkit'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chromeArgs, findChrome } from '../../../tools/find-chrome.mjs'
import { bundledPage } from './bundled-page.ts'
import type { PageDriver } from './shared-thread.page.ts'

declare const page: PageDriver

let browser: Browser
let site: Server
let context: BrowserContext
let agent: FaultServer

beforeAll(async () => {
  const html = await bundledPage(fileURLToPath(new URL('shared-thread.page.ts', import.meta.url)))
  site = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(html)
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const executablePath = findChrome()
  browser = await chromium.launch({ timeout: 60_000, args: ['--disable-gpu', ...chromeArgs()], ...(executablePath && { executablePath }) })
})
afterAll(async () => {
  await browser?.close()
  site?.closeAllConnections()
  site?.close()
})
beforeEach(async () => {
  context = await browser.newContext()
})
afterEach(async () => {
  await context.close()
  await agent?.close()
})

async function openTab(storage: 'localStorage' | 'indexedDB'): Promise<Page> {
  const tab = await context.newPage()
  await tab.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
  await tab.evaluate(([url, kind]) => page.begin(url as string, kind as 'localStorage'), [agent.url, storage])
  return tab
}

interface Seen {
  readonly status: string
  readonly messages: unknown
  readonly ran: readonly string[]
  readonly interrupts: number
  readonly storageError: string | undefined
}

const look = (tab: Page): Promise<Seen> =>
  tab.evaluate(() => {
    const { status, messages, interrupts, storageError } = page.chat.getSnapshot()
    return { status, messages: JSON.parse(JSON.stringify(messages)) as unknown, ran: [...page.ran], interrupts: interrupts.length, storageError: storageError?.message }
  })

async function eventually(tabs: readonly Page[], condition: (seen: Seen) => boolean): Promise<Seen[]> {
  const end = Date.now() + 15_000
  for (;;) {
    const seen = await Promise.all(tabs.map(look))
    if (seen.every(condition)) return seen
    if (Date.now() > end) throw new Error(`It did not come true: ${JSON.stringify(seen).slice(0, 3000)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const has = (text: string) => ({ messages }: Seen): boolean => JSON.stringify(messages).includes(text)
const resting = (seen: Seen): boolean => seen.status === 'ready' && has('P.S.')(seen) && has('nor this')(seen)

describe.each(['localStorage', 'indexedDB'] as const)('a thread in %s', (storage) => {
  it('is shown by all tabs as it streams, survives a reload in the middle and the closing of the tab that sent', async () => {
    agent = await startFaultServer({ hold: 20 })
    const [a, b] = [await openTab(storage), await openTab(storage)]
    await a.evaluate(() => void page.chat.sendMessage('Hi'))
    await eventually([a, b], has('Grüße'))
    await b.reload()
    await b.evaluate(([url, kind]) => page.begin(url as string, kind as 'localStorage'), [agent.url, storage])
    await eventually([b], (seen) => has('Grüße')(seen) && seen.status === 'streaming')
    await a.close({ runBeforeUnload: true })
    agent.release()
    const [end] = await eventually([b], resting)
    expect(end?.storageError).toBeUndefined()
    expect(agent.started).toHaveLength(1)
    // The tab that was left stored how it ended.
    await b.waitForFunction(() => page.stored().then((stored) => !('run' in (stored as object))))
    await b.reload()
    await b.evaluate(([url, kind]) => page.begin(url as string, kind as 'localStorage'), [agent.url, storage])
    const [again] = await eventually([b], resting)
    expect(again?.messages).toEqual(end?.messages)
    expect(agent.started).toHaveLength(1)
  })

  it('tools run in one tab and questions are answered once', async () => {
    const ids = ({ threadId, runId }: RunInput) => ({ threadId, runId })
    const script: Script = (input, count) => {
      const [started, finished] = [{ type: 'RUN_STARTED', ...ids(input) }, { type: 'RUN_FINISHED', ...ids(input) }]
      if (count === 0) return [started, { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'ask', parentMessageId: 'a1' }, { type: 'TOOL_CALL_END', toolCallId: 'c1' }, finished]
      if (count === 1) return [started, { ...finished, outcome: { type: 'interrupt', interrupts: [{ id: 'i1', reason: 'approval' }] } }]
      return recordedRun('mixed', ids(input))
    }
    agent = await startFaultServer({ script })
    const tabs = [await openTab(storage), await openTab(storage), await openTab(storage)]
    await tabs[1]?.evaluate(() => void page.chat.sendMessage('Hi'))
    const asked = await eventually(tabs, ({ interrupts, status }) => interrupts === 1 && status === 'ready')
    expect(asked.map(({ ran }) => ran.length).reduce((sum, each) => sum + each)).toBe(1)
    expect(agent.started).toHaveLength(2)
    const answers = await Promise.all(
      tabs.map((tab) =>
        tab.evaluate(() =>
          page.chat.respond('i1', { status: 'resolved' }).then(
            ({ outcome }) => outcome,
            (error: Error) => error.name,
          ),
        ),
      ),
    )
    expect(answers.sort()).toEqual(['UsageError', 'UsageError', 'finished'])
    const [first, ...others] = await eventually(tabs, resting)
    for (const other of others) expect(other.messages).toEqual(first?.messages)
    expect(agent.started).toHaveLength(3)
  })
})
