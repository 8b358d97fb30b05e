import type { Browser, BrowserContextOptions } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { chromeArgs, findChrome } from '../../../tools/find-chrome.mjs'
import { lowContrast, namelessControls, tooWide } from './audit.ts'
import type { OpenPage, RunningDemo } from './harness.ts'
import { buildDemo, changed, desktop, openPage, partsOf, phone, startDemo } from './harness.ts'

let demo: RunningDemo
let browser: Browser
let opened: OpenPage | undefined

const launch = (): Promise<Browser> => {
  const executablePath = findChrome()
  return chromium.launch({ timeout: 60_000, args: ['--disable-gpu', ...chromeArgs()], ...(executablePath && { executablePath }) })
}

beforeAll(async () => {
  buildDemo()
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

const lengthOf = async (locator: { textContent(): Promise<string | null> }): Promise<number> =>
  (await locator.textContent())?.length ?? 0

describe('an answer', () => {
  test('grows while it streams, and is announced when it begins and ends', async () => {
    const { ask, answer, status, idle, button, page } = await visit()
    await ask('How does an answer arrive?')
    await expect.poll(() => status.textContent()).toBe('The agent is answering.')
    const text = answer.locator('.markdown')
    const first = await lengthOf(text)
    const second = await changed(() => lengthOf(text), first)
    const third = await changed(() => lengthOf(text), second)
    expect(first < second && second < third).toBe(true)
    await idle()
    for (const element of ['h2', 'ol', 'table', 'pre', 'blockquote']) expect(await text.locator(element).count()).toBe(1)
    const link = text.getByRole('link', { name: 'docs.ag-ui.com' })
    expect(await link.getAttribute('rel')).toContain('noopener')
    expect(await status.textContent()).toMatch(/^Answer complete\. How an answer arrives/u)
    await button('Copy code').click()
    await button('Copied').waitFor()
    expect(await namelessControls(page)).toEqual([])
  })

  test('can be asked for again', async () => {
    const { ask, answer, asked, idle, button } = await visit()
    await ask('Compare the weather')
    await idle()
    const before = await answer.textContent()
    await button('Answer again').click()
    await expect.poll(() => lengthOf(answer)).toBeLessThan(before?.length ?? 0)
    await idle()
    expect(await answer.textContent()).toBe(before)
    expect(await asked.count()).toBe(1)
  })

  test('stops: what came stays, nothing is wrong, and the next one works', async () => {
    const { ask, answer, banner, idle, button, field } = await visit()
    await ask('Tell me a long story')
    await expect.poll(() => lengthOf(answer)).toBeGreaterThan(80)
    await button('Stop').click()
    await idle()
    const kept = await answer.textContent()
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(await answer.textContent()).toBe(kept)
    expect(await banner.count()).toBe(0)
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true)
    await ask('Compare the weather')
    await idle()
    expect(await answer.textContent()).toContain('six degrees warmer')
  })

  test('that fails shows why, keeps what was said, and works when tried again', async () => {
    const { ask, answer, banner, idle, button } = await visit()
    await ask('Fail half way')
    await banner.waitFor()
    expect(await banner.textContent()).toContain('timetable service did not answer')
    expect(await answer.textContent()).toContain('I ask the railway')
    await button('Try again').click()
    await idle()
    expect(await banner.count()).toBe(0)
    expect(await answer.textContent()).toContain('AP 184')
  })

  test('whose server goes away is kept and said to be cut; the next server goes on', async () => {
    const doomed = await startDemo()
    const port = new URL(doomed.url).port
    const { page, problems, close } = await openPage(browser, doomed.url, desktop)
    const { ask, answer, banner, idle, button } = partsOf(page)
    let successor: RunningDemo | undefined
    try {
      await ask('Tell me a long story')
      await expect.poll(() => lengthOf(answer)).toBeGreaterThan(80)
      await doomed.stop('SIGKILL')
      await banner.waitFor()
      expect(await banner.textContent()).toContain('What came is kept')
      expect(await lengthOf(answer)).toBeGreaterThan(80)
      await button('Try again').click()
      await expect.poll(() => banner.textContent()).toContain('cannot be reached')
      successor = await startDemo({ PORT: port })
      await ask('Compare the weather')
      await idle()
      expect(await answer.textContent()).toContain('six degrees warmer')
      // The browser itself reports requests that failed; the page adds nothing.
      expect(problems.filter((problem) => !problem.startsWith('error: Failed to load resource'))).toEqual([])
    } finally {
      await close()
      await successor?.stop()
    }
  })

  test('does not drag along a reader who scrolled up', async () => {
    const { ask, answer, log, button } = await visit()
    await ask('Tell me a long story')
    await expect.poll(() => log.evaluate((element) => element.scrollTop), { timeout: 20_000 }).toBeGreaterThan(200)
    await log.hover()
    await log.page().mouse.wheel(0, -400)
    await button('Jump to latest').waitFor()
    const top = await log.evaluate((element) => element.scrollTop)
    const length = await lengthOf(answer)
    await expect.poll(() => lengthOf(answer)).toBeGreaterThan(length + 100)
    expect(await log.evaluate((element) => element.scrollTop)).toBe(top)
    await button('Jump to latest').click()
    const rest = (element: HTMLElement | SVGElement): number => element.scrollHeight - element.scrollTop - element.clientHeight
    await expect.poll(() => log.evaluate(rest)).toBeLessThan(5)
    expect(await button('Jump to latest').count()).toBe(0)
  })
})

describe('the tour', () => {
  test('shows thoughts, a plan, tools, state and events, asks, and goes on from the answer', async () => {
    const { page, ask, answer, state, status, events, idle, button } = await visit()
    await ask('Plan a weekend in Lisbon')

    const thoughts = answer.getByRole('button', { name: 'Thinking' })
    await thoughts.waitFor()
    expect(await thoughts.getAttribute('aria-expanded')).toBe('true')
    await answer.getByRole('button', { name: /^Thought for/u }).waitFor()

    const progress = answer.getByRole('progressbar')
    await progress.waitFor()
    expect(await progress.getAttribute('value')).toBe('0')

    const cards = answer.getByRole('region', { name: 'Tool call get_weather' })
    await cards.nth(1).waitFor()
    const written = cards.nth(1).getByLabel('Arguments')
    const first = await lengthOf(written)
    const second = await changed(() => lengthOf(written), first)
    expect(second).toBeGreaterThan(first)
    await expect.poll(() => cards.filter({ hasText: 'Done' }).count(), { timeout: 10_000 }).toBe(2)
    expect(await cards.first().textContent()).toContain('27 °C')

    await state.getByText('Lisbon').waitFor()
    await state.locator('[data-changed]').first().waitFor()
    const spent = await state.getByRole('meter').getAttribute('aria-valuenow')
    await changed(() => state.getByRole('meter').getAttribute('aria-valuenow'), spent)

    await page.getByRole('form', { name: /Which room/u }).waitFor({ timeout: 30_000 })
    expect(await progress.getAttribute('value')).toBe('3')
    await expect.poll(() => status.textContent()).toMatch(/^The agent asks: Which room/u)
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('radio')
    expect(await namelessControls(page)).toEqual([])
    expect(await lowContrast(page)).toEqual([])

    await page.getByRole('radio', { name: /Alfama 18/u }).check()
    await button('Confirm').click()
    await answer.getByRole('region', { name: 'Tool call hold_room' }).waitFor()
    await idle()
    expect(await answer.textContent()).toMatch(/You answered Alfama 18.*holds a room for two/su)
    expect(await progress.getAttribute('value')).toBe('4')
    expect(await state.textContent()).toContain('€504 of €600')

    await state.getByRole('button', { name: 'JSON' }).click()
    expect(await state.textContent()).toContain('"label": "Alfama 18, 2 nights"')

    await page.getByLabel('Filter events').fill('run_')
    await expect.poll(() => events.getByRole('listitem').count()).toBe(4)
    await events.getByRole('button', { name: /RUN_FINISHED/u }).first().click()
    expect(await events.locator('pre').textContent()).toContain('"reason": "input_required"')
    await page.getByLabel('Filter events').fill('')
    await button('Text').click()
    await expect.poll(() => events.getByText('TEXT_MESSAGE_CONTENT').count()).toBe(0)
  })

  test('goes on when the question is declined', async () => {
    const { ask, answer, button, idle, state } = await visit()
    await ask('Book a room')
    await button('Not now').click()
    await idle()
    expect(await answer.textContent()).toContain('Nothing is held')
    expect(await state.textContent()).toContain('still empty')
  })
})

describe('the page', () => {
  test('works by keyboard alone', async () => {
    const { page, field, answer, asked, idle, button } = await visit()
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the message field')
    await page.keyboard.press('Enter')
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true)
    await page.keyboard.type('Compare')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('the weather')
    expect(await field.inputValue()).toBe('Compare\nthe weather')
    await page.keyboard.press('Enter')
    await button('Stop').waitFor()
    expect(await field.inputValue()).toBe('')
    expect(await asked.textContent()).toBe('Compare\nthe weather')
    await expect.poll(() => lengthOf(answer)).toBeGreaterThan(20)
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
    expect(await field.inputValue()).toBe('にほん')
    expect(await asked.count()).toBe(0)
  })

  test.each(['light', 'dark'] as const)('has names, one live region and enough contrast (%s)', async (colorScheme) => {
    const { page, ask, banner, button } = await visit({ ...desktop, colorScheme })
    expect(await namelessControls(page)).toEqual([])
    expect(await lowContrast(page)).toEqual([])
    expect(await page.getByRole('status').count()).toBe(1)
    for (const landmark of ['banner', 'main', 'complementary'] as const) {
      expect(await page.getByRole(landmark).count()).toBe(1)
    }
    await ask('Fail half way')
    await banner.waitFor()
    await button('Try again').waitFor()
    await page.waitForTimeout(300)
    expect(await lowContrast(page)).toEqual([])
  })

  test('remembers the theme', async () => {
    const { page, button } = await visit({ ...desktop, colorScheme: 'light' })
    const ground = (): Promise<string> => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    const light = await ground()
    await button('Switch to the dark theme').click()
    const dark = await changed(ground, light)
    await page.reload()
    expect(await ground()).toBe(dark)
    await button('Switch to the light theme').click()
    expect(await ground()).toBe(light)
  })

  test('begins anew', async () => {
    const { page, ask, asked, idle, button } = await visit()
    await ask('Compare the weather')
    await idle()
    await button('New chat').click()
    await page.getByRole('heading', { name: 'Where to, this weekend?' }).waitFor()
    expect(await asked.count()).toBe(0)
    expect(await page.locator('.event-row').count()).toBe(0)
  })

  test('fits a phone: one part at a time, nothing wider than the screen', async () => {
    const { page, ask, answer, state, banner, idle, button } = await visit(phone)
    expect(await tooWide(page)).toEqual([])
    expect(await page.getByRole('complementary').count()).toBe(0)
    await page.getByRole('button', { name: /^Plan a weekend/u }).click()
    const cards = answer.getByRole('region', { name: 'Tool call get_weather' })
    await cards.nth(1).waitFor()
    const [left, right] = [await cards.first().boundingBox(), await cards.nth(1).boundingBox()]
    expect(left?.x).toBe(right?.x)
    await answer.locator('table').waitFor({ timeout: 20_000 })
    expect(await tooWide(page)).toEqual([])
    await page.getByRole('button', { name: /^State/u }).click()
    await state.getByText('Lisbon').waitFor()
    expect(await answer.isVisible()).toBe(false)
    expect(await tooWide(page)).toEqual([])
    await button('Events').click()
    await page.locator('.event-row').first().waitFor()
    expect(await tooWide(page)).toEqual([])
    await button('Chat').click()
    await page.getByRole('form', { name: /Which room/u }).waitFor({ timeout: 30_000 })
    expect(await tooWide(page)).toEqual([])
    await button('Not now').click()
    await idle()
    expect(await tooWide(page)).toEqual([])
    await ask('Fail half way')
    await banner.waitFor()
    expect(await tooWide(page)).toEqual([])
  })

  test('keeps a bounded number of events', async () => {
    const { page, ask, idle } = await visit()
    await ask('Tell me a long story')
    await expect.poll(() => page.locator('.count').textContent(), { timeout: 40_000 }).toMatch(/^400 of/u)
    expect(await page.locator('.event-row').count()).toBe(400)
    await page.keyboard.press('Escape')
    await idle()
  })
})
