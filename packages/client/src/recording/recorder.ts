/**
 * Writes the lines of a recording: to a sink as they are made, into memory up to a bound, or both. Whatever goes wrong here ends
 * the writing and nothing else. It knows no connection.
 */
import type { Clock } from '../clock.ts'
import { toError } from '../errors.ts'
import { RECORDING_VERSION, type RecordedEnd, type RecordedError, type RecordedRequest } from './format.ts'

/** Takes lines as they are made, each with its line end. A promise that it gives is not waited for; if it rejects, the sink has failed. */
export type RecordingSink = (line: string) => unknown

export interface RecorderOptions {
  readonly sink?: RecordingSink | undefined
  /** Characters kept in memory. */
  readonly keep: number
  readonly clock: Clock
  /** Told once, when the sink has failed or something cannot be written. */
  warn(message: string, error: unknown): void
}

/** What is kept of one exchange. */
interface Kept {
  readonly lines: { readonly place: number; readonly line: string }[]
  /** It lasts as long as the session, and has its room. */
  readonly stays: boolean
  length: number
  /** Events that found no room. */
  lost: number
}

export class Recorder {
  readonly #options: RecorderOptions
  readonly #header: string
  readonly #began: number
  readonly #kept = new Map<number, Kept>()
  #length = 0
  #places = 0
  #exchanges = 0
  /** Exchanges that were let go. */
  #gone = 0
  /** Why the sink gets nothing more. */
  failure: Error | undefined

  constructor(options: RecorderOptions) {
    this.#options = options
    this.#began = options.clock.now()
    this.#header = `${JSON.stringify({ recording: RECORDING_VERSION, startedAt: new Date(this.#began).toISOString() })}\n`
    this.#tell(this.#header)
  }

  /** Exchanges that were let go for want of room, whole or in part. */
  get lost(): number {
    return this.#gone + [...this.#kept.values()].filter(({ lost }) => lost > 0).length
  }

  begin(request: RecordedRequest): Exchange {
    const of = ++this.#exchanges
    if (this.#options.keep > 0) this.#kept.set(of, { lines: [], stays: request.kind === 'subscribe', length: 0, lost: 0 })
    this.#write(of, { request })
    return new Exchange((entry) => this.#write(of, entry))
  }

  /** What is kept, in the order in which it came. */
  text(): string {
    const lines = [...this.#kept.values()].flatMap((kept) => kept.lines).sort((a, b) => a.place - b.place)
    const lost = [...this.#kept].flatMap(([of, kept]) => (kept.lost === 0 ? [] : `${JSON.stringify({ at: this.#now(), of, lost: kept.lost })}\n`))
    return [this.#header, ...lines.map(({ line }) => line), ...lost].join('')
  }

  #now(): number {
    return Math.max(0, Math.round(this.#options.clock.now() - this.#began))
  }

  #write(of: number, entry: object): void {
    let line: string
    try {
      line = `${JSON.stringify({ at: this.#now(), of, ...entry })}\n`
    } catch (error) {
      // An event of an agent in the same process may hold anything.
      this.#options.warn('Something cannot be recorded: it is not JSON.', error)
      return
    }
    this.#tell(line)
    this.#keep(of, line, 'chunk' in entry)
  }

  #tell(line: string): void {
    const { sink } = this.#options
    if (sink === undefined || this.failure !== undefined) return
    try {
      const answer = sink(line)
      if (answer instanceof Promise) answer.catch((error: unknown) => this.#fail(error))
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    if (this.failure !== undefined) return
    this.failure = toError(error)
    this.#options.warn('The recording is not written on: its sink failed.', error)
  }

  #keep(of: number, line: string, isEvent: boolean): void {
    const { keep } = this.#options
    // Of an exchange that was let go nothing more is kept.
    const kept = this.#kept.get(of)
    if (kept === undefined) return
    this.#makeRoom(of, line.length)
    if (this.#length + line.length > keep && isEvent) {
      kept.lost++
      return
    }
    // A beginning without an end would say that it goes on.
    kept.lines.push({ place: this.#places++, line })
    kept.length += line.length
    this.#length += line.length
  }

  /** The oldest exchanges go first, each as a whole: half of one folds to nothing that ever was. */
  #makeRoom(of: number, length: number): void {
    for (const [oldest, { length: freed, stays }] of this.#kept) {
      if (this.#length + length <= this.#options.keep) return
      if (stays || oldest === of) continue
      this.#kept.delete(oldest)
      this.#length -= freed
      this.#gone++
    }
  }
}

/** One request and what came of it. */
export class Exchange {
  readonly #write: (entry: object) => void
  #ended = false

  constructor(write: (entry: object) => void) {
    this.#write = write
  }

  event(chunk: unknown, made: boolean): void {
    this.#write({ chunk, ...(made && { made }) })
  }

  answer(answer: unknown): void {
    this.#write({ answer: answer ?? null })
  }

  end(end: RecordedEnd, thrown?: unknown): void {
    if (this.#ended) return
    this.#ended = true
    this.#write({ end, ...(end === 'failed' && { error: errorOf(thrown) }) })
  }
}

function errorOf(thrown: unknown): RecordedError {
  const { message } = toError(thrown)
  const { code, status } = Object(thrown) as { readonly code?: unknown; readonly status?: unknown }
  return { message, ...(typeof code === 'string' && { code }), ...(typeof status === 'number' && { status }) }
}
