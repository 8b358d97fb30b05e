/** A client that shows the very bytes and how the connection ended, and short ways to ask a fault server. */
import { connect, type Socket } from 'node:net'
import { SseDecoder, type Frame } from '@millrace/protocol'
import { onTestFinished } from 'vitest'
import { startFaultServer, type FaultServer, type FaultServerOptions } from '../src/index.ts'

export async function serverFor(options: FaultServerOptions = {}): Promise<FaultServer> {
  const server = await startFaultServer(options)
  onTestFinished(() => server.close())
  return server
}

export const input = (runId = 'r1', threadId = 't1') => ({
  threadId,
  runId,
  messages: [{ id: 'u1', role: 'user', content: 'Hi' }],
  tools: [],
  context: [],
})

export const post = (server: FaultServer, init: { runId?: string; headers?: Record<string, string>; signal?: AbortSignal } = {}): Promise<Response> =>
  fetch(server.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...init.headers },
    body: JSON.stringify(input(init.runId)),
    ...(init.signal !== undefined && { signal: init.signal }),
  })

export interface RawAnswer {
  /** Everything that came, one character for each byte. */
  readonly text: string
  readonly head: string
  /** Behind the head; with chunked coding if the answer had it. */
  readonly body: string
  /** Without chunked coding, as far as it came. */
  readonly plain: Buffer
  readonly reads: readonly Buffer[]
  readonly end: 'fin' | 'reset'
}

export interface RawClient {
  readonly socket: Socket
  /** What came so far. */
  readonly received: () => string
  readonly done: Promise<RawAnswer>
}

/** Sends one request over a socket of its own. */
export function rawPost(server: FaultServer, options: { headers?: Record<string, string>; body?: unknown } = {}): RawClient {
  const { hostname, port, pathname } = new URL(server.url)
  const body = JSON.stringify(options.body ?? input())
  const headers = Object.entries({ host: hostname, 'content-length': String(Buffer.byteLength(body)), connection: 'close', ...options.headers })
  const socket = connect(Number(port), hostname)
  const reads: Buffer[] = []
  socket.write(`POST ${pathname} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`)
  socket.on('data', (data) => reads.push(data))
  onTestFinished(() => void socket.destroy())
  const done = new Promise<RawAnswer>((resolve) => {
    let end: 'fin' | 'reset' = 'fin'
    socket.on('error', () => (end = 'reset'))
    socket.on('close', () => {
      const text = Buffer.concat(reads).toString('latin1')
      const at = text.indexOf('\r\n\r\n')
      const [head, rest] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 4)]
      resolve({ text, head, body: rest, plain: /chunked/i.test(head) ? dechunk(rest) : Buffer.from(rest, 'latin1'), reads, end })
    })
  })
  return { socket, received: () => Buffer.concat(reads).toString('latin1'), done }
}

/** Contents of chunks (RFC 9112 §7.1), the last one perhaps cut. */
function dechunk(text: string): Buffer {
  let out = ''
  for (let at = 0; at < text.length; ) {
    const line = text.indexOf('\r\n', at)
    if (line < 0) break
    const size = Number.parseInt(text.slice(at, line), 16)
    out += text.slice(line + 2, line + 2 + size)
    at = line + 2 + size + 2
  }
  return Buffer.from(out, 'latin1')
}

export function frames(text: string | Uint8Array): Frame[] {
  const all: Frame[] = []
  const decoder = new SseDecoder((frame) => all.push(frame))
  decoder.feed(text)
  decoder.finish()
  return all
}

export const idsOf = (text: string): (string | undefined)[] => frames(text).map(({ id }) => id)

/** What came before the body failed, and whether it did. */
export async function readUntilError(response: Response): Promise<{ text: string; failed: boolean }> {
  const pieces: Uint8Array[] = []
  try {
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) pieces.push(piece)
  } catch {
    return { text: Buffer.concat(pieces).toString(), failed: true }
  }
  return { text: Buffer.concat(pieces).toString(), failed: false }
}
