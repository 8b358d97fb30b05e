/**
 * Connections over `fetch`: one POST of a run input, one streamed answer. Nothing is repeated here: a POST that may
 * have been received must not be sent twice.
 */
import { buildRunAgentInput, UsageError, type Limits, type RunAgentInputContext, type UIMessage } from '@millrace/protocol'
import { checkLimits, isRecord } from '../checks.ts'
import { toError, TransportError } from '../errors.ts'
import { generateId } from '../ids.ts'
import { linkSignals } from '../signals.ts'
import type { ConnectConnectionAdapter, RequestData, StreamChunk } from './adapter.ts'
import { chunksOf, NDJSON, SSE } from './bytes.ts'
import { ChunkStream } from './chunk-stream.ts'
import { checkResponse } from './response-check.ts'
import { getResponseStreamReader } from './response-stream.ts'

/** A URL, or a function that gives it at each request. */
export type UrlSource = string | URL | (() => string | URL | Promise<string | URL>)

export interface FetchConnectionOptions {
  readonly headers?: HeadersInit
  /** Default: that of `fetch`, `same-origin`. Not passed on unless given: some runtimes refuse the field. */
  readonly credentials?: RequestCredentials
  /** Fields of every request, under `forwardedProps`; values of the client and of one send go over them. */
  readonly body?: Record<string, unknown>
  /** Ends requests together with the caller's own signal. */
  readonly signal?: AbortSignal
  /** Used instead of the global `fetch`. */
  readonly fetchClient?: typeof globalThis.fetch
  /** What the end of the bytes means while a run is open. Default `error`: the answer was cut. */
  readonly missingTerminal?: 'error' | 'finish'
  /** `spec` (default): AG-UI 1.0 messages. `parts`: with the UI parts beside them, for servers of TanStack AI. */
  readonly wire?: 'spec' | 'parts'
  readonly limits?: Partial<Limits>
}

export type FetchOptionsSource = FetchConnectionOptions | (() => FetchConnectionOptions | Promise<FetchConnectionOptions>)

/**
 * A connection that POSTs a run input and reads server-sent events.
 * @throws UsageError `no-url` if there is no URL (from `connect`, if the URL comes from a function).
 */
export function fetchServerSentEvents(url: UrlSource, options: FetchOptionsSource = {}): ConnectConnectionAdapter {
  return fetchAdapter(url, options, 'sse')
}

/**
 * A connection that POSTs a run input and reads newline-delimited JSON: one event, or `{id, chunk}`, per line.
 * @throws UsageError `no-url` if there is no URL (from `connect`, if the URL comes from a function).
 */
export function fetchHttpStream(url: UrlSource, options: FetchOptionsSource = {}): ConnectConnectionAdapter {
  return fetchAdapter(url, options, 'ndjson')
}

const ACCEPT = { sse: 'text/event-stream', ndjson: 'application/x-ndjson, application/json;q=0.9' } as const

function fetchAdapter(url: UrlSource, options: FetchOptionsSource, format: 'sse' | 'ndjson'): ConnectConnectionAdapter {
  // Told where the mistake is made, not at the first message.
  if (typeof url !== 'function') requireUrl(url)
  if (typeof options !== 'function') requireOptions(options)
  return {
    connect: (messages, data, abortSignal, runContext) =>
      new ChunkStream(() => request(url, options, format, { messages, data, abortSignal, runContext })),
  }
}

interface Outgoing {
  readonly messages: readonly UIMessage[]
  readonly data: RequestData | undefined
  readonly abortSignal: AbortSignal | undefined
  /** Ids are made for a request without it, as a request has to have some. */
  readonly runContext: RunAgentInputContext | undefined
}

