/**
 * Connections without HTTP of their own: a function that gives events, or one that gives a response. They know
 * nothing of URLs.
 */
import { UsageError, type ResumeEntry, type RunAgentInputContext, type UIMessage } from '@millrace/protocol'
import { checkFields, checkOptions, FUNCTION } from '../checks.ts'
import { abortableIterable, isIterable } from './abortable.ts'
import type { ConnectConnectionAdapter, RequestData, ServerSide, StreamChunk } from './adapter.ts'
import { chunksOf, NDJSON, SSE } from './bytes.ts'
import { batchesOf, ChunkStream } from './chunk-stream.ts'
import { checkResponse, mediaType } from './response-check.ts'
import { getResponseStreamReader } from './response-stream.ts'
import type { RunIds } from './terminal.ts'

/** What a factory or fetcher may give. A stream of objects is one of events; bytes come as a `Response`. */
export type StreamSource = AsyncIterable<StreamChunk> | Iterable<StreamChunk> | ReadableStream<StreamChunk> | Response

export type StreamFactory = (
  messages: readonly UIMessage[],
  data: RequestData | undefined,
  abortSignal: AbortSignal | undefined,
  runContext: RunAgentInputContext | undefined,
) => StreamSource | Promise<StreamSource>

/** What a connection over a function offers besides sending; such a function has no address of its own to ask at. */
export interface StreamHandlers extends Pick<ServerSide, 'hydrate' | 'cancelRun'> {
  /** Gives the events of a run that was begun before, from its start. */
  joinRun?(runId: string, abortSignal?: AbortSignal, runContext?: Partial<RunAgentInputContext>): StreamSource | Promise<StreamSource>
}

/**
 * A connection over a function: a server function, an in-process agent, a mock. An iterable's end is the run's end; a
 * `Response` is read by its content type (NDJSON or SSE), and its bytes have to hold a terminal event. The function is
 * given all of the request: `buildRunAgentInput({ messages, data, runContext })` makes a run input of it.
 */
export function stream(factory: StreamFactory, handlers: StreamHandlers = {}): ConnectConnectionAdapter {
  return factoryAdapter(factory, handlers, 'stream')
}

/**
 * A connection over a remote procedure call: the call gives the events, or a promise of them, as it may over Cap'n Web,
 * tRPC or a worker's port. On abort it is told by `return()` (a `ReadableStream` by `cancel()`) and not waited for, so
 * a remote side that has gone cannot hold anything up. The signal itself stays here unless the call passes it on: few
 * RPC systems can carry one.
 */
export function rpcStream(call: StreamFactory, handlers: StreamHandlers = {}): ConnectConnectionAdapter {
  return factoryAdapter(call, handlers, 'rpcStream')
}

function factoryAdapter(factory: StreamFactory, handlers: StreamHandlers, name: string): ConnectConnectionAdapter {
  if (typeof factory !== 'function') {
    throw new UsageError(
      'no-stream-factory',
      `${name}() takes a function that gives an AsyncIterable of events, a ReadableStream of events or a Response.`,
    )
  }
  return {
    connect: (messages, data, abortSignal, runContext) =>
      new ChunkStream(() => open(() => factory(messages, data, abortSignal, runContext), abortSignal, runContext)),
    ...serverSide(handlers),
  }
}

/** Only what there is: a connection shows by its methods what it offers. */
function serverSide(handlers: StreamHandlers): ServerSide {
  checkOptions(handlers, 'The handlers of a connection')
  checkFields(handlers, { joinRun: FUNCTION, hydrate: FUNCTION, cancelRun: FUNCTION })
  const join = handlers.joinRun?.bind(handlers)
  return {
    ...(join !== undefined && {
      joinRun: (runId, abortSignal, runContext) =>
        new ChunkStream(() => open(() => join(runId, abortSignal, runContext), abortSignal, { ...runContext, runId })),
    }),
    ...(handlers.hydrate !== undefined && { hydrate: handlers.hydrate.bind(handlers) }),
    ...(handlers.cancelRun !== undefined && { cancelRun: handlers.cancelRun.bind(handlers) }),
  }
}

