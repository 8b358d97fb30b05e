/**
 * Turns pushing into pulling: what a socket delivers waits here until somebody reads it. It knows no bound, as a WebSocket
 * knows no backpressure, and nothing of what a delivery holds.
 */
import type { Delivery } from './deliveries.ts'

type Result = IteratorResult<readonly Delivery[], undefined>
const OVER: Result = { done: true, value: undefined }

export class Inbox implements AsyncIterable<readonly Delivery[]> {
  #waiting: Delivery[] = []
  /** Something came, if only a sign of life. */
  #fresh = false
  #end: { readonly error?: unknown } | undefined
  /** Called when all of it is read and more is asked for. */
  onIdle: (() => void) | undefined
  #reader: { resolve(result: Result): void; reject(error: unknown): void } | undefined

  /** All of it is read. */
  get idle(): boolean {
    return !this.#fresh && (this.#reader !== undefined || this.#end !== undefined)
  }

  /** Adds deliveries; none at all are a sign of life. */
  put(deliveries: readonly Delivery[]): void {
    if (this.#end !== undefined) return
    for (const delivery of deliveries) this.#waiting.push(delivery)
    this.#fresh = true
    this.#serve()
  }

  /** Nothing more comes; with `error`, that is why. What is there already is read first. */
  end(error?: unknown): void {
    if (this.#end !== undefined) return
    this.#end = error === undefined ? {} : { error }
    this.#serve()
  }

  /** For one reader. No generator, since one cannot be left while it waits. */
  [Symbol.asyncIterator](): AsyncIterator<readonly Delivery[], undefined> {
    return {
      next: () =>
        new Promise((resolve, reject) => {
          this.#reader = { resolve, reject }
          this.#serve()
        }),
      return: async () => {
        this.#waiting = []
        this.#fresh = false
        this.end()
        return OVER
      },
    }
  }

  #serve(): void {
    const reader = this.#reader
    if (reader === undefined) return
    if (this.#fresh) {
      const value = this.#waiting
      this.#waiting = []
      this.#fresh = false
      this.#reader = undefined
      reader.resolve({ done: false, value })
    } else if (this.#end !== undefined) {
      const { error } = this.#end
      this.#end = {}
      this.#reader = undefined
      if (error === undefined) reader.resolve(OVER)
      else reader.reject(error)
    } else {
      this.onIdle?.()
    }
  }
}
