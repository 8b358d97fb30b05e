import type { Browser, BrowserContextOptions } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { chromeArgs, findChrome } from '../../../tools/find-chrome.mjs'
import { lowContrast, namelessControls, tooWide } from './audit.ts'
import type { OpenPage, RunningDemo } from './harness.ts'
import {
  buildDemo,
  changed,
  demoTargets,
  desktop,
  lengthOf,
  openPage,
  ownProblems,
  partsOf,
  phone,
  poll,
  smallPhone,
  startDemo,
  watch,
} from './harness.ts'

// Each wait has its own bound; the sum of them is no test of anything.
vi.setConfig({ testTimeout: 240_000 })

let demo: RunningDemo
let browser: Browser
let opened: OpenPage | undefined

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
  const problems = opened?.problems ?? []
  await opened?.close()
  opened = undefined
  expect(problems).toEqual([])
})

async function visit(options: BrowserContextOptions = desktop) {
  opened = await openPage(browser, demo.url, options)
  return { page: opened.page, ...partsOf(opened.page) }
}

const answerText = 'article[aria-label=Agent] .markdown'

/** What `read` gives once it gives the same twice in a row. */
async function atRest<Value>(read: () => Promise<Value>): Promise<Value> {
  for (let before = await read(); ; ) {
    await new Promise((resolve) => setTimeout(resolve, 150))
    const value = await read()
    if (value === before) return value
    before = value
  }
}

describe('an answer', () => {
  test('grows while it streams, and is announced when it begins and ends', async () => {
    const { ask, answer, status, idle, button, page } = await visit()
    const seen = await watch(page, { text: { selector: answerText }, status: { selector: '[role=status]' } })
    await ask('How does an answer arrive?')
    await idle()
    expect(await seen('status')).toContain('The agent is answering.')
    const text = answer.locator('.markdown')
    const lengths = (await seen('text')).map(({ length }) => length)
    expect(lengths.length).toBeGreaterThan(3)
    // Bold and links lose their marks when they are complete, so that not every step is longer.
    expect(lengths.at(-1)).toBeGreaterThan((lengths[0] ?? 0) * 3)
    for (const element of ['h2', 'ol', 'table', 'pre', 'blockquote']) await poll(() => text.locator(element).count()).toBe(1)
    const link = text.getByRole('link', { name: 'docs.ag-ui.com' })
    await poll(() => link.getAttribute('rel')).toContain('noopener')
    await poll(() => status.textContent()).toMatch(/^Answer complete\. How an answer arrives/u)
    await button('Copy code').click()
    await button('Copied').waitFor()
    await poll(() => namelessControls(page)).toEqual([])
  })

  test('can be asked for again', async () => {
    const { page, ask, answer, asked, idle, button } = await visit()
    await ask('Compare the weather')
    await idle()
    const before = await answer.textContent()
    const seen = await watch(page, { text: { selector: 'article[aria-label=Agent]' } })
    await button('Answer again').click()
    await poll(async () => (await seen('text')).some(({ length }) => length < (before?.length ?? 0))).toBe(true)
    await idle()
    await poll(() => answer.textContent()).toBe(before)
    await poll(() => asked.count()).toBe(1)
  })

  test('stops: what came stays, nothing is wrong, and the next one works', async () => {
    const { ask, answer, banner, idle, button, field } = await visit()
    await ask('Tell me a long story')
    await poll(() => lengthOf(answer)).toBeGreaterThan(80)
    await button('Stop').click()
    await idle()
    const kept = await answer.textContent()
    await new Promise((resolve) => setTimeout(resolve, 300))
    await poll(() => answer.textContent()).toBe(kept)
    await poll(() => banner.count()).toBe(0)
    await poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true)
    await ask('Compare the weather')
    await idle()
    await poll(() => answer.textContent()).toContain('six degrees warmer')
  })

  test('that fails shows why, keeps what was said, and works when tried again', async () => {
    const { ask, answer, banner, idle, button } = await visit()
    await ask('Fail half way')
    await banner.waitFor()
    await poll(() => banner.textContent()).toContain('timetable service did not answer')
    await poll(() => answer.textContent()).toContain('I ask the railway')
    await button('Try again').click()
    await idle()
    await poll(() => banner.count()).toBe(0)
    await poll(() => answer.textContent()).toContain('AP 184')
  })

  test('whose server goes away is kept and said to be cut; the next server goes on', async () => {
    const doomed = await startDemo()
    const port = new URL(doomed.url).port
    const { page, problems, close } = await openPage(browser, doomed.url, desktop)
    const { ask, answer, banner, idle, button } = partsOf(page)
    let successor: RunningDemo | undefined
    try {
      await ask('Tell me a long story')
      await poll(() => lengthOf(answer)).toBeGreaterThan(80)
      await doomed.stop('SIGKILL')
      await banner.waitFor()
      await poll(() => banner.textContent()).toContain('What came is kept')
      await poll(() => lengthOf(answer)).toBeGreaterThan(80)
      await button('Try again').click()
      await poll(() => banner.textContent()).toContain('cannot be reached')
      successor = await startDemo({ PORT: port })
      // It knows nothing of the run, so it is asked anew.
      await button('Try again').click()
      await button('Stop').waitFor()
      await poll(() => lengthOf(answer)).toBeGreaterThan(80)
      await button('Stop').click()
      await idle()
      await poll(() => banner.count()).toBe(0)
      await ask('Compare the weather')
      await idle()
      await poll(() => answer.textContent()).toContain('six degrees warmer')
      expect(ownProblems(problems)).toEqual([])
    } finally {
      await close()
      await successor?.stop()
    }
  })

  test('does not drag along a reader who scrolled up', async () => {
    const { ask, answer, log, button } = await visit()
    await ask('Tell me a long story')
    await poll(() => log.evaluate((element) => element.scrollTop)).toBeGreaterThan(200)
    await log.hover()
    await log.page().mouse.wheel(0, -400)
    await button('Jump to latest').waitFor()
    // A wheel scrolls when the page has time for it.
    const top = await atRest(() => log.evaluate((element) => element.scrollTop))
    const length = await lengthOf(answer)
    await poll(() => lengthOf(answer)).toBeGreaterThan(length + 100)
    await poll(() => log.evaluate((element) => element.scrollTop)).toBe(top)
    await button('Jump to latest').click()
    const rest = (element: HTMLElement | SVGElement): number => element.scrollHeight - element.scrollTop - element.clientHeight
    await poll(() => log.evaluate(rest)).toBeLessThan(5)
    await poll(() => button('Jump to latest').count()).toBe(0)
  })
})

