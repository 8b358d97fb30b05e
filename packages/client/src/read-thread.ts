/**
 * The smallest client: any response or iterable in, threads out. It sends nothing and keeps nothing after the end.
 */
import {
  requireMode,
  ThreadBuilder,
  UsageError,
  type Diagnostic,
  type Limits,
  type Message,
  type Mode,
  type Thread,
  type VerifiedEvent,
} from '@millrace/protocol'
import { checkLimits, checkOptions } from './checks.ts'
import { abortableIterable, isIterable } from './connection/abortable.ts'
import type { StreamChunk } from './connection/adapter.ts'
import { chunksOf, NDJSON, SSE, type ByteReader, type ByteStreamOptions } from './connection/bytes.ts'
import { batchesOf } from './connection/chunk-stream.ts'
import { gatherTurns } from './connection/gather.ts'
import { checkResponse } from './connection/response-check.ts'
import { getResponseStreamReader } from './connection/response-stream.ts'
import { RunTracker } from './connection/terminal.ts'
import { formatOf, isResponse } from './connection/stream.ts'
import type { Ending } from './ending.ts'
import { AgentError, toCodedError } from './errors.ts'
import { StreamFold } from './fold.ts'
import { linkSignals } from './signals.ts'

export interface ReadThreadOptions extends Omit<ByteStreamOptions, 'missingTerminal'> {
  /** What an end while a run is open means: `error` (default for bytes) or `finish` (default for events). */
  readonly missingTerminal?: 'error' | 'finish'
  /** Default `tolerant`. */
  readonly mode?: Mode
  /** What the thread held before. */
  readonly messages?: readonly Message[]
  readonly state?: unknown
  /** Of bytes that come without a content type. Default `sse`, which takes bare lines of JSON as well. */
  readonly format?: 'sse' | 'ndjson'
  /** Ends the reading without error. */
  readonly signal?: AbortSignal
  readonly onEvent?: (event: VerifiedEvent, index: number) => void
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void
  readonly limits?: Partial<Limits>
}

/** A response, a stream of bytes, or an iterable of events or of pieces of bytes or text. */
export type ThreadSource = Response | ReadableStream<Uint8Array> | AsyncIterable<unknown> | Iterable<unknown>

/**
 * Reads a stream to its end and gives the thread whenever it has changed, at most once per turn of the event loop.
 * The last thread has all that was valid; after it, the reason is thrown if the stream did not end well. A run that
 * the agent ended with RUN_ERROR is no reason to throw; see `thread.runs`.
 * @throws ProtocolError, TransportError, StreamTruncatedError, UsageError; what `onEvent` throws, as it is.
 */
export async function* readThread(
  source: ThreadSource,
  options: ReadThreadOptions = {},
): AsyncGenerator<Thread, void, undefined> {
  checkOptions(options, 'The options of readThread()')
  requireMode(options.mode)
  checkLimits(options.limits)
  const { mode = 'tolerant', messages, state, onEvent, onDiagnostic, limits, signal } = options
  const fold = new StreamFold({
    builder: new ThreadBuilder({
      ...(messages !== undefined && { messages }),
      ...(state !== undefined && { state }),
      ...(limits !== undefined && { limits }),
    }),
    mode,
    ...(onEvent !== undefined && { onEvent }),
    ...(onDiagnostic !== undefined && { onDiagnostic }),
    ...(limits !== undefined && { limits }),
  })
  let last: Thread | undefined
  let ending: Ending | undefined
  // Reading goes on while the consumer works, so leaving has to end a read that is under way.
  const reading = new AbortController()
  const linked = linkSignals(reading.signal, signal)
  try {
    const batches = gatherTurns(await open(source, { ...options, signal: linked.signal ?? reading.signal }).catch(rethrowCoded))
    while (ending === undefined) {
      const batch = await batches.next().catch((thrown: unknown) => ({ thrown }))
      if ('thrown' in batch) ending = fold.failed(batch.thrown)
      else if (batch.done === true) ending = signal?.aborted ? fold.cancelled() : fold.ended()
      else ending = foldAll(fold, batch.value)
      const thread = fold.snapshot()
      if (thread !== last) yield (last = thread)
    }
  } finally {
    reading.abort()
    linked.release()
  }
  if (ending.error !== undefined && !(ending.error instanceof AgentError)) throw ending.error
}

