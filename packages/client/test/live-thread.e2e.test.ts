/** A thread that two real pages follow live: the WebSockets, and what the browser says of its network, are those of Chromium. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { chromeArgs, findChrome } from '../../../tools/find-chrome.mjs'
import { bundledPage } from './bundled-page.ts'
import { fanOut } from './fan-out.ts'
import type { LivePage } from './live-thread.page.ts'

declare const live: LivePage

let browser: Browser
let site: Server

beforeAll(async () => {
  const page = await bundledPage(fileURLToPath(new URL('live-thread.page.ts', import.meta.url)))
  site = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(page)
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

/** Each page has a context of its own: only one of them loses its network. */
async function openPage(server: Awaited<ReturnType<typeof fanOut>>): Promise<{ context: BrowserContext; tab: Page }> {
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  await context.exposeFunction('hydrateThread', async () => JSON.parse(JSON.stringify(await server.hydrate())) as unknown)
  const tab = await context.newPage()
  await tab.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
  await tab.evaluate((url) => live.begin(url), server.url)
  return { context, tab }
}

interface Seen {
  readonly live: string
  readonly status: string
  readonly messages: readonly { readonly id: string; readonly role: string; readonly text: string }[]
}

const look = (tab: Page): Promise<Seen> =>
  tab.evaluate(() => {
    const { live: link, status, messages } = live.chat.getSnapshot()
    const shown = messages.map(({ id, role, parts }) => ({ id, role, text: parts.map((part) => ('content' in part ? String(part.content) : part.type)).join('') }))
    return { live: link, status, messages: shown }
  })

async function eventually(tabs: readonly Page[], condition: (seen: Seen) => boolean): Promise<Seen[]> {
  const end = Date.now() + 15_000
  for (;;) {
    const seen = await Promise.all(tabs.map(look))
    if (seen.every(condition)) return seen
    if (Date.now() > end) throw new Error(`It did not come true: ${JSON.stringify(seen)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const say = (tab: Page, text: string): Promise<void> => tab.evaluate((said) => void live.chat.sendMessage(said), text)
const texts = ({ messages }: Seen): string[] => messages.map(({ text }) => text)
const has = (text: string) => (seen: Seen): boolean => texts(seen).includes(text)
const resting = (seen: Seen): boolean => seen.live === 'open' && seen.status === 'ready'

/** Both show these, in this order, each once. */
async function bothShow(tabs: readonly Page[], expected: readonly string[]): Promise<void> {
  const [a, b] = await eventually(tabs, (seen) => resting(seen) && has(expected.at(-1) ?? '')(seen))
  expect(a && texts(a)).toEqual(expected)
  expect(b?.messages).toEqual(a?.messages)
}

it('two pages show the same, also after the link of one was cut and after it had no network', async () => {
  const server = await fanOut()
  const [{ tab: a }, { tab: b, context }] = [await openPage(server), await openPage(server)]
  await eventually([a, b], resting)
  const expected: string[] = []
  const answered = (text: string): readonly string[] => (expected.push(text, `Re: ${text}`), expected)

  await say(a, 'Hi')
  await bothShow([a, b], answered('Hi'))
  await say(b, 'Ho')
  await bothShow([a, b], answered('Ho'))

  // The server closes the socket of one in the middle of what the other asked.
  server.release(6)
  await say(a, 'Cut')
  await eventually([b], has('Re: '))
  server.listening()[1]?.close(1012)
  await eventually([b], ({ live: link }) => link !== 'open')
  server.release(Number.POSITIVE_INFINITY)
  await bothShow([a, b], answered('Cut'))

  // It has no network: its socket breaks, and a whole run passes meanwhile.
  await context.setOffline(true)
  server.listening()[1]?.cut()
  await eventually([b], ({ live: link }) => link !== 'open')
  await say(a, 'Away')
  await eventually([a], (seen) => resting(seen) && has('Re: Away')(seen))
  expect(texts(await look(b))).toEqual(expected)
  await context.setOffline(false)
  await bothShow([a, b], answered('Away'))

  await say(b, 'Back')
  await bothShow([a, b], answered('Back'))
  expect(server.runs).toHaveLength(5)
})
