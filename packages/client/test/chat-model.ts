/**
 * What a chat is to show after each thing that a user, the clock or the network does: by its own simple rules, in the fewest
 * words. It knows the runs of the world as they are asked for, and nothing of how a chat is made.
 */
import type { WhenBusy } from '@millrace/client'
import { callId, CALLS, type Plan, type Question, type Run, type World } from './model-world.ts'

export interface ModelOptions {
  readonly whenBusy: WhenBusy
  readonly drain: 'fifo' | 'batch'
  readonly maxSize: number
  readonly onOverflow: 'refuse' | 'drop-oldest'
  readonly maxContinuations: number
}

interface Said {
  readonly user: string
  text: string
}

/** A run as it shows: so many of its events, and what its calls were answered. */
interface Shown {
  readonly run: Run
  events: number
  readonly answers: Map<string, string>
}

type Entry = Said | Shown

const isShown = (entry: Entry): entry is Shown => 'run' in entry

/** Runs one after the other for what was sent once, or joined. */
interface Chain {
  /** Those who wait for its end. */
  readonly sends: readonly number[]
  readonly plan: Plan | undefined
  readonly joined: boolean
  shown: Shown
  /** What its last run was sent with, and over what state. */
  resumes: boolean
  state: unknown
  /** Runs that it went on with. */
  count: number
  /** The run is over and our slow tools are at work. */
  working: boolean
}

/** A turn that failed, and what it began with. */
interface Failed {
  readonly shown: Shown
  readonly plan: Plan | undefined
  readonly resumes: boolean
  readonly state: unknown
  /** The answers that it was sent with. */
  readonly notes: ReadonlyMap<string, 'resolved' | 'cancelled'>
}

interface Waiting {
  readonly send: number
  readonly id: string
  readonly text: string
  readonly plan: Plan
}

/** Gives a code where the chat has to refuse. */
type Refusal = string | undefined

export class Model {
  readonly #world: World
  readonly #options: ModelOptions
  entries: Entry[] = []
  status: 'ready' | 'submitted' | 'streaming' | 'error' = 'ready'
  state: unknown = {}
  /** Open questions: only the end of a run that did not fail takes them away. */
  questions: readonly Question[] = []
  /** The run that asked them. */
  #asker: string | undefined
  /** Answers that have not been used, by question. */
  readonly #noted = new Map<string, 'resolved' | 'cancelled'>()
  queue: Waiting[] = []
  /** How each thing that was begun ended. */
  readonly results = new Map<number, string>()
  /** How each send ended, as `onFinish` is told. */
  readonly finishes: string[] = []
  /** Calls that the application was told of, and those that were run. */
  readonly told: string[] = []
  readonly executed: string[] = []
  /** What is wrong with requests. */
  readonly faults: string[] = []
  #chain: Chain | undefined
  #left: Shown | undefined
  /** The request of the run that was left has not been heard of yet: it goes on being read until it is, and only then joined. */
  #unheard = false
  /** The last run of which anything was heard, if it ended well: its open calls are the ones that the agent waits for. */
  #last: Shown | undefined
  /** The last run was stopped or failed, or the reading of it. */
  #overEarly = false
  #begun = 0
  /** Runs of each plan. */
  readonly #used = new Map<Plan | undefined, number>()
  /** Of the turn that failed last, if nothing was done since. */
  failed: Failed | undefined

  constructor(world: World, options: ModelOptions) {
    this.#world = world
    this.#options = options
  }

  get busy(): boolean {
    return this.#chain !== undefined
  }

  /** A run is left, or read again: what was there before it is shown once more. */
  get returns(): boolean {
    return this.#left !== undefined || this.#chain?.joined === true
  }

