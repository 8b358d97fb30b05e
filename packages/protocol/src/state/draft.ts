/**
 * The thread while it is being written: messages, shared state, runs and what is open. Families edit it; it knows no
 * events.
 */
import type { Interrupt, Message } from '../events/event.ts'
import type { Limits } from '../limits.ts'
import { PatchedDocument } from './json-patch.ts'
import { MessageSlots } from './message-slots.ts'
import type { Run, RunError, RunOutcome, Step, Subagent, Thread } from './thread.ts'

export class Draft {
  readonly messages: MessageSlots
  readonly document: PatchedDocument
  readonly limits: Partial<Limits>
  #stateChanged = false
  #runs: readonly Run[] = []
  /** How many runs there were when the stream in hand began: those before it have ended and stay as they are. */
  #earlier = 0
  #steps: readonly Step[] = []
  #subagents: readonly Subagent[] = []
  #interrupts: readonly Interrupt[] = []
  /** Calls started in the run in hand, and whether a result came. */
  readonly runCalls: Map<string, boolean> = new Map()
  #last: Thread

  constructor(messages: readonly Message[], state: unknown, limits: Partial<Limits> = {}) {
    this.limits = limits
    this.messages = new MessageSlots(messages)
    this.document = new PatchedDocument(state, limits)
    this.#last = { messages: [], state, runs: [], steps: [], subagents: [], interrupts: [] }
  }

  get state(): unknown {
    return this.document.value
  }

  setState(state: unknown): void {
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
    this.#runs = [...this.#runs, run]
    this.runCalls.clear()
    this.setSteps([])
    this.setSubagents([])
  }

  updateRun(changes: Partial<Run> & { readonly outcome: RunOutcome }): void {
    const last = this.run
    this.#runs = last === undefined ? [...this.#runs, changes] : [...this.#runs.slice(0, -1), { ...last, ...changes }]
  }

  replaceRun(run: Run): void {
    this.#runs = [...this.#runs.slice(0, -1), run]
  }

  endRun(outcome: RunOutcome, error?: RunError): void {
    this.messages.closeAll()
    this.setSteps([])
    if (this.run === undefined && outcome === 'truncated') return
    this.updateRun({ outcome, ...(error !== undefined && { error }) })
  }

  get steps(): readonly Step[] {
    return this.#steps
  }

  setSteps(steps: readonly Step[]): void {
    if (steps.length === 0 && this.#steps.length === 0) return
    this.#steps = steps
  }

  get subagents(): readonly Subagent[] {
    return this.#subagents
  }

  setSubagents(subagents: readonly Subagent[]): void {
    if (subagents.length === 0 && this.#subagents.length === 0) return
    this.#subagents = subagents
  }

  setInterrupts(interrupts: readonly Interrupt[]): void {
    if (interrupts.length === 0 && this.#interrupts.length === 0) return
    this.#interrupts = interrupts
  }

  /** The thread as it stands: an immutable value, the same one as before if nothing changed. */
  snapshot(): Thread {
    const last = this.#last
    const next: Thread = {
      messages: this.messages.snapshot(),
      state: this.#stateChanged ? this.document.value : last.state,
      runs: this.#runs,
      steps: this.#steps,
      subagents: this.#subagents,
      interrupts: this.#interrupts,
    }
    this.#stateChanged = false
    if ((Object.keys(next) as (keyof Thread)[]).every((key) => next[key] === last[key])) return last
    this.#last = next
    return next
  }
}
