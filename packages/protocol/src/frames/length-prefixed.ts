/**
 * Bytes ⇄ binary frames: each a length (uint32, big-endian) and that many bytes. However the input was split, the
 * frames are the same. It does not look into the payload.
 */
import { withDefaults, type Limits } from '../limits.ts'
import { ProtocolError } from '../errors.ts'

/** One frame of a binary transport: the bytes of one message, without its length. */
export interface BinaryFrame {
  /** The payload. It may be a view of what was fed; use it, or copy it, before that buffer is used again. */
  readonly data: Uint8Array
  /** The input ended before the frame did: the payload, perhaps even its length, was cut. */
  readonly unterminated?: true
}

/** Takes binary frames, in order, as they are found. */
export type BinaryFrameSink = (frame: BinaryFrame) => void

const HEADER = 4
const NOTHING = new Uint8Array(0)

/** Bytes in, frames out through the sink given at construction. */
export class LengthPrefixedDecoder {
  readonly #sink: BinaryFrameSink
  readonly #limit: number
  /** Bytes of the length that have come; the length is known when all four have. */
  #header = 0
  #length = 0
  /** What has come of a payload that is split over several pieces. */
  #body = NOTHING
  #filled = 0
  #error: ProtocolError | undefined

  constructor(sink: BinaryFrameSink, limits?: Partial<Limits>) {
    this.#sink = sink
    this.#limit = withDefaults(limits).frameLength
  }

  /**
   * Takes the next piece, however it was cut.
   * @throws ProtocolError `limit` if a frame announces more than `limits.frameLength` bytes; nothing is kept for it, and
   * as nobody knows where the next frame begins, every later call throws the same.
   */
  feed(chunk: Uint8Array): void {
    if (this.#error !== undefined) throw this.#error
    for (let at = 0; at < chunk.length; ) {
      if (this.#header < HEADER) {
        this.#length = this.#length * 256 + (chunk[at++] as number)
        this.#header++
        if (this.#header < HEADER) continue
        if (this.#length > this.#limit) throw (this.#error = tooLong(this.#length, this.#limit))
        if (this.#length === 0) this.#dispatch(NOTHING)
        continue
      }
      const wanted = this.#length - this.#filled
      const end = Math.min(at + wanted, chunk.length)
      const piece = chunk.subarray(at, end)
      at = end
      if (piece.length === this.#length) {
        this.#dispatch(piece)
      } else {
        this.#keep(piece)
        if (this.#filled === this.#length) this.#dispatch(this.#body.subarray(0, this.#length))
      }
    }
  }

  /** Tells that the input ended. A frame that has begun is given as it is, marked `unterminated`. */
  finish(): void {
    if (this.#error === undefined && this.#header > 0) this.#dispatch(this.#body.subarray(0, this.#filled), true)
  }

  /** The buffer grows with what has come, never with what was only announced. */
  #keep(piece: Uint8Array): void {
    const filled = this.#filled + piece.length
    if (filled > this.#body.length) {
      const grown = new Uint8Array(Math.min(this.#length, Math.max(filled, this.#body.length * 2)))
      grown.set(this.#body.subarray(0, this.#filled))
      this.#body = grown
    }
    this.#body.set(piece, this.#filled)
    this.#filled = filled
  }

  #dispatch(data: Uint8Array, unterminated = false): void {
    this.#header = this.#length = this.#filled = 0
    this.#body = NOTHING
    this.#sink(unterminated ? { data, unterminated } : { data })
  }
}

function tooLong(length: number, limit: number): ProtocolError {
  return new ProtocolError(
    `A frame announces ${length} bytes, more than limits.frameLength (${limit}); send smaller deltas or raise the limit. ` +
      'A length this odd may also mean that the bytes are no length-prefixed frames at all',
    { code: 'limit', rule: 'frame.too-long' },
  )
}

/** One payload as a frame. */
export function encodeLengthPrefixed(data: Uint8Array): Uint8Array {
  const frame = new Uint8Array(HEADER + data.length)
  new DataView(frame.buffer).setUint32(0, data.length)
  frame.set(data, HEADER)
  return frame
}
