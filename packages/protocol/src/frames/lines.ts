/**
 * Cuts text or UTF-8 bytes into lines ended by LF, CR or CRLF (WHATWG HTML, §9.2.6), the same however the input was
 * split. Linear: a piece is scanned once, and an unfinished line is kept as pieces until its end comes.
 */
import { frameTooLong } from './frame.ts'

const LF = 10

export class LineSplitter {
  readonly #sink: (line: string) => void
  readonly #limit: number
  #utf8: TextDecoder | undefined
  #pieces: string[] = []
  #length = 0
  #started = false
  /** The last piece ended in CR: an LF that opens the next belongs to it. */
  #afterCr = false
  /** Lines ended so far. */
  lines = 0

  constructor(sink: (line: string) => void, limit: number) {
    this.#sink = sink
    this.#limit = limit
  }

  feed(chunk: string | Uint8Array): void {
    if (typeof chunk === 'string') {
      this.#text(chunk)
    } else {
      this.#utf8 ??= new TextDecoder('utf-8', { ignoreBOM: true })
      this.#text(this.#utf8.decode(chunk, { stream: true }))
    }
  }

  /** Ends the input; gives the unfinished last line, or undefined if there is none. */
  finish(): string | undefined {
    if (this.#utf8 !== undefined) this.#text(this.#utf8.decode())
    const rest = this.#pieces.join('')
    this.#pieces = []
    this.#length = 0
    return rest === '' ? undefined : rest
  }

  #text(chunk: string): void {
    if (chunk === '') return
    let start = 0
    if (!this.#started) {
      this.#started = true
      if (chunk.charCodeAt(0) === 0xfeff) start = 1
    }
    if (this.#afterCr) {
      this.#afterCr = false
      if (chunk.charCodeAt(start) === LF) start++
    }
    let cr = chunk.indexOf('\r', start)
    let lf = chunk.indexOf('\n', start)
    while (lf !== -1 || cr !== -1) {
      const end = cr === -1 || (lf !== -1 && lf < cr) ? lf : cr
      this.#line(chunk, start, end)
      start = end + 1
      if (end === cr) {
        if (start === chunk.length) this.#afterCr = true
        else if (chunk.charCodeAt(start) === LF) start++
        cr = chunk.indexOf('\r', start)
      }
      if (lf !== -1 && lf < start) lf = chunk.indexOf('\n', start)
    }
    if (start < chunk.length) {
      this.#length += chunk.length - start
      if (this.#length > this.#limit) throw frameTooLong(this.#limit, this.lines + 1)
      this.#pieces.push(start === 0 ? chunk : chunk.slice(start))
    }
  }

  #line(chunk: string, start: number, end: number): void {
    if (this.#length + end - start > this.#limit) throw frameTooLong(this.#limit, this.lines + 1)
    this.lines++
    if (this.#pieces.length === 0) {
      this.#sink(chunk.slice(start, end))
      return
    }
    this.#pieces.push(chunk.slice(start, end))
    const line = this.#pieces.join('')
    this.#pieces = []
    this.#length = 0
    this.#sink(line)
  }
}
