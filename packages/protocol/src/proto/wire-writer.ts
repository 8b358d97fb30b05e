/**
 * Writes what protobuf's wire is made of, from the end to the beginning: a length stands before what has it, and is
 * known once that is written, so nothing is measured or moved. It knows nothing of messages.
 */

const FIRST_SIZE = 256
/** Up to here a string is tried byte by byte: most are short and ASCII, and calling the encoder costs more than they do. */
const SHORT = 100
const UTF8 = new TextEncoder()

export class WireWriter {
  #bytes = new Uint8Array(FIRST_SIZE)
  #view = new DataView(this.#bytes.buffer)
  /** Offset of the byte written last: those from here on are the message. */
  #at = FIRST_SIZE

  /** Bytes written so far. */
  get length(): number {
    return this.#bytes.length - this.#at
  }

  /** What was written, in a buffer of its own. */
  bytes(): Uint8Array {
    return this.#bytes.slice(this.#at)
  }

  /** The bits of an unsigned 64-bit number as a varint. */
  varint(low: number, high = 0): void {
    if (high === 0 && low < 0x80) {
      this.#reserve(1)
      this.#bytes[this.#at] = low
      return
    }
    let size = 1
    for (let l = low >>> 0, h = high >>> 0; h > 0 || l > 0x7f; size++) {
      l = ((l >>> 7) | (h << 25)) >>> 0
      h >>>= 7
    }
    this.#reserve(size)
    let l = low >>> 0
    let h = high >>> 0
    for (let at = this.#at; at < this.#at + size - 1; at++) {
      this.#bytes[at] = (l & 0x7f) | 0x80
      l = ((l >>> 7) | (h << 25)) >>> 0
      h >>>= 7
    }
    this.#bytes[this.#at + size - 1] = l
  }

  /** An integer within ±(2^53−1); a negative one takes ten bytes. */
  int64(value: number): void {
    const high = Math.floor(value / 2 ** 32)
    this.varint(value - high * 2 ** 32, high)
  }

  double(value: number): void {
    this.#reserve(8)
    this.#view.setFloat64(this.#at, value, true)
  }

  /** With its length. A lone surrogate, which UTF-8 cannot carry, becomes U+FFFD. */
  string(text: string): void {
    if (text.length <= SHORT && this.#ascii(text)) {
      this.varint(text.length)
      return
    }
    const bytes = UTF8.encode(text)
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#at)
    this.varint(bytes.length)
  }

  #ascii(text: string): boolean {
    this.#reserve(text.length)
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index)
      if (unit > 0x7f) {
        this.#at += text.length
        return false
      }
      this.#bytes[this.#at + index] = unit
    }
    return true
  }

  /** Ends (by giving it length and tag) what was begun when {@link length} was `before`. */
  close(before: number, tag: number): void {
    this.varint(this.length - before)
    this.varint(tag)
  }

  #reserve(size: number): void {
    if (size > this.#at) {
      const used = this.length
      // With room for the lengths and tags that will stand before something large.
      const grown = new Uint8Array(Math.max(this.#bytes.length * 2, used + size + FIRST_SIZE))
      grown.set(this.#bytes.subarray(this.#at), grown.length - used)
      this.#bytes = grown
      this.#view = new DataView(grown.buffer)
      this.#at = grown.length - used
    }
    this.#at -= size
  }
}
