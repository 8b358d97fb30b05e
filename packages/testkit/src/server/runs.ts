/**
 * The runs of a server and how far each has come. It knows no connection and no bytes: a reader asks for what is there
 * behind a position and waits at the bell for more.
 */
import { compatible, ThreadBuilder, ThreadReader, type Interrupt, type Message } from '@millrace/protocol'
import type { Bell } from './bell.ts'

/** An event as JSON gives it, or text that is sent as it is, such as `[DONE]` or something malformed. */
export type ScriptItem = string | { readonly type: string; readonly [field: string]: unknown }

/** What a client asked with: the JSON object that it posted. */
export interface RunInput {
  readonly threadId: string
  readonly runId: string
  readonly messages?: readonly Message[]
  readonly [field: string]: unknown
}

/** What a run says; `count` is the number of runs started before it. */
export type Script = (input: RunInput, count: number) => readonly ScriptItem[]

export interface HydratedThread {
  readonly messages: readonly Message[]
  readonly state: unknown
  readonly activeRun: { readonly runId: string } | null
  readonly interrupts: readonly Interrupt[]
}

export class Run {
  readonly input: RunInput
  readonly #items: ScriptItem[]
  #released: number
  #cancelled = false

  constructor(input: RunInput, items: readonly ScriptItem[], released: number) {
    this.input = input
    this.#items = [...items]
    this.#released = Math.min(released, items.length)
  }

  /** How many events can be read by now. */
  get available(): number {
    return this.#released
  }

  /** What can be read by now, without the first `from`. */
  read(from: number): readonly ScriptItem[] {
    return this.#items.slice(from, this.#released)
  }

  /** How many events the run has in all. */
  get length(): number {
    return this.#items.length
  }

  get state(): 'running' | 'cancelled' | 'done' {
    if (this.#cancelled) return 'cancelled'
    return this.#released < this.#items.length ? 'running' : 'done'
  }

  release(count: number): void {
    this.#released = Math.min(this.#released + count, this.#items.length)
  }

  /** What was not released does not come; the run ends as cancelled. False if it had ended. */
  cancel(): boolean {
    if (this.state !== 'running') return false
    const { threadId, runId } = this.input
    this.#items.splice(this.#released, Infinity, { type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'cancelled' } })
    this.#released = this.#items.length
    this.#cancelled = true
    return true
  }
}

export class Runs {
  /** In the order in which they started; a run that is started twice stands here twice. */
  readonly started: Run[] = []
  readonly #bell: Bell
  readonly #script: Script
  readonly #hold: number

  /** @param hold Events of each run that can be read before `release`. */
  constructor(bell: Bell, script: Script, hold: number) {
    this.#bell = bell
    this.#script = script
    this.#hold = hold
  }

  start(input: RunInput): Run {
    const run = new Run(input, this.#itemsFor(input), this.#hold)
    this.started.push(run)
    this.#bell.ring()
    return run
  }

  #itemsFor(input: RunInput): readonly ScriptItem[] {
    try {
      return this.#script(input, this.started.length)
    } catch (error) {
      return [{ type: 'RUN_ERROR', message: `The script failed: ${String(error)}`, code: 'testkit.script' }]
    }
  }

  /** The last run of this id. */
  find(runId: string): Run | undefined {
    return this.started.findLast(({ input }) => input.runId === runId)
  }

  release(count: number, runId?: string): void {
    for (const run of this.started) if (runId === undefined || run.input.runId === runId) run.release(count)
    this.#bell.ring()
  }

  cancel(run: Run): boolean {
    const cancelled = run.cancel()
    this.#bell.ring()
    return cancelled
  }

  /** The thread as it is now, without the events of a run that is under way: those are read from its start. */
  hydrate(threadId: string): HydratedThread | undefined {
    const runs = this.started.filter(({ input }) => input.threadId === threadId)
    if (runs.length === 0) return undefined
    const thread = new ThreadBuilder()
    const reader = new ThreadReader({ ...compatible('report'), thread })
    for (const run of runs) {
      const known = new Set(thread.snapshot().messages.map(({ id }) => id))
      const sent = run.input.messages ?? []
      if (sent.some(({ id }) => known.has(id))) thread.setMessages(sent)
      else for (const message of sent) thread.addMessage(message)
      if (run.state !== 'running') for (const item of run.read(0)) if (typeof item !== 'string') reader.accept(item)
    }
    const { messages, state, interrupts } = thread.snapshot()
    const active = runs.findLast((run) => run.state === 'running')
    return { messages, state, activeRun: active === undefined ? null : { runId: active.input.runId }, interrupts }
  }
}