/** What a `fetcher` is asked for. */
export interface FetcherInput {
  readonly messages: readonly UIMessage[]
  readonly data: RequestData | undefined
  readonly threadId: string
  readonly runId: string
  readonly parentRunId?: string
  readonly resume?: readonly ResumeEntry[]
  /** All there is to make a run input of: `buildRunAgentInput({ messages, runContext })`. */
  readonly runContext: RunAgentInputContext
}

export type ChatFetcher = (
  input: FetcherInput,
  options: { readonly signal: AbortSignal; readonly headers?: Record<string, string> },
) => StreamSource | Promise<StreamSource>

/**
 * The connection of a `fetcher`, a function that makes the request itself.
 * @throws UsageError (from `connect`) if there is no signal or no runContext: `ChatClient` always gives both.
 */
export function fetcherToConnectionAdapter(fetcher: ChatFetcher): ConnectConnectionAdapter {
  return stream((messages, data, signal, runContext) => {
    if (signal === undefined || runContext === undefined) {
      throw new UsageError(
        'fetcher-context',
        `A fetcher has to be called with an abort signal and a runContext; ${signal === undefined ? 'the signal' : 'runContext'} is missing.`,
      )
    }
    const { threadId, runId, parentRunId, resume, headers } = runContext
    const input: FetcherInput = {
      messages,
      data,
      threadId,
      runId,
      ...(parentRunId !== undefined && { parentRunId }),
      ...(resume !== undefined && { resume }),
      runContext,
    }
    return fetcher(input, { signal, ...(headers !== undefined && { headers }) })
  })
}

async function* open(
  make: () => StreamSource | Promise<StreamSource>,
  signal: AbortSignal | undefined,
  runContext: RunIds | undefined,
): AsyncGenerator<readonly StreamChunk[], void, undefined> {
  if (signal?.aborted) return
  // A factory that never answers must not outlive the abort.
  for await (const source of abortableIterable(once(make), signal)) {
    if (isResponse(source)) yield* fromResponse(source, signal, runContext)
    else yield* batchesOf(requireIterable(source), signal)
  }
}

async function* once<Value>(make: () => Value | Promise<Value>): AsyncGenerator<Awaited<Value>, void, undefined> {
  yield await make()
}

async function* fromResponse(
  response: Response,
  signal: AbortSignal | undefined,
  runContext: RunIds | undefined,
): AsyncGenerator<readonly StreamChunk[], void, undefined> {
  const url = response.url === '' ? 'The server' : response.url
  const format = formatOf(response)
  await checkResponse(response, url, format)
  yield* chunksOf(() => getResponseStreamReader(response), format === 'sse' ? SSE : NDJSON, signal, {
    ...(response.url !== '' && { url: response.url }),
    ...(runContext !== undefined && { runContext }),
  }).batches()
}

/** SSE unless the content type says lines of JSON: our SSE reader takes bare JSON lines as well. */
export function formatOf(response: Response): 'sse' | 'ndjson' {
  const type = mediaType(response)
  return type === 'application/x-ndjson' || type === 'application/ndjson' || type === 'application/jsonl' ? 'ndjson' : 'sse'
}

/** By shape: a response made in another realm or by a library is no instance of the global class. */
export function isResponse(value: unknown): value is Response {
  const candidate = Object(value)
  return 'body' in candidate && 'headers' in candidate && typeof candidate.status === 'number'
}

function requireIterable(value: unknown): AsyncIterable<StreamChunk> | Iterable<StreamChunk> {
  // Before iterables, which many are too: not in every browser, and their own iterator cannot be left while it waits.
  if (isReadableStream(value)) return eachOf(value)
  if (isIterable<StreamChunk>(value)) return value
  throw new UsageError(
    'not-a-stream',
    'The function given to stream() or as fetcher has to give an AsyncIterable of events or a Response, or a promise of one.',
  )
}

function isReadableStream(value: unknown): value is ReadableStream<StreamChunk> {
  return typeof (Object(value) as Partial<ReadableStream>).getReader === 'function'
}

/** The items of a stream; one that is left is cancelled at once. */
function eachOf<Item>(stream: ReadableStream<Item>): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]() {
      const reader = stream.getReader()
      return {
        next: async (): Promise<IteratorResult<Item, undefined>> => {
          const { done, value } = await reader.read()
          return done ? { done, value: undefined } : { done, value }
        },
        return: async (): Promise<IteratorResult<Item, undefined>> => {
          await reader.cancel()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
