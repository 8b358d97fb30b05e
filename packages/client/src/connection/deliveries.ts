/**
 * Bytes → deliveries: events as they came over one connection, each with its place in the run. It frames and parses,
 * and says how the connection ended; what an end means is for those above.
 */
import {
  DONE,
  NdjsonDecoder,
  parseFrame,
  parseNdjsonFrame,
  ProtocolError,
  SseDecoder,
  UsageError,
  type Frame,
  type Limits,
} from '@millrace/protocol'
import type { StreamChunk } from './adapter.ts'
import { Opening, type EventText } from './opening.ts'
import { readPieces, truncated, type ByteReader } from './pieces.ts'

/** One event, and where it stands. */
export interface Delivery {
  /** The event, or the word of the server that there are no more. */
  readonly event: StreamChunk | typeof DONE
  /** The id in force: that of this event or, if it has none, of the last before it on this connection that had one. */
  readonly id: string | undefined
  /** This event set the id in force itself (or took it away, if `id` is undefined). */
  readonly own: boolean
  /** The event's text, to tell two events with one id apart. */
  readonly text: string
  /** The bytes ended before the frame did. The event is whole, but its id may be missing. */
  readonly unterminated?: true
}

/** How one connection is read. A fresh one for each: decoders remember. */
export interface Reading {
  /** Takes the next piece. What it throws is a `ProtocolError`; deliveries before it have been given. */
  feed(bytes: Uint8Array | string): void
  finish(): void
  /** Wait in ms before a reconnection, if the server has named one. */
  retryMs?(): number | undefined
}

export interface Format {
  /** What text it is, if it is one: in its beginning one can see what came in its place. */
  readonly text: EventText | undefined
  open(sink: (delivery: Delivery) => void, limits: Partial<Limits> | undefined): Reading
}

function delivery(frame: Frame, event: unknown, id: string | undefined, own: boolean): Delivery {
  const text = frame.data
  return frame.unterminated
    ? { event: event as StreamChunk, id, own, text, unterminated: true }
    : { event: event as StreamChunk, id, own, text }
}

export const SSE: Format = {
  text: 'fields',
  open(sink, limits) {
    const decoder = new SseDecoder((frame) => sink(delivery(frame, parseFrame(frame), frame.id, frame.ownId === true)), limits)
    return { feed: (bytes) => decoder.feed(bytes), finish: () => decoder.finish(), retryMs: () => decoder.retry }
  },
}

export const NDJSON: Format = {
  text: 'lines',
  open(sink, limits) {
    let last: string | undefined
    return new NdjsonDecoder((frame) => {
      const { event, id } = parseNdjsonFrame(frame)
      // As an SSE id: it stays in force until the next, and an empty one takes it away.
      if (id !== undefined) last = id === '' ? undefined : id
      sink(delivery(frame, event, last, id !== undefined))
    }, limits)
  },
}

/** What is needed of the module `@millrace/protocol/proto` to read AG-UI in protobuf. */
export interface ProtobufCodec {
  readonly PROTO_MEDIA_TYPE: string
  readonly ProtoDecoder: new (
    sink: (event: { readonly type: string }) => void,
    limits?: Partial<Limits>,
  ) => { feed(bytes: Uint8Array): void; finish(): void }
}

/** Protobuf has no ids: a run is resumed from its start, where that is offered at all. */
export function protobufFormat({ ProtoDecoder }: ProtobufCodec): Format {
  return {
    text: undefined,
    open(sink, limits) {
      const decoder = new ProtoDecoder((event) => sink({ event, id: undefined, own: false, text: '' }), limits)
      return {
        feed(bytes) {
          if (typeof bytes === 'string') throw new UsageError('text-is-no-protobuf', 'This connection gives text, and protobuf is bytes.')
          decoder.feed(bytes)
        },
        finish: () => decoder.finish(),
      }
    },
  }
}

export interface DeliveryOptions {
  readonly url?: string
  readonly limits?: Partial<Limits>
  /** The answer is to a request that not every server understands: what begins with no event is no stream. */
  readonly suspicious?: boolean
  /** Told when the server names a wait before reconnections. */
  readonly onRetry?: (ms: number) => void
}

/**
 * What comes over one connection, in the batches in which it came. An empty batch is a sign of life: bytes came, and no
 * event was complete. Ends after `[DONE]`, at a clean end of the bytes, and quietly when `signal` aborts.
 * @throws StreamTruncatedError when the body breaks, or ends inside a frame.
 * @throws TransportError `content-type` if it turns out to be no stream of events.
 * @throws ProtocolError `malformed` for a frame that is no JSON, `limit` for one that is too long.
 */
export async function* readDeliveries(
  reader: ByteReader,
  format: Format,
  signal: AbortSignal | undefined,
  options: DeliveryOptions,
): AsyncGenerator<readonly Delivery[], void, undefined> {
  const { url, limits, onRetry } = options
  const opening = new Opening(url, format.text, options.suspicious)
  let batch: Delivery[] = []
  let done = false
  const reading = format.open((next) => {
    if (done) return
    if (opening.open) opening.event(next.event)
    done = next.event === DONE
    batch.push(next)
  }, limits)
  let retryMs: number | undefined

  for await (const piece of readPieces(reader, signal)) {
    let failure: { readonly error: unknown } | undefined
    try {
      if ('bytes' in piece) {
        if (opening.open) opening.bytes(piece.bytes)
        reading.feed(piece.bytes)
      } else {
        reading.finish()
        const error = opening.refusal()
        if (error !== undefined) failure = { error }
      }
    } catch (error) {
      failure = { error: opening.refusal() ?? error }
    }
    const asked = reading.retryMs?.()
    if (asked !== undefined && asked !== retryMs) onRetry?.((retryMs = asked))
    // What came before a bad frame in the same read is good and goes first.
    if (batch.length > 0 || 'bytes' in piece) {
      const ready = batch
      batch = []
      yield ready
    }
    if (done) return
    if ('end' in piece && piece.end === 'broken') throw truncated('The connection broke before the run had ended.', url, piece.cause)
    if (failure !== undefined) throw asTransport(failure.error, url)
  }
}

/** A frame that was cut is the network's doing; all else that framing throws is the peer's. */
function asTransport(error: unknown, url: string | undefined): unknown {
  return error instanceof ProtocolError && error.code === 'truncated'
    ? truncated('The stream ended in the middle of a line, so the answer is cut.', url, error)
    : error
}
