/** What a chat holds by its model, and what there is to see of it. Nothing changes here. */
import type { WhenBusy } from '@millrace/client'
import type { Line } from './chat-model-line.ts'
import { callId, CALLS, type Plan, type Question, type Run } from './model-runs.ts'
import type { World } from './model-world.ts'

export interface ModelOptions {
  readonly whenBusy: WhenBusy
  readonly drain: 'fifo' | 'batch'
  readonly maxSize: number
  readonly onOverflow: 'refuse' | 'drop-oldest'
  readonly maxContinuations: number
  /** A connection that broke is opened again. */
  readonly resumes: boolean
}

export interface Said {
  readonly user: string
  text: string
}

/** A run as it shows: so many of its events, and what its calls were answered. */
export interface Shown {
  readonly run: Run
  events: number
  readonly answers: Map<string, string>
}

export type Entry = Said | Shown

export const isShown = (entry: Entry): entry is Shown => 'run' in entry

/** Runs one after the other for what was sent once, or joined. */
export interface Chain {
  /** Those who wait for its end. */
  readonly sends: readonly number[]
  readonly plan: Plan | undefined
  readonly joined: boolean
  readonly shown: Shown
  readonly line: Line
  /** What its last run was sent with, and over what state. */
  readonly resumes: boolean
  readonly state: unknown
  /** Runs that it went on with. */
  readonly count: number
  /** The run is over and our slow tools are at work. */
  working: boolean
}

/** A turn that failed, and what it began with. */
export interface Failed {
  readonly shown: Shown
  readonly plan: Plan | undefined
  readonly resumes: boolean
  readonly state: unknown
  /** The answers that it was sent with. */
  readonly notes: ReadonlyMap<string, 'resolved' | 'cancelled'>
}

export interface Waiting {
  readonly send: number
  readonly id: string
  readonly text: string
  readonly plan: Plan
}

/** A run that was left, and who reads it until something is heard of it: before that it is not joined. */
export interface Left {
  readonly shown: Shown
  readonly line: Line | undefined
}

export class ModelState {
  protected readonly world: World
  protected readonly options: ModelOptions
  entries: Entry[] = []
  status: 'ready' | 'submitted' | 'streaming' | 'error' = 'ready'
  state: unknown = {}
  /** Open questions: only the end of a run that did not fail takes them away. */
  questions: readonly Question[] = []
  /** The run that asked them. */
  protected asker: string | undefined
  /** Answers that have not been used, by question. */
  protected readonly noted = new Map<string, 'resolved' | 'cancelled'>()
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
  protected chain: Chain | undefined
  protected left: Left | undefined
  /** The last run of which anything was heard, if it ended well: its open calls are the ones that the agent waits for. */
  protected last: Shown | undefined
  /** The last run was stopped or failed, or the reading of it. */
  protected overEarly = false
  /** Of the turn that failed last, if nothing was done since. */
  failed: Failed | undefined

  constructor(world: World, options: ModelOptions) {
    this.world = world
    this.options = options
  }

  get busy(): boolean {
    return this.chain !== undefined
  }

  /** A run is left, or read again: what was there before it is shown once more. */
  get returns(): boolean {
    return this.left !== undefined || this.chain?.joined === true
  }

  /** Questions that show. */
  get asked(): readonly string[] {
    return this.questions.map(({ id }) => id).filter((id) => !this.noted.has(id))
  }

  /** Calls of the server's that wait for the word of the user, as long as they show. */
  get unapproved(): readonly string[] {
    const showing = new Set(this.entries.filter(isShown).flatMap((entry) => this.callsOf(entry).map(({ id }) => id)))
    return this.questions.flatMap(({ id, call }) => (call !== undefined && showing.has(call) && !this.noted.has(id) ? [call] : []))
  }

  /** Ids of the messages of the user, in order. */
  get users(): readonly string[] {
    return this.entries.flatMap((entry) => (isShown(entry) ? [] : [entry.user]))
  }

  /** Calls that show and wait for the application, or did. */
  get calls(): readonly string[] {
    return this.entries.filter(isShown).flatMap((entry) => this.callsOf(entry).flatMap(({ id, name }) => (name === 'ask' ? [id] : [])))
  }

  /** What there is to see, a line each. */
  get lines(): string[] {
    return this.entries.flatMap((entry) => this.#linesOf(entry))
  }

  protected expired({ expires }: Question, status: 'resolved' | 'cancelled' | undefined): boolean {
    return status === 'resolved' && expires !== undefined && expires <= this.world.now
  }

  /** The calls of a run that show. */
  protected callsOf({ run, events }: Shown): { readonly id: string; readonly name: string }[] {
    return (CALLS[run.kind] ?? []).flatMap((name, index) => (events > 1 + 3 * index ? [{ id: callId(run.runId, index), name }] : []))
  }

  /** Those of them that nobody has answered, as long as they show. */
  protected openCalls(shown: Shown): string[] {
    if (!this.entries.includes(shown)) return []
    return this.callsOf(shown).flatMap(({ id }) => (shown.answers.has(id) ? [] : [id]))
  }

  #linesOf(entry: Entry): string[] {
    if (!isShown(entry)) return [`user ${entry.user} ${entry.text}`]
    const { run, events, answers } = entry
    const text = run.script.slice(0, events).flatMap((event) => (event.type === 'TEXT_MESSAGE_CONTENT' ? [(event as { delta: string }).delta] : []))
    return [...(text.length > 0 ? [`text ${run.runId} ${text.join('')}`] : []), ...this.callsOf(entry).map(({ id }) => `call ${id} ${answers.get(id) ?? '-'}`)]
  }
}
