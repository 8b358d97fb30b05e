import { fileURLToPath } from 'node:url'
import { chromium, type Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { buildDemo, desktop, openPage, phone, startDemo, type RunningDemo } from '../../apps/demo/e2e/harness.ts'
import { chromeArgs, findChrome } from '../../tools/find-chrome.mjs'
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

describe.each(['react', 'vue', 'svelte', 'solid', 'plain'])('the page made with %s', (name) => {
  let demo: RunningDemo
  beforeAll(async () => {
    demo = await startDemo({ DEMO_PAGE: fileURLToPath(new URL(`../${name}/dist/`, import.meta.url)) })
  })
  afterAll(() => demo?.stop())

  test.each(steps)('$name', async ({ run }) => {
    const { page, problems, close } = await openPage(browser, demo.url, desktop)
    try {
      await run(page)
      expect(problems).toEqual([])
    } finally {
      await close()
    }
  })

  test('fits a phone', async () => {
    const { page, problems, close } = await openPage(browser, demo.url, phone)
    try {
      await steps.at(-1)?.run(page)
      expect(problems).toEqual([])
    } finally {
      await close()
    }
  })
})
