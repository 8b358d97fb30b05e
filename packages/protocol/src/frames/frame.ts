/** A frame: one message of the byte stream, before anybody looks into it. Framing knows nothing of events. */
import { ProtocolError } from '../errors.ts'

/** One frame of a text transport: the payload of a server-sent event, or a line. */
export interface Frame {
  /** The payload, as text. */
  readonly data: string
  /** The last event id in force (WHATWG: it persists until another is sent); absent if there is none. */
  readonly id?: string
  /** The frame itself set the id in force, or took it away by an empty one: without this an id was set by a frame before. */
  readonly ownId?: true
  /** Name of the SSE event, if it had one. */
  readonly event?: string
  /** Line on which the payload began, from 1. */
  readonly line: number
  /** The input ended before the frame did: the payload may be cut. */
  readonly unterminated?: true
}

/** Takes frames, in order, as they are found. What it throws goes through `feed`. */
export type FrameSink = (frame: Frame) => void

/** Bytes or text in, frames out through the sink given at construction. */
export interface FrameDecoder {
  /**
   * Takes the next piece, however it was cut.
   * @throws ProtocolError `limit` if a frame passes `limits.frameLength`.
   */
  feed(chunk: string | Uint8Array): void
  /** Tells that the input ended. May give one last frame, marked `unterminated`. */
  finish(): void
}

/** The error for a frame that passes the limit. */
export function frameTooLong(limit: number, line: number): ProtocolError {
  return new ProtocolError(`A frame is longer than limits.frameLength (${limit}); send smaller deltas or raise the limit`, {
    code: 'limit',
    rule: 'frame.too-long',
    line,
  })
}
