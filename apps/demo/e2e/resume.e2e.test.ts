/** What the front page promises: whatever happens to the connection, the page or the server, no letter is missing or doubled. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { chromeArgs, findChrome } from '../../../tools/find-chrome.mjs'
import { lowContrast, namelessControls } from './audit.ts'
import { flakyNetwork } from './flaky-network.ts'
import type { OpenPage, RunningDemo } from './harness.ts'
import {
  buildDemo,
  demoTargets,
  desktop,
  lengthOf,
  openPage,
  ownProblems,
  partsOf,
  poll,
  startDemo,
  watch,
} from './harness.ts'

// Each wait has its own bound; the sum of them is no test of anything.
vi.setConfig({ testTimeout: 240_000 })

const story = 'Tell me a long story'

let demo: RunningDemo
let browser: Browser
let opened: OpenPage | undefined
/** What a test started, to be closed whatever became of it. */
const closers: (() => Promise<unknown>)[] = []

const launch = (): Promise<Browser> => {
  const executablePath = findChrome()
  return chromium.launch({ timeout: 60_000, args: ['--disable-gpu', ...chromeArgs()], ...(executablePath && { executablePath }) })
}

beforeAll(async () => {
  buildDemo(demoTargets)
  demo = await startDemo()
  browser = await launch()
})

afterAll(async () => {
  await browser?.close()
  await demo?.stop()
})

afterEach(async () => {
  const problems = ownProblems(opened?.problems ?? [])
  await opened?.close()
  opened = undefined
  await Promise.all(closers.splice(0).map((close) => close()))
  expect(problems).toEqual([])
})

async function visit(url = demo.url, options: BrowserContextOptions = {}) {
  opened = await openPage(browser, url, { ...desktop, permissions: ['clipboard-read', 'clipboard-write'], ...options })
  const { page } = opened
  const posts: { readonly runId: string; readonly threadId: string; readonly messages: readonly { readonly role: string }[] }[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/api/chat')) posts.push(request.postDataJSON())
  })
  return { page, posts, ...partsOf(page) }
}

interface Stored {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[]
  readonly activeRun: { readonly runId: string } | null
}

async function stored(threadId: string): Promise<Stored> {
  return (await fetch(`${demo.url}/api/chat?threadId=${threadId}`)).json() as Promise<Stored>
}

/** The last answer, as the page has it: its Markdown, letter by letter. */
async function lettersOf(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Copy', exact: true }).last().click()
  await page.getByRole('button', { name: 'Copied', exact: true }).waitFor()
  return page.evaluate(() => navigator.clipboard.readText())
}

/** The thread is at rest, here and at the server, and both have the same answer to the last message. */
async function expectWhole({ page, posts, idle, answer }: Awaited<ReturnType<typeof visit>>): Promise<void> {
  const { threadId = '' } = posts[0] ?? {}
  // A page that was just loaded is idle, too, until it has asked.
  await poll(async () => (await stored(threadId)).activeRun).toBeNull()
  await poll(() => answer.textContent()).toContain('something at the end of it that turns.')
  await idle()
  const letters = (await stored(threadId)).messages.at(-1)?.content
  expect(letters).toMatch(/something at the end of it that turns\.$/u)
  expect(await lettersOf(page)).toBe(letters)
}

