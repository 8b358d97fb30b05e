/**
 * Request → Response. The only file that chooses an HTTP status: everything below it says what is the matter, by
 * error codes, and is answered here. It knows no socket and no platform.
 */
import { ask, type Asked } from './authorize.ts'
import { checkOptions, type RunHandlerOptions } from './check-options.ts'
import { systemClock } from './clock.ts'
import { LogError, ServerLimitError } from './errors.ts'
import { Hub, type Reader } from './hub.ts'
import { hydrate } from './hydrate.ts'
import { Gate, refusedAnswers, type RefusedAnswers } from './interrupts.ts'
import { DEFAULT_SERVER_LIMITS } from './limits.ts'
import { START, type Offset } from './log/contract.ts'
import { MemoryLog } from './log/memory.ts'
import { guarded, silentLogger } from './logger.ts'
import { InputError, readInput } from './read-input.ts'
import { CONTENT_TYPES, negotiate, streamEntries } from './respond.ts'

/** Pass it on as `POST`, `GET` and `DELETE`, or to `toNodeListener`. Never rejects. */
export interface RunHandler {
  (request: Request): Promise<Response>
  /** Cancels the runs produced here and waits until their ends are stored: for shutdown. */
  stop(): Promise<void>
  /** Runs produced and readers held at this moment. */
  counts(): { readonly producers: number; readonly readers: number }
}

interface Problem {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly pointer?: string | undefined
  readonly headers?: Record<string, string>
}

const ALLOW = 'GET, POST, DELETE'

const INPUT_STATUS: Readonly<Record<InputError['code'], number>> = {
  'body.type': 415,
  'body.too-large': 413,
  'body.incomplete': 400,
  'body.not-json': 400,
  'input.malformed': 400,
}

const UNKNOWN_RUN: Problem = { status: 404, code: 'run.unknown', message: 'No such run is kept here' }

const LOG_PROBLEMS: Readonly<Partial<Record<LogError['code'], Problem>>> = {
  conflict: { status: 409, code: 'run.conflict', message: 'The runId belongs to another thread' },
  unknown: UNKNOWN_RUN,
  offset: { status: 400, code: 'run.offset', message: 'The run has no such offset' },
  limit: { status: 503, code: 'server.full', message: 'The server keeps as many runs as it can', headers: { 'Retry-After': '5' } },
}

const LIMIT_STATUS: Readonly<Record<ServerLimitError['limit'], number>> = { subscribersPerRun: 429, activeRuns: 503 }

/**
 * Serves an agent over HTTP.
 *
 * - `POST` a RunAgentInput: runs it and streams its events. A runId that was accepted before is joined from its start, or
 *   behind `Last-Event-ID`: a POST that is sent again never runs twice.
 * - `GET ?runId=`: joins a run, behind `Last-Event-ID` or `&offset=` if given (`-1`: from its start).
 * - `GET ?threadId=`: the thread as the log has it, as JSON (`HydratedThread`).
 * - `DELETE ?runId=`: cancels a run.
 *
 * Events stream as SSE, or as NDJSON (`{"id","chunk"}` lines) to clients that accept `application/x-ndjson`. Errors are
 * JSON: `{"error":{"code","message","pointer"?}}`. CORS and OPTIONS are left to what stands in front.
 *
 * @throws UsageError if `agent` or `authorize` is missing, or another option is not what it has to be.
 */
