/** The whole inbound path in one object: frames or raw events → `Thread`. One for each stream. */
import { present } from '../json-value.ts'
import { ProtocolError } from '../errors.ts'
import type { Message, VerifiedEvent } from '../events/event.ts'
import { parseFrame } from '../events/parse.ts'
import type { Frame } from '../frames/frame.ts'
import { ThreadBuilder } from '../state/builder.ts'
import type { RunOutcome, Thread } from '../state/thread.ts'
import type { RunIds } from '../verified/ledger.ts'
import type { Emit } from '../verified/verifier.ts'
import { EventVerifier, type VerifyOptions } from './event-verifier.ts'

/** How a stream is verified, and what it is folded into. */
export interface ThreadReaderOptions extends VerifyOptions {
  /** Folds into this thread. Without it a new one is made from `messages` and `state`. */
  readonly thread?: ThreadBuilder
  readonly messages?: readonly Message[]
  readonly state?: unknown
  /** Called with each verified event after it was folded, and the index of the incoming event it came from. */
  readonly onEvent?: (event: VerifiedEvent, index: number) => void
}

/** How a rejected stream ends the run, by the code of the error. */
const REJECTED: Readonly<Record<ProtocolError['code'], RunOutcome>> = {
  violation: 'violation',
  malformed: 'malformed',
  truncated: 'truncated',
  limit: 'malformed',
}

/** The whole inbound path: raw events or frames in, a `Thread` out. One for each stream of bytes or events. */
export class ThreadReader {
  readonly thread: ThreadBuilder
  readonly #verifier: EventVerifier
  readonly #emit: Emit
  #error: ProtocolError | undefined
  #outcome: RunOutcome = 'running'
  #finished = false

  /** @throws UsageError `bad-mode`. */
  constructor(options: ThreadReaderOptions = {}) {
    const { onEvent, messages, state, limits } = options
    const thread = options.thread ?? new ThreadBuilder({ ...(messages && { messages }), ...present({ state }), ...(limits && { limits }) })
    const verifier = new EventVerifier(options, messages)
    thread.beginStream()
    this.thread = thread
    this.#verifier = verifier
    this.#emit =
      onEvent === undefined
        ? (event) => thread.apply(event, verifier.reporter)
        : (event) => {
            thread.apply(event, verifier.reporter)
            onEvent(event, verifier.count - 1)
          }
  }

  /** Events taken so far. */
  get count(): number {
    return this.#verifier.count
  }

  /** What ended the stream, if it was rejected. */
  get error(): ProtocolError | undefined {
    return this.#error
  }

  /** Ids of the run in hand, or of the last one. */
  get run(): RunIds | undefined {
    return this.#verifier.run
  }

  /** How the last run ended; `running` while one is open or none has come. */
  get outcome(): RunOutcome {
    return this.#outcome === 'running' ? this.thread.outcome : this.#outcome
  }

  /**
   * Takes one raw event: a JSON value or a typed event; it is not changed.
   * @throws ProtocolError (but in `reportMode`) if the event is refused. It changed nothing; what came before it
   * stays; the stream has ended, and later calls throw the same error.
   */
  accept(event: unknown, line?: number): void {
    if (this.#error !== undefined) throw this.#error
    try {
      this.#verifier.accept(event, this.#emit, line)
    } catch (error) {
      this.#reject(error)
    }
  }

  /** As {@link accept}, for a frame: of JSON text, or of what `parse` reads. `[DONE]` finishes an open run. */
  acceptFrame(frame: Frame): void
  acceptFrame<F extends object>(frame: F, parse: (frame: F) => unknown): void
  acceptFrame(frame: object, parse: (frame: never) => unknown = parseFrame): void {
    if (this.#error !== undefined) throw this.#error
    try {
      this.#verifier.acceptFrame(frame, this.#emit, parse as (frame: object) => unknown)
    } catch (error) {
      this.#reject(error)
    }
  }

  /**
   * Ends the input.
   * @returns how the stream ended; `truncated` if a run is open or there was none. Safe to call again.
   */
  finish(): RunOutcome {
    if (this.#finished) return this.#outcome
    this.#finished = true
    if (this.#error === undefined) {
      this.#verifier.finish()
      const outcome = this.outcome
      if (outcome === 'running') this.thread.endRun('truncated')
      this.#outcome = outcome === 'running' ? 'truncated' : outcome
    }
    return this.#outcome
  }

  /** The thread as it stands: immutable, sharing with earlier ones all that did not change. */
  snapshot(): Thread {
    return this.thread.snapshot()
  }

  #reject(error: unknown): never {
    if (error instanceof ProtocolError) {
      this.#error = error
      this.#outcome = REJECTED[error.code]
      // What came behind an error says nothing more of the run that failed.
      if (this.thread.outcome !== 'error') this.thread.endRun(this.#outcome, { message: error.message, code: error.rule })
    }
    throw error
  }
}