function foldAll(fold: StreamFold, chunks: readonly StreamChunk[]): Ending | undefined {
  for (const chunk of chunks) {
    const ending = fold.accept(chunk)
    if (ending !== undefined) return ending
  }
  return undefined
}

function rethrowCoded(thrown: unknown): never {
  throw toCodedError(thrown)
}

async function open(source: ThreadSource, options: ReadThreadOptions): Promise<AsyncIterable<readonly StreamChunk[]>> {
  if (isResponse(source)) {
    refuseLocked(source.bodyUsed === true || source.body?.locked === true)
    const url = source.url === '' ? 'The server' : source.url
    const format = formatOf(source)
    await checkResponse(source, url, format)
    return ofBytes(getResponseStreamReader(source), format, options)
  }
  if (isReadable(source)) {
    refuseLocked(source.locked)
    return ofBytes(source.getReader(), options.format ?? 'sse', options)
  }
  if (!isIterable(source)) {
    throw new UsageError('not-a-stream', 'readThread() takes a Response, a ReadableStream or an (async) iterable of events.')
  }
  const items = abortableIterable(source, options.signal)
  const first = await items.next()
  const all = startingWith(first, items)
  if (first.done !== true && (typeof first.value === 'string' || first.value instanceof Uint8Array)) {
    return ofBytes(asReader(all), options.format ?? 'sse', options)
  }
  return ofEvents(all as AsyncIterable<StreamChunk>, options)
}

function refuseLocked(locked: boolean): void {
  if (!locked) return
  throw new UsageError('locked-stream', 'This stream is being read by someone else, or was read. Use tee() or clone() to read it twice.')
}

function ofBytes(reader: ByteReader, format: 'sse' | 'ndjson', options: ReadThreadOptions): AsyncIterable<readonly StreamChunk[]> {
  return chunksOf(() => reader, format === 'sse' ? SSE : NDJSON, options.signal, { ...options, runContext: NO_IDS }).batches()
}

// `[DONE]` from a stream that named no ids: the reader takes the event for what it is and looks at no id.
const NO_IDS = { threadId: '-', runId: '-' } as const

async function* ofEvents(events: AsyncIterable<StreamChunk>, options: ReadThreadOptions): AsyncGenerator<readonly StreamChunk[], void, undefined> {
  const tracker = new RunTracker(NO_IDS)
  for await (const batch of batchesOf(events, options.signal)) {
    for (const chunk of batch) tracker.see(chunk)
    yield batch
  }
  // An iterable's end is a statement; that of bytes is not.
  if (!tracker.terminal && options.missingTerminal !== 'error') yield [tracker.finished()]
}

async function* startingWith(
  first: IteratorResult<unknown, void>,
  rest: AsyncGenerator<unknown, void, undefined>,
): AsyncGenerator<unknown, void, undefined> {
  try {
    for (let result = first; result.done !== true; result = await rest.next()) yield result.value
  } finally {
    await rest.return()
  }
}

function isReadable(source: unknown): source is ReadableStream<Uint8Array> {
  return typeof (Object(source) as Partial<ReadableStream>).getReader === 'function'
}

/** Pieces of bytes or text as a reader; what is neither is not ours to guess. */
function asReader(pieces: AsyncGenerator<unknown, void, undefined>): ByteReader {
  return {
    async read() {
      const { done, value } = await pieces.next()
      if (done === true) return { done: true }
      if (typeof value === 'string' || value instanceof Uint8Array) return { done: false, value }
      throw new UsageError('mixed-stream', 'The iterable gave bytes or text first and something else later.')
    },
    cancel: () => pieces.return(undefined),
  }
}
