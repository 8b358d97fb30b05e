/**
 * A chat beside a model of it. The world is a server in memory that keeps runs and gives their events when it is told to;
 * the model says, in the fewest words, what a chat shows after each thing a user or the network does.
 */
import type { ChatClient, ConnectConnectionAdapter, StreamChunk } from '@millrace/client'

export type Kind = 'text' | 'asks-us' | 'calls-auto' | 'interrupts' | 'fails'

export type Command =
  | { readonly do: 'send'; readonly kind: Kind }
  | { readonly do: 'release'; readonly events: number }
  | { readonly do: 'edit'; readonly nth: number; readonly kind: Kind }
  | { readonly do: 'reload' | 'retry' | 'answer' | 'respond'; readonly kind: Kind }
  | { readonly do: 'stop' | 'detach' | 'attach' | 'clear' | 'cut' }

interface Run {
  readonly runId: string
  readonly kind: Kind
  readonly script: readonly StreamChunk[]
  /** Events that may be read. */
  released: number
}

function scriptOf(kind: Kind, runId: string): StreamChunk[] {
  const started = { type: 'RUN_STARTED', threadId: 't', runId } as const
  const finished = { type: 'RUN_FINISHED', threadId: 't', runId } as const
  const call = (name: string): StreamChunk[] => [
    { type: 'TOOL_CALL_START', toolCallId: `c-${runId}`, toolCallName: name, parentMessageId: `m-${runId}` },
    { type: 'TOOL_CALL_ARGS', toolCallId: `c-${runId}`, delta: '{}' },
    { type: 'TOOL_CALL_END', toolCallId: `c-${runId}` },
  ]
  switch (kind) {
    case 'text':
      return [
        started,
        { type: 'TEXT_MESSAGE_START', messageId: `m-${runId}`, role: 'assistant' },
        ...['a', 'b', 'c'].map((delta) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: `m-${runId}`, delta })),
        { type: 'TEXT_MESSAGE_END', messageId: `m-${runId}` },
        finished,
      ]
    case 'asks-us':
      return [started, ...call('ask'), finished]
    case 'calls-auto':
      return [started, ...call('auto'), finished]
    case 'interrupts':
      return [started, { ...finished, outcome: { type: 'interrupt', interrupts: [{ id: `i-${runId}`, reason: 'x' }] } }]
    case 'fails':
      return [started, { type: 'RUN_ERROR', message: 'no' }]
  }
}

/** A server in memory. */
export class World {
  readonly runs: Run[] = []
  /** What the next run will be; after tools ran it is text. */
  next: Kind = 'text'
  #wake: (() => void)[] = []
  #cut = 0

  readonly connection: ConnectConnectionAdapter = {
    connect: (_messages, _data, signal, context) => {
      const run: Run = { runId: context?.runId ?? '', kind: this.next, script: scriptOf(this.next, context?.runId ?? ''), released: 0 }
      this.next = 'text'
      this.runs.push(run)
      return this.#read(run, signal)
    },
    joinRun: (runId, signal) => this.#read(this.runs.find((run) => run.runId === runId) as Run, signal),
    cancelRun: async () => 'closed',
  }

  async *#read(run: Run, signal: AbortSignal | undefined): AsyncGenerator<StreamChunk, void, undefined> {
    const cut = this.#cut
    for (let at = 0; at < run.script.length; at++) {
      while (at >= run.released) {
        await new Promise<void>((resolve) => this.#wake.push(resolve))
        if (signal?.aborted) return
        if (this.#cut !== cut) throw new Error('cut')
      }
      yield run.script[at] as StreamChunk
    }
  }

  /** Lets so many more events of every run be read. */
  release(events: number): void {
    for (const run of this.runs) run.released = Math.min(run.script.length, run.released + events)
    this.#ring()
  }

  /** Breaks what is being read. */
  cut(): void {
    this.#cut++
    this.#ring()
  }

  #ring(): void {
    const wake = this.#wake
    this.#wake = []
    for (const resolve of wake) resolve()
  }
}

/** A run as it shows: so many of its events. */
interface Shown {
  readonly run: Run
  events: number
  answer: string | undefined
}

type Entry = { readonly user: string } | Shown

const isShown = (entry: Entry): entry is Shown => 'run' in entry

/** What a chat shows, by its own simple rules. */
export class Model {
  readonly #world: World
  entries: Entry[] = []
  status: 'ready' | 'submitted' | 'streaming' | 'error' = 'ready'
  /** The question of the agent that nobody has answered with success: only the end of a run takes it away. */
  interrupt: string | undefined
  /** It has been answered, in the run that is being read: until that is left it does not show. */
  #answered = false
  /** The run that is being read. */
  #reading: Shown | undefined
  #left: Shown | undefined
  /** The request of the run that was left has not been heard of yet: it goes on being read until it is, and only then joined. */
  #unheard = false
  /** The run that is being read was begun here, and not only joined. */
  #ours = false
  /** It failed, and nothing was done since. */
  failed: Shown | undefined
  #users = 0

  constructor(world: World) {
    this.#world = world
  }

