/**
 * The text of an XMLHttpRequest, piece by piece. It sends nothing and knows nothing of events: where a request gets
 * its answer from is `xhr.ts`.
 */
import { UsageError } from '@millrace/protocol'
import { StreamTruncatedError } from '../errors.ts'
import { DEFAULT_CLIENT_LIMITS } from '../limits.ts'
import { readStreamLines, type ByteReader } from './bytes.ts'
import type { HttpAnswer } from './http.ts'

export interface XhrReaderOptions {
  /** Longest text that is read before the request is aborted, in UTF-16 units. Default: that of the limits. */
  readonly maxResponseLength?: number
}

/** `HEADERS_RECEIVED`; the names are not there in every implementation. */
const HEADERS = 2
const LOADING = 3
const DONE = 4

const EVENTS = ['readystatechange', 'progress', 'load', 'error', 'timeout', 'abort'] as const

type State =
  | { readonly kind: 'open' }
  | { readonly kind: 'ended' }
  /** Given up by the reader; nothing is told any more. */
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly cause: Error }

/**
 * Reads `responseText` as it grows. There is no backpressure: an XMLHttpRequest cannot be told to wait, so what was
 * not read yet is kept here as well as in the request.
 *
 * Make one before `send()`: React Native hands out text before the end only to those who listen by then.
 */
export class XhrReader implements ByteReader {
  /** Resolves when status and headers are known; rejects if they never come. Stays pending after `cancel`. */
  readonly answered: Promise<Omit<HttpAnswer, 'reader'>>
  readonly #xhr: XMLHttpRequest
  readonly #longest: number
  #state: State = { kind: 'open' }
  /** What has come and was not read. Kept, since a request that fails empties its `responseText`. */
  #unread: string[] = []
  #offset = 0
  #wake: (() => void) | undefined
  #resolveAnswered: (head: Omit<HttpAnswer, 'reader'>) => void = () => {}
  #hasAnswered = false
  #rejectAnswered: (cause: Error) => void = () => {}
  #removers: (() => void)[] = []

  /** @throws UsageError `xhr-response-type` if the request is to give anything but text. */
  constructor(xhr: XMLHttpRequest, options: XhrReaderOptions = {}) {
    this.#xhr = xhr
    this.#longest = options.maxResponseLength ?? DEFAULT_CLIENT_LIMITS.maxResponseLength
    requireText(xhr)
    this.answered = new Promise((resolve, reject) => {
      this.#resolveAnswered = resolve
      this.#rejectAnswered = reject
    })
    // Not everybody asks.
    this.answered.catch(() => {})
    this.#removers = EVENTS.map((type) => listen(xhr, type, () => this.#on(type)))
    if (xhr.readyState === DONE) this.#on(xhr.status === 0 ? 'error' : 'load')
    else this.#on('readystatechange')
  }

  async read(): Promise<{ readonly done: boolean; readonly value?: string }> {
    for (;;) {
      const value = this.#unread.shift()
      if (value !== undefined) return { done: false, value }
      const { kind } = this.#state
      if (kind === 'failed') throw this.#state.cause
      if (kind !== 'open') return { done: true }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** Aborts the request, if it is still under way. */
  async cancel(): Promise<void> {
    const open = this.#state.kind === 'open'
    this.#unread = []
    this.#end({ kind: 'cancelled' })
    if (open) this.#xhr.abort()
  }

  #on(type: (typeof EVENTS)[number]): void {
    switch (type) {
      case 'readystatechange':
      case 'progress':
        // A request that failed gets here too, in its last state and without a status.
        if (this.#xhr.readyState >= HEADERS && this.#xhr.status !== 0) this.#answer()
        return this.#take()
      case 'load':
        this.#answer()
        this.#take()
        return this.#end({ kind: 'ended' })
      case 'error':
        return this.#fail(new Error('XMLHttpRequest reports a network error'))
      case 'timeout':
        return this.#fail(new Error('XMLHttpRequest took longer than its timeout'))
      case 'abort':
        return this.#fail(new Error('XMLHttpRequest was aborted'))
    }
  }

  /** Noted at once: a request that fails later has no status and no headers any more. */
  #answer(): void {
    if (this.#hasAnswered) return
    this.#hasAnswered = true
    const { status, statusText, responseURL } = this.#xhr
    // Not every implementation has these two.
    this.#resolveAnswered({ status, statusText: statusText ?? '', url: responseURL ?? '', header: headersOf(this.#xhr) })
  }

  /** Takes over what has come since the last look. */
  #take(): void {
    if (this.#state.kind !== 'open' || this.#xhr.readyState < LOADING) return
    const text = this.#xhr.responseText
    if (typeof text !== 'string' || text.length <= this.#offset) return
    this.#unread.push(text.slice(this.#offset))
    this.#offset = text.length
    this.#stir()
    if (this.#offset > this.#longest) this.#tooLong()
  }

  #tooLong(): void {
    this.#fail(
      new StreamTruncatedError(
        `The answer is longer than maxResponseLength (${this.#longest} characters), and an XMLHttpRequest keeps all of ` +
          'it in memory. Use a fetch connection, which does not, or set a higher limits.maxResponseLength.',
      ),
    )
    this.#xhr.abort()
  }

  #fail(cause: Error): void {
    this.#rejectAnswered(cause)
    this.#end({ kind: 'failed', cause })
  }

  #end(state: State): void {
    if (this.#state.kind !== 'open') return
    this.#state = state
    for (const remove of this.#removers) remove()
    this.#removers = []
    this.#stir()
  }

  #stir(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}

/**
 * The lines of the text of `xhr` while it arrives, without their ends; blank ones are left out. Call it before
 * `send()`.
 * @throws StreamTruncatedError if text follows the last line end or the request fails, unless `abortSignal` is the
 *   reason, and for a text longer than `maxResponseLength`.
 * @throws UsageError `xhr-response-type` (at once).
 */
export function readXhrLines(
  xhr: XMLHttpRequest,
  abortSignal?: AbortSignal,
  options: XhrReaderOptions = {},
): AsyncGenerator<string, void, undefined> {
  return readStreamLines(new XhrReader(xhr, options), abortSignal)
}

function requireText({ responseType }: XMLHttpRequest): void {
  if (responseType === undefined || responseType === '' || responseType === 'text') return
  throw new UsageError(
    'xhr-response-type',
    `An XMLHttpRequest with responseType "${responseType}" gives nothing before its end. Leave the responseType empty.`,
  )
}

/** Some implementations have the handlers as properties only. */
function listen(xhr: XMLHttpRequest, type: (typeof EVENTS)[number], listener: () => void): () => void {
  if (typeof xhr.addEventListener === 'function') {
    xhr.addEventListener(type, listener)
    return () => xhr.removeEventListener(type, listener)
  }
  const handlers = xhr as unknown as Record<string, ((...args: unknown[]) => unknown) | null | undefined>
  const property = `on${type}`
  const before = handlers[property] ?? null
  handlers[property] = (...args) => {
    before?.call(xhr, ...args)
    listener()
  }
  return () => {
    handlers[property] = before
  }
}

/** Browsers complain on the console when one asks for a header that CORS hides; the list has only those that may be seen. */
function headersOf(xhr: XMLHttpRequest): HttpAnswer['header'] {
  if (typeof xhr.getAllResponseHeaders !== 'function') return (name) => xhr.getResponseHeader(name)
  const headers = new Map<string, string>()
  for (const line of (xhr.getAllResponseHeaders() ?? '').split(/\r?\n/)) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim())
  }
  return (name) => headers.get(name.toLowerCase()) ?? null
}
