/** The fault server: it opens the sockets, hands each request to its protocol, and closes everything. */
import { createServer as createHttp1Server } from 'node:http'
import { createSecureServer, createServer as createHttp2Server, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Event } from '@millrace/protocol'
import { recordedRun } from '../runs/recorded.ts'
import { Bell } from './bell.ts'
import { checkFault } from './check-fault.ts'
import type { Context, ResumeBy } from './context.ts'
import { fine, type Fault } from './fault.ts'
import { serveHttp1, serveHttp2 } from './http.ts'
import { makeIds, type IdStyle } from './ids.ts'
import type { Entry, LoggedRequest } from './request-log.ts'
import { Runs, type RunInput, type Script, type ScriptItem } from './runs.ts'
import type { Credentials } from './self-signed.ts'
import type { Timer } from './spout.ts'
import { WebSocketSide } from './web-socket.ts'

/**
 * A list has a fault for each attempt to open a stream (POST, GET with a runId, a WebSocket) in the order of arrival; then
 * all is fine. A function is asked for every request, also those that hydrate and cancel; `attempt` counts from 0, and
 * is -1 for those.
 */
export type Faults = readonly Fault[] | ((request: LoggedRequest, attempt: number) => Fault | undefined)

export interface FaultServerOptions {
  /** What every run says. Thread and run ids of RUN_STARTED and RUN_FINISHED become those that were asked for. */
  readonly events?: readonly (Event | ScriptItem)[]
  /** What a run says, for when runs differ. Without `events` and `script`: `recordedRun()`, with ids of its own for each run. */
  readonly script?: Script
  readonly faults?: Faults
  /** Default: every event has a number. */
  readonly ids?: 'none' | IdStyle
  /** Default `get`. */
  readonly resume?: ResumeBy
  /** How many events of each run are there before `release()` is called. Default: all. */
  readonly hold?: number
  /** TLS for HTTP/2, which browsers want; `selfSigned()` makes one. Default: none (h2c). */
  readonly tls?: Credentials
  /** For `drip`. Default: the real time. */
  readonly timer?: Timer
}

export interface FaultServer {
  /** HTTP/1.1. */
  readonly url: string
  /** HTTP/2 alone: without TLS, with prior knowledge (h2c), or over TLS if there is `tls`. */
  readonly http2Url: string
  readonly wsUrl: string
  /** Every request but preflights, oldest first. The entries go on to tell how their answers fare. */
  readonly requests: readonly LoggedRequest[]
  /** Inputs of the runs that were started, oldest first. */
  readonly started: readonly RunInput[]
  /** `open` and `total` sockets, idle ones that are kept alive included; `answering`: requests whose answer has not ended. */
  readonly connections: { readonly open: number; readonly total: number; readonly answering: number }
  /** Lets `count` more events of a run, or of all runs so far, be read. Default: all there are. */
  release(count?: number, runId?: string): void
  /** Lets answers that stall now go on. */
  unstall(): void
  /** New faults from here on; a list begins with the next attempt. */
  setFaults(faults: Faults): void
  /**
   * Settles when `condition` is true. It is asked again whenever a request, bytes, a message or the end of a connection
   * came. Rejects with code `testkit.closed` if the server is closed before.
   */
  until(condition: (server: FaultServer) => boolean): Promise<void>
  /** Cuts what is open and settles when no socket and no timer is left. */
  close(): Promise<void>
}

