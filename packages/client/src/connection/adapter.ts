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

/** One request, one stream. All factories of this package have this shape. */
export interface ConnectConnectionAdapter {
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

/** Receiving and sending apart: a long-lived channel on which many requests travel. */
export interface SubscribeConnectionAdapter {
  /** Events of whatever is sent; ends when `abortSignal` aborts. */
  subscribe(abortSignal?: AbortSignal): AsyncIterable<StreamChunk>
  /** Resolves when the request is handed over (or, for a wrapped `connect`, when its stream has ended). */
  send(
    messages: readonly UIMessage[],
    data?: RequestData,
    abortSignal?: AbortSignal,
    runContext?: RunAgentInputContext,
  ): Promise<void>
}

export type ConnectionAdapter = ConnectConnectionAdapter | SubscribeConnectionAdapter
