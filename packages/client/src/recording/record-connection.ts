/** Any connection, with all that goes over it written down. The connection decides everything; this only looks on. */
import { buildRunAgentInput, UsageError, type RunAgentInputBody, type RunAgentInputContext, type UIMessage } from '@millrace/protocol'
import { checkOptions, isRecord } from '../checks.ts'
import type { Logger } from '../chat/options.ts'
import { systemClock, type Clock } from '../clock.ts'
import { isIterable } from '../connection/abortable.ts'
import type { ConnectConnectionAdapter, ConnectionAdapter, RequestData, ServerSide, StreamChunk, SubscribeConnectionAdapter } from '../connection/adapter.ts'
import type { RecordedRequest } from './format.ts'
import { Recorder, type RecordingSink } from './recorder.ts'
import { tapped } from './tap.ts'

export interface RecordOptions {
  /** Takes each line as it is made, such as `(line) => file.write(line)` of a stream in Node. */
  readonly sink?: RecordingSink
  /**
   * Characters kept in memory for `toText()`; the oldest exchanges make room. Default: 16 Mi (2^24), and 0 where there is a `sink`.
   */
  readonly keep?: number
  /**
   * What is written of a run input: gives it back, with less in it. Headers and the `body` of the connection are never
   * written; `forwardedProps` and what was said are, unless this takes them out.
   */
  readonly redact?: (input: RunAgentInputBody) => unknown
  /** Time; for tests. */
  readonly clock?: Clock
  /** Told when the sink fails; the session goes on without it. */
  readonly logger?: Pick<Logger, 'warn'>
}

/** A recording in the making. */
export interface Recording<Connection> {
  /** Use it in place of the one that was given. */
  readonly connection: Connection
  /** What is kept in memory, as the text of a file (`.ndjson`); exchanges one after the other. */
  toText(): string
  /** {@link toText} for a download in a browser. */
  toBlob(): Blob
  /** Exchanges that were let go for want of room, whole or in part. */
  readonly lost: number
  /** Why the sink gets nothing more; undefined while it works. */
  readonly failure: Error | undefined
}

const KEEP = 2 ** 24

/**
 * Records a connection: every request, every event as it came with the time of its coming, and how each exchange ended. Events
 * are passed on as they are. The format is described in docs/recordings.md; `millrace check`, `fold` and `replay` read it.
 * @throws UsageError `bad-options`, and `both-adapter-shapes` or `no-adapter-shape` from where the connection is used.
 */
export function recordConnection(connection: ConnectConnectionAdapter, options?: RecordOptions): Recording<ConnectConnectionAdapter>
export function recordConnection(connection: SubscribeConnectionAdapter, options?: RecordOptions): Recording<SubscribeConnectionAdapter>
export function recordConnection(connection: ConnectionAdapter, options?: RecordOptions): Recording<ConnectionAdapter>
export function recordConnection(connection: ConnectionAdapter, options: RecordOptions = {}): Recording<ConnectionAdapter> {
  checkRecordOptions(connection, options)
  const { sink, keep = sink === undefined ? KEEP : 0, clock = systemClock, logger, redact } = options
  const warn = (message: string, error: unknown): void => {
    try {
      logger?.warn(message, error)
    } catch {
      // The logger is whom we tell of failures; when it fails itself, there is nobody left.
    }
  }
  const recorder = new Recorder({ sink, keep, clock, warn })
  const asked = (messages: readonly UIMessage[], data: RequestData | undefined, runContext: RunAgentInputContext | undefined): { readonly input?: unknown } => {
    try {
      const input = buildRunAgentInput({ messages, runContext: Object(runContext), ...(data !== undefined && { data }), mirrorData: false })
      return { input: redact === undefined ? input : redact(input) }
    } catch (error) {
      warn('A run input cannot be recorded.', error)
      return {}
    }
  }
  return {
    connection: { ...parts(connection, recorder, asked), ...besides(connection, recorder) } as ConnectionAdapter,
    toText: () => recorder.text(),
    toBlob: () => new Blob([recorder.text()], { type: 'application/x-ndjson' }),
    get lost() {
      return recorder.lost
    },
    get failure() {
      return recorder.failure
    },
  }
}

