/** Time, injected. Besides the scheduler, nothing else in this package reads a clock or sets a timer. */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls back once after `ms`. Returns what cancels it. */
  after(ms: number, callback: () => void): () => void
}

/** Longest wait `setTimeout` can hold: above it, it fires at once. */
const LONGEST = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, LONGEST))
    return () => clearTimeout(timer)
  },
}