describe('the tour', () => {
  test('shows thoughts, a plan, tools, state and events, asks, and goes on from the answer', async () => {
    const { page, ask, answer, state, status, events, idle, button } = await visit()
    const seen = await watch(page, {
      thoughts: { selector: '.reasoning .disclosure' },
      thinking: { selector: '.reasoning[data-thinking] .disclosure', attribute: 'aria-expanded' },
      progress: { selector: 'article[aria-label=Agent] progress', attribute: 'value' },
      marks: { selector: '.state [data-changed]' },
      spent: { selector: '.state [role=meter]', attribute: 'aria-valuenow' },
    })
    await ask('Plan a weekend in Lisbon')

    await answer.getByRole('button', { name: /^Thought for/u }).waitFor()
    expect((await seen('thoughts'))[0]).toBe('Thinking')
    expect((await seen('thinking'))[0]).toBe('true')

    const progress = answer.getByRole('progressbar')
    await progress.waitFor()
    expect((await seen('progress'))[0]).toBe('0')

    const cards = answer.getByRole('region', { name: 'Tool call get_weather' })
    await cards.nth(1).waitFor()
    const written = cards.nth(1).getByLabel('Arguments')
    // It may be complete, and laid out anew, by the time a slow machine looks a second time.
    await poll(() => lengthOf(written)).toBeGreaterThan(0)
    await poll(async () => (await cards.nth(1).textContent())?.includes('Porto')).toBe(true)
    await poll(() => cards.filter({ hasText: 'Done' }).count()).toBe(2)
    await poll(() => cards.first().textContent()).toContain('27 °C')

    await state.getByText('Lisbon').waitFor()

    await page.getByRole('form', { name: /Which room/u }).waitFor()
    await poll(() => progress.getAttribute('value')).toBe('3')
    expect((await seen('marks')).length).toBeGreaterThan(0)
    expect((await seen('spent')).length).toBeGreaterThan(1)
    await poll(() => status.textContent()).toMatch(/^The agent asks: Which room/u)
    await poll(() => page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('radio')
    await poll(() => namelessControls(page)).toEqual([])
    await poll(() => lowContrast(page)).toEqual([])

    await page.getByRole('radio', { name: /Alfama 18/u }).check()
    await button('Confirm').click()
    await answer.getByRole('region', { name: 'Tool call hold_room' }).waitFor()
    await idle()
    await poll(() => answer.textContent()).toMatch(/You answered Alfama 18.*holds a room for two/su)
    await poll(() => progress.getAttribute('value')).toBe('4')
    await poll(() => state.textContent()).toContain('€504 of €600')

    await state.getByRole('button', { name: 'JSON' }).click()
    await poll(() => state.textContent()).toContain('"label": "Alfama 18, 2 nights"')

    await page.getByLabel('Filter events').fill('run_')
    await poll(() => events.getByRole('listitem').count()).toBe(4)
    await events.getByRole('button', { name: /RUN_FINISHED/u }).first().click()
    await poll(() => events.locator('pre').textContent()).toContain('"reason": "input_required"')
    await page.getByLabel('Filter events').fill('')
    await button('Text').click()
    await poll(() => events.getByText('TEXT_MESSAGE_CONTENT').count()).toBe(0)
  })

  test('goes on when the question is declined', async () => {
    const { ask, answer, button, idle, state } = await visit()
    await ask('Book a room')
    await button('Not now').click()
    await idle()
    await poll(() => answer.textContent()).toContain('Nothing is held')
    await poll(() => state.textContent()).toContain('still empty')
  })
})

describe('the page', () => {
  test('works by keyboard alone', async () => {
    const { page, field, answer, asked, idle, button } = await visit()
    await page.keyboard.press('Tab')
    await poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the message field')
    await page.keyboard.press('Enter')
    await poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true)
    await page.keyboard.type('Compare')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('the weather')
    await poll(() => field.inputValue()).toBe('Compare\nthe weather')
    await page.keyboard.press('Enter')
    await button('Stop').waitFor()
    await poll(() => field.inputValue()).toBe('')
    await poll(() => asked.textContent()).toBe('Compare\nthe weather')
    await poll(() => lengthOf(answer)).toBeGreaterThan(20)
    await page.keyboard.press('Escape')
    await idle()
    await page.keyboard.press('Tab')
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle)
    expect(outline).toBe('solid')
  })

  test('an input method keeps its Enter', async () => {
    const { field, asked } = await visit()
    await field.fill('にほん')
    await field.dispatchEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true })
    await field.dispatchEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true })
    await poll(() => field.inputValue()).toBe('にほん')
    await poll(() => asked.count()).toBe(0)
  })

  test.each(['light', 'dark'] as const)('has names, one live region and enough contrast (%s)', async (colorScheme) => {
    const { page, ask, banner, button } = await visit({ ...desktop, colorScheme })
    await poll(() => namelessControls(page)).toEqual([])
    await poll(() => lowContrast(page)).toEqual([])
    await poll(() => page.getByRole('status').count()).toBe(1)
    for (const landmark of ['banner', 'main', 'complementary'] as const) {
      await poll(() => page.getByRole(landmark).count()).toBe(1)
    }
    await ask('Fail half way')
    await banner.waitFor()
    await button('Try again').waitFor()
    await poll(() => lowContrast(page)).toEqual([])
  })

  test('remembers the theme', async () => {
    const { page, button } = await visit({ ...desktop, colorScheme: 'light' })
    const ground = (): Promise<string> => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    const light = await ground()
    await button('Switch to the dark theme').click()
    const dark = await changed(ground, light)
    await page.reload()
    await poll(() => ground()).toBe(dark)
    await button('Switch to the light theme').click()
    await poll(() => ground()).toBe(light)
  })

  test('begins anew', async () => {
    const { page, ask, asked, idle, button } = await visit()
    await ask('Compare the weather')
    await idle()
    await button('New chat').click()
    await page.getByRole('heading', { name: 'Where to, this weekend?' }).waitFor()
    await poll(() => asked.count()).toBe(0)
    await poll(() => page.locator('.event-row').count()).toBe(0)
  })

  test.each([
    ['a phone', phone],
    ['a small one, or a page enlarged four times', smallPhone],
  ])('fits %s: one part at a time, nothing wider than the screen', async (_name, size) => {
    const { page, ask, answer, state, banner, idle, button } = await visit(size)
    const theme = await button('Switch to the dark theme').or(button('Switch to the light theme')).boundingBox()
    expect((theme?.x ?? 0) + (theme?.width ?? Infinity)).toBeLessThanOrEqual(size.viewport?.width ?? 0)
    await poll(() => tooWide(page)).toEqual([])
    await poll(() => page.getByRole('complementary').count()).toBe(0)
    await page.getByRole('button', { name: /^Plan a weekend/u }).click()
    const cards = answer.getByRole('region', { name: 'Tool call get_weather' })
    await cards.nth(1).waitFor()
    await poll(async () => (await cards.first().boundingBox())?.x === (await cards.nth(1).boundingBox())?.x).toBe(true)
    await answer.locator('table').waitFor()
    await poll(() => tooWide(page)).toEqual([])
    await page.getByRole('button', { name: /^State/u }).click()
    await state.getByText('Lisbon').waitFor()
    await poll(() => answer.isVisible()).toBe(false)
    await poll(() => tooWide(page)).toEqual([])
    await button('Events').click()
    await page.locator('.event-row').first().waitFor()
    await poll(() => tooWide(page)).toEqual([])
    await button('Chat').click()
    await page.getByRole('form', { name: /Which room/u }).waitFor()
    await poll(() => tooWide(page)).toEqual([])
    await button('Not now').click()
    await idle()
    await poll(() => tooWide(page)).toEqual([])
    await button('Edit your message').click()
    await button('Ask again').waitFor()
    await poll(() => tooWide(page)).toEqual([])
    await button('Cancel').click()
    await ask('Tell me a long story')
    await button('Cut the connection').waitFor()
    await poll(() => tooWide(page)).toEqual([])
    await button('Stop').click()
    await idle()
    await ask('Fail half way')
    await banner.waitFor()
    await poll(() => tooWide(page)).toEqual([])
  })

  test('keeps a bounded number of events', async () => {
    const { page, ask, idle } = await visit()
    await ask('Tell me a long story')
    await poll(() => page.locator('.count').textContent()).toMatch(/^400 of/u)
    await poll(() => page.locator('.event-row').count()).toBe(400)
    await page.keyboard.press('Escape')
    await idle()
  })
})
