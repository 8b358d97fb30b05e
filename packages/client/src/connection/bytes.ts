/**
 * Bytes → chunks: reads a body piece by piece, frames and parses it, and says when it was cut. It opens no request
 * and checks no event.
 */
import {
  DONE,
  NdjsonDecoder,
  parseFrame,
  parseNdjsonFrame,
  ProtocolError,
  SseDecoder,
  type Frame,
  type FrameDecoder,
  type FrameSink,
  type Limits,
  type RunAgentInputContext,
} from '@millrace/protocol'
import { StreamTruncatedError } from '../errors.ts'
import type { StreamChunk } from './adapter.ts'
import { ChunkStream } from './chunk-stream.ts'
import { getResponseStreamReader } from './response-stream.ts'
import { RunTracker } from './terminal.ts'

/** What is needed of a `ReadableStreamDefaultReader`. */
export interface ByteReader {
  read(): Promise<{ readonly done?: boolean | undefined; readonly value?: Uint8Array | string | undefined }>
  cancel(): Promise<unknown>
}

export interface ByteStreamOptions {
  readonly limits?: Partial<Limits>
  /**
   * What the end of the bytes means while a run is open. `error` (default): the stream was cut, as AG-UI 1.0 says.
   * `finish`: the run is over; for servers that never send a terminal event.
   */
  readonly missingTerminal?: 'error' | 'finish'
}

/** Ids for a terminal event that has to be made up. */
type GivenIds = Partial<Pick<RunAgentInputContext, 'threadId' | 'runId'>>

interface ChunkOptions extends ByteStreamOptions {
  readonly url?: string
  readonly runContext?: GivenIds
}

export interface Format {
  decoder(sink: FrameSink, limits: Partial<Limits> | undefined): FrameDecoder
  /** The event in a frame, or {@link DONE}. */
  parse(frame: Frame): unknown
}

export const SSE: Format = { decoder: (sink, limits) => new SseDecoder(sink, limits), parse: parseFrame }
export const NDJSON: Format = {
  decoder: (sink, limits) => new NdjsonDecoder(sink, limits),
  parse: (frame) => parseNdjsonFrame(frame).event,
}

/** What {@link readPieces} gives for each read, and once more at the end. */
type Piece = { readonly bytes: Uint8Array | string } | { readonly end: 'closed' | 'broken'; readonly cause?: unknown }

/**
 * The pieces of a body until it ends, breaks or `signal` aborts (then nothing more comes, not even an end). Leaves
 * the body cancelled unless it was read to its end.
 */
async function* readPieces(reader: ByteReader, signal: AbortSignal | undefined): AsyncGenerator<Piece, void, undefined> {
  let ended = false
  const cancel = (): void => {
    // A body that has failed already rejects here too.
    reader.cancel().catch(() => {})
  }
  if (signal?.aborted) return cancel()
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    while (!signal?.aborted) {
      let result: Awaited<ReturnType<ByteReader['read']>>
      try {
        result = await reader.read()
      } catch (cause) {
        ended = true
        if (!signal?.aborted) yield { end: 'broken', cause }
        return
      }
      if (signal?.aborted) return
      if (result.done) {
        ended = true
        yield { end: 'closed' }
        return
      }
      if (result.value !== undefined) yield { bytes: result.value }
    }
  } finally {
    signal?.removeEventListener('abort', cancel)
    if (!ended) cancel()
  }
}

function truncated(what: string, options: ChunkOptions, cause?: unknown): StreamTruncatedError {
  return new StreamTruncatedError(what, {
    ...(options.url !== undefined && { url: options.url }),
    ...(cause !== undefined && { cause }),
  })
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
  let batch: StreamChunk[] = []
  let done = false
  const decoder = format.decoder((frame) => {
    if (done) return
    const event = format.parse(frame)
    if (event === DONE) {
      // The sentinel is the server's word that the run is over.
      done = true
      if (!tracker.terminal) batch.push(tracker.finished())
      return
    }
    tracker.see(event as StreamChunk)
    batch.push(event as StreamChunk)
  }, options.limits)

  for await (const piece of readPieces(await open(), signal)) {
    let failure: { readonly error: unknown } | undefined
    try {
      if ('bytes' in piece) decoder.feed(piece.bytes)
      else decoder.finish()
    } catch (error) {
      failure = { error }
    }
    // What came before a bad frame in the same read is good and goes first.
    if (batch.length > 0) {
      const ready = batch
      batch = []
      yield ready
    }
    if (failure !== undefined) throw asTransport(failure.error, options)
    if (done) return
    if ('end' in piece) {
      if (tracker.terminal) return
      if (piece.end === 'broken') throw truncated('The connection broke before the run had ended.', options, piece.cause)
      if (options.missingTerminal === 'finish') {
        yield [tracker.finished()]
        return
      }
      throw truncated(
        'The stream ended without RUN_FINISHED or RUN_ERROR, so the answer may be cut. If this server never sends ' +
          "them, set missingTerminal: 'finish'.",
        options,
      )
    }
  }
}

/** A frame that was cut is the network's doing; all else that framing throws is the peer's. */
function asTransport(error: unknown, options: ChunkOptions): unknown {
  return error instanceof ProtocolError && error.code === 'truncated'
    ? truncated('The stream ended in the middle of a line, so the answer is cut.', options, error)
    : error
}

/**
 * The events of a response that carries server-sent events. `[DONE]` becomes RUN_FINISHED if the run is still open,
 * with the ids last seen or those of `runContext`.
 * @throws UnsupportedResponseStreamError, StreamTruncatedError, ProtocolError: see {@link ByteStreamOptions}.
 */
export function responseToSSEChunks(
  response: Response,
  abortSignal?: AbortSignal,
  options: ByteStreamOptions & { readonly runContext?: GivenIds } = {},
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
      if (frame.unterminated) throw truncated('The stream ended in the middle of a line.', {})
      yield frame.data
    }
    if ('end' in piece && piece.end === 'broken') throw truncated('The connection broke.', {}, piece.cause)
  }
}
