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
import { EMPTY_THREAD, type Run, type RunOutcome, type Step, type Subagent, type Thread } from './thread.ts'

type RunChanges = { readonly [Field in keyof Run]?: Run[Field] | undefined } & Pick<Run, 'outcome'>

export class Draft {
  readonly messages: MessageSlots
  readonly document: PatchedDocument
  readonly limits: Partial<Limits>
  /** The state is null since before the run in hand, whose input could not say so. */
  heldNull = false
  readonly runs: SharedList<Run>
  readonly steps: SharedList<Step> = new SharedList()
  readonly subagents: SharedList<Subagent> = new SharedList()
  /** Where each subagent stands. */
  readonly places: Map<string, number> = new Map()
  readonly interrupts: SharedList<Interrupt> = new SharedList()
  /** Calls started in the run in hand, and whether a result came. */
  readonly runCalls: Map<string, boolean> = new Map()
  /** How many runs there were when the stream in hand began: those before it have ended and stay as they are. */
  #earlier = 0
  #last: Thread

  constructor({ messages, state, runs, interrupts }: Pick<Thread, 'messages' | 'state' | 'runs' | 'interrupts'>, limits: Partial<Limits> = {}) {
    this.limits = limits
    this.messages = new MessageSlots(messages)
    this.document = new PatchedDocument(state, limits)
    this.runs = new SharedList(runs)
    this.setInterrupts(interrupts)
    this.beginStream()
    this.#last = { ...EMPTY_THREAD, state }
  }

  setState(state: unknown): void {
    this.heldNull = false
    this.document.value = state
  }

  /** A new stream begins; runs of earlier ones are over. */
  beginStream(): void {
    this.#earlier = this.runs.length
  }

  /** The last run of the stream in hand. */
  get run(): Run | undefined {
    return this.runs.length > this.#earlier ? this.runs.at(-1) : undefined
  }

  startRun(run: Run): void {
    this.runs.push(run)
    this.runCalls.clear()
    this.steps.replace([])
    this.subagents.replace([])
    this.places.clear()
  }

  /** Changes the run in hand; one that ends before it has begun is a run all the same. What is said to be undefined is taken away. */
  updateRun(changes: RunChanges): void {
    const { run } = this
    const next = present({ ...run, ...changes }) as Run
    if (run === undefined) this.runs.push(next)
    else this.runs.set(this.runs.length - 1, next)
  }

  endRun(outcome: RunOutcome, more?: Omit<RunChanges, 'outcome'>): void {
    this.messages.closeAll()
    this.steps.replace([])
    if (this.run !== undefined || outcome !== 'truncated') this.updateRun({ outcome, ...more })
  }

  /** An answer names its interrupt by id: of several with one id the first is asked, and the others are answered with it. */
  setInterrupts(interrupts: readonly Interrupt[], onRepeated?: (id: string, index: number) => void): void {
    const seen = new Set<string>()
    const first = interrupts.filter(({ id }, index) => {
      const repeated = seen.has(id)
      if (repeated) onRepeated?.(id, index)
      seen.add(id)
      return !repeated
    })
    this.interrupts.replace(first)
  }

  /** The thread as it stands: an immutable value, the same one as before if nothing changed. */
  snapshot(): Thread {
    const last = this.#last
    const next: Thread = {
      messages: this.messages.snapshot(),
      state: this.document.value,
      runs: this.runs.share(),
      steps: this.steps.share(),
      subagents: this.subagents.share(),
      interrupts: this.interrupts.share(),
    }
    if ((Object.keys(next) as (keyof Thread)[]).every((key) => next[key] === last[key])) return last
    this.#last = next
    return next
  }
}
