/**
 * What a connection is: two shapes, and the chunks that come out of both. A chunk is an event as it was parsed;
 * nothing here checks it, that is done in one place for every transport.
 */
import type { Event, RunAgentInputContext, UIMessage } from '@millrace/protocol'

export type { RunAgentInputContext } from '@millrace/protocol'

/** An event as a transport gave it: any object with a `type`. */
export type StreamChunk = Event | LooseChunk

export interface LooseChunk {
  readonly type: string
  readonly [field: string]: unknown
}

/** Values of one send, merged over the connection's `body` and the client's `forwardedProps`. */
export type RequestData = Record<string, unknown>

/** What a server has stored of a thread. */
export interface HydratedThread {
  /** AG-UI messages, or UI messages with their parts, as the server keeps them. */
  readonly messages: readonly unknown[]
  readonly state?: unknown
  /** A run that is under way; its events are read by `joinRun`. */
  readonly activeRun: { readonly runId: string } | null
  /** Open questions as the server tells them; null if it tells of none. */
  readonly interrupts: unknown
  /**
   * Runs that are over and in `messages`, oldest first: `{ runId, outcome, pendingToolCallIds? }` each. Of a long thread the last ones
   * will do, and the one that asked the questions. By them it is known which calls wait, and which runs that are heard are new;
   * absent if the server does not tell.
   */
  readonly runs?: unknown
}

/** What became of a run that was asked to be cancelled; `unknown`: the server keeps no such run. */
export type CancelledRun = 'closed' | 'cancelling' | 'unknown'

/** What a connection may offer besides sending; all of it is asked of the server. */
export interface ServerSide {
  /**
   * The events of a run that was begun before, from its start, live until it ends.
   * @throws TransportError `http-status` 404 if the server keeps no such run.
   */
  joinRun?(runId: string, abortSignal?: AbortSignal, runContext?: Partial<RunAgentInputContext>): AsyncIterable<StreamChunk>
  /** The stored thread; undefined if the server keeps none. Rejects if that cannot be told. */
  hydrate?(threadId: string, abortSignal?: AbortSignal): Promise<HydratedThread | undefined>
  /**
   * Whether the server keeps runs, as far as it has shown; undefined while nothing is known. Where it does not, a run that is
   * stopped needs no cancelling.
   */
  keepsRuns?(): boolean | undefined
  /** Ends a run at the server. Rejects if the server does not do it. */
  cancelRun?(runId: string, abortSignal?: AbortSignal): Promise<CancelledRun>
}

/** One request, one stream. All factories of this package have this shape. */
export interface ConnectConnectionAdapter extends ServerSide {
  /**
   * Opens a run and gives its events. The iterable's end is the run's end; aborting `abortSignal` ends it without
   * error.
   */
  connect(
    messages: readonly UIMessage[],
    data?: RequestData,
    abortSignal?: AbortSignal,
    runContext?: RunAgentInputContext,
  ): AsyncIterable<StreamChunk>
}

/** Whether what carries a subscription is there: `connecting` also while it is opened again. */
export type LinkState = 'connecting' | 'open'

/** Receiving and sending apart: a long-lived channel on which many requests travel. */
export interface SubscribeConnectionAdapter extends ServerSide {
  /**
   * Events of whatever is sent, and of runs that others begin; ends when `abortSignal` aborts. Content events do not say whose
   * they are, so runs come one after the other. A run that breaks off here is ended by a RUN_ERROR.
   */
  subscribe(abortSignal?: AbortSignal): AsyncIterable<StreamChunk>
  /** Tells `listener` how the link is, at once and whenever that changes, until the function returned is called. */
  watchLink?(listener: (state: LinkState) => void): () => void
  /** Resolves when the request is handed over (or, for a wrapped `connect`, when its stream has ended). */
  send(
    messages: readonly UIMessage[],
    data?: RequestData,
    abortSignal?: AbortSignal,
    runContext?: RunAgentInputContext,
  ): Promise<void>
}

export type ConnectionAdapter = ConnectConnectionAdapter | SubscribeConnectionAdapter
