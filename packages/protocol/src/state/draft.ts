/**
 * The thread while it is being written: messages, shared state, runs and what is open. Families edit it; it knows no
 * events.
 */
import { present } from '../json-value.ts'
import type { Interrupt } from '../events/event.ts'
import type { Limits } from '../limits.ts'
import { PatchedDocument } from './json-patch.ts'
import { MessageSlots } from './message-slots.ts'
import { SharedList } from './shared-list.ts'
import { EMPTY_THREAD, type Run, type RunError, type RunOutcome, type Step, type Subagent, type Thread } from './thread.ts'

export class Draft {
  readonly messages: MessageSlots
  readonly document: PatchedDocument
  readonly limits: Partial<Limits>
  #stateChanged = false
  /** The state is null since before the run in hand, whose input could not say so. */
  heldNull = false
  readonly #runs = new SharedList<Run>()
  /** How many runs there were when the stream in hand began: those before it have ended and stay as they are. */
  #earlier = 0
  readonly #steps = new SharedList<Step>()
  readonly #subagents = new SharedList<Subagent>()
  readonly #subagentPlaces = new Map<string, number>()
  readonly #interrupts = new SharedList<Interrupt>()
  /** Calls started in the run in hand, and whether a result came. */
  readonly runCalls: Map<string, boolean> = new Map()
  #last: Thread

  constructor({ messages, state, runs, interrupts }: Pick<Thread, 'messages' | 'state' | 'runs' | 'interrupts'>, limits: Partial<Limits> = {}) {
    this.limits = limits
    this.messages = new MessageSlots(messages)
    this.document = new PatchedDocument(state, limits)
    this.#runs.replace(runs)
    this.#earlier = runs.length
    this.setInterrupts(interrupts)
    this.#last = { ...EMPTY_THREAD, state }
  }

  get state(): unknown {
    return this.document.value
  }

  setState(state: unknown): void {
    this.heldNull = false
    this.document.value = state
    this.#stateChanged = true
  }

  stateChanged(): void {
    this.#stateChanged = true
  }

  /** A new stream begins; runs of earlier ones are over. */
  beginStream(): void {
    this.#earlier = this.#runs.length
  }

  /** The last run of the stream in hand. */
  get run(): Run | undefined {
    return this.#runs.length > this.#earlier ? this.#runs.at(-1) : undefined
  }

  startRun(run: Run): void {
    this.#runs.push(run)
    this.runCalls.clear()
    this.#steps.clear()
    this.#subagents.clear()
    this.#subagentPlaces.clear()
  }

  updateRun(changes: Partial<Run> & { readonly outcome: RunOutcome }): void {
    const { run } = this
    if (run === undefined) this.#runs.push(changes)
    else this.replaceRun({ ...run, ...changes })
  }

  replaceRun(run: Run): void {
    this.#runs.set(this.#runs.length - 1, run)
  }

  endRun(outcome: RunOutcome, error?: RunError): void {
    this.messages.closeAll()
    this.#steps.clear()
    if (this.run === undefined && outcome === 'truncated') return
    this.updateRun({ outcome, ...present({ error }) })
  }

  startStep(step: Step): void {
    this.#steps.push(step)
  }

  finishStep(stepName: string, subagentRunId: string | undefined): void {
    const index = this.#steps.findLastIndex((step) => step.stepName === stepName && step.subagentRunId === subagentRunId)
    if (index !== -1) this.#steps.remove(index)
  }

  startSubagent(subagent: Subagent): void {
    this.#subagentPlaces.set(subagent.subagentRunId, this.#subagents.length)
    this.#subagents.push(subagent)
  }

  updateSubagent(subagentRunId: string, changes: Partial<Subagent>): void {
    const index = this.#subagentPlaces.get(subagentRunId)
    const subagent = index === undefined ? undefined : this.#subagents.at(index)
    if (index !== undefined && subagent !== undefined) this.#subagents.set(index, { ...subagent, ...changes })
  }

  /** An answer names its interrupt by id: of several with one id the first is asked, and the others are answered with it. */
  setInterrupts(interrupts: readonly Interrupt[]): void {
    const seen = new Set<string>()
    this.#interrupts.replace(interrupts.filter(({ id }) => !seen.has(id) && seen.add(id)))
  }

  /** The thread as it stands: an immutable value, the same one as before if nothing changed. */
  snapshot(): Thread {
    const last = this.#last
    const next: Thread = {
      messages: this.messages.snapshot(),
      state: this.#stateChanged ? this.document.value : last.state,
      runs: this.#runs.share(),
      steps: this.#steps.share(),
      subagents: this.#subagents.share(),
      interrupts: this.#interrupts.share(),
    }
    this.#stateChanged = false
    if ((Object.keys(next) as (keyof Thread)[]).every((key) => next[key] === last[key])) return last
    this.#last = next
    return next
  }
}
