/**
 * The events of one run on their way from a channel to the turn that reads them, handed over one batch at a time: what the
 * channel does next may depend on what the turn made of them. It decides nothing.
 */
import type { StreamChunk } from '../connection/adapter.ts'
import { ChunkStream } from '../connection/chunk-stream.ts'

export class Feed {
  /** As it was sent, or as it began. */
  readonly runId: string
  /** Nobody reads it any more. */
  closed = false
  /** See {@link cut}. */
  wasCut = false
  #batch: readonly StreamChunk[] | undefined
  #end: { readonly error?: Error } | undefined
  #wake: (() => void) | undefined
  #taken: (() => void) | undefined
  readonly #onClose: (() => void) | undefined

  constructor(runId: string, onClose?: () => void) {
    this.runId = runId
    this.#onClose = onClose
  }

  /** Settles when these are read and more is asked for, or nobody reads any more. */
  put(batch: readonly StreamChunk[]): Promise<void> {
    if (this.closed || this.#end !== undefined) return Promise.resolve()
    return new Promise((resolve) => {
      this.#batch = batch
      this.#taken = resolve
      this.#stir()
    })
  }

  /** What brought it broke in the middle of the run, which may go on. */
  cut(error: Error): void {
    this.wasCut = true
    this.end(error)
  }

  /** Nothing more comes; with `error`, that is why. */
  end(error?: Error): void {
    this.#end ??= error === undefined ? {} : { error }
    this.#stir()
  }

  /** For one reader. */
  subscribe(signal: AbortSignal): AsyncIterable<StreamChunk> {
    // At once, and not when the reader gets to it: what comes next is not for it.
    if (signal.aborted) this.#close()
    else signal.addEventListener('abort', () => this.#close(), { once: true })
    return new ChunkStream(() => this.#read())
  }

  async *#read(): AsyncGenerator<readonly StreamChunk[], void, undefined> {
    try {
      while (!this.closed) {
        const batch = this.#batch
        if (batch !== undefined) {
          this.#batch = undefined
          yield batch
          this.#give()
        } else if (this.#end !== undefined) {
          if (this.#end.error !== undefined) throw this.#end.error
          return
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
        }
      }
    } finally {
      this.#close()
    }
  }

  #give(): void {
    this.#taken?.()
    this.#taken = undefined
  }

  #stir(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  #close(): void {
    if (this.closed) return
    this.closed = true
    this.#batch = undefined
    this.#give()
    this.#stir()
    this.#onClose?.()
  }
}
