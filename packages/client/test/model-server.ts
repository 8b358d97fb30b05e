/**
 * A server in memory that keeps runs and gives their events when it is told to, over HTTP as a page would speak it. What it does
 * to a request is told in advance: refuse it, lose it, begin further back, say things twice.
 */
import { toUIMessages, type Message, type ResumeEntry } from '@millrace/protocol'
import type { HttpAnswer, HttpClient } from '../src/connection/http.ts'
import type { ByteReader } from '../src/connection/pieces.ts'
import { cancelledAt, linesOf, questionsOf, scriptOf, type Plan, type Run } from './model-runs.ts'
import { threadOf } from './model-thread.ts'

/** Lets what comes in through, as long as a page is not frozen. */
export type Pass = () => Promise<void> | undefined

/** How the events of a run are named: each, every second one, or none, so that only their number says where one is. */
export type Ids = 'each' | 'some' | 'none'

/** What happens to a request to begin or to join a run. */
export type Treatment =
  /** Answered with 503. */
  | { readonly how: 'busy'; readonly retryAfter?: number }
  /** It never arrives. */
  | { readonly how: 'lost' }
  /** Answered with 404: the server knows of no such run, or address. */
  | { readonly how: 'gone' }
  /** It arrives, and its answer is lost. */
  | { readonly how: 'unheard' }
  /** The answer begins so many events too early, and says so many again once it has given something. */
  | { readonly how: 'again'; readonly early: number; readonly back: number }

/** How a connection breaks: as one that fails or one that ends, and how much of the next event still comes. */
export interface Cut {
  readonly how: 'broken' | 'ended'
  /** `whole`: all of it but the blank line that ends it, so that nobody knows whether it would have had a name. */
  readonly rest: 'none' | 'half' | 'whole'
}

/** A request to begin or to join a run, and what became of it. */
export interface Asked {
  readonly method: 'POST' | 'GET'
  readonly runId: string
  readonly result: 'open' | 'busy' | 'lost' | 'unknown'
  /** The wait in ms that the server asks for. */
  readonly waitMs: number
}

interface Input {
  readonly runId: string
  readonly parentRunId?: string
  readonly messages: readonly Message[]
  readonly state: unknown
  readonly resume?: readonly ResumeEntry[]
  readonly forwardedProps?: { readonly plan?: Plan }
}

export interface ServerOptions {
  readonly ids?: Ids
  readonly hears?: boolean
}

export class ModelServer {
  readonly runs: Run[] = []
  readonly asked: Asked[] = []
  /** Whether a run that is asked to end does; it goes on all the same with a server that does not hear. */
  readonly #hears: boolean
  /** What happens to the next requests, in order; the others are treated well. */
  treatments: Treatment[] = []
  readonly #time: { readonly now: number }
  readonly #ids: Ids
  readonly #open = new Set<Answer>()

  constructor(time: { readonly now: number }, { ids = 'each', hears = false }: ServerOptions = {}) {
    this.#time = time
    this.#ids = ids
    this.#hears = hears
  }

  /** Answers that are being read. */
  get open(): number {
    return this.#open.size
  }

  /** As one page reaches it. */
  client(pass?: Pass): HttpClient {
    return async ({ method, url, body }) => {
      const { searchParams: query } = new URL(url)
      const runId = query.get('runId') ?? ''
      if (method === 'DELETE') {
        this.#cancel(runId)
        return plain(200)
      }
      if (query.has('threadId')) {
        const thread = threadOf(this.runs)
        await pass?.()
        return thread === undefined ? plain(404) : plain(200, { 'content-type': 'application/json' }, JSON.stringify(thread))
      }
      const answer = method === 'POST' ? this.#begin(JSON.parse(body ?? '') as Input, pass) : this.#join(runId, query.get('offset') ?? '', pass)
      await pass?.()
      return answer
    }
  }

  #begin({ runId, parentRunId, messages, state, resume = [], forwardedProps }: Input, pass: Pass | undefined): HttpAnswer {
    const treatment = this.treatments.shift()
    if (this.runs.some((each) => each.begun && each.runId === runId)) throw new Error('A run was begun twice.')
    const { n, kinds } = forwardedProps?.plan ?? { n: -1, kinds: [] }
    const kind = kinds[this.runs.filter(({ plan }) => plan === n).length] ?? 'text'
    const questions = questionsOf(kind, runId, this.#time.now)
    const input = { lines: linesOf(toUIMessages(messages)), state, resume: resume.map(({ interruptId }) => interruptId), parentRunId }
    const begun = treatment === undefined || treatment.how === 'unheard' || treatment.how === 'again'
    const run: Run = { runId, kind, plan: n, questions, script: scriptOf(kind, runId, questions), input, asked: { messages, state }, released: 0, begun }
    this.runs.push(run)
    return this.#answer('POST', run, treatment, 0, pass)
  }

  #cancel(runId: string): void {
    const run = this.runs.find((each) => each.begun && each.runId === runId)
    if (!this.#hears || run === undefined || run.released === run.script.length) return
    run.script = cancelledAt(run.script, run.released, runId)
    run.released = run.script.length
    this.#ring()
  }

