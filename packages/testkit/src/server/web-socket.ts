/**
 * Runs over a WebSocket, as TanStack AI's `webSocket` and `toWebSocketStream` speak. A socket with `?runId` or nothing is
 * a conversation: each text message is a run input or `{"type":"abort","runId"}`, and events come back as messages, in an
 * `{id,chunk}` envelope if they have an id. A socket with `?runId&offset` only reads: it is closed with 1000 when the run
 * has ended, with 1008 if there is no such run or offset. `{"type":"ping"}` from a client is answered with `{"type":"pong"}`.
 */
import { STATUS_CODES, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { WebSocketServer, type WebSocket } from 'ws'
import { parseInput, resumeAt, spoutOf, type Context, type Target } from './context.ts'
import { pongFrame, textFrame } from './encode.ts'
import type { Fault } from './fault.ts'
import { feed, stopOf, type Feed } from './feed.ts'
import { BellClosedError } from './bell.ts'
import { headBytes, leave } from './http.ts'
import { socketPipe } from './pipes.ts'
import { addEntry, type Entry } from './request-log.ts'
import type { Pipe, Spout } from './spout.ts'

export class WebSocketSide {
  readonly #context: Context
  // Pings are answered here, so that an answer cannot come in the middle of a frame and can be left out.
  readonly #server: WebSocketServer = new WebSocketServer({ noServer: true, autoPong: false, clientTracking: false })

  constructor(context: Context) {
    this.#context = context
  }

  async upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const context = this.#context
    socket.on('error', () => undefined)
    const { method = 'GET', url: target = '/', headers } = request
    const entry = addEntry(context.entries, { transport: 'websocket', method, target, headers, body: '' })
    socket.on('close', () => leave(context, entry))
    const fault = context.faultOf(entry, true)
    context.bell.ring()
    try {
      if (!(await this.#admit(socket, entry, fault))) return
      this.#server.handleUpgrade(request, socket, head, (webSocket) => {
        entry.status = 101
        new Connection(context, webSocket, socket, entry, fault).begin()
      })
    } catch (error) {
      if (!(error instanceof BellClosedError)) throw error
    }
  }

  /** False if a fault ended it before the handshake. */
  async #admit(socket: Socket, entry: Entry, fault: Fault): Promise<boolean> {
    const { answer, ending } = fault
    if (typeof answer === 'object' || answer === 'html') {
      const { status, body = STATUS_CODES[status] ?? '' } = answer === 'html' ? { status: 200 } : answer
      entry.did = 'failed'
      entry.status = status
      const contentType = answer === 'html' ? 'text/html' : 'text/plain'
      socket.write(headBytes(status, { 'Content-Type': contentType, 'Content-Length': String(Buffer.byteLength(body)) }))
      const spout = spoutOf(this.#context, socketPipe(socket), entry, {}, undefined)
      await spout.send([{ bytes: Buffer.from(body), event: false }])
      await spout.finish()
      return false
    }
    if (ending === undefined || !('head' in ending.at)) return true
    const spout = spoutOf(this.#context, socketPipe(socket), entry, {}, { at: { byte: ending.at.head }, how: ending.how })
    // A handshake that is whole needs the client's key: what can be cut is how it begins.
    const begin = Buffer.from('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n').subarray(0, ending.at.head)
    await spout.send([{ bytes: begin, event: false }])
    return !spout.over && ending.at.head === 0
  }
}

class Connection {
  readonly #context: Context
  readonly #webSocket: WebSocket
  readonly #entry: Entry
  readonly #fault: Fault
  readonly #pipe: Pipe
  #spout: Spout | undefined
  readonly #aborted = new Set<string>()

  constructor(context: Context, webSocket: WebSocket, socket: Socket, entry: Entry, fault: Fault) {
    this.#context = context
    this.#webSocket = webSocket
    this.#entry = entry
    this.#fault = fault
    this.#pipe = {
      ...socketPipe(socket),
      end: () => webSocket.close(1000),
      close(code, reason) {
        if (code === 1006) socket.destroySoon()
        else if (code === 1005) webSocket.close()
        else webSocket.close(code, reason)
      },
      get gone() {
        return socket.destroyed || socket.writableEnded || webSocket.readyState !== webSocket.OPEN
      },
    }
  }

  begin(): void {
    const { runId, offset } = this.#entry.query
    const webSocket = this.#webSocket
    webSocket.on('error', () => undefined)
    webSocket.on('close', (code) => {
      this.#entry.closeCode = code
      leave(this.#context, this.#entry)
    })
    webSocket.on('ping', (data) => this.#alongside(pongFrame(data)))
    webSocket.on('message', (data) => {
      this.#entry.messages.push(String(data))
      this.#context.bell.ring()
      if (offset === undefined) this.#take(String(data))
    })
    if (offset === undefined) {
      this.#entry.did = 'conversation'
      // What is due before the first byte needs no run.
      if (this.#fault.ending !== undefined && 'byte' in this.#fault.ending.at) void this.#quietly(this.#writer(undefined).send([]))
      return
    }
    const target = this.#context.resume === 'none' ? undefined : resumeAt(this.#context, runId ?? '', offset)
    if (target === undefined || 'code' in target) {
      this.#entry.did = 'refused'
      this.#entry.ending = 'closed'
      webSocket.close(1008, target?.code ?? 'no resumption')
      return
    }
    this.#entry.did = offset === '-1' ? 'join' : 'resume'
    void this.#quietly(this.#stream(target).then(() => this.#spout?.finish()))
  }

  #take(text: string): void {
    const { runs } = this.#context
    const control = parseControl(text)
    if (control?.type === 'ping') return this.#alongside(textFrame('{"type":"pong"}'))
    if (control?.type === 'abort') {
      const run = runs.find(control.runId ?? '')
      this.#aborted.add(control.runId ?? '')
      if (run !== undefined) runs.cancel(run)
      return
    }
    const input = parseInput(text)
    if (input === undefined) return this.#alongside(textFrame('{"type":"RUN_ERROR","message":"No run input","code":"input.malformed"}'))
    this.#aborted.delete(input.runId)
    // A run that is asked for again is delivered again, not run again, where runs are kept.
    const known = this.#context.resume === 'none' ? undefined : runs.find(input.runId)
    void this.#quietly(this.#stream({ run: known ?? runs.start(input), from: 0 }))
  }

  async #stream(target: Target): Promise<void> {
    const { ids, bell } = this.#context
    const { runId } = target.run.input
    const options = { ...target, format: 'websocket', fault: this.#fault, ids, bell } as const
    const spout = this.#writer(options)
    const over = (): boolean => spout.over || this.#aborted.has(runId)
    for await (const pieces of feed({ ...options, over })) await spout.send(pieces)
  }

  /** One for the connection: its fault counts over all of its runs, and a negative place in the first of them. */
  #writer(options: Pick<Feed, 'run' | 'from' | 'fault'> | undefined): Spout {
    const { ending } = this.#fault
    const stop = options === undefined ? (ending as Parameters<typeof spoutOf>[4]) : stopOf(ending, options)
    this.#spout ??= spoutOf(this.#context, this.#pipe, this.#entry, this.#fault, stop)
    return this.#spout
  }

  /** A frame that is no event, between the others. */
  #alongside(bytes: Uint8Array): void {
    if (this.#fault.pong === 'silent') return
    if (this.#spout === undefined) void this.#pipe.write(bytes)
    else void this.#quietly(this.#spout.send([{ bytes, event: false }]))
  }

  async #quietly(work: Promise<unknown>): Promise<void> {
    try {
      await work
    } catch (error) {
      if (!(error instanceof BellClosedError)) throw error
    }
  }
}

function parseControl(text: string): { readonly type: 'ping' | 'abort'; readonly runId?: string } | undefined {
  try {
    const value = JSON.parse(text) as { type?: unknown; runId?: unknown } | null
    if (value?.type === 'ping') return { type: 'ping' }
    return value?.type === 'abort' && typeof value.runId === 'string' ? { type: 'abort', runId: value.runId } : undefined
  } catch {
    return undefined
  }
}
