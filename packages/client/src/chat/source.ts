/** Where the events of a turn come from: a run that is sent, or one that was begun before. It reads nothing. */
import type { RunAgentInputContext, UIMessage } from '@millrace/protocol'
import type { RequestData, StreamChunk } from '../connection/adapter.ts'
import { DRAIN, normalizeConnectionAdapter, type NormalizedConnection } from '../connection/normalize.ts'

export interface Source {
  /** Listened to before anything is handed over: a connection may answer before it says that it has. */
  subscribe(signal: AbortSignal): AsyncIterable<StreamChunk>
  /** Hands the request over; absent if what `subscribe` gives is all. */
  send?(signal: AbortSignal): Promise<void>
  /** Lets `subscribe` end with what was pushed. */
  drain?(): void
  /** `subscribe` is a channel that many turns share: it does not end with this one. */
  readonly shared: boolean
  /** Whether `subscribe` ended because what brought the run broke: it may go on where it runs. */
  wasCut?(): boolean
}

/** A run of our own. */
export function sending(
  connection: NormalizedConnection,
  messages: readonly UIMessage[],
  data: RequestData | undefined,
  runContext: RunAgentInputContext,
): Source & Required<Pick<Source, 'send'>> {
  return wrapped(connection, (signal) => connection.send(messages, data, signal, runContext))
}

/**
 * A run that was begun before, from its start; undefined if the connection cannot join one. It is asked for once `heard` has
 * settled: the request that begins it must not be overtaken.
 */
export function joining(
  { joinRun }: NormalizedConnection,
  runId: string,
  ids: { readonly threadId: string },
  heard?: Promise<void>,
): Source | undefined {
  if (joinRun === undefined) return undefined
  // A supply of its own: what was sent of the run before may still lie in that of the connection.
  const own = normalizeConnectionAdapter({
    async *connect(_messages, _data, signal) {
      await heard
      if (!signal?.aborted) yield* joinRun(runId, signal, ids)
    },
  })
  return wrapped(own, (signal) => own.send([], undefined, signal, { ...ids, runId }))
}

function wrapped(connection: NormalizedConnection, send: (signal: AbortSignal) => Promise<void>): Source & Required<Pick<Source, 'send'>> {
  const drain = connection[DRAIN]
  return {
    subscribe: (signal) => connection.subscribe(signal),
    send,
    ...(drain !== undefined && { drain }),
    shared: drain === undefined,
  }
}
