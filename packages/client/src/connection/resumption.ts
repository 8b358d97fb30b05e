/**
 * What a connection's end means for its run: done, try again behind the cursor, or give up. It does no I/O and waits for
 * nothing; `resume.ts` does what is decided here.
 */
import { DONE, ProtocolError, UsageError } from '@millrace/protocol'
import { givenUp, toError, TransportError } from '../errors.ts'
import { DEFAULT_CLIENT_LIMITS, type ClientLimits } from '../limits.ts'
import type { StreamChunk } from './adapter.ts'
import { Cursor, type Position } from './cursor.ts'
import type { Delivery } from './deliveries.ts'
import { isRefusal, mayPass, unanswered } from './retry.ts'
import type { Opened, RunSource } from './run-source.ts'
import { RunTracker, unfinished, type RunIds } from './terminal.ts'

export interface ResumptionOptions {
  readonly url?: string
  /** Ids of the run, for an end that has to be made up. */
  readonly runContext?: RunIds
  /** What a clean end while the run is open means. `finish`: the run is over. */
  readonly missingTerminal?: 'error' | 'finish'
  /** Begin behind this place instead of opening the run itself. */
  readonly from?: Position
  readonly limits?: Partial<ClientLimits>
}

/** How a connection ended. */
export type End = { readonly how: 'clean' } | { readonly how: 'failed'; readonly error: unknown }

/** What follows from it. */
export type Verdict =
  | { readonly next: 'done' }
  | { readonly next: 'give'; readonly chunk: StreamChunk }
  | { readonly next: 'throw'; readonly error: unknown }
  /** `askedMs`: the wait that the server asked for. */
  | { readonly next: 'retry'; readonly error: Error; readonly askedMs: number }

const CLEAN_DONE: Verdict = { next: 'done' }

export class Resumption {
  readonly #options: ResumptionOptions
  readonly #reopen: RunSource['reopen']
  readonly #maxAttempts: number
  readonly #limits: Pick<ClientLimits, 'recentIds' | 'retryAfterMs'>
  readonly #tracker: RunTracker
  readonly #cursor: Cursor
  #offers: Opened['offersResume'] = 'unknown'
  /** The run itself has been asked for; from now on only what follows the cursor is. */
  #begun = false
  /** An event has come. */
  #heard = false
  #saidDone = false
  /** An event whose frame had no end. If we come back it comes again, perhaps under an id that was cut off. */
  #held: Delivery | undefined
  /** What began the present outage. */
  #original: Error | undefined
  #attempts = 0

  constructor(reopen: RunSource['reopen'], maxAttempts: number, options: ResumptionOptions) {
    this.#options = options
    this.#reopen = reopen
    this.#maxAttempts = maxAttempts
    this.#limits = { ...DEFAULT_CLIENT_LIMITS, ...options.limits }
    this.#tracker = new RunTracker(options.runContext)
    this.#cursor = new Cursor(this.#limits.recentIds, options.from)
  }

  /** Where to open the next connection. */
  get position(): Position | undefined {
    return this.#begun ? this.#cursor.position : this.#options.from
  }

  /** Attempts in a row that brought nothing new, the one decided on included. */
  get attempts(): number {
    return this.#attempts
  }

  /** The other side has shown that it keeps runs: it gives ids, or says so. */
  get kept(): boolean {
    return this.#offers === 'yes' || this.#cursor.offered
  }

  /** The server has said that nothing more comes. */
  get saidDone(): boolean {
    return this.#saidDone
  }

  /** Different events came with one id. */
  get idsRepeat(): boolean {
    return this.#cursor.repeated
  }

  /** If the connection broke now, it could be resumed. */
  get resumable(): boolean {
    return this.#mayReopen(true)
  }

  opened(opened: Opened): void {
    if (this.position !== undefined) this.#cursor.reopened()
    this.#begun = true
    if (opened.offersResume !== 'unknown') this.#offers = opened.offersResume
  }

