/**
 * node:http ⇄ Request and Response. It streams both ways at the pace of the slower side and knows nothing of runs;
 * whatever a handler does, the process stays up and no request hangs.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { guarded, silentLogger, type Logger } from './logger.ts'

export interface NodeListenerOptions {
  readonly logger?: Logger
  /** Scheme and host of request URLs, such as `https://api.example.com`. Default: from the socket and the Host header. */
  readonly origin?: string
}

/** For `http.createServer`, `https.createServer`, and as an Express or Connect handler in front of any body parser. */
export type NodeListener = (req: IncomingMessage, res: ServerResponse) => void

/**
 * Serves a fetch-style handler from node:http. `request.signal` aborts when the client goes away before the response
 * is complete. A handler that fails is answered with 500.
 */
export function toNodeListener(handler: (request: Request) => Promise<Response> | Response, options: NodeListenerOptions = {}): NodeListener {
  const logger = guarded(options.logger ?? silentLogger)
  return (req, res) => {
    const abort = new AbortController()
    // Sockets fail; without a listener that would end the process. `close` follows and is acted upon.
    req.on('error', () => undefined)
    res.on('error', () => undefined)
    res.on('close', () => {
      if (!res.writableFinished) abort.abort()
    })
    serve(req, res, abort.signal).catch((error: unknown) => {
      logger.error('A request failed', { error, method: req.method, url: req.url })
      // Once bytes are out, only a cut tells the client that they are not all.
      if (res.headersSent) res.destroy()
      else end(res, 500, 'server.failed', 'The server failed')
    })
  }

  async function serve(req: IncomingMessage, res: ServerResponse, signal: AbortSignal): Promise<void> {
    const body = req.method === 'GET' || req.method === 'HEAD' ? undefined : new Body(req)
    const request = toRequest(req, body, signal, options.origin)
    try {
      if (request === undefined) return end(res, 400, 'request.malformed', 'The request line or its headers are malformed')
      const response = await handler(request)
      if (signal.aborted) return void (await response.body?.cancel())
      await send(response, res, req.method === 'HEAD')
    } finally {
      body?.discard()
    }
  }
}

function end(res: ServerResponse, status: number, code: string, message: string): void {
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ error: { code, message } }))
}

function toRequest(req: IncomingMessage, body: Body | undefined, signal: AbortSignal, origin: string | undefined): Request | undefined {
  try {
    const scheme = 'encrypted' in req.socket ? 'https' : 'http'
    const url = new URL(req.url ?? '/', origin ?? `${scheme}://${req.headers.host ?? 'localhost'}`)
    const headers = new Headers()
    for (let i = 0; i + 1 < req.rawHeaders.length; i += 2) {
      const [name = '', value = ''] = req.rawHeaders.slice(i, i + 2)
      // HTTP/2 has its request line among the headers.
      if (!name.startsWith(':')) headers.append(name, value)
    }
    const { method = 'GET' } = req
    return new Request(url, { method, headers, signal, ...(body !== undefined && { body: body.stream, duplex: 'half' }) })
  } catch {
    return undefined
  }
}

/** The body as it is asked for. Cancelling it leaves the socket alone, so that a response can still be sent. */
class Body {
  readonly stream: ReadableStream<Uint8Array>
  readonly #req: IncomingMessage
  #release: () => void = () => undefined
  #fail: (error: Error) => void = () => undefined

  constructor(req: IncomingMessage) {
    this.#req = req
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          // Read by somebody before us, such as a body parser: nothing will come.
          if (req.readableEnded) return controller.close()
          const onData = (chunk: Buffer): void => {
            controller.enqueue(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength))
            if ((controller.desiredSize ?? 0) <= 0) req.pause()
          }
          const onEnd = (): void => {
            this.#release()
            controller.close()
          }
          const onClose = (): void => this.#fail(new Error('The client went away in the middle of the body'))
          this.#release = () => {
            req.off('data', onData).off('end', onEnd).off('close', onClose)
            this.#release = this.#fail = () => undefined
          }
          this.#fail = (error) => {
            this.#release()
            controller.error(error)
          }
          req.on('data', onData).on('end', onEnd).on('close', onClose)
          req.pause()
          return undefined
        },
        pull: () => void req.resume(),
        cancel: () => this.#release(),
      },
      { highWaterMark: 0 },
    )
  }

  /** After the response: what nobody read is thrown away, or it would block the next request on the connection. */
  discard(): void {
    this.#fail(new Error('The response was sent before the body was read'))
    this.#req.resume()
  }
}

async function send(response: Response, res: ServerResponse, headOnly: boolean): Promise<void> {
  const headers: [string, string][] = [...response.headers].filter(([name]) => name !== 'set-cookie')
  res.statusCode = response.status
  if (response.statusText !== '') res.statusMessage = response.statusText
  for (const [name, value] of headers) res.setHeader(name, value)
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) res.setHeader('set-cookie', cookies)
  if (response.body === null || headOnly) {
    res.end()
    await response.body?.cancel()
    return
  }
  const reader = response.body.getReader()
  // The client learns the status now, not with the first event.
  res.flushHeaders()
  const gone = (): void => void reader.cancel().catch(() => undefined)
  res.on('close', gone)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || res.destroyed) break
      if (!res.write(value)) await drained(res)
    }
    if (!res.destroyed) res.end()
  } finally {
    res.off('close', gone)
  }
}

/** Settles when the socket takes more, or never will. */
function drained(res: ServerResponse): Promise<void> {
  if (res.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const settle = (): void => {
      res.off('drain', settle).off('close', settle)
      resolve()
    }
    res.on('drain', settle).on('close', settle)
  })
}
