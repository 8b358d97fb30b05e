import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { buildDemo, desktop, openPage, ownProblems, phone, startDemo, type RunningDemo } from '../../apps/demo/e2e/harness.ts'
import { chromeArgs, findChrome } from '../../tools/find-chrome.mjs'
import type { Step } from './parts.ts'
import { returnSteps } from './return-steps.ts'
import { steps } from './script.ts'

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
    const refused: string[] = []
    page.on('response', (response) => {
      // A new thread is one that the server does not know.
      const isNew = response.status() === 404 && response.url().includes('?threadId=')
      if (response.status() >= 400 && !isNew) refused.push(`${response.status()} ${response.url()}`)
    })
    try {
      await step.run(page)
      return [...ownProblems(problems), ...refused].map((problem) => `${step.name}: ${problem}`)
    } catch (error) {
      return [`${step.name}: ${error instanceof Error ? error.stack : String(error)}`]
    } finally {
      await close()
    }
  }

  /** Most of a step is waiting for the agent, so some are taken at once; with too many, little is seen of what passes quickly. */
  async function visitAll(script: readonly Step[], options: BrowserContextOptions): Promise<string[]> {
    const failures: string[] = []
    const left = script.values()
    const visitor = async (): Promise<void> => {
      for (const step of left) failures.push(...(await visit(step, options)))
    }
    await Promise.all(Array.from({ length: 5 }, visitor))
    return failures
  }

  test('passes the script on a desk', async () => {
    expect(await visitAll([...steps, ...returnSteps], desktop)).toEqual([])
  })

  // Coming back is nothing that a smaller window changes.
  test('passes the script on a phone, in the dark', async () => {
    expect(await visitAll(steps, darkPhone)).toEqual([])
  })
})
