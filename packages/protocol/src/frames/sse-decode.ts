/**
 * Server-sent events → frames: the whole grammar of WHATWG HTML §9.2.6, plus what real servers send (bare JSON
 * lines, an unterminated last event). It does not look into the payload.
 */
import { withDefaults, type Limits } from '../limits.ts'
import { frameTooLong, type Frame, type FrameDecoder, type FrameSink } from './frame.ts'
import { LineSplitter } from './lines.ts'

const COLON = 58
const BRACE = 123
const SPACE = 32

/**
 * Bytes or text of an event stream → frames (WHATWG HTML §9.2.6, and bare JSON lines). One for each stream; linear however
 * the input is cut. Throws ProtocolError `limit` (`frame.too-long`) through `feed`.
 */
export class SseDecoder implements FrameDecoder {
  readonly #sink: FrameSink
  readonly #limit: number
  readonly #lines: LineSplitter
  #data: string | undefined
  /** Further lines of a payload of several. */
  #more: string[] | undefined
  #length = 0
  #line = 0
  #event = ''
  /** Id of the block in hand; it comes into force when the block ends. */
  #id = ''
  #ownId = false
  /** Last event id in force (WHATWG), `''` if none. */
  lastEventId = ''
  /** Reconnection time the server asked for, in ms. */
  retry: number | undefined

  constructor(sink: FrameSink, limits?: Partial<Limits>) {
    this.#sink = sink
    this.#limit = withDefaults(limits).frameLength
    this.#lines = new LineSplitter((line) => this.#take(line), this.#limit)
  }

  feed(chunk: string | Uint8Array): void {
    this.#lines.feed(chunk)
  }

  /**
   * WHATWG discards an event that is not ended by a blank line. Servers that forget it are common, and a JSON object
   * cannot be cut and stay one, so the event is given, marked `unterminated`, and the reader decides.
   */
  finish(): void {
    const rest = this.#lines.finish()
    if (rest !== undefined) {
      this.#lines.lines++
      this.#take(rest, true)
    }
    if (this.#data !== undefined) this.#dispatch(true)
  }

  #take(line: string, unterminated = false): void {
    if (line === '') {
      this.#dispatch(false)
      return
    }
    const first = line.charCodeAt(0)
    if (first === COLON) return
    if (first === BRACE) {
      // No field name begins with a brace: a server that forgot `data:`. Each such line is an event of its own.
      // An id in front of it, with no data between, is its own.
      const own = this.#ownId && this.#data === undefined
      this.#dispatch(false)
      this.#ownId = own
      this.#emit(line, this.#lines.lines, unterminated)
      this.#ownId = false
      return
    }
    if (line.startsWith('data:')) {
      this.#append(line.slice(line.charCodeAt(5) === SPACE ? 6 : 5))
      return
    }
    const colon = line.indexOf(':')
    // A cut `id:` or `retry:` line would give a wrong value; a cut `data:` line is marked and judged by the reader.
    if (unterminated) return
    const field = colon === -1 ? line : line.slice(0, colon)
    const from = colon === -1 ? line.length : line.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1
    switch (field) {
      case 'data':
        // Without a colon: an empty line of data.
        this.#append('')
        break
      case 'id': {
        const id = line.slice(from)
        if (id.includes('\0')) break
        this.#id = id
        this.#ownId = true
        break
      }
      case 'event':
        this.#event = line.slice(from)
        break
      case 'retry': {
        const digits = line.slice(from)
        if (/^[0-9]+$/.test(digits)) this.retry = Number(digits)
        break
      }
    }
  }

  #append(value: string): void {
    this.#length += value.length + 1
    if (this.#length > this.#limit) throw frameTooLong(this.#limit, this.#line)
    if (this.#data === undefined) {
      this.#data = value
      this.#line = this.#lines.lines
    } else {
      this.#more ??= [this.#data]
      this.#more.push(value)
    }
  }

  #dispatch(unterminated: boolean): void {
    this.lastEventId = this.#id
    const data = this.#more === undefined ? this.#data : this.#more.join('\n')
    this.#data = undefined
    this.#more = undefined
    this.#length = 0
    if (data !== undefined && data !== '') this.#emit(data, this.#line, unterminated)
    this.#event = ''
    this.#ownId = false
  }

  #emit(data: string, line: number, unterminated: boolean): void {
    const frame: Frame = { data, line }
    if (this.lastEventId !== '') (frame as { id: string }).id = this.lastEventId
    if (this.#ownId) (frame as { ownId: true }).ownId = true
    if (this.#event !== '') (frame as { event: string }).event = this.#event
    if (unterminated) (frame as { unterminated: true }).unterminated = true
    this.#sink(frame)
  }
}
