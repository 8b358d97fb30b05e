/**
 * Drives an agent: takes what it yields, waits for what it started, and lets go of it when told to stop, whatever it
 * is waiting for. It knows neither the rules of events nor the log.
 */
import type { Event } from '@millrace/protocol'
import type { Agent } from './agent.ts'
import type { Push } from './emit.ts'
import { AgentError } from './errors.ts'
import { HelperPromise } from './helper-promise.ts'

const STOPPED: unique symbol = Symbol('stopped')

interface Failure {
  readonly helper: HelperPromise<unknown>
  readonly error: unknown
}

export class Driver {
  readonly #push: Push
  /** Told of all that the agent throws, also when its run has ended. */
  readonly #onError: (error: unknown) => void
  /** Promises of helpers that are not settled: one that nobody awaits still belongs to the run. */
  readonly #pending = new Set<Promise<unknown>>()
  /** Helpers that failed before anybody listened to them; somebody may yet. */
  readonly #unheard: Failure[] = []
  /** What helpers gave. */
  readonly #given = new WeakSet<object>()
  #stopped = false
  #wake: (() => void) | undefined

  constructor(push: Push, onError: (error: unknown) => void) {
    this.#push = push
    this.#onError = onError
  }

  /**
   * Settles when the agent and its helpers are done, or at once after `stop`; never rejects. A helper's failure counts
   * as the agent's if nobody has listened to the helper by then: what the agent awaits it can catch, and if it does not,
   * the failure is its own.
   */
  async drive(produced: ReturnType<Agent>): Promise<void> {
    try {
      const result = asEvents(produced) === undefined ? await this.#orStopped(produced) : produced
      const events = asEvents(result)
      if (events !== undefined) await this.#pump(events)
      else if (result !== STOPPED && result !== undefined && !this.#isGiven(result)) throw noEvents(result)
      while (this.#pending.size > 0 && !this.#stopped) await this.#orStopped(Promise.allSettled(this.#pending))
    } catch (error) {
      this.#onError(error)
    }
    for (const { helper, error } of this.#unheard) if (!helper.heard) this.#onError(error)
  }

  stop(): void {
    this.#stopped = true
    this.#wake?.()
  }

  track<Result>(source: Promise<Result>): Promise<Result> {
    const helper = new HelperPromise(source, (derived) => this.track(derived))
    this.#pending.add(source)
    source.then(
      (value) => {
        this.#pending.delete(source)
        if (isObject(value)) this.#given.add(value)
      },
      (error: unknown) => {
        this.#pending.delete(source)
        // Once the run is over, all helpers reject, and the run knows its cause.
        if (!helper.heard && !this.#stopped) this.#unheard.push({ helper, error })
      },
    )
    return helper
  }

  /** `(input, run) => run.text('Hi')` returns a writer. Nothing is lost with it. */
  #isGiven(value: unknown): boolean {
    return isObject(value) && this.#given.has(value)
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
      void (async () => iterator.return?.())().catch(this.#onError)
      return
    }
  }

  /** What the promise gives, or STOPPED as soon as we stop. One waits at a time, so that nothing piles up. */
  #orStopped<Result>(promise: Result | PromiseLike<Result>): Promise<Result | typeof STOPPED> {
    return new Promise((resolve, reject) => {
      if (this.#stopped) resolve(STOPPED)
      this.#wake = () => resolve(STOPPED)
      Promise.resolve(promise).then(resolve, (error: unknown) => {
        if (this.#stopped) this.#onError(error)
        reject(error)
      })
    })
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** What an agent answers with, if it is iterable; a plain iterable, such as an array or a generator, may hold promises. */
function asEvents(value: unknown): AsyncIterable<Event> | undefined {
  if (!isObject(value)) return undefined
  if (Symbol.asyncIterator in value) return value as AsyncIterable<Event>
  if (!(Symbol.iterator in value)) return undefined
  return (async function* () {
    yield* value as Iterable<Event>
  })()
}

function noEvents(value: unknown): AgentError {
  const what = value === null ? 'null' : isObject(value) ? 'an object that is not iterable' : `a ${typeof value}`
  return new AgentError('agent.return', `The agent returned ${what}; it should return nothing, or events as an (async) iterable`)
}