  #join(runId: string, offset: string, pass: Pass | undefined): HttpAnswer {
    const run = this.runs.find((each) => each.begun && each.runId === runId)
    const treatment = this.treatments.shift()
    const from = offset === '-1' ? 0 : Number(offset)
    return this.#answer('GET', run ?? runId, treatment, from, pass)
  }

  #answer(method: Asked['method'], run: Run | string, treatment: Treatment | undefined, from: number, pass: Pass | undefined): HttpAnswer {
    const note = (result: Asked['result'], waitMs = 0): void => void this.asked.push({ method, runId: typeof run === 'string' ? run : run.runId, result, waitMs })
    if (treatment?.how === 'lost' || treatment?.how === 'unheard') {
      note('lost')
      throw new TypeError('The network is gone.')
    }
    if (treatment?.how === 'busy') {
      const { retryAfter } = treatment
      note('busy', (retryAfter ?? 0) * 1000)
      return plain(503, retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) })
    }
    if (typeof run === 'string' || treatment?.how === 'gone') {
      note('unknown')
      return plain(404)
    }
    note('open')
    const { early, back } = treatment ?? { early: 0, back: 0 }
    const answer = new Answer(run, this.#ids, { from, early, back }, pass, () => this.#open.delete(answer))
    this.#open.add(answer)
    return { ...plain(200, { 'content-type': 'text/event-stream', 'x-run-id': run.runId }), reader: () => answer }
  }

  /** Lets so many more events of every run be read. */
  release(events: number): void {
    for (const run of this.runs) run.released = Math.min(run.script.length, run.released + events)
    this.#ring()
  }

  #ring(): void {
    for (const answer of this.#open) answer.ring()
  }

  /** Breaks what is being read. */
  cut(cut: Cut = { how: 'broken', rest: 'none' }): void {
    for (const answer of this.#open) answer.cut(cut)
  }
}

function plain(status: number, headers: Readonly<Record<string, string>> = {}, body?: string): HttpAnswer {
  let rest = body
  const read = async (): Promise<{ readonly done: boolean; readonly value?: string }> => {
    const value = rest
    rest = undefined
    return value === undefined ? { done: true } : { done: false, value }
  }
  return {
    status,
    statusText: '',
    url: '',
    header: (name) => headers[name] ?? null,
    reader: () => ({ read, cancel: async () => {} }),
  }
}

/** The events of a run from some place on, as server-sent events, while they may be read. */
class Answer implements ByteReader {
  readonly #run: Run
  readonly #ids: Ids
  readonly #pass: Pass | undefined
  readonly #gone: () => void
  #at: number
  #back: number
  #cut: Cut | undefined
  #over = false
  #wake: () => void = () => {}

  constructor(run: Run, ids: Ids, { from, early, back }: { readonly from: number; readonly early: number; readonly back: number }, pass: Pass | undefined, gone: () => void) {
    this.#run = run
    this.#ids = ids
    this.#pass = pass
    this.#gone = gone
    this.#at = early === 0 ? from : this.#before(from, early, 0)
    this.#back = back
  }

  async read(): Promise<{ readonly done?: boolean; readonly value?: string }> {
    const { script } = this.#run
    while (!this.#over) {
      const value = this.#piece()
      if (value !== '') {
        await this.#pass?.()
        return { value }
      }
      if (this.#cut !== undefined) {
        this.#end()
        if (this.#cut.how === 'ended') break
        throw new TypeError('The connection was reset.')
      }
      if (this.#at === script.length) break
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    this.#end()
    return { done: true }
  }

  async cancel(): Promise<void> {
    this.#end()
  }

  ring(): void {
    this.#wake()
  }

  cut(cut: Cut): void {
    this.#cut = cut
    this.#wake()
  }

  #end(): void {
    this.#over = true
    this.#gone()
    this.#wake()
  }

  /** Up to three events; none if there are none to read now, less than one if the connection breaks. */
  #piece(): string {
    const { script, released } = this.#run
    if (this.#cut !== undefined) {
      const { rest } = this.#cut
      this.#cut = { ...this.#cut, rest: 'none' }
      if (rest === 'none' || this.#at === script.length) return ''
      const frame = this.#frame(this.#at)
      if (rest === 'half') return frame.slice(0, frame.length / 2)
      this.#run.released = Math.max(released, this.#at + 1)
      return frame.slice(0, -2)
    }
    const to = Math.min(released, this.#at + 1 + (this.#at % 3))
    const frames = Array.from({ length: to - this.#at }, (_, n) => this.#frame(this.#at + n))
    this.#at = to
    if (frames.length > 0 && this.#back > 0) {
      this.#at = this.#before(to, this.#back, this.#ids === 'some' ? 1 : 0)
      this.#back = 0
    }
    return frames.join('')
  }

  /** A place before this one at which a server can begin: where an event has a name, or at the first one that it goes back to. */
  #before(at: number, events: number, first: 0 | 1): number {
    if (this.#ids === 'none' || at <= first) return at
    const to = Math.max(first, at - events)
    return this.#ids === 'some' && to > 0 && !hasId(to) ? to - 1 : to
  }

  #frame(at: number): string {
    const named = this.#ids === 'each' || (this.#ids === 'some' && hasId(at))
    // What is asked for behind it begins with the next.
    return `${named ? `id: ${at + 1}\n` : ''}data: ${JSON.stringify(this.#run.script[at])}\n\n`
  }
}

/** Of a server that names some events. */
function hasId(at: number): boolean {
  return at % 2 === 1
}
