/** A stream of chunks, read and written down at once. Reading it one by one or in batches gives the same, as without. */
import type { StreamChunk } from '../connection/adapter.ts'
import { batchesOf, ChunkStream } from '../connection/chunk-stream.ts'
import { isSynthetic } from '../connection/stamps.ts'
import type { Exchange } from './recorder.ts'

/** `source` with what comes of it, and how it ends, noted in `exchange`. */
export function tapped(source: AsyncIterable<StreamChunk> | Iterable<StreamChunk>, exchange: Exchange, signal: AbortSignal | undefined): AsyncIterable<StreamChunk> {
  const note = (chunk: StreamChunk): void => exchange.event(chunk, isSynthetic(chunk))
  const batches = (): AsyncGenerator<readonly StreamChunk[], void, undefined> =>
    tap(batchesOf(source, signal), exchange, signal, (batch) => batch.forEach(note))
  // What hands out single chunks may note more about each than its batch does.
  return new ChunkStream(batches, source instanceof ChunkStream ? () => tap(source, exchange, signal, note) : undefined)
}

async function* tap<Item>(
  source: AsyncIterable<Item>,
  exchange: Exchange,
  signal: AbortSignal | undefined,
  note: (item: Item) => void,
): AsyncGenerator<Item, void, undefined> {
  let over = false
  try {
    for await (const item of source) {
      note(item)
      yield item
    }
    over = true
    exchange.end(signal?.aborted === true ? 'aborted' : 'done')
  } catch (thrown) {
    over = true
    exchange.end(signal?.aborted === true ? 'aborted' : 'failed', thrown)
    throw thrown
  } finally {
    if (!over) exchange.end(signal?.aborted === true ? 'aborted' : 'left')
  }
}
