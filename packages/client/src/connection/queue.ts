/**
 * Joins who sends to who listens: one buffer, and the newest subscriber owns it. It knows nothing of what a chunk is.
 */
import type { StreamChunk } from './adapter.ts'
import { ChunkStream } from './chunk-stream.ts'
import { Fifo } from './fifo.ts'
import { batchRunId, stampBatch, stampRunId } from './stamps.ts'

interface Subscriber {
  /** Ends once the buffer is empty. */
  ending: boolean
  wake: (() => void) | undefined
}

export class ChunkQueue {
  /** Batches, none of them empty. */
  readonly #buffer = new Fifo<readonly StreamChunk[]>()
  /** Chunks of the first batch that were taken one by one. */
  #taken = 0
  #owner: Subscriber | undefined

  /** Adds chunks of one request; `batch` is kept and must not be changed afterwards. */
  push(batch: readonly StreamChunk[], runId: string | undefined): void {
    if (batch.length === 0) return
    stampBatch(batch, runId)
    this.#buffer.push(batch)
    wake(this.#owner)
  }

  /**
   * Chunks pushed from now on, after those that nobody has taken yet. The subscriber before ends: two that share one
   * supply would each show half of it.
   */
  subscribe(signal?: AbortSignal): AsyncIterable<StreamChunk> {
    const before = this.#owner
    const me: Subscriber = { ending: false, wake: undefined }
    this.#owner = me
    wake(before)
    return new ChunkStream(
      () => this.#read(me, signal, () => this.#takeBatch()),
      () => this.#read(me, signal, () => this.#takeChunk()),
    )
  }

  /** Drops what nobody has taken of a request that was given up: it is for nobody now. */
  discard(runId: string): void {
    const { first } = this.#buffer
    this.#buffer.keep((batch) => batchRunId(batch) !== runId)
    if (this.#buffer.first !== first) this.#taken = 0
  }

  /** Lets the present subscriber end when it has read what was pushed. */
  drain(): void {
    const owner = this.#owner
    if (owner === undefined) return
    owner.ending = true
    wake(owner)
  }

  async *#read<Taken>(
    me: Subscriber,
    signal: AbortSignal | undefined,
    take: () => Taken,
  ): AsyncGenerator<Taken, void, undefined> {
    const onAbort = (): void => wake(me)
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      while (this.#owner === me && !signal?.aborted) {
        if (!this.#buffer.empty) yield take()
        else if (me.ending) return
        else {
          await new Promise<void>((resolve) => {
            me.wake = resolve
          })
        }
      }
    } finally {
      signal?.removeEventListener('abort', onAbort)
      if (this.#owner === me) this.#owner = undefined
    }
  }

  #takeBatch(): readonly StreamChunk[] {
    const batch = this.#buffer.first as readonly StreamChunk[]
    const rest = this.#taken === 0 ? batch : batch.slice(this.#taken)
    if (rest !== batch) stampBatch(rest, batchRunId(batch))
    this.#advance()
    return rest
  }

  #takeChunk(): StreamChunk {
    const batch = this.#buffer.first as readonly StreamChunk[]
    const chunk = batch[this.#taken++] as StreamChunk
    stampRunId(chunk, batchRunId(batch))
    if (this.#taken === batch.length) this.#advance()
    return chunk
  }

  #advance(): void {
    this.#taken = 0
    this.#buffer.shift()
  }
}

function wake(subscriber: Subscriber | undefined): void {
  const resolve = subscriber?.wake
  if (subscriber === undefined || resolve === undefined) return
  subscriber.wake = undefined
  resolve()
}
