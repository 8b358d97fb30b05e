/** What a connection over HTTP asks of its server besides runs: a stored thread, the cancelling of a run. */
import { UsageError } from '@millrace/protocol'
import { isRecord } from '../checks.ts'
import { toError, TransportError } from '../errors.ts'
import { DEFAULT_CLIENT_LIMITS } from '../limits.ts'
import { linkSignals } from '../signals.ts'
import type { CancelledRun, HydratedThread } from './adapter.ts'
import type { HttpAnswer } from './http.ts'
import { discard, resolveTarget, send, type HttpConnection } from './http-send.ts'
import { isOk, mediaTypeOf, readText, statusError } from './response-check.ts'
import { withQuery, type HttpConnectionOptions } from './run-request.ts'

/** As long as no connection is worth waiting for. */
const BODY_MS = 60_000

/**
 * `GET ?threadId=`. Undefined if the server says that it keeps no such thread (404, 204 or `null`).
 * @throws TransportError for every other answer: a failure must not look like an empty thread.
 */
export async function hydrate<Options extends HttpConnectionOptions>(
  connection: HttpConnection<Options>,
  threadId: string,
  signal: AbortSignal | undefined,
): Promise<HydratedThread | undefined> {
  return call(connection, 'GET', { threadId }, signal, async (answer, url, limit) => {
    if (answer.status === 204 || isUnknown(answer)) return void discard(answer)
    const value = await jsonOf(answer, url, limit)
    return value === null ? undefined : requireThread(value, answer, url)
  })
}

/**
 * `DELETE ?runId=`.
 * @throws TransportError if the server does not do it: it may not know how.
 */
export async function cancelRun<Options extends HttpConnectionOptions>(
  connection: HttpConnection<Options>,
  runId: string,
  signal: AbortSignal | undefined,
): Promise<CancelledRun> {
  return call(connection, 'DELETE', { runId }, signal, async (answer, url) => {
    if (!isUnknown(answer) && !isOk(answer)) throw await statusError(answer, url)
    discard(answer)
    if (!isOk(answer)) return 'unknown'
    return answer.status === 202 ? 'cancelling' : 'closed'
  })
}

async function call<Options extends HttpConnectionOptions, Result>(
  connection: HttpConnection<Options>,
  method: 'GET' | 'DELETE',
  query: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
  read: (answer: HttpAnswer, url: string, limit: number) => Promise<Result>,
): Promise<Result> {
  const [[name, id] = ['', '']] = Object.entries(query)
  if (typeof id !== 'string' || id === '') throw new UsageError('no-id', `There is no ${name} to ask for.`)
  const { url: base, options } = await resolveTarget(connection)
  const url = withQuery(base, query)
  // A client of another make may pass options where ours has a signal.
  const linked = linkSignals(isSignal(signal) ? signal : undefined, options.signal)
  try {
    const headers = [{ accept: 'application/json' }, options.headers]
    const answer = await send(connection.client(options), { method, url, headers, signal: linked.signal })
    return await read(answer, url, options.limits?.answerLength ?? DEFAULT_CLIENT_LIMITS.answerLength)
  } finally {
    linked.release()
  }
}

function isSignal(value: unknown): value is AbortSignal {
  return typeof (Object(value) as Partial<AbortSignal>).addEventListener === 'function'
}

/** A web page with 404 says that the address is wrong; anything else, that there is no such thing. */
function isUnknown(answer: HttpAnswer): boolean {
  return answer.status === 404 && !mediaTypeOf(answer).includes('html')
}

async function jsonOf(answer: HttpAnswer, url: string, limit: number): Promise<unknown> {
  if (!isOk(answer)) throw await statusError(answer, url)
  const fail = (why: string, body: string, cause?: unknown): TransportError =>
    new TransportError(`${url} ${why}`, {
      code: 'unexpected-answer',
      status: answer.status,
      url,
      body: body.slice(0, 500),
      ...(cause !== undefined && { cause }),
    })
  let text: string
  try {
    text = await readText(answer, limit, BODY_MS)
  } catch (cause) {
    if (cause instanceof TransportError) throw cause
    throw new TransportError(`The answer of ${url} broke off: ${toError(cause).message}`, { code: 'network', url, cause })
  }
  if (text.length >= limit) throw fail(`answered with more than limits.answerLength (${limit}).`, text)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw fail('did not answer with JSON. Is the handler reachable by GET at this address?', text, cause)
  }
}

function requireThread(value: unknown, answer: HttpAnswer, url: string): HydratedThread {
  const { messages, state, activeRun, interrupts, runs } = isRecord(value) ? value : {}
  const runId = isRecord(activeRun) ? activeRun['runId'] : undefined
  if (!Array.isArray(messages) || (activeRun != null && typeof runId !== 'string')) {
    throw new TransportError(
      `${url} answered with JSON that is no thread: { messages: […], activeRun: { runId } | null } is expected.`,
      { code: 'unexpected-answer', status: answer.status, url, body: String(JSON.stringify(value)).slice(0, 500) },
    )
  }
  return {
    messages,
    ...(state !== undefined && { state }),
    activeRun: typeof runId === 'string' ? { runId } : null,
    interrupts: interrupts ?? null,
    ...(runs !== undefined && runs !== null && { runs }),
  }
}
