/** What the page sees of itself while it answers one question, and how it tells. Of tasks Chromium tells the driver. */

export interface Observed {
  /** From sending to the first frame with the user's message, in ms. */
  readonly paintedMs: number
  /** From sending to the commit that showed the whole answer and that it is over, in ms. */
  readonly settledMs: number
  /** Commits of the page from sending to the end. */
  readonly commits: number
  /** How often a row was rendered in them. */
  readonly rows: number
  readonly frames: number
  /** The longest time between two frames, in ms. */
  readonly frameMs: number
  /** Tasks of 50 ms and more, as the browser tells a page of them: how many, and how long together. */
  readonly longTasks: number
  readonly longTasksMs: number
  /** What lies in its heap in the end, after a collection, in MB. */
  readonly heapMb: number
  /** What the page holds in the end. */
  readonly messages: number
  /** The text of the last message as its client has it, and as the document shows it. */
  readonly text: string
  readonly shown: string
}

/**
 * What the page POSTs to where it came from, in this order; `failed` may come at any time and is the last. It is not asked: a page
 * that a debugger looks at does more when it sends.
 */
export type Told =
  /** The history is there and was painted; the time from the first render to that, in ms. */
  | { readonly kind: 'opened'; readonly ms: number }
  | { readonly kind: 'observed'; readonly observed: Observed }
  | { readonly kind: 'failed'; readonly reason: string }

export const TOLD = '/told'

/** Marks in the trace: sending, the first commit that shows a part of the answer, the last commit. */
export const MARKS = { sent: 'bench:sent', answered: 'bench:answered', settled: 'bench:settled' } as const
