/**
 * One HTTP request → its answer, whatever the version of HTTP: what the server of a resumable run says, and the faults
 * of this answer. Statuses are chosen here. It writes through an `Exchange`, which knows the version.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { parseInput, resumeAt, spoutOf, type Context, type Refusal, type Target } from './context.ts'
import { CONTENT_TYPES, type Format } from './encode.ts'
import type { Answer, Fault } from './fault.ts'
import { feed, stopOf, wholeFeed, type Feed } from './feed.ts'
import type { Did, Entry } from './request-log.ts'
import type { Piece, Pipe, Spout } from './spout.ts'

export type Headers = Readonly<Record<string, string>>

/** The answering side of one request. */
export interface Exchange {
  /** Sends status and headers, and gives what the body is written to. */
  open(status: number, headers: Headers): Promise<Pipe>
  /** What a fault in the head is written to, and the head as bytes where it can be cut. */
  bare(status: number, headers: Headers): { readonly pipe: Pipe; readonly head: Uint8Array | undefined }
}

/** Pages of other origins may read everything here, with credentials or without: tests run in browsers, too. */
const cors = (asked: IncomingHttpHeaders): Headers =>
  asked.origin === undefined
    ? {}
    : {
        'Access-Control-Allow-Origin': asked.origin,
        'Access-Control-Allow-Credentials': 'true',
        'Access-Control-Expose-Headers': 'X-Run-Id, Retry-After',
        Vary: 'Origin',
      }

const HTML = '<!doctype html>\n<title>Sign in</title>\n<p>Please sign in to this network.\n'

const utf8 = new TextEncoder()

/** Asked by browsers before cross-origin requests; it is neither logged nor does it meet a fault. */
export async function answerPreflight(exchange: Exchange, asked: IncomingHttpHeaders): Promise<void> {
  const pipe = await exchange.open(204, {
    ...cors(asked),
    'Access-Control-Allow-Methods': 'GET, POST, DELETE',
    'Access-Control-Allow-Headers': asked['access-control-request-headers'] ?? '*',
  })
  pipe.end()
}

export async function answer(context: Context, exchange: Exchange, entry: Entry): Promise<void> {
  const { method, query } = entry
  const attempt = method === 'POST' || (method === 'GET' && query.runId !== undefined)
  const fault = context.faultOf(entry, attempt)
  const reply = new Reply(context, exchange, entry, fault)
  if (typeof fault.answer === 'object') return reply.failed(fault.answer)
  const asked = ask(context, entry)
  entry.did = asked.did
  if ('target' in asked) return reply.stream(asked.target)
  return reply.json(asked.status, asked.value)
}

type Asked = { readonly did: Did } & ({ readonly target: Target } | { readonly status: number; readonly value: unknown })

/** What the server would do if nothing went wrong. It has its effect here. */
function ask(context: Context, entry: Entry): Asked {
  const { method, query, headers, body } = entry
  const given = headers['last-event-id']
  const cursor = (typeof given === 'string' && given !== '' ? given : undefined) ?? (method === 'GET' ? query.offset : undefined)
  if (method === 'POST') return post(context, body, cursor)
  if (method === 'GET' && query.runId !== undefined) {
    if (context.resume !== 'get') return refused({ status: 405, code: 'method' })
    return continued(resumeAt(context, query.runId, cursor), cursor)
  }
  if (method === 'GET' && query.threadId !== undefined) {
    const value = context.runs.hydrate(query.threadId)
    return value === undefined ? refused({ status: 404, code: 'thread.unknown' }) : { did: 'hydrate', status: 200, value }
  }
  if (method === 'DELETE' && context.resume !== 'none') return cancel(context, query.runId)
  return refused({ status: method === 'GET' ? 400 : 405, code: method === 'GET' ? 'query.missing' : 'method' })
}

function post(context: Context, body: string, cursor: string | undefined): Asked {
  const { runs, resume } = context
  const input = parseInput(body)
  if (input === undefined) return refused({ status: 400, code: 'input.malformed' })
  const known = runs.find(input.runId) !== undefined
  if (resume !== 'none' && cursor !== undefined) {
    return known ? continued(resumeAt(context, input.runId, cursor), cursor) : refused({ status: 410, code: 'run.gone' })
  }
  if (known && resume === 'get') return continued(resumeAt(context, input.runId, undefined), undefined)
  return { did: 'start', target: { run: runs.start(input), from: 0 } }
}

function cancel({ runs }: Context, runId: string | undefined): Asked {
  if (runId === undefined) return refused({ status: 400, code: 'query.missing' })
  const run = runs.find(runId)
  if (run === undefined) return refused({ status: 404, code: 'run.unknown' })
  runs.cancel(run)
  return { did: 'cancel', status: 200, value: { runId, status: 'closed', outcome: run.state === 'cancelled' ? 'cancelled' : 'finished' } }
}

function continued(target: Target | Refusal, cursor: string | undefined): Asked {
  if ('code' in target) return refused(target)
  return { did: cursor === undefined || cursor === '-1' ? 'join' : 'resume', target }
}