export function createRunHandler(options: RunHandlerOptions): RunHandler {
  checkOptions(options)
  const { agent, authorize, onDisconnect = 'continue', heartbeatMs = 15_000, leaseMs = 30_000, clock = systemClock } = options
  const log = options.log ?? new MemoryLog({ clock })
  const logger = guarded(options.logger ?? silentLogger)
  const limits = { ...DEFAULT_SERVER_LIMITS, ...options.limits }
  const createId = options.createId ?? (() => crypto.randomUUID())
  const answering = new Gate()
  const hub = new Hub({ agent, log, clock, logger, limits, createId, onDisconnect, leaseMs })

  /** Undefined if the request may go on. */
  const refuse = async (request: Request, asked: Asked): Promise<Response | undefined> => {
    const verdict = await ask(authorize, request, asked, logger)
    if (verdict instanceof Response) return verdict
    if (verdict === 'allowed') return undefined
    return verdict === 'denied'
      ? problem({ status: 403, code: 'forbidden', message: 'This is not allowed' })
      : problem({ status: 500, code: 'server.failed', message: 'The server failed' })
  }

  const stream = async (request: Request, runId: string, after: Offset): Promise<Response> => {
    await hub.reap(runId)
    // Asked before the status is chosen: an offset the run does not have is no stream.
    if (after !== START) await log.read(runId, { after, limit: 1 })
    return respond(request, runId, hub.open(runId, after))
  }

  const respond = (request: Request, runId: string, reader: Reader): Response => {
    const format = negotiate(request.headers.get('accept'))
    const onSilence = (): void => void hub.reap(runId)
    return new Response(streamEntries(reader, { format, clock, heartbeatMs, signal: request.signal, onSilence }), {
      headers: {
        'Content-Type': CONTENT_TYPES[format],
        'Cache-Control': 'no-store, no-transform',
        'X-Accel-Buffering': 'no',
        Vary: 'Accept',
        // An id that no header can hold is known to the client anyway: it sent it.
        ...(/^[\x21-\x7e]+$/.test(runId) && { 'X-Run-Id': runId }),
      },
    })
  }

  const post = async (request: Request): Promise<Response> => {
    const input = await readInput(request, limits.bodyBytes, logger)
    const { threadId, runId } = input
    const refused = await refuse(request, { action: 'run', threadId, runId, input })
    if (refused !== undefined) return refused
    const cursor = request.headers.get('last-event-id')
    const known = await log.get(runId)
    if (known === undefined) {
      if (cursor !== null) return problem({ status: 410, code: 'run.gone', message: 'The run to be resumed is not kept any more' })
      if (request.signal.aborted) return problem({ status: 499, code: 'client.gone', message: 'The client has closed the request' })
    }
    const begin = async (): Promise<RefusedAnswers | { readonly created: boolean }> =>
      (known === undefined ? await refusedAnswers(log, input) : undefined) ?? hub.start(input, request)
    const begun = input.resume === undefined ? await begin() : await answering.pass(threadId, begin)
    if ('why' in begun) return problem(refusal(begun))
    const { created } = begun
    if (created) return respond(request, runId, hub.open(runId, START))
    const action = cursor === null ? 'join' : 'resume'
    return (await refuse(request, { action, threadId, runId })) ?? stream(request, runId, cursor ?? START)
  }

  const get = async (request: Request, query: URLSearchParams): Promise<Response> => {
    const runId = query.get('runId')
    const threadId = query.get('threadId')
    if (runId !== null) {
      const cursor = request.headers.get('last-event-id') || query.get('offset') || START
      const run = await find(runId, threadId)
      const action = cursor === START ? 'join' : 'resume'
      const refused = await refuse(request, { action, ...run, runId })
      if (refused !== undefined) return refused
      return run === undefined ? problem(UNKNOWN_RUN) : stream(request, runId, cursor)
    }
    if (threadId === null) return problem({ status: 400, code: 'query.missing', message: 'Give a runId or a threadId' })
    const refused = await refuse(request, { action: 'hydrate', threadId })
    if (refused !== undefined) return refused
    const thread = await hydrate(log, threadId)
    return thread === undefined
      ? problem({ status: 404, code: 'thread.unknown', message: 'No such thread is kept here' })
      : json(200, thread)
  }

  const cancel = async (request: Request, query: URLSearchParams): Promise<Response> => {
    const runId = query.get('runId')
    if (runId === null) return problem({ status: 400, code: 'query.missing', message: 'Give a runId' })
    const run = await find(runId, query.get('threadId'))
    const refused = await refuse(request, { action: 'cancel', ...run, runId })
    if (refused !== undefined) return refused
    const after = run && (await hub.cancel(runId))
    if (after === undefined) return problem(UNKNOWN_RUN)
    // Its producer is elsewhere, and will learn of it.
    if (after.status === 'running') return json(202, { runId, status: 'cancelling' })
    return json(200, { runId, status: 'closed', outcome: after.outcome })
  }

  /** The thread of a run; undefined if it is unknown, or of another thread than the one named. */
  const find = async (runId: string, threadId: string | null): Promise<{ threadId: string } | undefined> => {
    const run = await log.get(runId)
    return run === undefined || (threadId !== null && run.threadId !== threadId) ? undefined : { threadId: run.threadId }
  }

  const handle = async (request: Request): Promise<Response> => {
    const query = new URL(request.url).searchParams
    switch (request.method) {
      case 'POST':
        return post(request)
      case 'GET':
        return get(request, query)
      case 'DELETE':
        return cancel(request, query)
      default:
        return problem({ status: 405, code: 'method', message: `Allowed: ${ALLOW}`, headers: { Allow: ALLOW } })
    }
  }

  const answerError = (error: unknown): Response => {
    if (error instanceof InputError) return problem({ status: INPUT_STATUS[error.code], ...error, message: error.message })
    if (error instanceof ServerLimitError) {
      return problem({ status: LIMIT_STATUS[error.limit], code: `limit.${error.limit}`, message: error.message, headers: { 'Retry-After': '5' } })
    }
    const known = error instanceof LogError ? LOG_PROBLEMS[error.code] : undefined
    if (known === undefined) logger.error('A request failed', { error })
    return problem(known ?? { status: 500, code: 'server.failed', message: 'The server failed' })
  }

  return Object.assign((request: Request) => handle(request).catch(answerError), {
    stop: () => hub.stop(),
    counts: () => hub.counts,
  })
}

function refusal({ why, interruptId }: RefusedAnswers): Problem {
  const message =
    why === 'uncovered'
      ? `resume has no entry for the open interrupt "${interruptId}"`
      : `The interrupt "${interruptId}" was answered by another run; read the thread again`
  return { status: 409, code: `interrupt.${why}`, message, pointer: '/resume' }
}

function json(status: number, value: unknown, headers: Record<string, string> = {}): Response {
  return Response.json(value, { status, headers: { 'Cache-Control': 'no-store', ...headers } })
}

function problem({ status, code, message, pointer, headers }: Problem): Response {
  return json(status, { error: { code, message, ...(pointer !== undefined && { pointer }) } }, headers)
}
