/** What is asked of HTTP, however it is spoken: one request, one answer whose bytes are read as they come. Types only. */
import type { ByteReader } from './pieces.ts'

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: string
  readonly headers: Headers
  readonly body?: string
  /** Ends the request, and the reading of its answer. */
  readonly signal?: AbortSignal
}

/** An answer whose status and headers are there. Its body is read at most once, or not at all. */
export interface HttpAnswer {
  readonly status: number
  readonly statusText: string
  /** Where it came from after redirects; `''` if that is not known. */
  readonly url: string
  /** Value of a header; null if it is absent or hidden from us (CORS). */
  header(name: string): string | null
  /** @throws UnsupportedResponseStreamError if there is no body, or none that can be read in pieces. */
  reader(): ByteReader
}

/**
 * Resolves with the answer once its status and headers have come, whatever the status. Rejects with what the platform
 * gives if there is none; that becomes a `TransportError` above. When the signal aborts it rejects, or its reader ends.
 */
export type HttpClient = (request: HttpRequest) => Promise<HttpAnswer>
