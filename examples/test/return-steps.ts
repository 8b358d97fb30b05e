/** Steps in which a user comes back: a reload, a second tab, a tab that is closed. What the server has of the thread is the measure. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { lengthOf, poll, watch } from '../../apps/demo/e2e/harness.ts'
import { answerText, expectGrowth, parts, type Step } from './parts.ts'

const story = 'Tell me a long story'

interface Stored {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[]
  readonly activeRun: { readonly runId: string } | null
}

/** The thread of a page, as the server has it. */
const stored = (page: Page): Promise<Stored> =>
  page.evaluate(async () => {
    const thread = new URL(location.href).searchParams.get('thread') ?? ''
    return (await fetch(`/api/chat?threadId=${encodeURIComponent(thread)}`)).json() as Promise<Stored>
  })

/** Counts what is sent from here on. */
function countingPosts(page: Page): () => number {
  let posts = 0
  page.context().on('request', (request) => {
    if (request.method() === 'POST') posts++
  })
  return () => posts
}

/** Another tab on the thread of a page. */
async function openTab(page: Page): Promise<{ readonly tab: Page; readonly problems: string[] }> {
  const tab = await page.context().newPage()
  const problems: string[] = []
  tab.on('console', (message) => problems.push(message.text()))
  tab.on('pageerror', (error) => problems.push(error.message))
  await tab.goto(page.url())
  await tab.getByLabel('Message', { exact: true }).waitFor()
  return { tab, problems }
}

/** What was shown of the last answer, from now on. */
async function watchAnswer(page: Page): Promise<() => Promise<string[]>> {
  const seen = await watch(page, { text: { selector: `article[aria-label=Agent] ${answerText}` } })
  return async () => (await seen('text')).filter((text) => text !== '')
}

/** The story is over, and all of these pages show it to the letter as the server has it, once. */
async function expectWhole(...pages: readonly Page[]): Promise<void> {
  for (const page of pages) {
    await poll(async () => (await stored(page)).activeRun).toBeNull()
    const text = (await stored(page)).messages.at(-1)?.content
    expect(text).toMatch(/something at the end of it that turns\.$/u)
    const { answer, asked, idle } = parts(page)
    await poll(() => answer.locator(answerText).textContent()).toBe(text)
    await idle()
    expect(await page.getByRole('article', { name: 'Agent' }).count()).toBe(1)
    expect(await asked.allTextContents()).toEqual([story])
  }
}

export const returnSteps: readonly Step[] = [
  {
    name: 'a reload in the middle of an answer: it goes on, with no letter lost, doubled or taken back',
    async run(page) {
      const posts = countingPosts(page)
      const { ask, answer, button } = parts(page)
      await ask(story)
      for (const length of [200, 600]) {
        await poll(() => lengthOf(answer)).toBeGreaterThan(length)
        await page.reload()
        const seen = await watchAnswer(page)
        await button('Stop').waitFor()
        await poll(() => lengthOf(answer)).toBeGreaterThan(length)
        expectGrowth(await seen())
      }
      const seen = await watchAnswer(page)
      await expectWhole(page)
      expectGrowth(await seen())
      await page.reload()
      await expectWhole(page)
      expect(posts()).toBe(1)
    },
  },
  {
    name: 'a reload while a question is open: it is asked still, and the run goes on with the answer',
    async run(page) {
      const posts = countingPosts(page)
      const { ask, answer, asked, question, button, idle, tool } = parts(page)
      await ask('Book a room')
      await question.waitFor()
      await page.reload()
      await question.waitFor()
      await poll(() => question.textContent()).toContain('Which room shall I hold')
      expect(await button('Send').isDisabled()).toBe(true)
      await button('Alfama 18').click()
      await poll(() => question.isVisible()).toBe(false)
      await poll(() => tool('hold_room').locator('.result').textContent()).toContain('MR-188')
      await idle()
      await poll(() => answer.textContent()).toContain('Alfama 18')
      await page.reload()
      await poll(() => answer.textContent()).toContain('The reference is')
      expect(await question.isVisible()).toBe(false)
      expect(await asked.count()).toBe(1)
      expect(posts()).toBe(2)
    },
  },
  {
    name: 'stop after a reload ends the run at the server, and what came stays over another one',
    async run(page) {
      const { ask, answer, button, idle } = parts(page)
      await ask(story)
      await poll(() => lengthOf(answer)).toBeGreaterThan(100)
      await page.reload()
      await button('Stop').waitFor()
      await poll(() => lengthOf(answer)).toBeGreaterThan(100)
      await button('Stop').click()
      await idle()
      const length = await lengthOf(answer)
      await poll(async () => (await stored(page)).activeRun).toBeNull()
      await page.reload()
      await poll(() => lengthOf(answer)).toBeGreaterThanOrEqual(length)
      await idle()
      const text = (await stored(page)).messages.at(-1)?.content
      await poll(() => answer.locator(answerText).textContent()).toBe(text)
      await ask('Compare the weather')
      await poll(() => answer.textContent()).toContain('six degrees warmer')
    },
  },
  {
    name: 'two tabs on one thread stay in step, whichever of them sends',
    async run(page) {
      const posts = countingPosts(page)
      const { tab, problems } = await openTab(page)
      const [here, there] = [parts(page), parts(tab)]
      const seen = await watchAnswer(tab)
      await here.ask(story)
      await poll(() => there.asked.allTextContents()).toEqual([story])
      await there.button('Stop').waitFor()
      await poll(() => lengthOf(there.answer)).toBeGreaterThan(100)
      expect(await here.button('Stop').isVisible()).toBe(true)
      await expectWhole(page, tab)
      expectGrowth(await seen())
      await there.ask('Compare the weather')
      await poll(() => here.asked.allTextContents()).toEqual([story, 'Compare the weather'])
      for (const { answer, idle, tool } of [here, there]) {
        await poll(() => answer.textContent()).toContain('six degrees warmer')
        await idle()
        expect(await tool('get_weather').count()).toBe(2)
      }
      expect(await here.log.innerText()).toBe(await there.log.innerText())
      await here.ask('Book a room')
      await there.question.waitFor()
      await there.button('Not now').click()
      await poll(() => here.answer.textContent()).toContain('Nothing is held')
      await poll(() => here.question.isVisible()).toBe(false)
      expect(posts()).toBe(4)
      expect(problems.filter((problem) => !problem.includes('404'))).toEqual([])
      await tab.close()
    },
  },
  {
    name: 'the tab that sent is closed in the middle: the other one loses nothing',
    async run(page) {
      const posts = countingPosts(page)
      const { tab } = await openTab(page)
      const { answer } = parts(page)
      const seen = await watchAnswer(page)
      await parts(tab).ask(story)
      await poll(() => lengthOf(answer)).toBeGreaterThan(100)
      await tab.close()
      await expectWhole(page)
      expectGrowth(await seen())
      await page.reload()
      await expectWhole(page)
      expect(posts()).toBe(1)
    },
  },
]