describe('the connection', () => {
  test('is cut five times in an answer', async () => {
    const network = await flakyNetwork(demo.url)
    closers.push(network.close)
    const visited = await visit(network.url)
    const { ask, answer, banner } = visited
    await ask(story)
    let length = 0
    for (let cuts = 0; cuts < 5; cuts += 1) {
      await poll(() => lengthOf(answer)).toBeGreaterThan(length + 100)
      network.cut()
      length = await lengthOf(answer)
    }
    await expectWhole(visited)
    const asked = network.requests.filter((request) => request.includes('/api/chat')).map((request) => request.split('=')[0])
    expect(asked.filter((request) => request === 'POST /api/chat')).toHaveLength(1)
    expect(asked.filter((request) => request === 'GET /api/chat?runId').length).toBeGreaterThanOrEqual(5)
    expect(await banner.count()).toBe(0)
  })

  test('is cut by the button: the page says so until the answer goes on', async () => {
    const visited = await visit()
    const { page, posts, ask, answer, banner, button, field } = visited
    const seen = await watch(page, { line: { selector: '.connection' }, said: { selector: '[role=status]' } })
    await ask(story)
    await poll(() => lengthOf(answer)).toBeGreaterThan(80)
    await button('Cut the connection').click()
    await page.getByText('Connection lost, trying again…').waitFor()
    expect(await lowContrast(page)).toEqual([])
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true)
    const length = await lengthOf(answer)
    await button('Cut the connection').waitFor()
    expect(await lengthOf(answer)).toBeGreaterThanOrEqual(length)
    await expectWhole(visited)
    expect(posts).toHaveLength(1)
    expect(await banner.count()).toBe(0)
    expect((await seen('line')).filter((line) => line.includes('lost'))).toHaveLength(1)
    expect(await seen('said')).toEqual(expect.arrayContaining(['Connection lost, trying again.', 'Connected again.']))
  })

  test('goes with the network and comes back with it', async () => {
    const network = await flakyNetwork(demo.url)
    closers.push(network.close)
    const visited = await visit(network.url)
    const { page, posts, ask, answer } = visited
    await ask(story)
    await poll(() => lengthOf(answer)).toBeGreaterThan(80)
    await page.context().setOffline(true)
    // A browser that is told to be offline keeps the connections it has.
    network.cut()
    await page.getByText('Connection lost, trying again…').waitFor()
    const before = network.requests.length
    // Long enough for several attempts, none of which is made.
    await new Promise((resolve) => setTimeout(resolve, 1500))
    await page.context().setOffline(false)
    await expectWhole(visited)
    expect(posts).toHaveLength(1)
    const resumed = network.requests.slice(before).filter((request) => request.startsWith('GET /api/chat?runId'))
    expect(resumed).toHaveLength(1)
  })

  test('goes silent and is not closed: the page takes another one', async () => {
    const network = await flakyNetwork(demo.url)
    closers.push(network.close)
    const visited = await visit(network.url)
    const { page, posts, ask, answer } = visited
    const seen = await watch(page, { said: { selector: '[role=status]' } })
    await ask(story)
    await poll(() => lengthOf(answer)).toBeGreaterThan(80)
    network.silence()
    await poll(() => seen('said')).toContain('Connection lost, trying again.')
    await expectWhole(visited)
    expect(posts).toHaveLength(1)
    expect(network.requests.filter((request) => request.startsWith('GET /api/chat?runId'))).toHaveLength(1)
  })

  test('cannot be cut by another page', async () => {
    const cut = (headers: Record<string, string>, method = 'POST') => fetch(`${demo.url}/demo/cut`, { method, headers })
    expect((await cut({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await cut({}, 'GET')).status).toBe(405)
  })
})

describe('the page', () => {
  test('is loaded again in an answer: what there was is there, and the answer goes on', async () => {
    const visited = await visit()
    const { page, posts, ask, asked, answer, button } = visited
    await ask(story)
    await poll(() => lengthOf(answer)).toBeGreaterThan(300)
    const length = await lengthOf(answer)
    await page.reload()
    await poll(() => lengthOf(answer)).toBeGreaterThanOrEqual(length)
    await button('Stop').waitFor()
    await page.reload()
    await expectWhole(visited)
    expect(posts).toHaveLength(1)
    expect(await asked.allTextContents()).toEqual([story])
  })

  test('is loaded again at rest, after a question was answered: all of it is there', async () => {
    const { page, ask, log, idle, button, state } = await visit()
    await ask('Plan a weekend in Lisbon')
    await page.getByRole('form', { name: /Which room/u }).waitFor()
    await page.reload()
    await page.getByRole('form', { name: /Which room/u }).waitFor()
    await button('Confirm').click()
    await idle()
    await ask('Compare the weather')
    await idle()
    // How long it thought is seen by who was there.
    const shown = async (): Promise<string[]> => (await log.innerText()).split('\n').filter((line) => !line.startsWith('Thought'))
    const [before, stateBefore] = [await shown(), await state.innerText()]
    expect(before.join('\n')).toContain('You answered')
    await page.reload()
    await poll(shown).toEqual(before)
    await poll(() => state.innerText()).toBe(stateBefore)
  })

  test('is another conversation in a new tab, and after "New chat"', async () => {
    const { page, posts, ask, asked, button, answer } = await visit()
    await ask(story)
    await poll(() => lengthOf(answer)).toBeGreaterThan(80)
    const tab = await page.context().newPage()
    await tab.goto(demo.url)
    await tab.getByRole('heading', { name: 'Where to, this weekend?' }).waitFor()
    await button('New chat').click()
    await page.getByRole('heading', { name: 'Where to, this weekend?' }).waitFor()
    // The run that was left is nobody's now, and is stopped.
    await poll(async () => (await stored(posts[0]?.threadId ?? '')).activeRun).toBeNull()
    expect((await stored(posts[0]?.threadId ?? '')).messages.at(-1)?.content).not.toMatch(/something at the end of it that turns\.$/u)
    await page.reload()
    await page.getByRole('heading', { name: 'Where to, this weekend?' }).waitFor()
    expect(await asked.count()).toBe(0)
  })
})

describe('the server', () => {
  test('is gone and comes back without its memory: an error, what came is kept, the next message works', async () => {
    const doomed = await startDemo()
    closers.push(() => doomed.stop('SIGKILL'))
    const { ask, asked, answer, banner, idle, button } = await visit(doomed.url)
    await ask(story)
    await poll(() => lengthOf(answer)).toBeGreaterThan(80)
    await doomed.stop('SIGKILL')
    const successor = await startDemo({ PORT: new URL(doomed.url).port })
    closers.push(() => successor.stop('SIGKILL'))
    await banner.waitFor()
    expect(await banner.textContent()).toContain('What came is kept')
    expect(await lengthOf(answer)).toBeGreaterThan(80)
    await button('Try again').waitFor()
    await ask('Compare the weather')
    await idle()
    await poll(() => answer.textContent()).toContain('six degrees warmer')
    expect(await asked.count()).toBe(2)
    expect(await banner.count()).toBe(0)
  })

  test('goes on while the page has given up: trying again brings all of it', async () => {
    const network = await flakyNetwork(demo.url)
    const visited = await visit(network.url)
    const { page, posts, ask, answer, banner, button } = visited
    await ask(story)
    await poll(() => lengthOf(answer)).toBeGreaterThan(80)
    await network.close()
    await banner.waitFor()
    expect(await banner.textContent()).toContain('What came is kept')
    const length = await lengthOf(answer)
    const repaired = await flakyNetwork(demo.url, Number(new URL(network.url).port))
    closers.push(repaired.close)
    await button('Try again').click()
    await poll(() => banner.count()).toBe(0)
    await poll(() => lengthOf(answer)).toBeGreaterThan(length)
    await expectWhole(visited)
    expect(posts).toHaveLength(1)
    expect(await page.getByRole('article', { name: 'Agent' }).count()).toBe(1)
  })

  test('stops the run when the user does', async () => {
    const { posts, ask, answer, idle, button } = await visit()
    await ask(story)
    await poll(() => lengthOf(answer)).toBeGreaterThan(80)
    await button('Stop').click()
    await idle()
    const { runId = '', threadId = '' } = posts[0] ?? {}
    await poll(async () => (await stored(threadId)).activeRun).toBeNull()
    // Joined now, it ends at once, and says how.
    const events = await (await fetch(`${demo.url}/api/chat?runId=${runId}&offset=-1`)).text()
    expect(events.includes('"outcome":{"type":"cancelled"}')).toBe(true)
    const kept = await answer.textContent()
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(await answer.textContent()).toBe(kept)
  })
})

describe('the user', () => {
  test('has a browser that the agent asks: the tool runs there, and the run goes on', async () => {
    // Slow enough for a busy machine to show what comes in pieces.
    const patient = await startDemo({ DEMO_PACE: '2' })
    closers.push(() => patient.stop())
    const { page, posts, ask, answer, idle, log } = await visit(patient.url, { timezoneId: 'America/New_York' })
    const seen = await watch(page, { args: { selector: '.tool-args' } })
    await ask('What time is it here?')
    await idle()
    const card = answer.getByRole('region', { name: 'Tool call get_local_time' })
    await poll(() => card.textContent()).toContain('Done')
    await poll(() => answer.locator('.markdown').last().textContent()).toMatch(/^It is \d\d:\d\d where you are \(America\/New_York\), and \d\d:\d\d in Lisbon\./u)
    expect(posts.map(({ messages }) => messages.at(-1)?.role)).toEqual(['user', 'tool'])
    // Arguments can be read before they are complete.
    const whole = 'compare_with: "Lisbon"\nformat: "24 hours"'
    await poll(() => card.getByLabel('Arguments').textContent()).toBe(whole)
    expect((await seen('args')).filter((text) => text !== '' && text !== whole)).not.toEqual([])
    const before = await log.innerText()
    await page.reload()
    await poll(() => log.innerText()).toBe(before)
  })

  test('edits a message: what followed goes, and the agent answers anew', async () => {
    const { page, ask, asked, answer, idle, button, field } = await visit()
    await ask('Pack my bag')
    await idle()
    await ask(story)
    await poll(() => lengthOf(answer)).toBeGreaterThan(80)
    const pencil = asked.first().getByRole('button', { name: 'Edit your message' })
    const editor = page.getByLabel('Your message', { exact: true })
    await pencil.click()
    await poll(() => editor.inputValue()).toBe('Pack my bag')
    expect(await namelessControls(page)).toEqual([])
    expect(await lowContrast(page)).toEqual([])
    await editor.press('Escape')
    await poll(() => pencil.evaluate((element) => element === document.activeElement)).toBe(true)
    await pencil.click()
    await editor.fill('Compare the weather')
    await button('Ask again').click()
    await poll(() => asked.allTextContents()).toEqual(['Compare the weather'])
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true)
    await idle()
    await poll(() => answer.textContent()).toContain('six degrees warmer')
    await page.reload()
    await poll(() => answer.textContent()).toContain('six degrees warmer')
    expect(await asked.allTextContents()).toEqual(['Compare the weather'])
  })
})
