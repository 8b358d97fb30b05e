import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { buildDemo, desktop, openPage, phone, startDemo, type RunningDemo } from '../../apps/demo/e2e/harness.ts'
import { chromeArgs, findChrome } from '../../tools/find-chrome.mjs'
import { steps, type Step } from './script.ts'

// Each wait has its own bound; the sum of them is no test of anything.
vi.setConfig({ testTimeout: 240_000 })

let browser: Browser

beforeAll(async () => {
  buildDemo()
  const executablePath = findChrome()
  browser = await chromium.launch({ timeout: 60_000, args: ['--disable-gpu', ...chromeArgs()], ...(executablePath && { executablePath }) })
})
afterAll(() => browser?.close())

const darkPhone: BrowserContextOptions = { ...phone, colorScheme: 'dark' }

describe.each(['react', 'vue', 'svelte', 'solid', 'plain'])('the page made with %s', (name) => {
  let demo: RunningDemo
  beforeAll(async () => {
    demo = await startDemo({ DEMO_PAGE: fileURLToPath(new URL(`../${name}/dist/`, import.meta.url)) })
  })
  afterAll(() => demo?.stop())

  /** @returns what went wrong, with the name of the step */
  async function visit(step: Step, options: BrowserContextOptions): Promise<string[]> {
    const { page, problems, close } = await openPage(browser, demo.url, options)
    try {
      await step.run(page)
      return problems.map((problem) => `${step.name}: ${problem}`)
    } catch (error) {
      return [`${step.name}: ${error instanceof Error ? error.stack : String(error)}`]
    } finally {
      await close()
    }
  }

  // Most of a step is waiting for the agent, so all steps are taken at once.
  test.each([
    ['on a desk', desktop],
    ['on a phone, in the dark', darkPhone],
  ])('passes the script %s', async (_where, options) => {
    const failures = await Promise.all(steps.map((step) => visit(step, options)))
    expect(failures.flat()).toEqual([])
  })
})
