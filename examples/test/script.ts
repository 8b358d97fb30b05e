/**
 * What a user does on each page, and what has to be seen. One step is one visit; a further step is one more row here and
 * runs against all pages. Pages are known by roles and names only.
 */
import { expect } from 'vitest'
import { lowContrast, namelessControls, tooWide } from '../../apps/demo/e2e/audit.ts'
import { poll, watch } from '../../apps/demo/e2e/harness.ts'
import { answerText, expectGrowth, parts, type Step } from './parts.ts'

const lengths = (values: readonly string[]): number[] => values.map(({ length }) => length)

export const steps: readonly Step[] = [
  {
    name: 'text streams in, piece by piece',
    async run(page) {
      const { ask, asked, answer, idle } = parts(page)
      const seen = await watch(page, { text: { selector: `article[aria-label=Agent] ${answerText}` } })
      await ask('How does an answer arrive?')
      await idle()
      const texts = (await seen('text')).filter((text) => text !== '')
      expect(texts.length).toBeGreaterThan(3)
      expectGrowth(texts)
      await poll(() => asked.textContent()).toBe('How does an answer arrive?')
      await poll(() => answer.locator(answerText).textContent()).toBe(texts.at(-1))
    },
  },
  {
    name: 'a tool card shows its arguments while they stream, then its result',
    async run(page) {
      const { ask, answer, idle, tool } = parts(page)
      const seen = await watch(page, {
        args: { selector: '.tool .arguments' },
        states: { selector: '.tool', attribute: 'data-state' },
      })
      await ask('Compare the weather')
      await idle()
      const args = await seen('args')
      expect(new Set(lengths(args)).size).toBeGreaterThan(3)
      expectGrowth(args.filter((text) => text !== ''))
      expect(JSON.parse(args.at(-1) ?? '')).toMatchObject({ city: 'Porto' })
      expect(await seen('states')).toEqual(expect.arrayContaining(['input-streaming', 'complete']))
      await poll(() => tool('get_weather').count()).toBe(2)
      await poll(() => tool('get_weather').first().locator('.result').textContent()).toContain('27 °C')
      await poll(() => answer.textContent()).toContain('six degrees warmer')
    },
  },
  {
    name: 'a question waits for an answer, and the run goes on with it',
    async run(page) {
      const { ask, answer, question, button, idle, tool } = parts(page)
      await ask('Book a room')
      await question.waitFor()
      await poll(() => question.textContent()).toContain('Which room shall I hold')
      await poll(() => button('Send').isDisabled()).toBe(true)
      await button('Alfama 18').click()
      await idle()
      await poll(() => question.isVisible()).toBe(false)
      await poll(() => tool('hold_room').locator('.arguments').textContent()).toContain('alfama-18')
      await poll(() => answer.textContent()).toContain('Alfama 18')
      await poll(() => button('Send').isEnabled()).toBe(true)
      await ask('Book a room')
      await button('Not now').click()
      await idle()
      await poll(() => answer.textContent()).toContain('Nothing is held')
    },
  },
  {
    name: 'stop ends the answer and keeps what came; the next one works',
    async run(page) {
      const { ask, answer, banner, button, idle } = parts(page)
      await ask('Tell me a long story')
      await poll(async () => ((await answer.textContent()) ?? '').length).toBeGreaterThan(80)
      await button('Stop').click()
      await idle()
      const kept = (await answer.textContent()) ?? ''
      await poll(() => banner.count().then(async (count) => count > 0 && (await banner.isVisible()))).toBe(false)
      await ask('Compare the weather')
      await idle()
      await poll(() => answer.textContent()).toContain('six degrees warmer')
      // What the server had said by then may have come behind it.
      const stopped = (await page.getByRole('article', { name: 'Agent' }).first().textContent()) ?? ''
      expectGrowth([kept, stopped])
      expect(stopped).not.toContain('something at the end of it that turns.')
    },
  },
  {
    name: 'an error is shown, keeps what was said, and is gone after another try',
    async run(page) {
      const { ask, answer, banner, button, idle } = parts(page)
      await ask('Fail half way')
      await poll(() => banner.textContent()).toContain('timetable service did not answer')
      await poll(() => answer.textContent()).toContain('I ask the railway')
      await button('Try again').click()
      await idle()
      await poll(() => answer.textContent()).toContain('AP 184')
      await poll(() => answer.textContent()).not.toContain('I ask the railway')
      await poll(() => banner.count().then(async (count) => count > 0 && (await banner.isVisible()))).toBe(false)
    },
  },
  {
    name: 'a suggestion is sent with one click; all of it fits, has a name and can be read',
    async run(page) {
      const { button, idle, answer } = parts(page)
      await button('Compare the weather').click()
      await page.getByRole('article', { name: 'You' }).waitFor()
      await idle()
      await poll(() => answer.textContent()).toContain('six degrees warmer')
      expect(await tooWide(page)).toEqual([])
      expect(await namelessControls(page)).toEqual([])
      expect(await lowContrast(page)).toEqual([])
    },
  },
]
