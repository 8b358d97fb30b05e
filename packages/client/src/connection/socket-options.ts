/** What a connection over a WebSocket can be told. Types only. */
import type { RunAgentInput } from '@millrace/protocol'
import type { ClientLimits } from '../limits.ts'
import type { ServerSide } from './adapter.ts'
import type { ReconnectInfo, ReconnectOptions } from './backoff.ts'
import type { WebSocketConstructor } from './socket.ts'

export interface WebSocketConnectionOptions {
  readonly protocols?: string | readonly string[]
  /** Fields of every request, under `forwardedProps`; values of the client and of one send go over them. */
  readonly body?: Record<string, unknown>
  /** Used instead of the global `WebSocket`. Node before 22 has none; the package `ws` gives one. */
  readonly WebSocketImpl?: WebSocketConstructor
  /** `spec` (default): AG-UI 1.0 messages. `parts`: with the UI parts beside them, for servers of TanStack AI. */
  readonly wire?: 'spec' | 'parts'
  /**
   * What is sent in the place of a run input; an object that can be said in JSON. For an agent of before AG-UI 1.0:
   * `translateFor('0.0.39', (loss) => …).input`.
   */
  readonly prepareInput?: (input: RunAgentInput) => object
  /** What it means that the server closes the socket cleanly (code 1000) while a run is open. Default `error`: the answer was cut. */
  readonly missingTerminal?: 'error' | 'finish'
  /** For runs that are resumed, and for a socket that somebody listens to. `idleMs` counts while a run is read. */
  readonly reconnect?: ReconnectOptions
  /** Told before each wait for a reconnection of a run. */
  readonly onReconnect?: (info: ReconnectInfo) => void
  /**
   * How long the socket is kept when nobody sends or listens, in ms. Default 60,000: the next message then needs no
   * handshake. 0 closes it at once, `Infinity` leaves that to the server.
   */
  readonly lingerMs?: number
  /**
   * Sends `{"type":"ping"}` so often, in ms, for servers that end a silent socket and understand it. Off by default: those
   * of TanStack AI take it for a run.
   */
  readonly pingMs?: number
  /** Answers `{"type":"ping"}` with `{"type":"pong"}`. Off by default, for the same reason. */
  readonly answerPings?: boolean
  /** How to read a stored thread: the wire has no such question. That of a fetch connection to the same server will do. */
  readonly hydrate?: NonNullable<ServerSide['hydrate']>
  /** How to end a run at the server that was not sent from here. See `hydrate`. */
  readonly cancelRun?: NonNullable<ServerSide['cancelRun']>
  readonly limits?: Partial<ClientLimits>
}
