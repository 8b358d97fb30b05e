// Cuts a JSON array into its elements as it arrives, each with its line. An element that is broken inside is still
// cut out where its brackets end, so that the rest can be read.
import type { Frame, FrameDecoder, FrameSink } from '@millrace/protocol'

/** What ends a run of dull characters: between strings, and inside of one. */
const STRUCTURE = /["[\]{},\n]/g
const STRING_END = /["\\]/g
/** White space, commas between elements, a byte order mark. */
const SPACE = /[\s,\ufeff]*/y

type Place =
  /** Outside of any array. */
  | 'outside'
  /** In the array, between elements. */
  | 'between'
  | 'element'
  | 'string'
  /** In a string, behind a backslash. */
  | 'escape'

export class JsonArrayDecoder implements FrameDecoder {
  readonly #sink: FrameSink
  readonly #utf8 = new TextDecoder()
  #place: Place = 'outside'
  #line: number
  /** The element in hand: what earlier chunks held of it, where it began, and how deep in it we are. */
  #text = ''
  #start = 1
  #depth = 0

  /** @param line the line on which the input begins */
  constructor(sink: FrameSink, line: number = 1) {
    this.#sink = sink
    this.#line = line
  }

  feed(chunk: string | Uint8Array): void {
    this.#scan(typeof chunk === 'string' ? chunk : this.#utf8.decode(chunk, { stream: true }))
  }

  /** An array or element that is still open is given as a last, unterminated frame. */
  finish(): void {
    this.#scan(this.#utf8.decode())
    if (this.#place === 'outside') return
    if (this.#place === 'between') this.#start = this.#line
    this.#emit(true)
    this.#place = 'outside'
  }

  #scan(text: string): void {
    let at = 0
    let from = 0 // where the element in hand begins in this text
    while (at < text.length) {
      switch (this.#place) {
        case 'outside':
        case 'between': {
          at = this.#skipSpace(text, at)
          const char = text[at]
          if (char === undefined) break
          if (this.#place === 'outside' && char === '[') {
            this.#place = 'between'
            at += 1
          } else if (this.#place === 'between' && char === ']') {
            this.#place = 'outside'
            at += 1
          } else {
            this.#place = 'element'
            this.#start = this.#line
            this.#depth = 0
            from = at
          }
          break
        }
        case 'element':
          STRUCTURE.lastIndex = at
          at = STRUCTURE.exec(text)?.index ?? text.length
          if (at < text.length) at = this.#structure(text, from, at)
          break
        case 'string': {
          STRING_END.lastIndex = at
          const found = STRING_END.exec(text)
          at = found === null ? text.length : found.index + 1
          if (found !== null) this.#place = found[0] === '"' ? 'element' : 'escape'
          break
        }
        case 'escape':
          this.#place = 'string'
          at += 1
      }
    }
    if (this.#place !== 'outside' && this.#place !== 'between') this.#text += text.slice(from)
  }

  /** Handles the character of structure at `at`; gives where to go on. */
  #structure(text: string, from: number, at: number): number {
    switch (text[at]) {
      case '\n':
        this.#line += 1
        return at + 1
      case '"':
        this.#place = 'string'
        return at + 1
      case '{':
      case '[':
        this.#depth += 1
        return at + 1
      case ',':
        return this.#depth > 0 ? at + 1 : this.#cut(text, from, at)
      default: // a closing bracket: of the element, or, behind a bare value, of the array; a stray one is part of it
        if (this.#depth === 0) {
          const closesArray = text[at] === ']' && (this.#text !== '' || at > from)
          return closesArray ? this.#cut(text, from, at) : at + 1
        }
        this.#depth -= 1
        return this.#depth > 0 ? at + 1 : this.#cut(text, from, at + 1)
    }
  }

  #cut(text: string, from: number, end: number): number {
    this.#text += text.slice(from, end)
    this.#emit(false)
    this.#place = 'between'
    return end
  }

  #emit(unterminated: boolean): void {
    const frame: Frame = { data: this.#text.trim(), line: this.#start, ...(unterminated && { unterminated }) }
    this.#text = ''
    this.#sink(frame)
  }

  #skipSpace(text: string, start: number): number {
    SPACE.lastIndex = start
    const space = SPACE.exec(text)?.[0] ?? ''
    for (let at = space.indexOf('\n'); at >= 0; at = space.indexOf('\n', at + 1)) this.#line += 1
    return start + space.length
  }
}