async function* request(
  urlSource: UrlSource,
  optionsSource: FetchOptionsSource,
  format: 'sse' | 'ndjson',
  { messages, data, abortSignal, runContext = { threadId: generateId('thread'), runId: generateId('run') } }: Outgoing,
): AsyncGenerator<readonly StreamChunk[], void, undefined> {
  if (abortSignal?.aborted) return
  const url = requireUrl(typeof urlSource === 'function' ? await urlSource() : urlSource)
  const options = typeof optionsSource === 'function' ? requireOptions(await optionsSource()) : optionsSource
  const linked = linkSignals(abortSignal, options.signal)
  try {
    const response = await post(url, options, ACCEPT[format], linked.signal, messages, data, runContext)
    await checkResponse(response, url, format)
    yield* chunksOf(() => getResponseStreamReader(response), format === 'sse' ? SSE : NDJSON, linked.signal, {
      url,
      runContext,
      ...(options.missingTerminal !== undefined && { missingTerminal: options.missingTerminal }),
      ...(options.limits !== undefined && { limits: options.limits }),
    }).batches()
  } catch (error) {
    if (abortSignal?.aborted) return
    throw error
  } finally {
    linked.release()
  }
  // The caller did not ask for this end, so it must not look like one of the stream.
  if (!abortSignal?.aborted && options.signal?.aborted) throw aborted(url, options.signal)
}

async function post(
  url: string,
  options: FetchConnectionOptions,
  accept: string,
  signal: AbortSignal | undefined,
  messages: readonly UIMessage[],
  data: RequestData | undefined,
  runContext: RunAgentInputContext,
): Promise<Response> {
  const body = serialise(messages, options, data, runContext)
  const headers = mergeHeaders({ 'content-type': 'application/json', accept }, options.headers, runContext.headers)
  // Called through a plain variable: browsers refuse a `fetch` that has another `this`.
  const fetchClient = options.fetchClient ?? globalThis.fetch
  if (typeof fetchClient !== 'function') {
    throw new UsageError('no-fetch', 'There is no fetch to make the request with. Give a function as `fetchClient`.')
  }
  let response: Response
  try {
    response = await fetchClient(url, {
      method: 'POST',
      headers,
      body,
      ...(options.credentials !== undefined && { credentials: options.credentials }),
      ...(signal !== undefined && { signal }),
    })
  } catch (cause) {
    if (options.signal?.aborted) throw aborted(url, options.signal)
    throw new TransportError(
      `The request to ${url} failed: ${toError(cause).message}. The server may be down, the address wrong, or the ` +
        'browser may refuse it (CORS).',
      { code: 'network', url, cause },
    )
  }
  // No more than this: the responses of some runtimes have no body to look for, which is told later.
  if (typeof (Object(response) as Partial<Response>).status === 'number') return response
  throw new UsageError('no-response', '`fetchClient` has to give a Response, as fetch does. Does it return what it fetched?')
}

/** The request's body. What cannot be said in JSON is the caller's, and no failure of the network. */
function serialise(
  messages: readonly UIMessage[],
  { body, wire }: FetchConnectionOptions,
  data: RequestData | undefined,
  runContext: RunAgentInputContext,
): string {
  try {
    return JSON.stringify(
      buildRunAgentInput({
        messages,
        runContext,
        ...(body !== undefined && { body }),
        ...(data !== undefined && { data }),
        ...(wire !== undefined && { wire }),
      }),
    )
  } catch (cause) {
    throw new UsageError(
      'not-serialisable',
      `The run input cannot be written as JSON: ${toError(cause).message}. Look for a BigInt or a cycle in the state, ` +
        'the context, the tools, `forwardedProps`, the `body` of the connection or that of the send.',
      { cause },
    )
  }
}

/** Later ones win. */
function mergeHeaders(...sources: readonly (HeadersInit | undefined)[]): Headers {
  const headers = new Headers()
  try {
    for (const source of sources) new Headers(source).forEach((value, name) => headers.set(name, value))
  } catch (cause) {
    throw new UsageError('invalid-header', `A header of this connection cannot be sent: ${toError(cause).message}`, { cause })
  }
  return headers
}

function requireOptions(options: unknown): FetchConnectionOptions {
  if (!isRecord(options)) {
    throw new UsageError('bad-options', 'The options of a connection have to be an object, or a function that gives one ({} if there are none).')
  }
  checkLimits((options as FetchConnectionOptions).limits)
  return options as FetchConnectionOptions
}

function aborted(url: string, signal: AbortSignal): TransportError {
  return new TransportError(`The request to ${url} was aborted by the connection's own signal.`, {
    code: 'aborted',
    url,
    cause: signal.reason,
  })
}

function requireUrl(url: unknown): string {
  const text = typeof url === 'string' || url instanceof URL ? String(url).trim() : ''
  if (text !== '') return text
  throw new UsageError('no-url', "This connection has no URL. Give the address of the agent's endpoint, such as '/api/chat'.")
}
