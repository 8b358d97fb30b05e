/**
 * Drives an agent: takes what it yields, waits for what it started, and lets go of it when told to stop, whatever it
 * is waiting for. It knows neither the rules of events nor the log.
 */
import type { Event } from '@millrace/protocol'
import type { Agent } from './agent.ts'
import type { Push } from './emit.ts'

const STOPPED: unique symbol = Symbol('stopped')

function isAsyncIterable(value: unknown): value is AsyncIterable<Event> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

export class Driver {
  readonly #push: Push
  /** Told of what an agent throws when nobody listens any more. */
  readonly #onLateError: (error: unknown) => void
  /** Promises of helpers that are not settled: one that nobody awaits still belongs to the run. */
  readonly #helpers = new Set<Promise<unknown>>()
  #stopped = false
  #wake: (() => void) | undefined

  constructor(push: Push, onLateError: (error: unknown) => void) {
    this.#push = push
    this.#onLateError = onLateError
  }

  /** Settles when the agent and its helpers are done, or at once after `stop`. Rejects with what the agent throws. */
  async drive(produced: ReturnType<Agent>): Promise<void> {
    const result = isAsyncIterable(produced) ? produced : await this.#orStopped(produced)
    if (isAsyncIterable(result)) await this.#pump(result)
    while (this.#helpers.size > 0 && !this.#stopped) await this.#orStopped(Promise.allSettled(this.#helpers))
  }

  stop(): void {
    this.#stopped = true
    this.#wake?.()
  }

  track<Result>(promise: Promise<Result>): Promise<Result> {
    this.#helpers.add(promise)
    const settled = (): void => void this.#helpers.delete(promise)
    // Also marks a rejection that nobody awaits as seen: it must not end the process, and the run knows its cause.
    promise.then(settled, settled)
    return promise
  }

  async #pump(events: AsyncIterable<Event>): Promise<void> {
    const iterator = events[Symbol.asyncIterator]()
    for (;;) {
      const step = await this.#orStopped(iterator.next())
      if (step !== STOPPED && step.done === true) return
      // A refused event stops the driver; what is thrown has been dealt with.
      if (step !== STOPPED) await this.#push(step.value).catch(() => undefined)
      if (!this.#stopped) continue
      // Not awaited: a generator that is stuck in its own await returns when that settles, or never.
      void (async () => iterator.return?.())().catch(this.#onLateError)
      return
    }
  }

  /** What the promise gives, or STOPPED as soon as we stop. One waits at a time, so that nothing piles up. */
  #orStopped<Result>(promise: PromiseLike<Result>): Promise<Result | typeof STOPPED> {
    return new Promise((resolve, reject) => {
      if (this.#stopped) resolve(STOPPED)
      this.#wake = () => resolve(STOPPED)
      Promise.resolve(promise).then(resolve, (error: unknown) => {
        if (this.#stopped) this.#onLateError(error)
        reject(error)
      })
    })
  }
}
