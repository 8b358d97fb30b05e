/**
 * A stream of chunks that can also be read in the batches in which it came. One network read holds many events, and
 * awaiting each alone costs more than folding it. Reading one by one or in batches gives the same chunks.
 */
import { abortableIterable } from './abortable.ts'
import type { StreamChunk } from './adapter.ts'

export class ChunkStream implements AsyncIterable<StreamChunk> {
  readonly #open: () => AsyncIterator<readonly StreamChunk[]>
  readonly #each: (() => AsyncIterator<StreamChunk>) | undefined

  /** `each` is for sources that hand out single chunks otherwise than by flattening batches. */
  constructor(open: () => AsyncIterator<readonly StreamChunk[]>, each?: () => AsyncIterator<StreamChunk>) {
    this.#open = open
    this.#each = each
  }

  batches(): AsyncIterable<readonly StreamChunk[]> {
    return { [Symbol.asyncIterator]: () => this.#open() }
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamChunk> {
    return this.#each === undefined ? flatten(this.batches()) : this.#each()
  }
}

async function* flatten(batches: AsyncIterable<readonly StreamChunk[]>): AsyncGenerator<StreamChunk, void, undefined> {
  for await (const batch of batches) yield* batch
}

/** Any stream in batches: our own as they come, others chunk by chunk, cut off when `signal` aborts. */
export function batchesOf(
  stream: AsyncIterable<StreamChunk> | Iterable<StreamChunk>,
  signal?: AbortSignal,
): AsyncIterable<readonly StreamChunk[]> {
  return stream instanceof ChunkStream ? stream.batches() : singles(stream, signal)
}

async function* singles(
  stream: AsyncIterable<StreamChunk> | Iterable<StreamChunk>,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly StreamChunk[], void, undefined> {
  for await (const chunk of abortableIterable(stream, signal)) yield [chunk]
}
