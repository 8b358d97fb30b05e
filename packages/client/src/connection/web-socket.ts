/**
 * What callers see of a connection over a WebSocket. How it does what it does is in `socket-connection.ts`.
 */
import { UsageError } from '@millrace/protocol'
import { checkFields, checkLimits, checkOptions, COUNT, FUNCTION, type Check } from '../checks.ts'
import type { StreamChunk, SubscribeConnectionAdapter } from './adapter.ts'
import { checkReconnect } from './backoff.ts'
import { requireUrl, SHARED, type UrlSource } from './run-request.ts'
import { SocketConnection } from './socket-connection.ts'
import type { WebSocketConnectionOptions } from './socket-options.ts'
import type { WebSocketConstructor } from './socket.ts'

export type { WebSocketConnectionOptions } from './socket-options.ts'
export type { WebSocketConstructor, WebSocketLike } from './socket.ts'

const SOCKET: Readonly<Record<string, Check>> = {
  ...SHARED,
  WebSocketImpl: FUNCTION,
  lingerMs: COUNT,
  pingMs: COUNT,
  hydrate: FUNCTION,
  cancelRun: FUNCTION,
}

/** A connection whose socket outlives its runs. */
export interface WebSocketConnection extends SubscribeConnectionAdapter {
  /** The events of a run from its start, over a socket of their own. Ends with the run, and quietly when `abortSignal` aborts. */
  joinRun(runId: string, abortSignal?: AbortSignal): AsyncIterable<StreamChunk>
  /** Closes every socket: runs that are open fail as `aborted`, subscriptions end. A later send opens a new one. */
  close(): void
}

/**
 * A connection over a WebSocket, in the wire format of TanStack AI (`toWebSocketStream`): run inputs go out, events come
 * back, alone or as `{id, chunk}`. The socket opens with the first `send`, or with the first who reads a `subscribe()`; it
 * serves many runs. While somebody listens, it is opened again when it closes.
 *
 * A run whose socket breaks is read on over another at `?runId=…&offset=…` if its events came with ids; else it ends with
 * RUN_ERROR `truncated`, and what came stays. Abort sends `{type: 'abort', runId}`.
 *
 * A WebSocket sends no headers of ours, so those of the run context stay here: put what the server has to know into the URL
 * (a function gives it anew for each socket), a cookie or `body`. It has no backpressure either: what is not read yet waits
 * in memory.
 *
 * `send` resolves when its run has its last terminal event. A RUN_FINISHED after which a tool of the server is due
 * (reason `tool_calls`) is not that.
 *
 * @throws UsageError `no-url`, `no-web-socket`, `bad-options`, `bad-limit`, `bad-reconnect`. From `send`: TransportError
 *   `network` if no socket can be opened, and what the run fails with; UsageError `not-serialisable`.
 */
export function webSocket(url: UrlSource, options: WebSocketConnectionOptions = {}): WebSocketConnection {
  if (typeof url !== 'function') requireUrl(url)
  checkOptions(options, 'The options of a connection')
  checkFields(options, SOCKET)
  checkLimits(options.limits)
  checkReconnect(options.reconnect)
  const connection = new SocketConnection(url, options, options.WebSocketImpl ?? globalWebSocket())
  return {
    subscribe: (signal) => connection.subscribe(signal),
    send: (messages, data, signal, runContext) => connection.send(messages, data, signal, runContext),
    watchLink: (listener) => connection.watchLink(listener),
    joinRun: (runId, signal) => connection.joinRun(runId, signal),
    ...(options.hydrate !== undefined && { hydrate: options.hydrate }),
    ...(options.cancelRun !== undefined && { cancelRun: options.cancelRun }),
    close: () => connection.close(),
  }
}

function globalWebSocket(): WebSocketConstructor {
  const { WebSocket } = globalThis as { readonly WebSocket?: WebSocketConstructor }
  if (typeof WebSocket === 'function') return WebSocket
  throw new UsageError('no-web-socket', 'There is no WebSocket in this runtime. Give a class as `WebSocketImpl`; the package `ws` has one.')
}
