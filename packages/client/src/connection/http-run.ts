/**
 * A run over HTTP as a source of the resume engine: how it is begun (POST), and how it is joined behind a cursor (GET, or
 * the same POST again). It decides nothing about when.
 */
import type { RunAgentInputContext } from '@millrace/protocol'
import { systemClock, type Clock } from '../clock.ts'
import { tell } from '../tell.ts'
import { Arrival } from './arrival.ts'
import { NDJSON, protobufFormat, readDeliveries, SSE, type Delivery, type Format } from './deliveries.ts'
import type { HttpAnswer } from './http.ts'
import { resolveTarget, send, type HttpConnection, type Target } from './http-send.ts'
import { checkAnswer, isOk, mediaTypeOf } from './response-check.ts'
import { withQuery, type HttpConnectionOptions } from './run-request.ts'
import type { Opened, Position, RunSource } from './run-source.ts'

const ACCEPT = { sse: 'text/event-stream', ndjson: 'application/x-ndjson, application/json;q=0.9' } as const

/** Before the first event of a run, for servers that resume (as in the offsets of durable streams). */
const START = '-1'

export interface HttpRunOptions<Options extends HttpConnectionOptions> {
  readonly connection: HttpConnection<Options>
  /** URL and options of the first request; later ones are asked for anew, as tokens expire. */
  readonly first: Target<Options>
  readonly runContext: Pick<RunAgentInputContext, 'runId' | 'headers'>
  /** The run input as JSON; absent to join a run that was begun before. */
  readonly body?: string
}

interface Opening {
  readonly position: Position | undefined
  readonly signal: AbortSignal
}

export class HttpRun<Options extends HttpConnectionOptions> implements RunSource {
  readonly reopen: RunSource['reopen']
  readonly #options: HttpRunOptions<Options>
  readonly #repeatsPost: boolean
  /** Durable servers of TanStack AI keep a run under the id that this header names. */
  readonly #named: Readonly<Record<string, string>>
  #next: Target<Options> | undefined
  #runId: string

  constructor(options: HttpRunOptions<Options>) {
    const { first, body, runContext } = options
    const { resume = 'auto' } = first.options
    this.#options = options
    this.#next = first
    this.#runId = runContext.runId
    this.#repeatsPost = resume === 'post' && body !== undefined
    const names = (resume === 'post' || resume === 'get') && /^[\x21-\x7e]+$/.test(runContext.runId)
    this.#named = names ? { 'x-run-id': runContext.runId } : {}
    if (resume === 'off') this.reopen = 'never'
    else if (body === undefined || resume === 'get') this.reopen = 'always'
    else this.reopen = resume === 'post' ? 'cursor' : 'offered'
  }

  async open(opening: Opening): Promise<Opened> {
    const { connection, first } = this.#options
    const target = this.#next ?? (await resolveTarget(connection))
    this.#next = undefined
    const { clock = systemClock } = first.options.reconnect ?? {}
    const begins = opening.position === undefined
    const arrival = begins ? new Arrival(clock.now()) : undefined
    const answer = await this.#ask(target, opening)
    arrival?.answered(clock.now())
    const format = await this.#formatOf(answer, target)
    const named = answer.header('x-run-id')
    if (named !== null && named !== '') this.#runId = named
    let retryMs: number | undefined
    const deliveries = readDeliveries(answer.reader(), format, opening.signal, {
      url: target.url,
      suspicious: !begins,
      ...(target.options.limits !== undefined && { limits: target.options.limits }),
      onRetry: (ms) => {
        retryMs = ms
      },
    })
    return {
      batches: arrival === undefined ? deliveries : watched(deliveries, arrival, clock, () => warnHeldBack(target)),
      offersResume: named === null ? 'unknown' : 'yes',
      retryMs: () => retryMs,
    }
  }

  /** @throws TransportError if the answer is no stream of events. */
  async #formatOf(answer: HttpAnswer, { url, options }: Target<Options>): Promise<Format> {
    const { protobuf, format } = this.#options.connection
    const codec = protobuf?.(options)
    if (codec !== undefined && isOk(answer) && mediaTypeOf(answer) === codec.PROTO_MEDIA_TYPE) return protobufFormat(codec)
    await checkAnswer(answer, url, format)
    return format === 'sse' ? SSE : NDJSON
  }

  #ask({ url, options }: Target<Options>, { position, signal }: Opening): Promise<HttpAnswer> {
    const { connection, body, runContext } = this.#options
    const codec = connection.protobuf?.(options)
    const accept = codec === undefined ? ACCEPT[connection.format] : `${codec.PROTO_MEDIA_TYPE}, ${ACCEPT[connection.format]}`
    const own = [options.headers, runContext.headers]
    // Not every id can be a header's value; the query can carry all.
    const cursor = position?.id !== undefined && /^[\x20-\x7e]+$/.test(position.id) ? { 'last-event-id': position.id } : {}
    if (body !== undefined && (position === undefined || this.#repeatsPost)) {
      const headers = [{ 'content-type': 'application/json', accept, ...this.#named }, ...own, cursor]
      return send(connection.client(options), { method: 'POST', url, headers, body, signal })
    }
    const joined = withQuery(url, { runId: this.#runId, offset: position?.id ?? START })
    return send(connection.client(options), { method: 'GET', url: joined, headers: [{ accept }, ...own, cursor], signal })
  }
}

async function* watched(
  deliveries: AsyncIterable<readonly Delivery[]>,
  arrival: Arrival,
  clock: Clock,
  warn: () => void,
): AsyncGenerator<readonly Delivery[], void, undefined> {
  for await (const batch of deliveries) {
    arrival.batch(batch, clock.now())
    yield batch
  }
  if (arrival.heldBack) warn()
}

function warnHeldBack({ options, url }: Target<HttpConnectionOptions>): void {
  tell(options.onWarning, {
    code: 'buffered',
    message:
      `All events of ${url} came at once at the end, though they were made over time: something in between holds the answer back. ` +
      'Turn off buffering and compression for this path (nginx: `proxy_buffering off` or the header X-Accel-Buffering: no; middleware ' +
      'that compresses: leave out text/event-stream or send Cache-Control: no-transform), and let the platform stream responses.',
    url,
  })
}
