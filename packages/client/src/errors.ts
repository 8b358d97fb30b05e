/**
 * Errors of the network and of what a peer answers over HTTP, and the agent's own failure. Misuse is `UsageError`
 * and a broken event stream is `ProtocolError`, both from the protocol package. This file does no I/O.
 */

export type TransportErrorCode =
  /** The server answered with a status outside 200–299. */
  | 'http-status'
  /** The answer is no event stream: a web page, a JSON document, events wrapped in JSON. */
  | 'content-type'
  /** The answer is JSON, but not what was asked for (`hydrate`, `cancelRun`). */
  | 'unexpected-answer'
  /** The response has no body to read, or this runtime cannot stream one. */
  | 'no-stream'
  /** The server closed a WebSocket and said that it will not serve this. */
  | 'refused'
  /** The request did not reach the server, or no answer came back. */
  | 'network'
  /** The body ended before the run did, or in the middle of a line. */
  | 'truncated'
  /** A signal other than the caller's own ended the request. */
  | 'aborted'
  /** A connection or source of the application threw; `cause` is what it threw. */
  | 'connection-failed'

export interface TransportErrorData {
  readonly code: TransportErrorCode
  readonly status?: number
  readonly url?: string
  /** The first characters of the answer's body. */
  readonly body?: string
  /** Wait in ms that the server asked for before another attempt. */
  readonly retryAfterMs?: number
  readonly cause?: unknown
}

/** The network, or what stands between us and the agent, failed. What came before stays valid. */
export class TransportError extends Error {
  override readonly name: string = 'TransportError'
  readonly code: TransportErrorCode
  declare readonly status?: number
  declare readonly url?: string
  declare readonly body?: string
  declare readonly retryAfterMs?: number
  /** Reconnections that were tried in vain since something new had come; absent if none was. */
  declare readonly attempts?: number

  constructor(message: string, data: TransportErrorData) {
    super(message, data.cause === undefined ? undefined : { cause: data.cause })
    this.code = data.code
    if (data.status !== undefined) this.status = data.status
    if (data.url !== undefined) this.url = data.url
    if (data.body !== undefined) this.body = data.body
    if (data.retryAfterMs !== undefined) this.retryAfterMs = data.retryAfterMs
  }
}

/** The error that began an outage, told how often we tried and, if it has no cause of its own, what the last attempt met. */
export function givenUp(error: Error, attempts: number, last: unknown): Error {
  if (!(error instanceof TransportError) || attempts === 0) return error
  if (error.cause === undefined && last !== error) Object.defineProperty(error, 'cause', { value: last, configurable: true, writable: true })
  return Object.assign(error, { attempts })
}

/** The bytes ended without a terminal event, or inside a line: no success (AG-UI 1.0, transport). */
export class StreamTruncatedError extends TransportError {
  override readonly name: string = 'StreamTruncatedError'

  constructor(message: string, data: Omit<TransportErrorData, 'code'> = {}) {
    super(message, { ...data, code: 'truncated' })
  }
}

/** The response cannot be read piece by piece in this runtime, or has no body at all. */
export class UnsupportedResponseStreamError extends TransportError {
  override readonly name: string = 'UnsupportedResponseStreamError'

  constructor(message: string, data: Omit<TransportErrorData, 'code'> = {}) {
    super(message, { ...data, code: 'no-stream' })
  }
}

/** The agent itself ended the run with RUN_ERROR. */
export class AgentError extends Error {
  override readonly name: string = 'AgentError'
  /** The event's code, or `run-error` if it has none. */
  readonly code: string
  declare readonly runId?: string

  constructor(message: string, data: { readonly code?: string; readonly runId?: string; readonly cause?: unknown } = {}) {
    super(message, data.cause === undefined ? undefined : { cause: data.cause })
    this.code = data.code ?? 'run-error'
    if (data.runId !== undefined) this.runId = data.runId
  }
}

/** Anything thrown, as an `Error`; a thrown string or object becomes the message and the cause. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown
  return new Error(typeof thrown === 'string' ? thrown : 'Something that is no Error was thrown.', { cause: thrown })
}

/** What a connection or source threw, with a code: an error that has one is left as it is. */
export function toCodedError(thrown: unknown): Error {
  if (thrown instanceof Error && typeof (thrown as { readonly code?: unknown }).code === 'string') return thrown
  const { message } = toError(thrown)
  return new TransportError(message === '' ? 'The connection failed and gave no reason.' : message, {
    code: 'connection-failed',
    cause: thrown,
  })
}
