/** The built demo as a child process, and Chromium to look at it. A page that logs or throws anything fails its test. */
import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

const program = fileURLToPath(new URL('../dist/server.js', import.meta.url))
const builder = fileURLToPath(new URL('../../../tools/build.mjs', import.meta.url))

/** What the demo is made of. */
export const demoTargets = ['protocol', 'server', 'demo', 'demo-page']

/**
 * Builds what changed, in a process of its own: building sets NODE_ENV, which is Vitest's here.
 * @param targets default: all there are
 */
export function buildDemo(targets: readonly string[] = []): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [builder, ...targets], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the build failed\n${stdout}${stderr}`)
}

/** Whatever a test forgets, or did not get to, ends with the tests. */
const children = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

export interface RunningDemo {
  readonly url: string
  readonly process: ChildProcess
  /** @returns the exit code */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** @param env such as PORT; by default any free port and a quick agent */
export async function startDemo(env: Record<string, string> = {}): Promise<RunningDemo> {
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, PORT: '0', DEMO_PACE: '0.35', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.add(child)
  child.once('exit', () => children.delete(child))
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the demo ended with ${code} before it listened`)))
    child.stdout.setEncoding('utf8').on('data', (line: string) => {
      const found = /http:\/\/\S+/u.exec(line)?.[0]
      if (found !== undefined) resolve(found)
    })
  })
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit')
      child.kill(signal)
      await exited
    }
    return child.exitCode
  }
  return { url, process: child, stop }
}

export const desktop: BrowserContextOptions = { viewport: { width: 1280, height: 800 } }
export const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }

/** Small, and the narrowest that WCAG 1.4.10 asks for. */
export const smallPhone: BrowserContextOptions = { ...phone, viewport: { width: 320, height: 568 } }

/** How long anything may take on a machine that does much else, in ms. Only a failing test ever waits that long. */
const patience = 60_000

/** Like `expect.poll`, which gives up after a second. */
export function poll(read: () => unknown): ReturnType<typeof expect.poll> {
  return expect.poll(read, { timeout: patience })
}

export interface OpenPage {
  readonly page: Page
  /** What the page said to the console or threw. */
  readonly problems: readonly string[]
  readonly close: () => Promise<void>
}

export async function openPage(browser: Browser, url: string, options: BrowserContextOptions): Promise<OpenPage> {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  page.setDefaultTimeout(patience)
  const problems: string[] = []
  page.on('console', (message) => problems.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', (error) => problems.push(`uncaught: ${error.message}`))
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) problems.push(`asked elsewhere: ${request.url()}`)
  })
  await page.goto(url)
  // Loaded is not yet rendered.
  await page.getByLabel('Message', { exact: true }).waitFor()
  return { page, problems, close: () => context.close() }
}

/** What is wrong with the page itself: that requests failed is said by the browser. */
export function ownProblems(problems: readonly string[]): string[] {
  return problems.filter((problem) => !problem.startsWith('error: Failed to load resource'))
}

export const lengthOf = async (locator: { textContent(): Promise<string | null> }): Promise<number> =>
  (await locator.textContent())?.length ?? 0

/** The parts of the page by what they are to its user. */
export function partsOf(page: Page) {
  const button = (name: string): Locator => page.getByRole('button', { name, exact: true })
  return {
    button,
    field: page.getByLabel('Message', { exact: true }),
    log: page.getByRole('log', { name: 'Conversation' }),
    answer: page.getByRole('article', { name: 'Agent' }).last(),
    asked: page.getByRole('article', { name: 'You' }),
    banner: page.getByRole('alert'),
    status: page.getByRole('status'),
    state: page.getByRole('region', { name: 'Shared state' }),
    events: page.getByRole('list').filter({ has: page.locator('.event-row') }),
    async ask(text: string): Promise<void> {
      await page.getByLabel('Message', { exact: true }).fill(text)
      await button('Send').click()
      // Until then the agent does not look busy.
      await page.getByRole('article', { name: 'You' }).filter({ hasText: text }).last().waitFor()
    },
    /** Waits for the end of the answer. */
    async idle(): Promise<void> {
      await button('Send').waitFor()
    },
  }
}

/** The last element that matches: its attribute, or else its text. */
export interface Watched {
  readonly selector: string
  readonly attribute?: string
}

/**
 * Writes down, inside the page, every value that something has from now on: what is there for a moment only may be gone
 * by the time a slow test looks.
 * @returns gives the values so far, in order
 */
export async function watch<Name extends string>(
  page: Page,
  watched: Readonly<Record<Name, Watched>>,
): Promise<(name: Name) => Promise<string[]>> {
  const record = await page.evaluateHandle((all: Record<string, Watched>) => {
    const seen: Record<string, string[]> = {}
    const look = (): void => {
      for (const [name, { selector, attribute }] of Object.entries(all)) {
        const element = [...document.querySelectorAll(selector)].at(-1)
        if (element === undefined) continue
        const value = (attribute === undefined ? element.textContent : element.getAttribute(attribute)) ?? ''
        const values = (seen[name] ??= [])
        if (values.at(-1) !== value) values.push(value)
      }
    }
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })
    look()
    return seen
  }, watched as Record<string, Watched>)
  return (name) => record.evaluate((seen, key) => seen[key] ?? [], name as string)
}

/** Waits until what `read` gives differs from `before`; gives the new value. */
export async function changed<Value>(read: () => Promise<Value>, before: Value): Promise<Value> {
  const deadline = Date.now() + patience
  for (;;) {
    const value = await read()
    if (value !== before) return value
    if (Date.now() > deadline) throw new Error(`still ${String(before)} after ${patience} ms`)
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
}
