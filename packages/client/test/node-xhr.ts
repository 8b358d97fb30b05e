/**
 * XMLHttpRequest over node:http, as far as connections use it: text that grows while it arrives, the events of each
 * stage, abort. Node has none, and those on the registry give their text only at the end.
 */
import { request, type ClientRequest, type IncomingHttpHeaders } from 'node:http'
import { StringDecoder } from 'node:string_decoder'

type Handler = ((event: { readonly type: string }) => unknown) | null

/** With handlers as properties only, and without `responseURL`: the least that a runtime may have. */
export class PlainNodeXhr {
  onreadystatechange: Handler = null
  onprogress: Handler = null
  onload: Handler = null
  onerror: Handler = null
  ontimeout: Handler = null
  onabort: Handler = null
  readyState = 0
  status = 0
  statusText = ''
  responseText = ''
  responseType = ''
  withCredentials = false
  timeout = 0
  #request: ClientRequest | undefined
  protected headers: IncomingHttpHeaders = {}
  #target: { method: string; url: string } | undefined
  readonly #sent: Record<string, string> = {}
  #over = false

  open(method: string, url: string): void {
    this.#target = { method, url }
    this.#to(1)
  }

  setRequestHeader(name: string, value: string): void {
    this.#sent[name] = value
  }

  getResponseHeader(name: string): string | null {
    const value = this.headers[name.toLowerCase()]
    return value === undefined ? null : String(value)
  }

  send(body: string | null = null): void {
    if (this.#target === undefined) throw new Error('send() before open().')
    const { method, url } = this.#target
    const sent = request(url, { method, headers: this.#sent, ...(this.timeout > 0 && { timeout: this.timeout }) }, (response) => {
      if (this.#over) return
      this.status = response.statusCode ?? 0
      this.statusText = response.statusMessage ?? ''
      this.headers = response.headers
      this.#to(2)
      const decoder = new StringDecoder('utf8')
      const grow = (text: string): void => {
        if (this.#over || text === '') return
        this.responseText += text
        this.#to(3)
        this.dispatch('progress')
      }
      response.on('data', (bytes: Buffer) => grow(decoder.write(bytes)))
      response.on('end', () => {
        grow(decoder.end())
        this.#finish('load')
      })
      response.on('error', () => this.#finish('error'))
    })
    this.#request = sent
    sent.on('error', () => this.#finish('error'))
    sent.on('timeout', () => {
      sent.destroy()
      this.#finish('timeout')
    })
    sent.end(body ?? undefined)
  }

  abort(): void {
    if (this.#request === undefined || this.#over) return
    this.#finish('abort')
    this.#request.destroy()
    this.readyState = 0
  }

  dispatch(type: string): void {
    const handler = this[`on${type}` as 'onload']
    if (typeof handler === 'function') handler.call(this, { type })
  }

  #to(state: number): void {
    this.readyState = state
    this.dispatch('readystatechange')
  }

  #finish(how: 'load' | 'error' | 'timeout' | 'abort'): void {
    if (this.#over) return
    this.#over = true
    // An answer that failed is no answer, whatever had come of it.
    if (how !== 'load') {
      this.responseText = ''
      this.status = 0
      this.headers = {}
    }
    this.#to(4)
    this.dispatch(how)
  }
}

/** With listeners and `responseURL`, as browsers and React Native have them. */
export class NodeXhr extends PlainNodeXhr {
  responseURL = ''
  readonly #events = new EventTarget()

  addEventListener(type: string, listener: EventListener): void {
    this.#events.addEventListener(type, listener)
  }

  getAllResponseHeaders(): string {
    return Object.entries(this.headers).map(([name, value]) => `${name}: ${String(value)}\r\n`).join('')
  }

  removeEventListener(type: string, listener: EventListener): void {
    this.#events.removeEventListener(type, listener)
  }

  override open(method: string, url: string): void {
    this.responseURL = url
    super.open(method, url)
  }

  override dispatch(type: string): void {
    super.dispatch(type)
    this.#events.dispatchEvent(new Event(type))
  }
}

export const nodeXhr = (): XMLHttpRequest => new NodeXhr() as unknown as XMLHttpRequest
export const plainNodeXhr = (): XMLHttpRequest => new PlainNodeXhr() as unknown as XMLHttpRequest
