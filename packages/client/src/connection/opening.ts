/**
 * Looks at the beginning of a body that was said to be a stream of events, and says what it is if it is none. It decodes
 * nothing; after the first event it has nothing to do.
 */
import { TransportError } from '../errors.ts'
import { reasonOf } from './reason.ts'

/** Characters that are enough to tell. */
const HEAD = 500
const FIELD = /^(?:(?:data|event|id|retry)(?::|$)|:)/

export const WRAPPED: string =
  'sends its events inside of a JSON value instead of as the body itself. A serverless platform or an API gateway ' +
  'may wrap what a function returns: answer with a stream (a Response whose body is a ReadableStream), and turn on response streaming.'

/** A JSON string, or a list or `body` that begins with one, which begins as server-sent events do. */
const WRAPPED_TEXT = /^(?:\[\s*)?"(?:data|event|id|retry)?:|^\{[^]*"body"\s*:\s*"(?:data|event|id|retry)?:/

/** Whether a text, or its beginning, is JSON around server-sent events. */
export function isWrappedText(text: string): boolean {
  return WRAPPED_TEXT.test(text.trimStart())
}

const PAGE =
  'answered with a web page instead of events, under the content type of a stream. The URL may be wrong, may need signing in, or a ' +
  'proxy may have put its own page in place: check the path and the proxy.'

const NO_EVENT = 'answered with JSON in which there is no event (an object with a `type`).'

const NO_FIELDS =
  'sent text in which there is no server-sent event: its lines begin with no field such as `data:`. Frame each event as ' +
  '`data: {…}` and a blank line.'

const NO_LINES = 'sent text whose lines are no JSON. Send each event as JSON on a line of its own.'

const FIELDS =
  'sent server-sent events where lines of JSON were expected. Read them with fetchServerSentEvents() or xhrServerSentEvents(), or send each ' +
  'event as JSON on a line of its own.'

/** How events stand in a text: as server-sent events, or as lines of JSON. */
export type EventText = 'fields' | 'lines'

export class Opening {
  readonly #url: string
  readonly #text: EventText | undefined
  readonly #suspicious: boolean
  #head = ''
  #decoder: TextDecoder | undefined
  /** No event has come yet. */
  open: boolean

  /** Without `text` nothing is looked at. */
  constructor(url: string | undefined, text: EventText | undefined, suspicious = false) {
    this.#url = url ?? 'The server'
    this.#text = text
    this.open = text !== undefined
    this.#suspicious = suspicious
  }

  bytes(bytes: Uint8Array | string): void {
    if (this.#head.length >= HEAD) return
    this.#head +=
      typeof bytes === 'string'
        ? bytes.slice(0, HEAD)
        : (this.#decoder ??= new TextDecoder()).decode(bytes.subarray(0, HEAD), { stream: true })
  }

  /**
   * The first event.
   * @throws TransportError `content-type` if it is a wrapper around the real body, or no event where one is certain.
   */
  event(event: unknown): void {
    this.open = false
    if (isWrapper(event)) throw this.#error(WRAPPED)
    if (typeof event !== 'symbol' && typeof Object(event).type !== 'string') {
      const said = reasonOf(event)
      if (said !== undefined) throw this.#error(`${NO_EVENT} It says: ${said}`)
      if (this.#suspicious) throw this.#error(NO_EVENT)
    }
    this.#head = ''
  }

  /** What the body is (`content-type`), if no event has come by its end and the text says why. */
  refusal(): TransportError | undefined {
    if (!this.open) return undefined
    const head = this.#head.trimStart()
    if (/^<(?:!doctype|html|head|body)\b/i.test(head)) return this.#error(PAGE)
    if (isWrappedText(head)) return this.#error(WRAPPED)
    const lines = head.split(/[\r\n]+/)
    // A first line that has no end may be a field that was cut.
    const fields = lines.some((line) => FIELD.test(line))
    if (this.#text === 'lines') return lines.length > 1 ? this.#error(fields ? FIELDS : NO_LINES) : undefined
    return lines.length > 1 && !fields ? this.#error(NO_FIELDS) : undefined
  }

  #error(why: string): TransportError {
    return new TransportError(`${this.#url} ${why}`, { code: 'content-type', url: this.#url, body: this.#head })
  }
}

/** `"data: …"`, `["data: …"]` or `{ "body": "data: …" }`, or the same around lines of JSON. */
function isWrapper(value: unknown): boolean {
  if (typeof value === 'string') return isStreamText(value.trimStart())
  if (Array.isArray(value)) return isWrapper(value[0])
  if (typeof value !== 'object' || value === null || 'type' in value) return false
  const { body } = value as { readonly body?: unknown }
  return typeof body === 'string' && isStreamText(body.trimStart())
}

function isStreamText(text: string): boolean {
  return FIELD.test(text) || (text.startsWith('{') && text.includes('"type"'))
}
