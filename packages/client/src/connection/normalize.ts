/**
 * Makes one shape of two: everything above sees `subscribe` and `send` only. It does not look into chunks beyond
 * terminal events and ids.
 */
import { UsageError, type RunAgentInputContext } from '@millrace/protocol'
import { toError } from '../errors.ts'
import { Slicer } from '../scheduler.ts'
import type {
  ConnectConnectionAdapter,
  ConnectionAdapter,
  ServerSide,
  StreamChunk,
  SubscribeConnectionAdapter,
} from './adapter.ts'
import { isIterable } from './abortable.ts'
import { batchesOf } from './chunk-stream.ts'
import { ChunkQueue } from './queue.ts'
import { RunTracker } from './terminal.ts'

/** For our own use: `send` of a wrapped `connect` ends with its stream, so its subscriber can end with it. */
export const DRAIN: unique symbol = Symbol('millrace.drain')

export interface NormalizedConnection extends SubscribeConnectionAdapter {
  /**
   * Reads a run that was begun before into the subscription, from its start. Present if `connect` is wrapped and can join;
   * over a connection with a subscription of its own, read `joinRun` itself.
   */
  join?(runId: string, abortSignal?: AbortSignal, runContext?: Partial<RunAgentInputContext>): Promise<void>
  /** Present if a resolved `send` means that its source has ended: ends the subscriber after what was pushed. */
  [DRAIN]?: () => void
}

/**
 * Any connection as `subscribe` and `send`. One that has them is bound as it is; one with `connect` is wrapped.
 * @throws UsageError `both-adapter-shapes` or `no-adapter-shape`.
 */
export function normalizeConnectionAdapter(connection: ConnectionAdapter): NormalizedConnection {
  const given: Partial<ConnectConnectionAdapter & SubscribeConnectionAdapter> = Object(connection)
  const connects = typeof given.connect === 'function'
  const subscribes = typeof given.subscribe === 'function'
  const sends = typeof given.send === 'function'
  if (connects && (subscribes || sends)) {
    throw new UsageError(
      'both-adapter-shapes',
      'A connection has either connect() or subscribe() and send(), not both: there would be two ways to send. Remove one.',
    )
  }
  if (given.subscribe !== undefined && given.send !== undefined && subscribes && sends) {
    const { subscribe, send, watchLink } = given
    return {
      subscribe: (signal) => requireSubscription(subscribe.call(connection, signal)),
      send: send.bind(connection),
      ...(watchLink !== undefined && { watchLink: watchLink.bind(connection) }),
      ...serverSide(given),
    }
  }
  if (!connects) {
    throw new UsageError(
      'no-adapter-shape',
      'A connection needs connect(), or both subscribe() and send(). Use a factory such as fetchServerSentEvents(url).',
    )
  }
  return wrapConnect(connection as ConnectConnectionAdapter)
}

/** What else it offers, bound. */
function serverSide(connection: ServerSide): ServerSide {
  const { joinRun, hydrate, keepsRuns, cancelRun } = connection
  return {
    ...(joinRun !== undefined && { joinRun: joinRun.bind(connection) }),
    ...(hydrate !== undefined && { hydrate: hydrate.bind(connection) }),
    ...(keepsRuns !== undefined && { keepsRuns: keepsRuns.bind(connection) }),
    ...(cancelRun !== undefined && { cancelRun: cancelRun.bind(connection) }),
  }
}

function wrapConnect(connection: ConnectConnectionAdapter): NormalizedConnection {
  const queue = new ChunkQueue()
  const offered = serverSide(connection)
  const { joinRun } = offered
  return {
    subscribe: (signal) => queue.subscribe(signal),
    send: (messages, data, signal, runContext) =>
      pump(queue, () => connection.connect(messages, data, signal, runContext), signal, runContext),
    ...offered,
    ...(joinRun !== undefined && {
      join: (runId: string, signal?: AbortSignal, runContext?: Partial<RunAgentInputContext>) =>
        pump(queue, () => joinRun(runId, signal, runContext), signal, { ...runContext, runId }),
    }),
    [DRAIN]: () => queue.drain(),
  }
}

/** Pushes one stream to its end, with the terminal event that it may lack. */
async function pump(
  queue: ChunkQueue,
  open: () => unknown,
  signal: AbortSignal | undefined,
  runContext: Partial<RunAgentInputContext> | undefined,
): Promise<void> {
  const tracker = new RunTracker(runContext)
  const slicer = new Slicer()
  const push = (chunk: StreamChunk): void => queue.push([chunk], runContext?.runId)
  try {
    if (signal?.aborted) return
    const stream = asIterable(await open())
    for await (const batch of batchesOf(stream, signal)) {
      for (const chunk of batch) tracker.see(chunk)
      queue.push(batch, runContext?.runId)
      // A source that never waits would otherwise keep the event loop from turning while it lasts.
      const pause = slicer.pause()
      if (pause !== undefined) await pause
      if (signal?.aborted) return
    }
    if (!signal?.aborted && !tracker.terminal) push(tracker.finished())
  } catch (thrown) {
    if (signal?.aborted) return
    if (!tracker.terminal) tryPush(push, () => tracker.failed(toError(thrown)))
    throw thrown
  } finally {
    slicer.stop()
  }
}

// Without ids there is no RUN_ERROR, and saying so would hide what went wrong.
function tryPush(push: (chunk: StreamChunk) => void, make: () => StreamChunk): void {
  let chunk: StreamChunk
  try {
    chunk = make()
  } catch {
    return
  }
  push(chunk)
}

function requireSubscription(value: unknown): AsyncIterable<StreamChunk> {
  // A list of events that is there already is no subscription, but reads like one.
  if (isIterable<StreamChunk>(value)) return value as AsyncIterable<StreamChunk>
  throw new UsageError(
    'subscribe-not-iterable',
    'subscribe() has to give an AsyncIterable of events, at once and not as a promise (an async generator does).',
  )
}

function asIterable(value: unknown): AsyncIterable<StreamChunk> | Iterable<StreamChunk> {
  if (isIterable<StreamChunk>(value)) return value
  throw new UsageError(
    'connect-not-iterable',
    'connect() has to give an AsyncIterable of events (an async generator, or what a factory of this package gives).',
  )
}
