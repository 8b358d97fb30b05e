/**
 * Reads what protobuf's wire is made of: varints, doubles, strings, and the lengths that say where things end. Every
 * read is held against an end. It knows nothing of messages; the place it keeps is for what it has to refuse.
 */
import { ProtocolError } from '../errors.ts'
import { BYTES, FIXED32, FIXED64, GROUP, GROUP_END, VARINT } from './schema.ts'

/** A varint has 64 bits, so it is at most this long. */
const LONGEST_VARINT = 10
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })

export class WireReader {
  /** Offset of the next byte. */
  at = 0
  /** The type of the event in hand, once it is known. */
  type: string | undefined
  /** Where in the event we are: members and indexes. */
  readonly path: (string | number)[] = []
  readonly depth: number
  /** The last varint: its low and high 32 bits. */
  #low = 0
  #high = 0
  readonly #bytes: Uint8Array
  #view: DataView | undefined

  constructor(bytes: Uint8Array, depth: number) {
    this.#bytes = bytes
    this.depth = depth
  }

  /** A field number and wire type, as one number. */
  tag(end: number): number {
    this.#varint(end)
    if (this.#high !== 0 || this.#low < 8) throw this.broken('a field has no valid number')
    return this.#low
  }

  bool(end: number): boolean {
    this.#varint(end)
    return this.#low !== 0 || this.#high !== 0
  }

  int32(end: number): number {
    this.#varint(end)
    return this.#low | 0
  }

  /** Beyond ±2^53 the nearest double, which enforcement refuses as it does in JSON. */
  int64(end: number): number {
    this.#varint(end)
    return (this.#high | 0) * 2 ** 32 + this.#low
  }

  double(end: number): number {
    const { buffer, byteOffset, byteLength } = this.#bytes
    this.#view ??= new DataView(buffer, byteOffset, byteLength)
    return this.#view.getFloat64(this.#advance(8, end), true)
  }

  /** What is not UTF-8 becomes U+FFFD, as in server-sent events. */
  string(end: number): string {
    const stop = this.sub(end)
    const text = UTF8.decode(this.#bytes.subarray(this.at, stop))
    this.at = stop
    return text
  }

  /** Reads a length and gives where what has it ends. */
  sub(end: number): number {
    this.#varint(end)
    const stop = this.at + this.#low
    if (this.#high !== 0 || stop > end) throw this.broken('a length passes the end of what holds it')
    return stop
  }

  /** Passes over the field whose tag was read. */
  skip(tag: number, end: number): void {
    let open: number[] | undefined
    for (let next = tag; ; next = this.tag(end)) {
      switch (next & 7) {
        case VARINT:
          this.#varint(end)
          break
        case FIXED64:
          this.#advance(8, end)
          break
        case BYTES:
          this.at = this.sub(end)
          break
        case GROUP:
          open ??= []
          if (open.push(next >>> 3) > this.depth) throw this.tooDeep()
          break
        case GROUP_END:
          if (open?.pop() !== next >>> 3) throw this.broken('a group ends that has not begun')
          break
        case FIXED32:
          this.#advance(4, end)
          break
        default:
          throw this.broken('a field has no valid wire type')
      }
      if (open === undefined || open.length === 0) return
    }
  }

  /** The bytes are no event. */
  broken(what: string): ProtocolError {
    return new ProtocolError(`A frame is no AG-UI event in protobuf: ${what}`, {
      code: 'malformed',
      rule: 'frame.not-protobuf',
      ...(this.type !== undefined && { type: this.type }),
    })
  }

  /** The event has a value that no event may have. */
  malformed(what: string): ProtocolError {
    return this.#refusal('malformed', 'event.malformed', what)
  }

  tooDeep(): ProtocolError {
    return this.#refusal('limit', 'event.too-deep', `is nested deeper than limits.jsonDepth (${this.depth})`)
  }

  #refusal(code: 'malformed' | 'limit', rule: string, what: string): ProtocolError {
    const pointer = this.path.map((key) => `/${key}`).join('')
    return new ProtocolError(`${this.type ?? 'Value'} is malformed${pointer === '' ? '' : ` at ${pointer}`}: ${what}`, {
      code,
      rule,
      pointer,
      ...(this.type !== undefined && { type: this.type }),
    })
  }

  #varint(end: number): void {
    const bytes = this.#bytes
    let low = 0
    let high = 0
    for (let index = 0; index < LONGEST_VARINT; index++) {
      if (this.at >= end) throw this.broken('it ends within a field')
      const byte = bytes[this.at++] as number
      const bits = byte & 0x7f
      const shift = index * 7
      if (shift < 28) low |= bits << shift
      else if (shift > 28) high |= bits << (shift - 32)
      else {
        low |= bits << 28
        high = bits >>> 4
      }
      if (byte < 0x80) {
        this.#low = low >>> 0
        this.#high = high >>> 0
        return
      }
    }
    throw this.broken('a varint is longer than ten bytes')
  }

  #advance(length: number, end: number): number {
    const start = this.at
    if (start + length > end) throw this.broken('it ends within a field')
    this.at = start + length
    return start
  }
}
