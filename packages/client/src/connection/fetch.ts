/** Connections over `fetch`. All they have of their own is how `fetch` is called. */
import { UsageError } from '@millrace/protocol'
import type { ProtobufCodec } from './deliveries.ts'
import type { HttpClient } from './http.ts'
import { httpAdapter, type HttpConnectionAdapter } from './http-adapter.ts'
import { answerOf } from './response-stream.ts'
import type { HttpConnectionOptions, OptionsSource, UrlSource } from './run-request.ts'

export type { UrlSource } from './run-request.ts'

export interface FetchConnectionOptions extends HttpConnectionOptions {
  /** Default: that of `fetch`, `same-origin`. Not passed on unless given: some runtimes refuse the field. */
  readonly credentials?: RequestCredentials
  /** Used instead of the global `fetch`. */
  readonly fetchClient?: typeof globalThis.fetch
  /**
   * The module `@millrace/protocol/proto`, to ask for protobuf first (AG-UI 1.0, transport: negotiation). A server that does
   * not speak it answers as without this.
   */
  readonly protobuf?: ProtobufCodec
}

export type FetchOptionsSource = OptionsSource<FetchConnectionOptions>

/**
 * A connection that POSTs a run input and reads server-sent events.
 * @throws UsageError `no-url` if there is no URL (from `connect`, if the URL comes from a function).
 */
export function fetchServerSentEvents(url: UrlSource, options: FetchOptionsSource = {}): HttpConnectionAdapter {
  return httpAdapter(url, options, 'sse', fetchClient, protobufOf)
}

/**
 * A connection that POSTs a run input and reads newline-delimited JSON: one event, or `{id, chunk}`, per line.
 * @throws UsageError `no-url` if there is no URL (from `connect`, if the URL comes from a function).
 */
export function fetchHttpStream(url: UrlSource, options: FetchOptionsSource = {}): HttpConnectionAdapter {
  return httpAdapter(url, options, 'ndjson', fetchClient, protobufOf)
}

const protobufOf = ({ protobuf }: FetchConnectionOptions): ProtobufCodec | undefined => protobuf

/**
 * HTTP by `fetch`.
 * @throws UsageError `no-fetch`; `no-response` (from the client) if the function given does not do what `fetch` does.
 */
export function fetchClient(options: Pick<FetchConnectionOptions, 'credentials' | 'fetchClient'>): HttpClient {
  // Called through a plain variable: browsers refuse a `fetch` that has another `this`.
  const call = options.fetchClient ?? globalThis.fetch
  if (typeof call !== 'function') {
    throw new UsageError('no-fetch', 'There is no fetch to make the request with. Give a function as `fetchClient`.')
  }
  return async ({ url, ...request }) => {
    const response = await call(url, { ...request, ...(options.credentials !== undefined && { credentials: options.credentials }) })
    // No more than this: the responses of some runtimes have no body to look for, which is told later.
    if (typeof (Object(response) as Partial<Response>).status === 'number') return answerOf(response)
    throw new UsageError('no-response', '`fetchClient` has to give a Response, as fetch does. Does it return what it fetched?')
  }
}
