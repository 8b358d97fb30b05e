/**
 * Where work stops for a moment: macrotasks, time slices and coalesced notifications. It knows nothing of chats. The
 * event loop must turn while a burst is folded, yet a macrotask for each event would make a stream crawl.
 */

import { UsageError } from '@millrace/protocol'

/** Runs `callback` in a macrotask of its own; the function returned takes that back. */
export type Macrotask = (callback: () => void) => () => void

interface Immediate {
  setImmediate?: (callback: () => void) => unknown
  clearImmediate?: (handle: unknown) => void
}

let channel: MessageChannel | undefined
const waiting: (() => void)[] = []

// Timers are clamped to 4 ms when nested and to a second in hidden tabs; messages and immediates are not.
function viaMessage(callback: () => void): () => void {
  if (channel === undefined) {
    channel = new MessageChannel()
    channel.port1.onmessage = () => waiting.shift()?.()
  }
  let live = true
  waiting.push(() => {
    if (live) callback()
  })
  channel.port2.postMessage(0)
  return () => {
    live = false
  }
}

/** The quickest macrotask this runtime has. */
export const macrotask: Macrotask = (callback) => {
  const { setImmediate, clearImmediate } = globalThis as Immediate
  if (setImmediate !== undefined && clearImmediate !== undefined) {
    const handle = setImmediate(callback)
    return () => clearImmediate(handle)
  }
  if (typeof MessageChannel === 'function') return viaMessage(callback)
  const handle = setTimeout(callback, 0)
  return () => clearTimeout(handle)
}

/** Half a frame at 60 Hz: input and rendering keep the other half. */
const SLICE_MS = 8

/**
 * Says when to let the event loop turn. A slice begins with the first work after a macrotask boundary, so a slow
 * stream never waits, and a burst waits once every 8 ms however many events it holds.
 */
export class Slicer {
  readonly #now: () => number
  readonly #macrotask: Macrotask
  #until: number | undefined
  #cancel: (() => void) | undefined
  #resume: (() => void) | undefined

  constructor(now: () => number = () => performance.now(), schedule: Macrotask = macrotask) {
    this.#now = now
    this.#macrotask = schedule
  }

  /** Call before a piece of work; await what it returns, if anything. */
  pause(): Promise<void> | undefined {
    if (this.#until === undefined) {
      this.#until = this.#now() + SLICE_MS
      this.#cancel = this.#macrotask(() => this.#boundary())
      return undefined
    }
    if (this.#now() < this.#until) return undefined
    return new Promise((resolve) => {
      this.#resume = resolve
    })
  }

  /** Ends the slice; nothing stays scheduled and nobody stays waiting. */
  stop(): void {
    this.#cancel?.()
    this.#boundary()
  }

  #boundary(): void {
    this.#until = undefined
    this.#cancel = undefined
    const resume = this.#resume
    this.#resume = undefined
    resume?.()
  }
}

/** Turns many requests to run something into few runs. */
export interface Coalescer {
  request(): void
  /** Forgets what was requested and has not run. */
  cancel(): void
}

/** How a store makes its {@link Coalescer}; `flush` is what to run. */
export type CoalesceStrategy = (flush: () => void) => Coalescer

/**
 * The first request is served in a microtask, which is at once for a reader; further ones before `boundary` are served
 * together when it comes. So a burst gives two runs for each boundary, not one for each event.
 */
function untilBoundary(boundary: Macrotask): CoalesceStrategy {
  return (flush) => {
    let state: 'idle' | 'soon' | 'quiet' | 'asked' = 'idle'
    let cancel: (() => void) | undefined
    let generation = 0
    const atBoundary = (): void => {
      cancel = undefined
      const asked = state === 'asked'
      state = 'idle'
      if (asked) flush()
    }
    return {
      request() {
        if (state === 'quiet') state = 'asked'
        if (state !== 'idle') return
        state = 'soon'
        const mine = generation
        queueMicrotask(() => {
          if (mine !== generation) return
          state = 'quiet'
          cancel = boundary(atBoundary)
          flush()
        })
      },
      cancel() {
        generation++
        cancel?.()
        cancel = undefined
        state = 'idle'
      },
    }
  }
}

/** At most one late run for each turn of the event loop. */
export const perTurn: CoalesceStrategy = untilBoundary(macrotask)

/** Frames are not drawn in a hidden page, and there are none outside of one; then this is often enough. */
const NO_FRAME_MS = 100

function frame(callback: () => void): () => void {
  const { requestAnimationFrame, cancelAnimationFrame } = globalThis as Partial<Pick<typeof globalThis, 'requestAnimationFrame' | 'cancelAnimationFrame'>>
  let handle: number | undefined
  const timer = setTimeout(run, NO_FRAME_MS)
  if (requestAnimationFrame !== undefined) handle = requestAnimationFrame(run)
  function run(): void {
    cancel()
    callback()
  }
  function cancel(): void {
    clearTimeout(timer)
    if (handle !== undefined) cancelAnimationFrame?.(handle)
  }
  return cancel
}

/** At most one late run for each animation frame. */
export const perFrame: CoalesceStrategy = untilBoundary(frame)

/** At most one late run in so many milliseconds. */
export function perMs(ms: number): CoalesceStrategy {
  return untilBoundary((callback) => {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  })
}

/** How often to tell of what streams: for each turn of the event loop, for each frame, or in so many milliseconds. */
export type Coalesce = 'turn' | 'frame' | number

/** @throws UsageError `bad-options`. */
export function strategyOf(coalesce: Coalesce = 'turn'): CoalesceStrategy {
  if (coalesce === 'turn') return perTurn
  if (coalesce === 'frame') return perFrame
  if (typeof coalesce === 'number' && coalesce >= 0) return perMs(coalesce)
  throw new UsageError('bad-options', "`coalesce` has to be 'turn', 'frame' or a number of milliseconds.")
}
