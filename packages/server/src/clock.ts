/** Time, injected. Nothing else in this package reads a clock or sets a timer. */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls back once after `ms`; a wait that no timer can hold (Infinity) never ends. Returns what cancels it. */
  after(ms: number, callback: () => void): () => void
  /** Settles in a later turn of the event loop, after pending I/O had its chance. */
  turn(): Promise<void>
}

/** Longest wait `setTimeout` can hold: above it, it fires at once. */
const LONGEST = 2 ** 31 - 1

/** The platform's clock. Its timers keep no process alive: sockets and the agents' own work do. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    if (ms > LONGEST) return () => undefined
    const timer: unknown = setTimeout(callback, ms)
    // A number in browsers and Workers, an object in Node.
    if (typeof timer === 'object' && timer !== null && 'unref' in timer) (timer as { unref(): void }).unref()
    return () => clearTimeout(timer as ReturnType<typeof setTimeout>)
  },
  turn: () =>
    new Promise((resolve) => {
      if (typeof setImmediate === 'function') setImmediate(resolve)
      else setTimeout(resolve, 0)
    }),
}
