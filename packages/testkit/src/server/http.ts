/** node:http and node:http2 → `Exchange`s. It reads each request whole before it is answered; what is answered is none of its business. */
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import { constants, type Http2Stream, type IncomingHttpHeaders as Http2Headers, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { answer, answerPreflight, type Exchange, type Headers } from './answer.ts'
import { BellClosedError } from './bell.ts'
import type { Context } from './context.ts'
import { http2Pipe, responsePipe, socketPipe } from './pipes.ts'
import { addEntry, type Entry } from './request-log.ts'

export async function serveHttp1(context: Context, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on('error', () => undefined)
  const { socket } = request
  const exchange: Exchange = {
    async open(status, headers) {
      response.writeHead(status, headers)
      response.flushHeaders()
      return responsePipe(response, socket)
    },
    bare: (status, headers) => ({ pipe: socketPipe(socket), head: headBytes(status, headers) }),
  }
  if (request.method === 'OPTIONS') return answerPreflight(exchange, request.headers)
  const body = await readAll(request)
  if (body === undefined) return
  const { method = 'GET', url: target = '/', headers } = request
  const entry = addEntry(context.entries, { transport: 'http/1.1', method, target, headers, body })
  response.on('close', () => leave(context, entry))
  await serve(context, exchange, entry)
}

export async function serveHttp2(context: Context, stream: ServerHttp2Stream, given: Http2Headers, socket: Socket): Promise<void> {
  stream.on('error', () => undefined)
  const exchange: Exchange = {
    async open(status, headers) {
      if (!stream.destroyed && !stream.closed) stream.respond({ [constants.HTTP2_HEADER_STATUS]: status, ...headers })
      return http2Pipe(stream, socket)
    },
    bare: () => ({ pipe: http2Pipe(stream, socket), head: undefined }),
  }
  const { ':method': method = 'GET', ':path': target = '/' } = given
  if (method === 'OPTIONS') return answerPreflight(exchange, given)
  const body = await readAll(stream)
  if (body === undefined) return
  const headers = Object.fromEntries(Object.entries(given).filter(([name]) => !name.startsWith(':')))
  const entry = addEntry(context.entries, { transport: 'h2', method, target, headers, body })
  stream.on('close', () => leave(context, entry))
  await serve(context, exchange, entry)
}

async function serve(context: Context, exchange: Exchange, entry: Entry): Promise<void> {
  context.bell.ring()
  try {
    await answer(context, exchange, entry)
  } catch (error) {
    if (!(error instanceof BellClosedError)) throw error
  }
}

/** The connection is closed; if that was not our doing, the client went away. */
export function leave({ bell }: Pick<Context, 'bell'>, entry: Entry): void {
  if (entry.ending === 'open' || entry.ending === 'stalled') entry.ending = 'left'
  bell.ring()
}

/** As text; undefined if the client went away in the middle. */
async function readAll(readable: Readable | Http2Stream): Promise<string | undefined> {
  const pieces: Buffer[] = []
  try {
    for await (const piece of readable) pieces.push(piece as Buffer)
  } catch {
    return undefined
  }
  return Buffer.concat(pieces).toString()
}

/** A head as node:http would write it, for a body that ends with the connection. */
export function headBytes(status: number, headers: Headers): Uint8Array {
  const lines = Object.entries({ ...headers, Connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`)
}
