/** What clients asked and how far each answer came, in the order of arrival. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Ended, Progress } from './spout.ts'

export type Transport = 'http/1.1' | 'h2' | 'websocket'

/** What a request was taken for. `conversation` is a WebSocket that takes run inputs. */
export type Did = 'start' | 'join' | 'resume' | 'conversation' | 'hydrate' | 'cancel' | 'refused' | 'failed'

export interface LoggedRequest {
  /** Counted from 0 over all transports. */
  readonly index: number
  readonly transport: Transport
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: IncomingHttpHeaders
  /** The body as text; '' without one. */
  readonly body: string
  /** What came over the WebSocket so far, as text. */
  readonly messages: readonly string[]
  /** `failed`: a fault answered in place of the server. Undefined until it is known. */
  readonly did: Did | undefined
  /** The HTTP status answered; undefined if none was. */
  readonly status: number | undefined
  /** Bytes of the body (or of the head, for a fault in it) that were written. */
  readonly bytes: number
  /** Whole events that were written. */
  readonly events: number
  readonly ending: Ended
  /** The close code that a WebSocket client sent; 1006 if it went without one. */
  readonly closeCode: number | undefined
}

/** The same to write on. */
export interface Entry extends Progress {
  readonly index: number
  readonly transport: Transport
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly messages: string[]
  did: Did | undefined
  status: number | undefined
  closeCode: number | undefined
}

/** @param target Path and query, as in the request line. */
export function addEntry(
  entries: Entry[],
  asked: Pick<Entry, 'transport' | 'method' | 'headers' | 'body'> & { readonly target: string },
): Entry {
  const { target, ...rest } = asked
  const url = new URL(target, 'http://localhost')
  const entry: Entry = {
    ...rest,
    index: entries.length,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    messages: [],
    did: undefined,
    status: undefined,
    bytes: 0,
    events: 0,
    ending: 'open',
    closeCode: undefined,
  }
  entries.push(entry)
  return entry
}
