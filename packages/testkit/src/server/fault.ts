/**
 * What can go wrong with one connection, as data. Members of a fault are independent and may be given together; what
 * is left out goes well. Nothing here opens a socket.
 */

/** A place in an answer, for {@link Ending}. */
export type Place =
  /**
   * So many bytes of the head (status line and headers), 0 being before all of it; at most the whole head. HTTP/2 knows
   * only 0: its head is one frame.
   */
  | { readonly head: number }
  /** So many bytes of the body. Chunked coding does not count. Over a WebSocket: bytes of frames, their headers included. */
  | { readonly byte: number }
  /** So many events of this answer; negative: counted from the end of the run's log, so that -1 leaves out the last event. */
  | { readonly event: number }

/** What happens there. */
export type How =
  /** The connection is closed, as by a process that dies: FIN, and no mark of the end. */
  | 'cut'
  /** RST (HTTP/2: RST_STREAM with INTERNAL_ERROR). What is on its way may be lost, as with any reset. */
  | 'reset'
  /** The connection stays and nothing comes, until `unstall()`; then the answer goes on. */
  | 'stall'
  /** The body ends as if it were complete. */
  | 'end'
  /** A WebSocket closes with this code; 1006, which no frame may carry, cuts. Over HTTP it is a cut. */
  | { readonly close: number; readonly reason?: string }

/** Where and how an answer comes to its end. A place that the answer does not reach changes nothing. */
export interface Ending {
  readonly at: Place
  readonly how: How
}

/** How the body is written. */
export type Chop =
  /** What is there at the same time, in one write. */
  | 'together'
  /** Nothing before the end, then all of it: a proxy that buffers. */
  | 'buffered'
  /** Pieces of `size` bytes, each in a write of its own, with `everyMs` between them if given. */
  | { readonly size: number; readonly everyMs?: number }

/** What is answered in place of the stream. */
export type Answer =
  /** A status without a stream. From 400 on the request has no effect: no run is started. */
  | { readonly status: number; readonly retryAfter?: string; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** Status 200 with a page, as from a captive portal or a sign-in wall. */
  | 'html'
  /** Status 200 with JSON that has the whole stream as a string in `body`, as from a gateway that knows no streams. */
  | 'wrapped'

/** How a resumed answer lies about its cursor. */
export type Replay =
  /** Each event twice, with the same id. */
  | 'twice'
  /** From the start, whatever the cursor. */
  | 'start'
  /** It starts so many events before the cursor. */
  | { readonly overlap: number }

/** All that goes wrong with one connection. */
export interface Fault {
  readonly answer?: Answer
  readonly ending?: Ending
  readonly chop?: Chop
  readonly replay?: Replay
  /** The Content-Type of the stream; null leaves it out. */
  readonly contentType?: string | null
  /** A Content-Length that announces so many bytes more, or fewer (negative), than the body has. */
  readonly lengthOff?: number
  /** After every so many events: an SSE comment or a blank line. Over NDJSON a blank line, over a WebSocket `{"type":"ping"}`. */
  readonly heartbeat?: { readonly every: number; readonly as: 'comment' | 'blank' }
  /** An SSE `retry:` field before all events, in milliseconds. */
  readonly retryMs?: number
  /** `silent`: WebSocket pings are not answered. */
  readonly pong?: 'silent'
}

/** No fault. */
export const fine: Fault = {}

/** The connection is closed after so many bytes of the body. */
export const cutAt = (byte: number): Fault => ({ ending: { at: { byte }, how: 'cut' } })
/** The connection is closed after so many events. */
export const cutAfter = (event: number): Fault => ({ ending: { at: { event }, how: 'cut' } })
/** The connection is closed after so many bytes of status line and headers; 0: without an answer. */
export const cutInHead = (head: number): Fault => ({ ending: { at: { head }, how: 'cut' } })
/** RST after so many bytes of the body. */
export const resetAt = (byte: number): Fault => ({ ending: { at: { byte }, how: 'reset' } })
/** Nothing more comes after so many bytes of the body, until `unstall()`. */
export const stallAt = (byte: number): Fault => ({ ending: { at: { byte }, how: 'stall' } })
/** Nothing more comes after so many events, until `unstall()`. */
export const stallAfter = (event: number): Fault => ({ ending: { at: { event }, how: 'stall' } })
/** The request is taken and never answered. */
export const neverAnswer: Fault = { ending: { at: { head: 0 }, how: 'stall' } }
/** A clean end before the terminal event. */
export const unterminated: Fault = { ending: { at: { event: -1 }, how: 'end' } }
/** A WebSocket is closed with a code after so many events. */
export const closeAfter = (event: number, close: number, reason = ''): Fault => ({ ending: { at: { event }, how: { close, reason } } })
/** A status in place of the stream, with Retry-After if given. */
export const status = (code: number, retryAfter?: string): Fault => ({
  answer: { status: code, ...(retryAfter !== undefined && { retryAfter }) },
})
/** Each byte in a write of its own. */
export const byteByByte: Fault = { chop: { size: 1 } }
/** What is there at the same time comes in one write. */
export const allTogether: Fault = { chop: 'together' }
/** Nothing comes before the end, then everything. */
export const bufferingProxy: Fault = { chop: 'buffered' }
/** So many bytes every so many milliseconds. */
export const drip = (size: number, everyMs: number): Fault => ({ chop: { size, everyMs } })
/** A page with status 200. */
export const htmlPage: Fault = { answer: 'html' }
/** The whole stream as a string in JSON, with status 200. */
export const wrappedInJson: Fault = { answer: 'wrapped' }
/** Each event comes twice, with the same id. */
export const twice: Fault = { replay: 'twice' }
/** All events come, whatever the cursor. */
export const fromStart: Fault = { replay: 'start' }
/** A resumed answer starts so many events before its cursor. */
export const overlap = (events: number): Fault => ({ replay: { overlap: events } })
/** Fillers after every so many events. */
export const heartbeats = (every: number, as: 'comment' | 'blank' = 'comment'): Fault => ({ heartbeat: { every, as } })

/** Several faults of one connection; of two that say the same thing the later counts. */
export const both = (...faults: readonly Fault[]): Fault => Object.assign({}, ...faults) as Fault
