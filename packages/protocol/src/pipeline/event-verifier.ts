/**
 * The first half of the inbound path: frames or raw events → verified events. Push style; it folds nothing.
 */
import { present } from '../json-value.ts'
import { Reporter, type Diagnostic } from '../diagnostics.ts'
import { ProtocolError } from '../errors.ts'
import type { Message, VerifiedEvent } from '../events/event.ts'
import { DONE, EventParser, parseFrame, type UpgradeFactory } from '../events/parse.ts'
import type { Frame } from '../frames/frame.ts'
import { withDefaults, type Limits } from '../limits.ts'
import type { Watch, WatchFactory } from '../verified/hygiene.ts'
import type { RunIds } from '../verified/ledger.ts'
import { leniencyOf, type Leniency } from '../verified/leniency.ts'
import { RepeatedDelta } from '../verified/repeat.ts'
import { Verifier, type Emit } from '../verified/verifier.ts'

/** How a stream is verified. */
export interface VerifyOptions {
  /** What is done about violations. `strict` by default: the first one ends the run. Import `tolerantMode` or `reportMode` for others. */
  readonly mode?: 'strict' | Leniency
  /** Give `oldSpellings` to read what producers from before 1.0 send as well. `compatible()` gives it, and the mode by name. */
  readonly upgrade?: UpgradeFactory
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void
  /** Give `hygieneRules` to report what is legal and still worth a look as well. It keeps the text of open calls. */
  readonly hygiene?: WatchFactory
  readonly limits?: Partial<Limits>
}

/** Raw events in, verified events out: enforcement, chunk expansion and the order rules. Push style. */
export class EventVerifier {
  readonly reporter: Reporter
  readonly #parser: EventParser
  readonly #verifier: Verifier
  readonly #leniency: Leniency | undefined
  readonly #repeat = new RepeatedDelta()
  readonly #hygiene: Watch | undefined
  /** Events taken so far, dropped ones included. */
  count = 0
  #finished = false

  /**
   * @param history what the thread held before, for the hygiene rules.
   * @throws UsageError `bad-mode`.
   */
  constructor(options: VerifyOptions = {}, history: readonly Message[] = []) {
    const limits = withDefaults(options.limits)
    this.#leniency = leniencyOf(options.mode)
    this.reporter = new Reporter(options.onDiagnostic)
    this.#hygiene = options.hygiene?.(this.reporter, history)
    this.#parser = new EventParser(this.reporter, limits, options.upgrade, this.#leniency?.nulls)
    this.#verifier = new Verifier(this.#leniency, this.reporter, limits)
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
   * @throws ProtocolError `malformed`, `violation` or `limit`: the event changed nothing. In `reportMode` it is
   * reported and nothing is thrown.
   */
  accept(event: unknown, emit: Emit, line?: number): void {
    this.#enter(line)
    try {
      if (this.#hygiene !== undefined) emit = watched(emit, this.#hygiene)
      const repeated = this.#repeat.match(event)
      if (repeated !== undefined) {
        this.reporter.type = (event as { readonly type: string }).type
        emit(repeated)
        return
      }
      const parsed = this.#parser.parse(event)
      if (parsed === undefined) return
      const clean = this.#verifier.accept(parsed, emit)
      this.#repeat.note(clean ? parsed : undefined, this.#verifier.ledger)
    } catch (error) {
      this.#refuse(error)
    } finally {
      this.#leave()
    }
  }

  /**
   * As {@link accept}, for a frame: of JSON text, or of what `parse` reads. What that throws is the verdict on the event.
   * `[DONE]` finishes an open run, and is nothing after one.
   */
  acceptFrame(frame: Frame, emit: Emit): void
  acceptFrame<F extends object>(frame: F, emit: Emit, parse: (frame: F) => unknown): void
  acceptFrame(frame: { readonly line?: number }, emit: Emit, parse: (frame: never) => unknown = parseFrame): void {
    let value: unknown
    try {
      value = parse(frame as never)
    } catch (error) {
      this.#enter(frame.line)
      try {
        if (error instanceof ProtocolError) this.reporter.type = error.type
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
    // No event of the stream, so it has a line and no index.
    this.reporter.line = frame.line
    try {
      this.reporter.report('frame.done', { message: 'The stream ends with [DONE]' })
      const { run } = this
      this.#repeat.note(undefined, this.#verifier.ledger)
      if (this.running && run !== undefined) {
        for (const closer of this.#verifier.closers()) this.#verifier.accept(closer, emit)
        this.#verifier.accept({ type: 'RUN_FINISHED', ...run }, emit)
      }
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
      this.reporter.report(rule as Diagnostic['rule'], { message, ...present({ pointer }) })
    }
    if (this.#leniency?.skipsMalformed) return
    throw error.event === undefined && this.reporter.event !== null
      ? new ProtocolError(message, { ...error, code: error.code, rule, event: this.reporter.event })
      : error
  }
}

function watched(emit: Emit, hygiene: Watch): Emit {
  return (event) => {
    hygiene.see(event)
    emit(event)
  }
}
