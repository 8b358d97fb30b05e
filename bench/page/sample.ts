/** Plays one plan in a Chromium of its own. */
import { chromium, type LaunchOptions } from 'playwright-core'
import { answerDeltas } from './conversation.ts'
import type { Observed, Told } from './observed.ts'
import { queryOf, type Plan } from './plan.ts'
import type { PageServer } from './server.ts'
import { CATEGORIES, mainThread, type MainThread, type TraceEvent } from './trace.ts'

export interface PageSample extends MainThread, Omit<Observed, 'text' | 'shown' | 'messages'> {
  /** From the first render to the first frame with the history, in ms. */
  readonly openedMs: number
}

export interface SampleOptions {
  readonly server: PageServer
  readonly launch: LaunchOptions
  /** The time an answer may take, in ms. */
  readonly capMs: number
}

/** How long a page may take to show the history, in ms. */
const OPEN_MS = 60_000

/** The same window for all, and exact figures of the heap. */
const FLAGS = ['--window-size=1280,800', '--enable-precise-memory-info', '--js-flags=--expose-gc']

/** @returns undefined if the answer was not there in time. @throws Error if it is not the right one, or the page fails. */
export async function samplePage(plan: Plan, { server, launch, capMs }: SampleOptions): Promise<PageSample | undefined> {
  const browser = await chromium.launch({ ...launch, args: [...(launch.args ?? []), ...FLAGS] })
  try {
    const opened = within(OPEN_MS, server)
    // Not `newPage`: the page is nobody's but its own. With a debugger, each request is copied for it.
    const session = await browser.newBrowserCDPSession()
    await browser.startTracing(undefined, { categories: [...CATEGORIES] })
    await session.send('Target.createTarget', { url: new URL(`/?driven&${queryOf(plan)}`, server.url).href })
    const first = await opened
    if (first?.kind !== 'opened') throw new Error(first?.kind === 'failed' ? first.reason : `not opened within ${OPEN_MS / 1_000} s`)
    const last = await within(capMs, server)
    if (last === undefined) return undefined
    if (last.kind !== 'observed') throw new Error(last.kind === 'failed' ? last.reason : 'opened twice')
    check(plan, last.observed)
    const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { readonly traceEvents: readonly TraceEvent[] }
    const { text: _text, shown: _shown, messages: _messages, ...figures } = last.observed
    return { ...figures, ...mainThread(traceEvents), openedMs: first.ms }
  } finally {
    await browser.close()
  }
}

/** The next that is told, or undefined. */
async function within(ms: number, server: PageServer): Promise<Told | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined)
  })
  return Promise.race([server.told(), late]).finally(() => clearTimeout(timer))
}

function check({ messages, deltas }: Plan, observed: Observed): void {
  const answer = answerDeltas(deltas).join('')
  if (observed.messages !== messages + 2) throw new Error(`wrong: ${observed.messages} messages, not ${messages + 2}`)
  if (observed.text !== answer) throw new Error(`wrong: an answer of ${observed.text.length} units, not ${answer.length}`)
  if (observed.shown !== answer) throw new Error(`wrong: ${observed.shown.length} units of the answer are shown, not ${answer.length}`)
}
