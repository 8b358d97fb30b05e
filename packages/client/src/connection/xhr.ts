/**
 * Connections over XMLHttpRequest, for runtimes whose `fetch` cannot stream (React Native). All they have of their own is
 * how such a request is made.
 */
import { UsageError } from '@millrace/protocol'
import type { ClientLimits } from '../limits.ts'
import type { HttpAnswer, HttpClient, HttpRequest } from './http.ts'
import { httpAdapter, type HttpConnectionAdapter } from './http-adapter.ts'
import type { HttpConnectionOptions, OptionsSource, UrlSource } from './run-request.ts'
import { XhrReader, type XhrReaderOptions } from './xhr-reader.ts'

export interface XhrConnectionOptions extends HttpConnectionOptions {
  /** Sends cookies to other origins too. Default false. */
  readonly withCredentials?: boolean
  /** Makes the request, not opened yet; one for each call. Default: `new XMLHttpRequest()`. A `timeout` set there holds. */
  readonly xhrFactory?: () => XMLHttpRequest
}

export type XhrOptionsSource = OptionsSource<XhrConnectionOptions>

/**
 * A connection that POSTs a run input and reads server-sent events, without `fetch`.
 *
 * An XMLHttpRequest knows no backpressure and keeps the whole answer in memory until it is over: prefer
 * `fetchServerSentEvents` where it works. `limits.maxResponseLength` bounds one request; past it the answer is resumed
 * with another where the server offers that, and fails as `truncated` where not.
 * @throws UsageError `no-url` if there is no URL (from `connect`, if the URL comes from a function).
 */
export function xhrServerSentEvents(url: UrlSource, options: XhrOptionsSource = {}): HttpConnectionAdapter {
  return httpAdapter(url, options, 'sse', xhrClient)
}

/**
 * A connection that POSTs a run input and reads newline-delimited JSON, without `fetch`. See {@link xhrServerSentEvents}
 * for what it costs.
 * @throws UsageError `no-url` if there is no URL (from `connect`, if the URL comes from a function).
 */
export function xhrHttpStream(url: UrlSource, options: XhrOptionsSource = {}): HttpConnectionAdapter {
  return httpAdapter(url, options, 'ndjson', xhrClient)
}

/**
 * HTTP by XMLHttpRequest.
 * @throws UsageError `no-xhr`; `bad-xhr` or `xhr-response-type` (from the client) if the factory gives one that will
 *   not do.
 */
export function xhrClient({ withCredentials, xhrFactory, limits }: XhrConnectionOptions): HttpClient {
  const make = xhrFactory ?? globalXhr()
  return async (request) => {
    if (request.signal?.aborted) throw request.signal.reason
    const xhr = requireXhr(make())
    // Set only when asked for: some implementations refuse it.
    if (withCredentials === true) xhr.withCredentials = true
    return ask(xhr, request, limits ?? {})
  }
}

async function ask(xhr: XMLHttpRequest, request: HttpRequest, limits: Partial<ClientLimits>): Promise<HttpAnswer> {
  const reader = new XhrReader(xhr, readerOptions(limits))
  const { signal } = request
  let onAbort: (() => void) | undefined
  try {
    xhr.open(request.method, request.url, true)
    request.headers.forEach((value, name) => xhr.setRequestHeader(name, value))
    xhr.send(request.body ?? null)
    const gaveUp = new Promise<never>((_, reject) => {
      onAbort = () => reject(signal?.reason)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
    return { ...(await Promise.race([reader.answered, gaveUp])), reader: () => reader }
  } catch (error) {
    await reader.cancel()
    throw error
  } finally {
    // From here on the one who reads the answer watches the signal.
    if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort)
  }
}

function readerOptions({ maxResponseLength }: Partial<ClientLimits>): XhrReaderOptions {
  return maxResponseLength === undefined ? {} : { maxResponseLength }
}

function globalXhr(): () => XMLHttpRequest {
  if (typeof globalThis.XMLHttpRequest === 'function') return () => new globalThis.XMLHttpRequest()
  throw new UsageError(
    'no-xhr',
    'There is no XMLHttpRequest in this runtime. Give a function that makes one as `xhrFactory`, or use a fetch connection.',
  )
}

function requireXhr(xhr: unknown): XMLHttpRequest {
  const { open, send } = Object(xhr) as Partial<XMLHttpRequest>
  if (typeof open === 'function' && typeof send === 'function') return xhr as XMLHttpRequest
  throw new UsageError('bad-xhr', '`xhrFactory` has to give a new XMLHttpRequest, not opened yet.')
}
