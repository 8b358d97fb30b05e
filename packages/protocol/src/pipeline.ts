/**
 * The inbound path on one screen: frames → events → verified → state. Only this file knows all stages.
 */
import { Reporter, type Diagnostic } from './diagnostics.ts'
import { ProtocolError } from './errors.ts'
import type { Message, VerifiedEvent } from './events/event.ts'
import { DONE, EventParser, parseFrame } from './events/parse.ts'
import type { Frame } from './frames/frame.ts'
import { withDefaults, type Limits } from './limits.ts'
import { ThreadBuilder } from './state/builder.ts'
import type { RunOutcome, Thread } from './state/thread.ts'
import { Verifier, type Emit, type Mode } from './verified/verifier.ts'
import type { RunIds } from './verified/ledger.ts'

export interface VerifyOptions {
  /** `strict` by default. */
  readonly mode?: Mode
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void
  readonly limits?: Partial<Limits>
}

/** Raw events in, verified events out: enforcement, chunk expansion and the order rules. Push style. */
export class EventVerifier {
  readonly reporter: Reporter
  readonly #parser: EventParser
  readonly #verifier: Verifier
  readonly #mode: Mode
  /** Events taken so far, dropped ones included. */
  count = 0
  #finished = false

  constructor(options: VerifyOptions = {}) {
    const limits = withDefaults(options.limits)
    this.#mode = options.mode ?? 'strict'
    this.reporter = new Reporter(options.onDiagnostic)
    this.#parser = new EventParser(this.reporter, limits)
    this.#verifier = new Verifier(this.#mode, this.reporter, limits)
  }

  /** Whether a run is open. */
  get running(): boolean {
    return this.#verifier.state === 'running'
  }

  /** Ids of the run in hand, or of the last one. */
  get run(): RunIds | undefined {
    return this.#verifier.run
  }

  /**
   * Takes one raw event (a JSON value; it is not changed) and gives what it stands for to `emit`, in order.
   * @throws ProtocolError `malformed`, `violation` or `limit`: the event changed nothing. In `report` mode it is
   * reported and nothing is thrown.
   */
  accept(event: unknown, emit: Emit, line?: number): void {
    this.#enter(line)
    try {
      const parsed = this.#parser.parse(event)
      if (parsed !== undefined) this.#verifier.accept(parsed, emit)
    } catch (error) {
      this.#refuse(error)
    } finally {
      this.#leave()
    }
  }

  /** As {@link accept}, for a frame of JSON text. `[DONE]` finishes an open run, and is nothing after one. */
  acceptFrame(frame: Frame, emit: Emit): void {
    let value: unknown
    try {
      value = parseFrame(frame)
    } catch (error) {
      this.#enter(frame.line)
      try {
        this.#refuse(error)
      } finally {
        this.#leave()
      }
      return
    }
    if (value !== DONE) {
      this.accept(value, emit, frame.line)
      return
    }
    this.#enter(frame.line)
    // No event of the stream: what follows it, if anything, has its index.
    this.count--
    try {
      this.reporter.report('frame.done', { message: 'The stream ends with [DONE]' })
      const { run } = this
      if (this.running && run !== undefined) this.#verifier.accept({ type: 'RUN_FINISHED', ...run }, emit)
    } catch (error) {
      this.#refuse(error)
    } finally {
      this.#leave()
    }
  }

  /** The events that would close what is open, newest first: what a producer sends before RUN_FINISHED. */
  closers(): VerifiedEvent[] {
    return this.#verifier.closers()
  }

  /** Ends the input; reports a run that is still open, or that there was none. */
  finish(): void {
    if (this.#finished) return
    this.#finished = true
    this.#verifier.finish()
  }

  #enter(line: number | undefined): void {
    const { reporter } = this
    reporter.event = this.count++
    reporter.line = line
    reporter.type = undefined
  }

  #leave(): void {
    const { reporter } = this
    reporter.event = null
    reporter.line = reporter.type = undefined
  }

  #refuse(error: unknown): void {
    if (!(error instanceof ProtocolError)) throw error
    const { rule, message, pointer } = error
    // Violations were reported where they were found.
    if (error.code !== 'violation' && rule !== 'run.ledger-full') {
      this.reporter.report(rule as Diagnostic['rule'], { message, ...(pointer !== undefined && { pointer }) })
    }
    if (this.#mode === 'report') return
    throw error.event === undefined && this.reporter.event !== null
      ? new ProtocolError(message, { ...error, code: error.code, rule, event: this.reporter.event })
      : error
  }
}

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

  constructor(options: ThreadReaderOptions = {}) {
    const { onEvent, messages, state } = options
    const thread = options.thread ?? new ThreadBuilder({ ...(messages && { messages }), ...(state !== undefined && { state }) })
    const verifier = new EventVerifier(options)
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
    if (this.#outcome !== 'running') return this.#outcome
    return this.#verifier.run === undefined && this.#verifier.count === 0 ? 'running' : (this.snapshot().runs.at(-1)?.outcome ?? 'running')
  }

  /**
   * Takes one raw event: a JSON value or a typed event; it is not changed.
   * @throws ProtocolError (strict and tolerant mode) if the event is refused. It changed nothing; what came before it
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

  /** As {@link accept}, for a frame. `[DONE]` finishes an open run. */
  acceptFrame(frame: Frame): void {
    if (this.#error !== undefined) throw this.#error
    try {
      this.#verifier.acceptFrame(frame, this.#emit)
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
      this.thread.endRun(this.#outcome, { message: error.message, code: error.rule })
    }
    throw error
  }
}

/**
 * The order rules as a stream operator: raw events in, verified events out.
 * @throws ProtocolError after all that was valid has been given.
 */
export async function* verifyEvents(source: AsyncIterable<unknown> | Iterable<unknown>, options: VerifyOptions = {}): AsyncGenerator<VerifiedEvent, void, void> {
  const verifier = new EventVerifier(options)
  const ready: VerifiedEvent[] = []
  for await (const event of source) {
    verifier.accept(event, (verified) => ready.push(verified))
    yield* ready.splice(0)
  }
  verifier.finish()
}

/**
 * The fold as a stream operator: verified events in, a snapshot after each out.
 * @throws UsageError `chunk-not-expanded` for a *_CHUNK event.
 */
export async function* applyEvents(
  source: AsyncIterable<VerifiedEvent> | Iterable<VerifiedEvent>,
  initial: { readonly messages?: readonly Message[]; readonly state?: unknown } = {},
): AsyncGenerator<Thread, void, void> {
  const thread = new ThreadBuilder(initial)
  for await (const event of source) {
    thread.apply(event)
    yield thread.snapshot()
  }
}

/** The name the AG-UI client gives {@link applyEvents}. */
export const defaultApplyEvents: typeof applyEvents = applyEvents
