/**
 * One WebSocket: it opens, gives messages as text, closes, and is silent once it was let go. It knows nothing of runs
 * or events.
 */
import { TransportError } from '../errors.ts'

/** Why a socket is closed. */
export interface SocketEnd {
  /** The close code; 1006 if the connection broke or never came about. 1000 is an end that the server meant. */
  readonly code: number
  readonly reason: string
}

/** What is used of a WebSocket: that of the platform and that of `ws` have it. */
export interface WebSocketLike {
  binaryType: string
  readonly readyState: number
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
  send(data: string): void
  close(code?: number, reason?: string): void
}

export type WebSocketConstructor = new (url: string, protocols?: string | string[]) => WebSocketLike

export interface SocketHandlers {
  message(text: string): void
  /** Told once, unless the socket was let go. */
  closed(end: SocketEnd): void
}

/** `OPEN`; the constant is not on every implementation. */
const OPEN = 1
const NORMAL = 1000
const ABNORMAL = 1006

export class Socket {
  /** Resolves when messages can be sent. Rejects (TransportError `network`, or `aborted` after `release`) if they never can. */
  readonly opened: Promise<void>
  readonly #socket: WebSocketLike
  readonly #handlers: SocketHandlers
  readonly url: string
  #over = false
  #utf8: TextDecoder | undefined
  #refuse: (error: TransportError) => void = () => {}

  /** @throws TransportError `network` if the implementation refuses the URL or the protocols. */
  constructor(make: () => WebSocketLike, url: string, handlers: SocketHandlers) {
    this.#handlers = handlers
    this.url = url
    this.#socket = made(make, url)
    // Blobs can only be read asynchronously, which would mix up the order.
    this.#socket.binaryType = 'arraybuffer'
    this.opened = new Promise((resolve, reject) => {
      this.#refuse = reject
      this.#socket.onopen = () => resolve()
    })
    // Not everybody waits.
    this.opened.catch(() => {})
    this.#socket.onmessage = ({ data }: { readonly data: unknown }) => {
      const text = this.#text(data)
      if (text !== undefined && !this.#over) handlers.message(text)
    }
    this.#socket.onclose = ({ code, reason }: Partial<SocketEnd>) => this.#close({ code: code ?? ABNORMAL, reason: reason ?? '' })
    // A close follows, which says more. Kept until the end: Node's `ws` throws errors that nobody listens for.
    this.#socket.onerror = () => {}
  }

  /** It is open, and was not let go. */
  get ready(): boolean {
    return !this.#over && this.#socket.readyState === OPEN
  }

  /** Sends a message if the socket is open; what is sent to one that is closing is lost anyhow. */
  send(text: string): void {
    if (this.ready) this.#socket.send(text)
  }

  /** Closes the socket and forgets it: nothing of it is told any more. */
  release(): void {
    if (this.#over) return
    this.#forget()
    this.#refuse(
      new TransportError(`The WebSocket to ${this.url} was closed on our side before it was open.`, { code: 'aborted', url: this.url }),
    )
    this.#socket.close(NORMAL)
  }

  #close(end: SocketEnd): void {
    if (this.#over) return
    this.#forget()
    this.#refuse(
      new TransportError(
        `The WebSocket to ${this.url} could not be opened${saying(end)}. The server may be down, the address wrong, or ` +
          'there may be no WebSocket at it.',
        { code: 'network', url: this.url },
      ),
    )
    this.#handlers.closed(end)
  }

  #forget(): void {
    this.#over = true
    this.#socket.onopen = null
    this.#socket.onmessage = null
    this.#socket.onclose = null
  }

  #text(data: unknown): string | undefined {
    if (typeof data === 'string') return data
    if (data instanceof ArrayBuffer || ArrayBuffer.isView(data)) return (this.#utf8 ??= new TextDecoder()).decode(data)
    return undefined
  }
}

/** ` (1008: no resume offset)`, or nothing where nothing was said. */
export function saying({ code, reason }: SocketEnd): string {
  if (reason !== '') return ` (${code}: ${reason})`
  return code === ABNORMAL ? '' : ` (code ${code})`
}

function made(make: () => WebSocketLike, url: string): WebSocketLike {
  try {
    return make()
  } catch (cause) {
    const why = cause instanceof Error ? `: ${cause.message}` : ''
    throw new TransportError(`A WebSocket to ${url} cannot be made${why}.`, { code: 'network', url, cause })
  }
}
