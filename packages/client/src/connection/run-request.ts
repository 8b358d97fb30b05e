/**
 * What a run looks like as an HTTP request: URL, options, run input and headers, from the sources a caller gives. It
 * sends nothing and knows neither `fetch` nor XHR.
 */
import { buildRunAgentInput, UsageError, type RunAgentInput, type RunAgentInputContext, type UIMessage } from '@millrace/protocol'
import { checkFields, checkLimits, FUNCTION, isRecord, oneOf, RECORD, type Check } from '../checks.ts'
import { toError } from '../errors.ts'
import type { ClientLimits } from '../limits.ts'
import type { RequestData } from './adapter.ts'
import { checkReconnect, type ReconnectInfo, type ReconnectOptions } from './backoff.ts'

/** A URL, or a function that gives it at each request. */
export type UrlSource = string | URL | (() => string | URL | Promise<string | URL>)

/** Options, or a function that gives them at each request. */
export type OptionsSource<Options> = Options | (() => Options | Promise<Options>)

/** What all connections over HTTP can be told. */
export interface HttpConnectionOptions {
  readonly headers?: HeadersInit
  /** Fields of every request, under `forwardedProps`; values of the client and of one send go over them. */
  readonly body?: Record<string, unknown>
  /** Ends requests together with the caller's own signal. */
  readonly signal?: AbortSignal
  /** What the end of the bytes means while a run is open. Default `error`: the answer was cut. */
  readonly missingTerminal?: 'error' | 'finish'
  /** `spec` (default): AG-UI 1.0 messages. `parts`: with the UI parts beside them, for servers of TanStack AI. */
  readonly wire?: 'spec' | 'parts'
  /**
   * What is sent in the place of a run input; an object that can be said in JSON. For an agent of before AG-UI 1.0:
   * `translateFor('0.0.39', (loss) => …).input`.
   */
  readonly prepareInput?: (input: RunAgentInput) => object
  readonly limits?: Partial<ClientLimits>
  /**
   * What happens when the connection breaks while the run is open. `auto` (default): it is joined again by
   * `GET ?runId=…&offset=…` behind the last id, where the server offers that: it gave ids or an `X-Run-Id` header, or
   * nothing was heard of the answer. `get`: as `auto`, whatever the server offered. `post`: the same POST is sent again
   * with `Last-Event-ID`, once there is an id, for servers that take it so (TanStack AI). `off`: the run is cut. The POST
   * is never repeated otherwise. `get` and `post` name the run in a header `X-Run-Id` of the POST, under which durable
   * servers of TanStack AI keep it. Across origins, CORS has to allow these headers, and to expose `X-Run-Id` for `auto`.
   */
  readonly resume?: 'auto' | 'get' | 'post' | 'off'
  /** How often and when. */
  readonly reconnect?: ReconnectOptions
  /** Told before each wait for a reconnection. */
  readonly onReconnect?: (info: ReconnectInfo) => void
  /** Told of what works, but not as it should. */
  readonly onWarning?: (warning: ConnectionWarning) => void
}

/** Something that the application's author should know of; the stream goes on. */
export interface ConnectionWarning {
  /**
   * `buffered`: all events came at once at the end, though they were made over time. `repeated-ids`: different events came
   * with one id, so that the connection cannot be resumed behind an id.
   */
  readonly code: 'buffered' | 'repeated-ids'
  /** What is wrong and what to do. */
  readonly message: string
  readonly url: string
}

/** Options that every connection of ours has. */
export const SHARED: Readonly<Record<string, Check>> = {
  body: RECORD,
  missingTerminal: oneOf('error', 'finish'),
  wire: oneOf('spec', 'parts'),
  prepareInput: FUNCTION,
  onReconnect: FUNCTION,
}

const HTTP: Readonly<Record<string, Check>> = {
  ...SHARED,
  onWarning: FUNCTION,
  signal: [(signal) => typeof (Object(signal) as Partial<AbortSignal>).aborted === 'boolean', 'an AbortSignal'],
  fetchClient: FUNCTION,
  xhrFactory: FUNCTION,
}

const RESUME: ReadonlySet<unknown> = new Set(['auto', 'get', 'post', 'off'])

/** What one `connect` was called with. */
export interface Outgoing {
  readonly messages: readonly UIMessage[]
  readonly data: RequestData | undefined
  readonly runContext: RunAgentInputContext
}

/**
 * The request's body. What cannot be said in JSON is the caller's, and no failure of the network.
 * @throws UsageError `not-serialisable`, and what `prepareInput` throws.
 */
export function serialise(
  { messages, data, runContext }: Outgoing,
  { body, wire, prepareInput }: Pick<HttpConnectionOptions, 'body' | 'wire' | 'prepareInput'>,
): string {
  const input = sayable(() =>
    buildRunAgentInput({
      messages,
      runContext,
      ...(body !== undefined && { body }),
      ...(data !== undefined && { data }),
      ...(wire !== undefined && { wire }),
    }),
  )
  const sent: unknown = prepareInput === undefined ? input : prepareInput(input)
  if (!isRecord(sent)) throw new UsageError('not-serialisable', '`prepareInput` has to give the object to be sent; it gave something else.')
  return sayable(() => JSON.stringify(sent))
}

function sayable<Value>(say: () => Value): Value {
  try {
    return say()
  } catch (cause) {
    throw new UsageError(
      'not-serialisable',
      `The run input cannot be written as JSON: ${toError(cause).message}. Look for a BigInt or a cycle in the state, ` +
        'the context, the tools, `forwardedProps`, the `body` of the connection or that of the send.',
      { cause },
    )
  }
}

/**
 * Later ones win.
 * @throws UsageError `invalid-header`.
 */
export function mergeHeaders(...sources: readonly (HeadersInit | undefined)[]): Headers {
  const headers = new Headers()
  try {
    for (const source of sources) new Headers(source).forEach((value, name) => headers.set(name, value))
  } catch (cause) {
    throw new UsageError('invalid-header', `A header of this connection cannot be sent: ${toError(cause).message}`, { cause })
  }
  return headers
}

/**
 * The options of a request.
 * @throws UsageError `bad-options`, `bad-limit`, `bad-reconnect`, `bad-resume`.
 */
export function requireOptions<Options extends HttpConnectionOptions>(options: Options): Options {
  if (!isRecord(options)) {
    throw new UsageError('bad-options', 'The options of a connection have to be an object, or a function that gives one ({} if there are none).')
  }
  checkFields(options, HTTP)
  checkLimits(options.limits)
  checkReconnect(options.reconnect)
  if (options.resume !== undefined && !RESUME.has(options.resume)) {
    throw new UsageError('bad-resume', `There is no way to resume called "${String(options.resume)}". Give 'auto', 'get', 'post' or 'off'.`)
  }
  return options
}

/** @throws UsageError `no-url`. */
export function requireUrl(url: unknown): string {
  const text = typeof url === 'string' || url instanceof URL ? String(url).trim() : ''
  if (text !== '') return text
  throw new UsageError('no-url', "This connection has no URL. Give the address of the agent's endpoint, such as '/api/chat'.")
}

/** A URL, relative ones too, with more in its query. */
export function withQuery(url: string, query: Readonly<Record<string, string>>): string {
  const [, path = '', hash = ''] = /^([^#]*)(#.*)?$/s.exec(url) ?? []
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  const glue = !path.includes('?') ? '?' : /[?&]$/.test(path) ? '' : '&'
  return `${path}${glue}${pairs.join('&')}${hash}`
}