type Asked = (messages: readonly UIMessage[], data: RequestData | undefined, runContext: RunAgentInputContext | undefined) => { readonly input?: unknown }
type Stream = AsyncIterable<StreamChunk>

/** Whichever of the two shapes is there. */
function parts(connection: ConnectionAdapter, recorder: Recorder, asked: Asked): Partial<ConnectConnectionAdapter & SubscribeConnectionAdapter> {
  const given: Partial<ConnectConnectionAdapter & SubscribeConnectionAdapter> = connection
  const { connect, subscribe, send, watchLink } = given
  return {
    ...(connect !== undefined && {
      connect: (messages, data, signal, runContext) =>
        watched(recorder, { kind: 'run', ...asked(messages, data, runContext) }, signal, () => connect.call(connection, messages, data, signal, runContext)),
    }),
    ...(subscribe !== undefined && {
      subscribe: (signal) => watched(recorder, { kind: 'subscribe' }, signal, () => subscribe.call(connection, signal)),
    }),
    ...(send !== undefined && {
      send: async (messages, data, signal, runContext) => {
        const request: RecordedRequest = { kind: 'send', ...asked(messages, data, runContext) }
        await answered(recorder, request, signal, () => send.call(connection, messages, data, signal, runContext), false)
      },
    }),
    ...(watchLink !== undefined && { watchLink: watchLink.bind(connection) }),
  }
}

/** What else it offers. */
function besides(connection: ServerSide, recorder: Recorder): ServerSide {
  const { joinRun, hydrate, keepsRuns, cancelRun } = connection
  return {
    ...(joinRun !== undefined && {
      joinRun: (runId, signal, runContext) => watched(recorder, { kind: 'join', runId }, signal, () => joinRun.call(connection, runId, signal, runContext)),
    }),
    ...(hydrate !== undefined && {
      hydrate: (threadId, signal) => answered(recorder, { kind: 'hydrate', threadId }, signal, () => hydrate.call(connection, threadId, signal), true),
    }),
    ...(keepsRuns !== undefined && { keepsRuns: keepsRuns.bind(connection) }),
    ...(cancelRun !== undefined && {
      cancelRun: (runId, signal) => answered(recorder, { kind: 'cancel', runId }, signal, () => cancelRun.call(connection, runId, signal), true),
    }),
  }
}

function watched(recorder: Recorder, request: RecordedRequest, signal: AbortSignal | undefined, open: () => unknown): Stream {
  const exchange = recorder.begin(request)
  const pass = (source: unknown): Stream => (isIterable<StreamChunk>(source) ? tapped(source, exchange, signal) : (source as Stream))
  try {
    const source = open()
    // Adapters of others may give a promise, or nothing that can be read: whoever reads it says so.
    return source instanceof Promise ? (source.then(pass) as unknown as Stream) : pass(source)
  } catch (thrown) {
    exchange.end('failed', thrown)
    throw thrown
  }
}

async function answered<Answer>(
  recorder: Recorder,
  request: RecordedRequest,
  signal: AbortSignal | undefined,
  ask: () => Promise<Answer>,
  telling: boolean,
): Promise<Answer> {
  const exchange = recorder.begin(request)
  try {
    const answer = await ask()
    if (telling) exchange.answer(answer)
    exchange.end(signal?.aborted === true ? 'aborted' : 'done')
    return answer
  } catch (thrown) {
    exchange.end(signal?.aborted === true ? 'aborted' : 'failed', thrown)
    throw thrown
  }
}

function checkRecordOptions(connection: unknown, options: RecordOptions): void {
  checkOptions(options, 'The options of a recording')
  if (!isRecord(connection)) throw new UsageError('no-connection', 'There is no connection to record. Give one, such as fetchServerSentEvents(url).')
  const { sink, keep, redact } = options
  if (sink !== undefined && typeof sink !== 'function') throw new UsageError('bad-options', '`sink` has to be a function that takes lines.')
  if (redact !== undefined && typeof redact !== 'function') throw new UsageError('bad-options', '`redact` has to be a function.')
  if (keep !== undefined && !(typeof keep === 'number' && keep >= 0)) throw new UsageError('bad-options', '`keep` has to be a number of characters, 0 or more.')
}