const realTime: Timer = {
  after(ms, callback) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

/**
 * Listens on two free ports of 127.0.0.1, one for HTTP/1.1 and WebSockets, one for HTTP/2.
 * @throws UsageError `testkit.fault` for a list with a fault that cannot be; a function is answered with 500 instead.
 */
export async function startFaultServer(options: FaultServerOptions = {}): Promise<FaultServer> {
  const { ids, resume = 'get', hold = Infinity, tls, timer = realTime } = options
  const bell = new Bell()
  const runs = new Runs(bell, scriptOf(options), hold)
  const entries: Entry[] = []
  let unstalls = 0
  let faults = checked(options.faults ?? [])
  let attempts = 0
  const context: Context = {
    bell,
    runs,
    ids: makeIds(ids ?? (resume === 'none' ? 'none' : {})),
    resume,
    timer,
    entries,
    unstalled: () => unstalls,
    faultOf(entry, attempt) {
      const index = attempt ? attempts++ : -1
      if (typeof faults !== 'function') return faults[index] ?? fine
      try {
        const fault = faults(entry, index) ?? fine
        checkFault(fault)
        return fault
      } catch (error) {
        // A test that waits for its answer learns more from this than from a silent connection.
        return { answer: { status: 500, body: `The function of faults failed: ${String(error)}` } }
      }
    },
  }

  const sockets = new Set<Socket>()
  /** Sessions and their sockets, which Node keeps apart: a session follows upon its connection. */
  const sessions = new Map<ServerHttp2Session, Socket>()
  let latest: Socket | undefined
  let total = 0
  const track = (socket: Socket): void => {
    total++
    sockets.add(socket)
    // Small writes are to arrive as they were written.
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      bell.ring()
    })
  }

  const webSockets = new WebSocketSide(context)
  const http1 = createHttp1Server({ requestTimeout: 0, headersTimeout: 0 })
  http1.on('request', (request, response) => void serveHttp1(context, request, response))
  http1.on('connection', track)
  http1.on('upgrade', (request, socket, head) => void webSockets.upgrade(request, socket as Socket, head))
  http1.on('clientError', (_error, socket) => socket.destroy())
  const http2 = tls === undefined ? createHttp2Server() : createSecureServer(tls)
  http2.prependListener('connection', track)
  http2.prependListener(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => (latest = socket))
  http2.on('session', (session) => {
    if (latest !== undefined) sessions.set(session, latest)
    session.on('error', () => undefined)
    session.on('close', () => sessions.delete(session))
  })
  http2.on('stream', (stream, headers) => {
    const socket = stream.session === undefined ? undefined : sessions.get(stream.session as ServerHttp2Session)
    if (socket !== undefined) void serveHttp2(context, stream, headers, socket)
  })
  const [port1, port2] = await Promise.all([listen(http1), listen(http2)])

  const server: FaultServer = {
    url: `http://127.0.0.1:${port1}/agent`,
    http2Url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port2}/agent`,
    wsUrl: `ws://127.0.0.1:${port1}/agent`,
    requests: entries,
    get started() {
      return runs.started.map(({ input }) => input)
    },
    get connections() {
      return { open: sockets.size, total, answering: entries.filter(({ ending }) => ending === 'open' || ending === 'stalled').length }
    },
    release: (count = Infinity, runId) => runs.release(count, runId),
    unstall() {
      unstalls++
      bell.ring()
    },
    setFaults(next) {
      faults = checked(next)
      attempts = 0
    },
    until: (condition) => bell.until(() => condition(server), condition.toString()),
    async close() {
      const closed = [closing(http1), closing(http2)]
      for (const session of sessions.keys()) session.destroy()
      for (const socket of sockets) socket.destroy()
      await Promise.all(closed)
      await bell.until(() => sockets.size === 0)
      bell.close()
    },
  }
  return server
}

function checked(faults: Faults): Faults {
  if (typeof faults !== 'function') for (const fault of faults) checkFault(fault)
  return faults
}

function scriptOf({ events, script }: FaultServerOptions): Script {
  if (script !== undefined) return script
  if (events === undefined) return ({ threadId, runId }) => recordedRun('mixed', { threadId, runId, prefix: `${runId}-` })
  return ({ threadId, runId }) =>
    events.map((event) =>
      typeof event === 'object' && (event.type === 'RUN_STARTED' || event.type === 'RUN_FINISHED') ? { ...event, threadId, runId } : event,
    )
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

function closing(server: Server): Promise<void> {
  return new Promise((resolve) => {
    if (server.listening) server.close(() => resolve())
    else resolve()
  })
}