function refused({ status, code }: Refusal): Asked {
  return { did: 'refused', status, value: { error: { code, message: `Refused: ${code}` } } }
}

/** NDJSON for those who name it and not SSE before it. */
function formatOf(accept: string | undefined): Exclude<Format, 'websocket'> {
  const ndjson = accept?.search(/application\/(x-)?ndjson/i) ?? -1
  const sse = accept?.search(/text\/event-stream/i) ?? -1
  return ndjson >= 0 && (sse < 0 || ndjson < sse) ? 'ndjson' : 'sse'
}

class Reply {
  readonly #context: Context
  readonly #exchange: Exchange
  readonly #entry: Entry
  readonly #fault: Fault

  constructor(context: Context, exchange: Exchange, entry: Entry, fault: Fault) {
    this.#context = context
    this.#exchange = exchange
    this.#entry = entry
    this.#fault = fault
  }

  async stream(target: Target): Promise<void> {
    const { bell, ids, resume } = this.#context
    const fault = this.#fault
    const format = formatOf(this.#entry.headers.accept)
    // Until the head is out nobody can tell whether the client still listens.
    const options: Feed = { ...target, format, fault, ids, bell, over: () => this.#entry.ending === 'left' }
    const stop = stopOf(fault.ending, options)
    const contentType = fault.contentType === undefined ? CONTENT_TYPES[format] : fault.contentType
    const headers = {
      ...(contentType !== null && { 'Content-Type': contentType }),
      'Cache-Control': 'no-store, no-transform',
      ...(resume !== 'none' && /^[\x21-\x7e]+$/.test(target.run.input.runId) && { 'X-Run-Id': target.run.input.runId }),
    }
    if (fault.answer === 'html') return this.#whole(200, { 'Content-Type': 'text/html; charset=utf-8' }, utf8.encode(HTML), stop)
    if (fault.answer === 'wrapped') {
      const body = Buffer.concat((await wholeFeed(options)).map(({ bytes }) => bytes)).toString()
      const wrapped = JSON.stringify({ statusCode: 200, headers: { 'Content-Type': CONTENT_TYPES[format] }, body })
      return this.#whole(200, { 'Content-Type': 'application/json' }, utf8.encode(wrapped), stop)
    }
    if (fault.lengthOff !== undefined) return this.#misannounced(headers, await wholeFeed(options), fault.lengthOff, stop)
    const spout = await this.#open(200, headers, stop)
    for await (const pieces of feed({ ...options, over: () => spout.over })) await spout.send(pieces)
    await spout.finish()
  }

  failed({ status, retryAfter, headers, body }: Answer & object): Promise<void> {
    this.#entry.did = 'failed'
    const text = body ?? (status >= 400 ? JSON.stringify({ error: { code: `fault.${status}`, message: 'Refused on purpose' } }) : '')
    const type = body === undefined ? 'application/json' : 'text/plain; charset=utf-8'
    const given = {
      ...(text !== '' && { 'Content-Type': type }),
      ...(retryAfter !== undefined && { 'Retry-After': retryAfter }),
      ...headers,
    }
    return this.#whole(status, given, utf8.encode(text), undefined)
  }

  json(status: number, value: unknown): Promise<void> {
    const at = this.#fault.ending?.at
    const stop = at !== undefined && 'byte' in at ? { at, how: this.#fault.ending?.how ?? 'cut' } : undefined
    return this.#whole(status, { 'Content-Type': 'application/json' }, utf8.encode(JSON.stringify(value)), stop)
  }

  async #whole(status: number, headers: Headers, bytes: Uint8Array, stop: ReturnType<typeof stopOf>): Promise<void> {
    const spout = await this.#open(status, headers, stop)
    await spout.send([{ bytes, event: false }])
    await spout.finish()
  }

  async #misannounced(headers: Headers, pieces: readonly Piece[], off: number, stop: ReturnType<typeof stopOf>): Promise<void> {
    const length = pieces.reduce((sum, { bytes }) => sum + bytes.length, 0)
    const spout = await this.#open(200, { ...headers, 'Content-Length': String(Math.max(0, length + off)) }, stop)
    await spout.send(pieces)
    // A connection whose count of bytes is wrong is of no more use.
    await spout.finish('cut')
  }

  /** Sends the head, as far as the fault lets it, and gives what writes the body. */
  async #open(status: number, headers: Headers, stop: ReturnType<typeof stopOf>): Promise<Spout> {
    const { ending } = this.#fault
    const all = { ...cors(this.#entry.headers), ...headers }
    if (ending !== undefined && 'head' in ending.at) {
      const { pipe, head } = this.#exchange.bare(status, all)
      const byte = Math.min(ending.at.head, head?.length ?? 0)
      const spout = spoutOf(this.#context, pipe, this.#entry, this.#fault, { at: { byte }, how: ending.how })
      await spout.send(head === undefined ? [] : [{ bytes: head, event: false }])
      if (head !== undefined || spout.over) return spout
    }
    const pipe = await this.#exchange.open(status, all)
    this.#entry.status = status
    const spout = spoutOf(this.#context, pipe, this.#entry, this.#fault, stop)
    await spout.send([])
    return spout
  }
}