  /** The new events of a batch. */
  take(batch: readonly Delivery[]): StreamChunk[] {
    const chunks: StreamChunk[] = []
    for (const delivery of batch) {
      if (delivery.unterminated) this.#held = delivery
      else this.#takeOne(delivery, chunks)
    }
    if (chunks.length > 0) {
      this.#heard = true
      this.#attempts = 0
      this.#original = undefined
    }
    return chunks
  }

  /** What was held back, now that nothing more will come. */
  takeHeld(): StreamChunk[] {
    const chunks: StreamChunk[] = []
    if (this.#held !== undefined) this.#takeOne(this.#held, chunks)
    this.#held = undefined
    return chunks
  }

  #takeOne(delivery: Delivery, chunks: StreamChunk[]): void {
    const { event } = delivery
    if (event === DONE) {
      this.#saidDone = true
    } else if (this.#cursor.take(delivery)) {
      this.#tracker.see(event)
      chunks.push(event)
    }
  }

  judge(end: End): Verdict {
    if (end.how === 'failed') return this.#judgeFailure(end.error)
    if (this.#saidDone || this.#held?.event === DONE) return this.#finish()
    if (this.#over()) return CLEAN_DONE
    if (this.#options.missingTerminal === 'finish') return this.#finish()
    return this.#again(unfinished(this.#options.url), false)
  }

  #judgeFailure(error: unknown): Verdict {
    const passes = mayPass(error)
    if (passes) return this.#again(error as TransportError, unanswered(error))
    const resuming = this.#original !== undefined
    if (resuming && isRefusal(error)) return this.#giveUp(error)
    // A function of the application that gives headers or a URL may need the network too.
    const known = error instanceof TransportError || error instanceof ProtocolError || error instanceof UsageError
    return resuming && !known ? this.#again(toError(error), true) : { next: 'throw', error }
  }

  #again(error: Error, unheard: boolean): Verdict {
    this.#original ??= error
    const askedMs = (error instanceof TransportError ? error.retryAfterMs : undefined) ?? 0
    if (!this.#mayReopen(unheard) || this.#attempts >= this.#maxAttempts || askedMs > this.#limits.retryAfterMs) return this.#giveUp(error)
    this.#attempts++
    this.#begun = true
    this.#held = undefined
    return { next: 'retry', error, askedMs }
  }

  /** `unheard`: as far as the last connection goes, the other side may not have answered at all. */
  #mayReopen(unheard: boolean): boolean {
    switch (this.#reopen) {
      case 'never':
        return false
      case 'always':
        // Refused before it began: there is nothing to come back to.
        return this.#begun || this.#options.from !== undefined || unheard
      case 'cursor':
        return this.#offers !== 'no' && this.#cursor.position.id !== undefined
      case 'unheard':
        return this.#offers !== 'no' && (this.#cursor.position.id !== undefined || !this.#heard)
      case 'offered':
        if (this.#offers !== 'unknown') return this.#offers === 'yes'
        return this.#cursor.offered || (!this.#heard && (this.#attempts > 0 || unheard))
    }
  }

  #finish(): Verdict {
    if (this.#held?.event === DONE) this.#held = undefined
    if (this.#tracker.terminal) return CLEAN_DONE
    try {
      return { next: 'give', chunk: this.#tracker.finished() }
    } catch (error) {
      return { next: 'throw', error }
    }
  }

  #giveUp(last: unknown): Verdict {
    // Nothing that we know of is missing.
    if (this.#over()) return CLEAN_DONE
    return { next: 'throw', error: givenUp(this.#original ?? toError(last), this.#attempts, last) }
  }

  /** The last run has its terminal event. */
  #over(): boolean {
    if (this.#held === undefined) return this.#tracker.terminal
    const { type } = Object(this.#held.event) as { readonly type?: unknown }
    return type === 'RUN_FINISHED' || type === 'RUN_ERROR'
  }
}
