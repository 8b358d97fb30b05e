/**
 * One connection of a run, read under a signal and an eye on silence: whatever its source does, `next` settles and
 * `close` leaves nothing. It decides nothing and looks into no delivery.
 */
import type { Clock } from '../clock.ts'
import type { Delivery } from './deliveries.ts'
import type { Idle } from './idle.ts'
import { truncated } from './pieces.ts'
import type { Opened, Position, RunSource } from './run-source.ts'

export class Link {
  readonly #controller = new AbortController()
  readonly #signal: AbortSignal | undefined
  readonly #clock: Clock
  readonly #idle: Idle
  readonly #url: string | undefined
  #settle: ((nothing: undefined) => void) | undefined
  #iterator: AsyncIterator<readonly Delivery[]> | undefined
  #ended = false

  constructor(signal: AbortSignal | undefined, idle: Idle, clock: Clock, url: string | undefined) {
    this.#signal = signal
    this.#idle = idle
    this.#clock = clock
    this.#url = url
    signal?.addEventListener('abort', this.#onAbort, { once: true })
    if (signal?.aborted) this.#onAbort()
  }

  readonly #onAbort = (): void => {
    this.#controller.abort(this.#signal?.reason)
    this.#settle?.(undefined)
  }

  /**
   * Undefined if the signal aborted.
   * @throws StreamTruncatedError after too long a silence; what the source rejects with.
   */
  async open(source: RunSource, position: Position | undefined): Promise<Opened | undefined> {
    const { signal } = this.#controller
    if (signal.aborted) return undefined
    const opened = await this.#until(source.open({ position, signal }), false)
    if (opened !== undefined) this.#iterator = opened.batches[Symbol.asyncIterator]()
    return opened
  }

  /**
   * The next batch; undefined at the clean end, or if the signal aborted. `resumable`: silence may end it.
   * @throws StreamTruncatedError after too long a silence; what the source throws.
   */
  async next(resumable: boolean): Promise<readonly Delivery[] | undefined> {
    const iterator = this.#iterator
    if (iterator === undefined || this.#controller.signal.aborted) return undefined
    const from = this.#clock.now()
    const result = await this.#until(iterator.next(), resumable)
    if (result === undefined) return undefined
    if (result.done === true) {
      this.#ended = true
      return undefined
    }
    this.#idle.heard(this.#clock.now() - from, result.value.length > 0)
    return result.value
  }

  /** Drops the connection, unless it has ended by itself. */
  close(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort)
    if (this.#ended) return
    this.#ended = true
    this.#controller.abort()
    // Not waited for: a source that ignores its signal may never answer.
    Promise.resolve(this.#iterator?.return?.()).catch(() => {})
  }

  /** Undefined if it was given up. */
  async #until<Value>(promise: Promise<Value>, resumable: boolean): Promise<Value | undefined> {
    const limit = this.#idle.limitMs(resumable)
    let silent = false
    const cancel =
      limit === undefined
        ? undefined
        : this.#clock.after(limit, () => {
            silent = true
            this.#settle?.(undefined)
          })
    try {
      const value = await this.#settled(promise)
      if (!silent) return value
      throw truncated(`Nothing came for ${limit} ms, so the connection counts as dead.`, this.#url)
    } finally {
      cancel?.()
    }
  }

  #settled<Value>(promise: Promise<Value>): Promise<Value | undefined> {
    return new Promise((resolve, reject) => {
      // Itself, and no closure around it: with one, V8 kept every batch until the next full collection.
      this.#settle = resolve
      promise.then(resolve, reject)
      if (this.#controller.signal.aborted) resolve(undefined)
    })
  }
}
