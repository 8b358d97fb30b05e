/** Where the events of a turn come from: a run that is sent, or one that was begun before. It reads nothing. */
import type { RunAgentInputContext, UIMessage } from '@millrace/protocol'
import type { RequestData, StreamChunk } from '../connection/adapter.ts'
import { DRAIN, type NormalizedConnection } from '../connection/normalize.ts'

export interface Source {
  /** Listened to before anything is handed over: a connection may answer before it says that it has. */
  subscribe(signal: AbortSignal): AsyncIterable<StreamChunk>
  /** Hands the request over; absent if what `subscribe` gives is all. */
  send?(signal: AbortSignal): Promise<void>
  /** Lets `subscribe` end with what was pushed. */
  drain?(): void
  /** `subscribe` is a channel that many turns share: it does not end with this one. */
  readonly shared: boolean
}

/** A run of our own. */
export function sending(
  connection: NormalizedConnection,
  messages: readonly UIMessage[],
  data: RequestData | undefined,
  runContext: RunAgentInputContext,
): Source {
  return wrapped(connection, (signal) => connection.send(messages, data, signal, runContext))
}

/** A run that was begun before, from its start; undefined if the connection cannot join one. */
export function joining(connection: NormalizedConnection, runId: string, ids: { readonly threadId: string }): Source | undefined {
  const { join, joinRun } = connection
  if (join !== undefined) return wrapped(connection, (signal) => join(runId, signal, ids))
  if (joinRun !== undefined) return { subscribe: (signal) => joinRun(runId, signal, ids), shared: false }
  return undefined
}

function wrapped(connection: NormalizedConnection, send: (signal: AbortSignal) => Promise<void>): Source {
  const drain = connection[DRAIN]
  return {
    subscribe: (signal) => connection.subscribe(signal),
    send,
    ...(drain !== undefined && { drain }),
    shared: drain === undefined,
  }
}
