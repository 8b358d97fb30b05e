/**
 * What a helper of `run` gives out: a promise that knows whether anybody listens to it, so that a failure nobody hears
 * can be told from one the agent deals with. It knows nothing of runs.
 */
import type { Track } from './emit.ts'

export class HelperPromise<Result> extends Promise<Result> {
  // What `then` derives is a plain promise, which we wrap ourselves.
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  readonly #track: Track
  #heard = false

  constructor(source: Promise<Result>, track: Track) {
    super((resolve, reject) => void source.then(resolve, reject))
    this.#track = track
    // Whether a rejection matters is the run's to say; it must not end the process.
    void super.then(undefined, () => undefined)
  }

  /** Whether anybody ever asked how it ended: `await`, `then`, `catch`, `finally`, `Promise.all`… all come through `then`. */
  get heard(): boolean {
    return this.#heard
  }

  /** Hands a failure on to the promise it gives, which is watched in turn: `.finally(…)` hears nothing for good. */
  // oxlint-disable-next-line unicorn/no-thenable
  override then<Fulfilled = Result, Rejected = never>(
    onFulfilled?: ((value: Result) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    this.#heard = true
    return this.#track(super.then(onFulfilled, onRejected))
  }
}