  /** Questions that show. */
  get asked(): readonly string[] {
    return this.questions.map(({ id }) => id).filter((id) => !this.#noted.has(id))
  }

  /** Calls of the server's that wait for the word of the user, as long as they show. */
  get unapproved(): readonly string[] {
    const showing = new Set(this.entries.filter(isShown).flatMap((entry) => this.#callsOf(entry).map(({ id }) => id)))
    return this.questions.flatMap(({ id, call }) => (call !== undefined && showing.has(call) && !this.#noted.has(id) ? [call] : []))
  }

  /** Ids of the messages of the user, in order. */
  get users(): readonly string[] {
    return this.entries.flatMap((entry) => (isShown(entry) ? [] : [entry.user]))
  }

  /** Calls that show and wait for the application, or did. */
  get calls(): readonly string[] {
    return this.entries.filter(isShown).flatMap((entry) => this.#callsOf(entry).flatMap(({ id, name }) => (name === 'ask' ? [id] : [])))
  }

  /** What there is to see, a line each. */
  get lines(): string[] {
    return this.entries.flatMap((entry) => this.#linesOf(entry))
  }

  send(send: number, id: string, text: string, plan: Plan, whenBusy: WhenBusy = this.#options.whenBusy): Refusal {
    if (this.users.includes(id) || this.queue.some((waiting) => waiting.id === id)) return 'id-taken'
    if (this.busy) {
      if (whenBusy === 'refuse') return 'busy'
      if (whenBusy === 'drop') return void this.#settle([send], 'cancelled')
      if (whenBusy === 'queue') return this.#wait({ send, id, text, plan })
    }
    if (this.questions.length > 0) return 'interrupts-pending'
    this.#cancel()
    this.#closeCalls()
    this.entries.push({ user: id, text })
    return this.#begin([send], plan)
  }

  /** What is said in place of an answer is one. */
  #closeCalls(): void {
    if (this.#last !== undefined) for (const id of this.#open(this.#last)) this.#last.answers.set(id, 'The user said something else instead.')
    else if (this.#overEarly && this.#left === undefined) this.#closeLost()
  }

  /** Nor is there anything to wait for when a run is over before its time. */
  #closeLost(): void {
    const shown = this.entries.slice(this.entries.findLastIndex((entry) => !isShown(entry)) + 1).filter(isShown)
    for (const [index, entry] of shown.entries()) {
      const wentOn = shown.slice(index + 1).some(({ run, events }) => run.kind === 'text' && events > 2)
      for (const { id, name } of this.#callsOf(entry)) if (!entry.answers.has(id) && !(name === 'book' && wentOn)) entry.answers.set(id, 'The run ended before there was a result.')
    }
  }

  cancelQueued(id: string): boolean {
    const found = this.queue.find((waiting) => waiting.id === id)
    if (found === undefined) return false
    this.queue = this.queue.filter((waiting) => waiting !== found)
    this.#settle([found.send], 'cancelled')
    return true
  }

  edit(send: number, before: string, id: string, text: string, plan: Plan): Refusal {
    if (this.questions.length > 0) return 'interrupts-pending'
    if (!this.users.includes(before)) return 'unknown-message'
    this.stop()
    this.entries.splice(this.entries.findIndex((entry) => !isShown(entry) && entry.user === before))
    this.entries.push({ user: id, text })
    return this.#begin([send], plan)
  }

  reload(send: number, plan: Plan): Refusal {
    if (this.questions.length > 0) return 'interrupts-pending'
    if (this.users.length === 0) return 'nothing-to-reload'
    this.stop()
    this.entries.splice(this.entries.findLastIndex((entry) => !isShown(entry)) + 1)
    return this.#begin([send], plan)
  }

  retry(send: number): Refusal {
    if (this.busy) return 'busy'
    const { failed } = this
    if (failed === undefined) return 'nothing-to-retry'
    // What was said since goes before it.
    const notes = new Map([...failed.notes, ...this.#noted])
    if (failed.resumes && this.questions.some((question) => this.#expired(question, notes.get(question.id)))) return 'interrupt-expired'
    this.entries.splice(this.entries.indexOf(failed.shown))
    this.state = failed.state
    if (failed.resumes) for (const [id, status] of notes) this.#noted.set(id, status)
    return this.#begin([send], failed.plan, failed.resumes)
  }

  append(send: number, id: string, text: string, plan: Plan): Refusal {
    if (this.busy) return 'busy'
    if (this.questions.length > 0) return 'interrupts-pending'
    this.#closeCalls()
    const known = this.entries.find((entry) => !isShown(entry) && entry.user === id) as Said | undefined
    if (known !== undefined) known.text = text
    else this.entries.push({ user: id, text })
    return this.#begin([send], plan)
  }

  answer(send: number, call: string, text: string, plan: Plan): Refusal {
    const shown = this.entries.filter(isShown).find((entry) => this.#callsOf(entry).some(({ id }) => id === call)) as Shown
    this.failed = undefined
    const last = this.#last
    const waited = last !== undefined && this.#open(last).length > 0
    shown.answers.set(call, text)
    if (this.busy || this.#left !== undefined || !waited || this.#open(last).length > 0) return void this.#settle([send], 'finished')
    return this.#begin([send], plan)
  }

  respond(send: number, id: string, status: 'resolved' | 'cancelled', plan: Plan): Refusal {
    if (this.busy) return 'busy'
    const question = this.questions.find((each) => each.id === id)
    if (question === undefined) return 'unknown-interrupt'
    if (this.#expired(question, status)) return 'interrupt-expired'
    const last = this.asked.every((other) => other === id)
    // One that was answered in time, and waited for the others for too long, can only be cancelled.
    if (last && this.questions.some((other) => other.id !== id && this.#expired(other, this.#noted.get(other.id)))) return 'interrupt-expired'
    this.#noted.set(id, status)
    if (!last) return void this.#settle([send], 'interrupted')
    return this.#begin([send], plan, true)
  }

  resume(send: number, count: number, status: 'resolved' | 'cancelled', plan: Plan): Refusal {
    if (this.busy) return 'busy'
    if (this.questions.length === 0) return 'nothing-to-resume'
    if (this.questions.slice(0, count).some((question) => this.#expired(question, status))) return 'interrupt-expired'
    if (count < this.questions.length) return 'unanswered-interrupts'
    for (const { id } of this.questions) this.#noted.set(id, status)
    return this.#begin([send], plan, true)
  }

  /** What runs is over, and what waits is let go. */
  stop(): void {
    this.#flush()
    if (this.#chain !== undefined) this.status = 'ready'
    this.#cancel()
    if (this.#left !== undefined) this.#overEarly = true
    this.#left = undefined
  }

  /** The reading of what runs is over; the run goes on. */
  detach(): void {
    const chain = this.#chain
    if (chain === undefined || chain.working) return
    this.#unheard = this.#unheard || chain.shown.run.released === 0
    this.#left = chain.shown
    this.#leave('ready')
    this.#settle(chain.sends, 'running')
    this.#flush()
  }

  attach(send: number): void {
    if (this.busy || this.#left === undefined) return this.#settle([send], 'none')
    this.#chain = { sends: [send], plan: undefined, joined: true, shown: this.#left, resumes: false, state: this.state, count: 0, working: false }
    this.failed = undefined
    this.#left = undefined
    this.status = 'submitted'
    this.progress()
  }

  clear(): void {
    this.stop()
    this.failed = undefined
    this.#last = this.#asker = undefined
    this.entries = []
    this.questions = []
    this.#noted.clear()
    this.state = {}
    this.status = 'ready'
  }

  /** What follows this message of the user is gone; all is, if there is none. */
  keepTo(user: string | undefined): void {
    this.failed = undefined
    this.entries = this.entries.slice(0, this.entries.findIndex((entry) => !isShown(entry) && entry.user === user) + 1)
  }

  /** The network broke. */
  broke(): void {
    const shown = this.#chain?.shown ?? this.#left
    const first = this.#unheard && shown?.run.released === 0
    this.#unheard = false
    const chain = this.#chain
    if (first || chain === undefined || chain.working) return
    this.#end('error')
    // A run that was joined may be joined again.
    if (chain.joined && chain.count === 0) this.#left = chain.shown
  }

  /** The slow tools that run are done. */
  toolsDone(): void {
    const chain = this.#chain
    if (chain?.working !== true) return
    for (const { id, name } of this.#callsOf(chain.shown)) if (name === 'slow' && !chain.shown.answers.has(id)) chain.shown.answers.set(id, 'slow')
    this.#answered(chain)
  }

  /** What was released has been read. */
  progress(): void {
    const chain = this.#chain
    if (chain === undefined || chain.working) return
    const { shown } = chain
    const { run } = shown
    if (run.kind === 'state' && shown.events < 2 && run.released >= 2) this.state = { by: run.runId }
    shown.events = Math.max(shown.events, run.released)
    if (run.released === 0) return
    this.#unheard = false
    this.#last = undefined
    this.status = 'streaming'
    if (run.released < run.script.length) return
    if (run.kind === 'fails') return this.#end('error')
    this.questions = run.questions
    this.#asker = run.questions.length > 0 ? run.runId : undefined
    this.#noted.clear()
    if (run.questions.length > 0) return this.#end('interrupted')
    this.#last = shown
    for (const { id, name } of this.#callsOf(shown)) {
      if (name === 'ask' || shown.answers.has(id)) continue
      this.executed.push(id)
      if (name === 'auto') shown.answers.set(id, 'auto')
      else chain.working = true
    }
    if (!chain.working) this.#answered(chain)
  }

  /** The tools of the last run have given what they could. */
  #answered(chain: Chain): void {
    const open = this.#open(chain.shown)
    this.told.push(...open)
    if (this.#callsOf(chain.shown).length === 0 || open.length > 0) return this.#end('finished')
    if (chain.count === this.#options.maxContinuations) return this.#end('error')
    this.#begin(chain.sends, chain.plan, false, chain.count + 1)
    this.progress()
  }

  #begin(sends: readonly number[], plan: Plan | undefined, resumes = false, count = 0): undefined {
    const run = this.#world.runs[this.#begun++]
    if (run === undefined) throw new Error('nothing was asked of the server')
    const used = this.#used.get(plan) ?? 0
    this.#used.set(plan, used + 1)
    const expected = {
      kind: plan?.kinds[used] ?? 'text',
      input: { lines: this.lines, state: this.state, resume: resumes ? this.questions.map(({ id }) => id) : [], parentRunId: resumes ? this.#asker : undefined },
    }
    const given = { kind: run.kind, input: run.input }
    if (JSON.stringify(given) !== JSON.stringify(expected)) this.faults.push(`asked ${JSON.stringify(given)}, not ${JSON.stringify(expected)}`)
    const shown: Shown = { run, events: 0, answers: new Map() }
    this.entries.push(shown)
    this.#left = this.failed = undefined
    this.#unheard = false
    this.#chain = { sends, plan, joined: count > 0 && this.#chain?.joined === true, shown, resumes, state: this.state, count, working: false }
    this.status = 'submitted'
  }

  #wait(waiting: Waiting): Refusal {
    const oldest = this.queue[0]
    if (this.queue.length >= this.#options.maxSize) {
      if (this.#options.onOverflow === 'refuse' || oldest === undefined) return 'queue-full'
      this.cancelQueued(oldest.id)
    }
    this.queue.push(waiting)
    return undefined
  }

  /** What runs is over before its time: calls that are being answered are answered with that. */
  #cancel(): void {
    const chain = this.#chain
    if (chain === undefined) return
    if (chain.working) for (const { id, name } of this.#callsOf(chain.shown)) if (name === 'slow') chain.shown.answers.set(id, 'The user stopped it.')
    if (!chain.working) {
      this.#last = undefined
      this.#overEarly = true
    }
    this.#leave(this.status)
    this.#settle(chain.sends, 'cancelled')
    this.finishes.push('cancelled')
  }

  #end(outcome: 'finished' | 'interrupted' | 'error'): void {
    const { sends, plan, shown, resumes, state, joined, count, working } = this.#chain as Chain
    // One that went well, and was gone on with too often, is not sent again; nor is one that was only joined.
    if (outcome === 'error' && this.#last !== shown && !working && !(joined && count === 0)) this.failed = { shown, plan, resumes, state, notes: new Map(this.#noted) }
    this.#overEarly = outcome === 'error' && this.#last !== shown
    if (outcome !== 'finished') this.#last = undefined
    this.#leave(outcome === 'error' ? 'error' : 'ready')
    this.#settle(sends, outcome)
    this.finishes.push(outcome)
    // After a success what waits has its turn; a question keeps it waiting, and a failure lets it go.
    if (outcome === 'error') this.#flush()
    if (outcome !== 'finished' || this.queue.length === 0) return
    const next = this.#options.drain === 'batch' ? this.queue : this.queue.slice(0, 1)
    this.queue = this.queue.slice(next.length)
    this.#closeCalls()
    for (const { id, text } of next) this.entries.push({ user: id, text })
    this.#begin(
      next.map(({ send }) => send),
      next.at(-1)?.plan,
    )
  }

  #leave(status: Model['status']): void {
    this.#chain = undefined
    this.#noted.clear()
    this.status = status
  }

  #flush(): void {
    for (const { send } of this.queue) this.#settle([send], 'cancelled')
    this.queue = []
  }

  #settle(sends: readonly number[], result: string): void {
    for (const send of sends) this.results.set(send, result)
  }

  #expired({ expires }: Question, status: 'resolved' | 'cancelled' | undefined): boolean {
    return status === 'resolved' && expires !== undefined && expires <= this.#world.now
  }

  /** The calls of a run that show. */
  #callsOf({ run, events }: Shown): { readonly id: string; readonly name: string }[] {
    return (CALLS[run.kind] ?? []).flatMap((name, index) => (events > 1 + 3 * index ? [{ id: callId(run.runId, index), name }] : []))
  }

  /** Those of them that nobody has answered, as long as they show. */
  #open(shown: Shown): string[] {
    if (!this.entries.includes(shown)) return []
    return this.#callsOf(shown).flatMap(({ id }) => (shown.answers.has(id) ? [] : [id]))
  }

  #linesOf(entry: Entry): string[] {
    if (!isShown(entry)) return [`user ${entry.user} ${entry.text}`]
    const { run, events, answers } = entry
    const text = run.script.slice(0, events).flatMap((event) => (event.type === 'TEXT_MESSAGE_CONTENT' ? [(event as { delta: string }).delta] : []))
    return [...(text.length > 0 ? [`text ${run.runId} ${text.join('')}`] : []), ...this.#callsOf(entry).map(({ id }) => `call ${id} ${answers.get(id) ?? '-'}`)]
  }
}
