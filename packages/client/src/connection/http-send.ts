/** Sends requests of one connection: its URL and options as they are at that moment, its failures as typed errors. */
import { UsageError } from '@millrace/protocol'
import { toError, TransportError } from '../errors.ts'
import type { ProtobufCodec } from './deliveries.ts'
import type { HttpAnswer, HttpClient, HttpRequest } from './http.ts'
import { mergeHeaders, requireOptions, requireUrl, type HttpConnectionOptions, type OptionsSource, type UrlSource } from './run-request.ts'

/** What a factory was given. */
export interface HttpConnection<Options extends HttpConnectionOptions> {
  readonly url: UrlSource
  readonly options: OptionsSource<Options>
  readonly format: 'sse' | 'ndjson'
  /** The client of one request. @throws UsageError if the options do not let it be made. */
  readonly client: (options: Options) => HttpClient
  /** What its server has shown so far. */
  readonly shown: { keepsRuns?: boolean }
  /** How to read protobuf, if that is to be asked for. */
  readonly protobuf?: (options: Options) => ProtobufCodec | undefined
}

/** URL and options of one request. */
export interface Target<Options extends HttpConnectionOptions> {
  readonly url: string
  readonly options: Options
}

/** @throws UsageError; what the functions given throw. */
export async function resolveTarget<Options extends HttpConnectionOptions>({
  url,
  options,
}: HttpConnection<Options>): Promise<Target<Options>> {
  return {
    url: requireUrl(typeof url === 'function' ? await url() : url),
    options: typeof options === 'function' ? requireOptions(await options()) : options,
  }
}

export interface Send {
  readonly method: HttpRequest['method']
  readonly url: string
  readonly headers: readonly (HeadersInit | undefined)[]
  readonly body?: string
  readonly signal?: AbortSignal | undefined
}

/**
 * The answer, whatever its status. One that comes after the signal has aborted is given up.
 * @throws TransportError `network` if there is none, `aborted` if the signal was the reason.
 */
export async function send(client: HttpClient, { method, url, headers, body, signal }: Send): Promise<HttpAnswer> {
  const request: HttpRequest = {
    method,
    url,
    headers: mergeHeaders(...headers),
    ...(body !== undefined && { body }),
    ...(signal !== undefined && { signal }),
  }
  let answer: HttpAnswer
  try {
    answer = await client(request)
  } catch (cause) {
    throw signal?.aborted ? aborted(url, signal) : asNetwork(url, cause)
  }
  if (!signal?.aborted) return answer
  discard(answer)
  throw aborted(url, signal)
}

/** Gives up the body of an answer that nobody will read. */
export function discard(answer: HttpAnswer): void {
  try {
    answer
      .reader()
      .cancel()
      .catch(() => {})
  } catch {
    // There is none.
  }
}

function asNetwork(url: string, cause: unknown): Error {
  // A client says by itself what is wrong with how it was set up, and with its answer.
  if (cause instanceof UsageError || cause instanceof TransportError) return cause
  return new TransportError(
    `The request to ${url} failed: ${toError(cause).message}. The server may be down, the address wrong, or the ` +
      'browser may refuse it (CORS).',
    { code: 'network', url, cause },
  )
}

export function aborted(url: string, signal: AbortSignal): TransportError {
  return new TransportError(`The request to ${url} was aborted by the connection's own signal.`, {
    code: 'aborted',
    url,
    cause: signal.reason,
  })
}
