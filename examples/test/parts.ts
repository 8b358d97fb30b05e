/** The parts of a page by what they are to its user, and what steps look at. */
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { partsOf } from '../../apps/demo/e2e/harness.ts'

export interface Step {
  readonly name: string
  readonly run: (page: Page) => Promise<void>
}

export const answerText = '.text:not(.thinking)'

export function parts(page: Page) {
  const base = partsOf(page)
  const tool = (name: string): Locator => base.answer.getByRole('region', { name: `Tool call ${name}` })
  return { ...base, tool, question: page.getByRole('region', { name: 'Question' }) }
}

/** Each value is the beginning of the next: nothing is lost, doubled or taken back. */
export function expectGrowth(values: readonly string[]): void {
  values.forEach((value, index) => {
    const before = values[index - 1] ?? ''
    expect(value.startsWith(before), `"${value}" goes on from "${before}"`).toBe(true)
  })
}
