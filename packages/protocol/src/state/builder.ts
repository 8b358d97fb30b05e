/**
 * Verified events → `Thread`. The mutable side of a thread: O(1) work for an event, immutable snapshots when someone
 * looks. It relies on the order that verification guarantees.
 */
import { Reporter } from '../diagnostics.ts'
import { UsageError } from '../errors.ts'
import type { Message, VerifiedEvent } from '../events/event.ts'
import type { Limits } from '../limits.ts'
import { Draft } from './draft.ts'
import { FOLD } from './fold.ts'
import type { RunError, RunOutcome, Thread } from './thread.ts'

const SILENT: Reporter = new Reporter()

export class ThreadBuilder {
  readonly #draft: Draft

  /**
   * @param initial what the thread held before: messages in order, shared state (`{}` if absent). Of `limits`, those
   * of JSON Patch apply (`jsonDepth`, `documentValues`).
   */
  constructor(initial: { readonly messages?: readonly Message[]; readonly state?: unknown; readonly limits?: Partial<Limits> } = {}) {
    this.#draft = new Draft(initial.messages ?? [], initial.state === undefined ? {} : initial.state, initial.limits)
  }

  /**
   * Folds one event.
   * @throws UsageError `chunk-not-expanded` for a *_CHUNK event, which verification expands.
   */
  apply(event: VerifiedEvent, reporter: Reporter = SILENT): void {
    const fold = Object.hasOwn(FOLD, event.type) ? FOLD[event.type] : undefined
    if (fold === undefined) {
      throw new UsageError('chunk-not-expanded', `${event.type} cannot be folded; expand and verify events first`)
    }
    const { run } = this.#draft
    if (run !== undefined && run.outcome !== 'running' && !ENDS_OR_STARTS.has(event.type)) {
      // Verification let the run go on after its end (tolerant and report modes).
      this.#draft.updateRun({ outcome: 'running' })
    }
    ;(fold as (draft: Draft, event: VerifiedEvent, reporter: Reporter) => void)(this.#draft, event, reporter)
  }

  /** Tells that the events to come are of a new stream: what ends before its RUN_STARTED is no earlier run. */
  beginStream(): void {
    this.#draft.beginStream()
  }

  /** How the last run of the stream in hand ended; `running` while it is open or none has come. */
  get outcome(): RunOutcome {
    return this.#draft.run?.outcome ?? 'running'
  }

  /** Appends a message, or replaces the one with its id where it stands. */
  addMessage(message: Message): void {
    this.#draft.messages.put(message)
  }

  /** Makes these the messages; those that are the same objects keep their identity. */
  setMessages(messages: readonly Message[]): void {
    this.#draft.messages.rearrange(messages)
  }

  setState(state: unknown): void {
    this.#draft.setState(state)
  }

  /** Marks interrupts as answered. */
  clearInterrupts(): void {
    this.#draft.setInterrupts([])
  }

  /** Ends the run in hand from outside: stopped, cut off or rejected. What is open is closed, what came stays. */
  endRun(outcome: RunOutcome, error?: RunError): void {
    this.#draft.endRun(outcome, error)
  }

  /** The thread as it stands: immutable; the same object as before if nothing changed. */
  snapshot(): Thread {
    return this.#draft.snapshot()
  }
}

const ENDS_OR_STARTS: ReadonlySet<string> = new Set(['RUN_STARTED', 'RUN_FINISHED', 'RUN_ERROR'])
