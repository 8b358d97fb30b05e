/** A connection over HTTP, whichever client speaks it: what all its factories give. It knows no platform. */
import type { RunAgentInputContext } from '@millrace/protocol'
import { generateId } from '../ids.ts'
import { linkSignals } from '../signals.ts'
import { tell } from '../tell.ts'
import type { ConnectConnectionAdapter, HydratedThread, CancelledRun, StreamChunk } from './adapter.ts'
import { ChunkStream } from './chunk-stream.ts'
import type { HttpClient } from './http.ts'
import { cancelRun, hydrate } from './http-calls.ts'
import { HttpRun, type HttpRunOptions } from './http-run.ts'
import { aborted, resolveTarget, type HttpConnection, type Target } from './http-send.ts'
import { resumable } from './resume.ts'
import {
  requireOptions,
  requireUrl,
  serialise,
  type HttpConnectionOptions,
  type OptionsSource,
  type Outgoing,
  type UrlSource,
} from './run-request.ts'

/** A connection over HTTP has all that a server may offer. */
export interface HttpConnectionAdapter extends ConnectConnectionAdapter {
  joinRun(runId: string, abortSignal?: AbortSignal, runContext?: Partial<RunAgentInputContext>): AsyncIterable<StreamChunk>
  hydrate(threadId: string, abortSignal?: AbortSignal): Promise<HydratedThread | undefined>
  keepsRuns(): boolean | undefined
  cancelRun(runId: string, abortSignal?: AbortSignal): Promise<CancelledRun>
}

/**
 * What the factories give. `client` makes the client of one request from its options, and throws a `UsageError` if they
 * do not let it; `protobuf` gives the codec that they name.
 * @throws UsageError `no-url`, `bad-options`, `bad-limit`, `bad-reconnect`, `bad-resume`: at once for what is given as a value.
 */
export function httpAdapter<Options extends HttpConnectionOptions>(
  url: UrlSource,
  options: OptionsSource<Options>,
  format: 'sse' | 'ndjson',
  client: (options: Options) => HttpClient,
  protobuf?: HttpConnection<Options>['protobuf'],
): HttpConnectionAdapter {
  // Told where the mistake is made, not at the first message.
  if (typeof url !== 'function') requireUrl(url)
  if (typeof options !== 'function') requireOptions(options)
  const connection: HttpConnection<Options> = { url, options, format, client, shown: {}, ...(protobuf !== undefined && { protobuf }) }
  return {
    connect: (messages, data, abortSignal, runContext = newRun()) =>
      new ChunkStream(() => begin(connection, { messages, data, runContext }, abortSignal)),
    joinRun: (runId, abortSignal, runContext) => new ChunkStream(() => join(connection, { ...runContext, runId }, abortSignal)),
    hydrate: (threadId, abortSignal) => hydrate(connection, threadId, abortSignal),
    keepsRuns: () => connection.shown.keepsRuns,
    cancelRun: (runId, abortSignal) => cancelRun(connection, runId, abortSignal),
  }
}

/** A request has to have ids. */
function newRun(): RunAgentInputContext {
  return { threadId: generateId('thread'), runId: generateId('run') }
}

type Batches = AsyncGenerator<readonly StreamChunk[], void, undefined>

async function* begin<Options extends HttpConnectionOptions>(
  connection: HttpConnection<Options>,
  outgoing: Outgoing,
  abortSignal: AbortSignal | undefined,
): Batches {
  if (abortSignal?.aborted) return
  const first = await resolveTarget(connection)
  const { runContext } = outgoing
  yield* run({ connection, first, runContext, body: serialise(outgoing, first.options) }, runContext, abortSignal)
}

async function* join<Options extends HttpConnectionOptions>(
  connection: HttpConnection<Options>,
  runContext: Partial<RunAgentInputContext> & { readonly runId: string },
  abortSignal: AbortSignal | undefined,
): Batches {
  if (abortSignal?.aborted) return
  yield* run({ connection, first: await resolveTarget(connection), runContext }, runContext, abortSignal)
}

async function* run<Options extends HttpConnectionOptions>(
  source: HttpRunOptions<Options>,
  { threadId, runId }: Partial<RunAgentInputContext>,
  abortSignal: AbortSignal | undefined,
): Batches {
  const { url, options }: Target<Options> = source.first
  const { shown } = source.connection
  const { limits, missingTerminal, reconnect, onReconnect, onWarning } = options
  const linked = linkSignals(abortSignal, options.signal)
  try {
    yield* resumable(new HttpRun(source), {
      signal: linked.signal,
      url,
      runContext: { ...(threadId !== undefined && { threadId }), ...(runId !== undefined && { runId }) },
      ...(source.body === undefined && { from: { id: undefined, seen: 0 } }),
      ...(missingTerminal !== undefined && { missingTerminal }),
      ...(limits !== undefined && { limits }),
      ...(reconnect !== undefined && { reconnect }),
      ...(onReconnect !== undefined && { onReconnect }),
      onHeard: (kept) => {
        shown.keepsRuns = kept
      },
      onRepeatedIds: () => tell(onWarning, repeatedIds(url)),
    })
  } finally {
    linked.release()
  }
  // The caller did not ask for this end, so it must not look like one of the stream.
  if (!abortSignal?.aborted && options.signal?.aborted) throw aborted(url, options.signal)
}

function repeatedIds(url: string): { readonly code: 'repeated-ids'; readonly message: string; readonly url: string } {
  return {
    code: 'repeated-ids',
    message:
      `${url} sends different events under one id, so that it cannot be resumed behind an id. Give each event an id of its own ` +
      '(its place in the run), or none.',
    url,
  }
}
