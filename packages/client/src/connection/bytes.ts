/**
 * Bytes → chunks, for a body that was opened already and cannot be opened again. It says when it was cut, opens no
 * request and checks no event.
 */
import { DONE, NdjsonDecoder, type Frame, type Limits } from '@millrace/protocol'
import { StreamTruncatedError } from '../errors.ts'
import type { StreamChunk } from './adapter.ts'
import { ChunkStream } from './chunk-stream.ts'
import { readDeliveries, SSE, type Format } from './deliveries.ts'
import { readPieces, truncated, type ByteReader } from './pieces.ts'
import { getResponseStreamReader } from './response-stream.ts'
import { RunTracker, unfinished, type RunIds } from './terminal.ts'

export { NDJSON, SSE, type Format } from './deliveries.ts'
export type { ByteReader } from './pieces.ts'

export interface ByteStreamOptions {
  readonly limits?: Partial<Limits>
  /**
   * What the end of the bytes means while a run is open. `error` (default): the stream was cut, as AG-UI 1.0 says.
   * `finish`: the run is over; for servers that never send a terminal event.
   */
  readonly missingTerminal?: 'error' | 'finish'
}

interface ChunkOptions extends ByteStreamOptions {
  readonly url?: string
  readonly runContext?: RunIds
}

/**
 * The chunks of a body. Ends cleanly when `signal` aborts.
 * @throws StreamTruncatedError when it ends inside a frame, or while a run is open (see `missingTerminal`).
 * @throws ProtocolError `malformed` for a frame that is no JSON, `limit` for one that is too long.
 */
export function chunksOf(
  open: () => Promise<ByteReader> | ByteReader,
  format: Format,
  signal: AbortSignal | undefined,
  options: ChunkOptions,
): ChunkStream {
  return new ChunkStream(() => readBatches(open, format, signal, options))
}

async function* readBatches(
  open: () => Promise<ByteReader> | ByteReader,
  format: Format,
  signal: AbortSignal | undefined,
  options: ChunkOptions,
): AsyncGenerator<readonly StreamChunk[], void, undefined> {
  const tracker = new RunTracker(options.runContext)
  try {
    for await (const deliveries of readDeliveries(await open(), format, signal, options)) {
      const batch: StreamChunk[] = []
      for (const { event } of deliveries) {
        if (event === DONE) break
        tracker.see(event)
        batch.push(event)
      }
      if (batch.length > 0) yield batch
      if (deliveries.at(-1)?.event !== DONE) continue
      // The sentinel is the server's word that the run is over.
      if (!tracker.terminal) yield [tracker.finished()]
      return
    }
  } catch (error) {
    // Nothing was lost by a body that broke behind its end.
    if (tracker.terminal && error instanceof StreamTruncatedError) return
    throw error
  }
  if (signal?.aborted || tracker.terminal) return
  if (options.missingTerminal !== 'finish') throw unfinished(options.url)
  yield [tracker.finished()]
}

/**
 * The events of a response that carries server-sent events. `[DONE]` becomes RUN_FINISHED if the run is still open,
 * with the ids last seen or those of `runContext`.
 * @throws UnsupportedResponseStreamError, StreamTruncatedError, ProtocolError: see {@link ByteStreamOptions}.
 */
export function responseToSSEChunks(
  response: Response,
  abortSignal?: AbortSignal,
  options: ByteStreamOptions & { readonly runContext?: RunIds } = {},
): AsyncIterable<StreamChunk> {
  return chunksOf(() => getResponseStreamReader(response), SSE, abortSignal, {
    ...(response.url !== '' && { url: response.url }),
    ...options,
  })
}

/**
 * The lines of a body, without their ends; blank ones are left out.
 * @throws StreamTruncatedError if text follows the last line end, unless `abortSignal` is the reason.
 */
export async function* readStreamLines(reader: ByteReader, abortSignal?: AbortSignal): AsyncGenerator<string, void, undefined> {
  let frames: Frame[] = []
  const decoder = new NdjsonDecoder((frame) => frames.push(frame))
  for await (const piece of readPieces(reader, abortSignal)) {
    if ('bytes' in piece) decoder.feed(piece.bytes)
    else decoder.finish()
    const ready = frames
    frames = []
    for (const frame of ready) {
      if (frame.unterminated) throw truncated('The stream ended in the middle of a line.')
      yield frame.data
    }
    if ('end' in piece && piece.end === 'broken') throw truncated('The connection broke.', undefined, piece.cause)
  }
}
