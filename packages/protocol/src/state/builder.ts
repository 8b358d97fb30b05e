/**
 * Verified events → `Thread`. The mutable side of a thread: O(1) work for an event, immutable snapshots when someone
 * looks. It relies on the order that verification guarantees.
 */
import { Reporter } from '../diagnostics.ts'
import { UsageError } from '../errors.ts'
import { present } from '../json-value.ts'
import type { Message, ToolMessage, VerifiedEvent } from '../events/event.ts'
import type { Limits } from '../limits.ts'
import { Draft } from './draft.ts'
import { FOLD } from './fold.ts'
import type { RunError, RunOutcome, Thread } from './thread.ts'
import { answer } from './tool-call.ts'

const SILENT: Reporter = new Reporter()

/** A thread that grows by verified events; `snapshot()` is what there is to see. It checks no order: see `EventVerifier`. */
export class ThreadBuilder {
  readonly #draft: Draft

  /**
   * @param initial what the thread held before: messages in order, shared state (`{}` if absent), runs that are over and
   * the questions of the last one. Of `limits`, those of JSON Patch apply (`jsonDepth`, `documentValues`).
   */
  constructor(initial: Partial<Pick<Thread, 'messages' | 'state' | 'runs' | 'interrupts'>> & { readonly limits?: Partial<Limits> } = {}) {
    const { messages = [], state = {}, runs = [], interrupts = [], limits } = initial
    this.#draft = new Draft({ messages, state, runs, interrupts }, limits)
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
    if (run !== undefined && run.outcome !== 'running' && !LEAVE_IT_OVER.has(event.type)) {
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

  /** Adds the answer to a call, behind its message, or replaces the message with its id. */
  addToolResult(message: ToolMessage): void {
    answer(this.#draft, message)
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
    this.#draft.interrupts.replace([])
  }

  /** Ends the run in hand from outside: stopped, cut off or rejected. What is open is closed, what came stays. */
  endRun(outcome: RunOutcome, error?: RunError): void {
    this.#draft.endRun(outcome, present({ error }))
  }

  /** The thread as it stands: immutable; the same object as before if nothing changed. */
  snapshot(): Thread {
    return this.#draft.snapshot()
  }
}

/** They end a run or start one, or show nothing of it. */
const LEAVE_IT_OVER: ReadonlySet<string> = new Set(['RUN_STARTED', 'RUN_FINISHED', 'RUN_ERROR', 'CUSTOM', 'RAW'])