  get busy(): boolean {
    return this.#reading !== undefined
  }

  /** The question that shows. */
  get question(): string | undefined {
    return this.#answered ? undefined : this.interrupt
  }

  get hasUser(): boolean {
    return this.entries.some((entry) => !isShown(entry))
  }

  /** Ids of the messages of the user, in order. */
  get users(): string[] {
    return this.entries.flatMap((entry) => (isShown(entry) ? [] : [entry.user]))
  }

  /** The call that waits for us. */
  get openCall(): string | undefined {
    const last = this.entries.at(-1)
    if (last === undefined || !isShown(last) || last.run.kind !== 'asks-us' || last.answer !== undefined) return undefined
    return last.events === last.run.script.length ? `c-${last.run.runId}` : undefined
  }

  newUser(): string {
    return `u${++this.#users}`
  }

  say(user: string): void {
    this.entries.push({ user })
  }

  /** Everything from this message of the user on is gone. */
  cutBefore(user: string): void {
    this.entries.splice(this.entries.findIndex((entry) => !isShown(entry) && entry.user === user))
  }

  cutAfterLastUser(): void {
    this.entries.splice(this.entries.findLastIndex((entry) => !isShown(entry)) + 1)
  }

  /** What came of the run that failed is gone. */
  cutFailed(): void {
    this.entries.splice(this.entries.indexOf(this.failed as Shown))
  }

  /** The run that the world began last is being read. */
  begin(): void {
    this.#answered = this.interrupt !== undefined
    this.#unheard = false
    this.#reading = { run: this.#world.runs.at(-1) as Run, events: 0, answer: undefined }
    this.#ours = true
    this.failed = undefined
    this.entries.push(this.#reading)
    this.#left = undefined
    this.status = 'submitted'
  }

  stop(): void {
    if (this.#reading !== undefined) {
      this.#reading = undefined
      this.status = 'ready'
    }
    this.#answered = false
    this.#left = undefined
  }

  detach(): void {
    if (this.#reading === undefined) return
    this.#unheard = this.#unheard || this.#reading.run.released === 0
    this.#left = this.#reading
    this.#reading = undefined
    this.#answered = false
    this.status = 'ready'
  }

  attach(): void {
    if (this.#reading !== undefined || this.#left === undefined) return
    this.#reading = this.#left
    this.#ours = false
    this.failed = undefined
    this.#left = undefined
    this.status = 'submitted'
    this.progress()
  }

  clear(): void {
    this.stop()
    this.entries = []
    this.failed = undefined
    this.interrupt = undefined
    this.status = 'ready'
  }

  /** The network broke. */
  broke(): void {
    const { run } = this.#reading ?? this.#left ?? {}
    const first = this.#unheard && run?.released === 0
    this.#unheard = false
    if (first) return
    if (this.#reading === undefined) return
    this.failed = this.#ours ? this.#reading : undefined
    this.#reading = undefined
    this.#answered = false
    this.status = 'error'
  }

  /** What was released has been read. */
  progress(): void {
    const shown = this.#reading
    if (shown === undefined) return
    const { run } = shown
    shown.events = Math.max(shown.events, run.released)
    if (run.released === 0) return
    this.status = 'streaming'
    if (shown.events < run.script.length || run.released < run.script.length) return
    this.#reading = undefined
    if (run.kind === 'fails' && this.#ours) this.failed = shown
    this.status = run.kind === 'fails' ? 'error' : 'ready'
    this.#answered = false
    // An error leaves the question open; every other end replaces or takes it.
    if (run.kind !== 'fails') this.interrupt = run.kind === 'interrupts' ? `i-${run.runId}` : undefined
    if (run.kind === 'calls-auto') {
      shown.answer = 'auto'
      this.begin()
      this.progress()
    }
  }

  answerOpenCall(): void {
    ;(this.entries.at(-1) as Shown).answer = 'ours'
  }

  /** What there is to see, a line each. */
  get lines(): string[] {
    return this.entries.flatMap((entry) => {
      if (!isShown(entry)) return [`user ${entry.user}`]
      const { run, events, answer } = entry
      const seen = run.script.slice(0, events)
      const text = seen.flatMap((event) => (event.type === 'TEXT_MESSAGE_CONTENT' ? [(event as { delta: string }).delta] : [])).join('')
      const called = seen.some(({ type }) => type === 'TOOL_CALL_START')
      return [...(text === '' ? [] : [`text ${run.runId} ${text}`]), ...(called ? [`call ${run.runId} ${answer ?? '-'}`] : [])]
    })
  }
}

/** What the chat shows, in the model's words. */
export function linesOf(chat: ChatClient): string[] {
  return chat.getSnapshot().messages.flatMap(({ id, role, parts }) => {
    if (role === 'user') return [`user ${id}`]
    return parts.map((part) => {
      const runId = (part.origin?.messageId ?? '').slice(2)
      if (part.type === 'text') return `text ${runId} ${part.content}`
      if (part.type === 'tool-call') return `call ${runId} ${part.result === undefined ? '-' : String(part.result.content)}`
      return part.type
    })
  })
}
