/** What a modelled chat speaks to: a server in memory that keeps runs and gives their events when it is told to, and slow tools. */
import {
  defineTool,
  TransportError,
  type ChatSnapshot,
  type ClientTool,
  type ConnectConnectionAdapter,
  type RequestData,
  type StreamChunk,
} from '@millrace/client'

/** What a run does; `CALLS` has the tools it calls. */
export type Kind = 'text' | 'asks' | 'asks-two' | 'auto' | 'slow' | 'auto-and-asks' | 'slow-and-asks' | 'question' | 'questions' | 'approval' | 'fails' | 'state'

export const CALLS: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  asks: ['ask'],
  'asks-two': ['ask', 'ask'],
  auto: ['auto'],
  slow: ['slow'],
  'auto-and-asks': ['auto', 'ask'],
  'slow-and-asks': ['slow', 'ask'],
  // A tool of the server, that waits for the word of the user.
  approval: ['book'],
}

/** What the runs of one send do, one after the other; then text. */
export interface Plan {
  readonly n: number
  readonly kinds: readonly Kind[]
}

export interface Question {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly expires?: number
  /** The call that may be made or not. */
  readonly call?: string
}

export interface Run {
  readonly runId: string
  readonly kind: Kind
  /** What was sent that it is a run of; -1 for what went on by itself after a run was joined. */
  readonly plan: number
  readonly script: readonly StreamChunk[]
  readonly questions: readonly Question[]
  /** What the request carried. */
  readonly input: { readonly lines: readonly string[]; readonly state: unknown; readonly resume: readonly string[]; readonly parentRunId: string | undefined }
  /** Events that may be read. */
  released: number
}

/** Lets what comes in through, as long as a page is not frozen. */
export type Pass = () => Promise<void> | undefined

/** How long the first of two questions may be answered, in ms. */
const QUESTION_MS = 100

export const callId = (runId: string, index: number): string => `c${index}-${runId}`

function scriptOf(kind: Kind, runId: string, questions: readonly Question[]): StreamChunk[] {
  const messageId = `m-${runId}`
  const started = { type: 'RUN_STARTED', threadId: 't', runId } as const
  const finished = { type: 'RUN_FINISHED', threadId: 't', runId } as const
  switch (kind) {
    case 'text':
      return [
        started,
        { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
        ...['a', 'b', 'c'].map((delta) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })),
        { type: 'TEXT_MESSAGE_END', messageId },
        finished,
      ]
    case 'question':
    case 'questions': {
      return [started, { ...finished, outcome: asking(questions) }]
    }
    case 'fails':
      return [started, { type: 'RUN_ERROR', message: 'no' }]
    case 'state':
      return [started, { type: 'STATE_SNAPSHOT', snapshot: { by: runId } }, finished]
    default: {
      const calls = (CALLS[kind] ?? []).flatMap((toolCallName, index): StreamChunk[] => {
        const toolCallId = callId(runId, index)
        return [
          { type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId: messageId },
          { type: 'TOOL_CALL_ARGS', toolCallId, delta: '{}' },
          { type: 'TOOL_CALL_END', toolCallId },
        ]
      })
      return [started, ...calls, kind === 'approval' ? { ...finished, outcome: asking(questions) } : finished]
    }
  }
}

function asking(questions: readonly Question[]) {
  const interrupts = questions.map(({ id, expires, call }) => ({
    id,
    reason: 'x',
    ...(expires !== undefined && { expiresAt: new Date(expires).toISOString() }),
    ...(call !== undefined && { toolCallId: call }),
  }))
  return { type: 'interrupt', interrupts }
}

function questionsOf(kind: Kind, runId: string, now: number): Question[] {
  if (kind === 'question') return [{ id: `i0-${runId}` }]
  if (kind === 'questions') return [{ id: `i0-${runId}`, expires: now + QUESTION_MS }, { id: `i1-${runId}` }]
  return kind === 'approval' ? [{ id: `i0-${runId}`, call: callId(runId, 0) }] : []
}

/** Time, a server, and the tools of the page. */
export class World {
  readonly runs: Run[] = []
  /** Calls whose tool was run. */
  readonly executed: string[] = []
  /** Runs that were asked to end; they go on all the same, as those of a server that does not hear. */
  readonly cancelled = new Set<string>()
  now = 1_000_000
  readonly #waiting: { readonly signal: AbortSignal | undefined; readonly wake: () => void }[] = []
  readonly #slow = new Map<string, () => void>()
  #cut = 0

  /** As one page reaches it. */
  connection(pass?: Pass): ConnectConnectionAdapter {
    return {
      connect: (messages, data, signal, context) => this.#read(this.#begin(messages, data, context), signal, pass),
      joinRun: (runId, signal) => this.#join(runId, signal, pass),
      cancelRun: async (runId) => {
        this.cancelled.add(runId)
        return 'closed'
      },
    }
  }

  #begin(messages: unknown, data: RequestData | undefined, context: Parameters<ConnectConnectionAdapter['connect']>[3]): Run {
    const runId = context?.runId ?? ''
    const { n, kinds } = (data?.['plan'] ?? { n: -1, kinds: [] }) as Plan
    const kind = kinds[this.runs.filter(({ plan }) => plan === n).length] ?? 'text'
    const questions = questionsOf(kind, runId, this.now)
    const input = {
      lines: linesOf(messages as ChatSnapshot['messages']),
      state: context?.state,
      resume: (context?.resume ?? []).map(({ interruptId }) => interruptId),
      parentRunId: context?.parentRunId,
    }
    const run: Run = { runId, kind, plan: n, questions, script: scriptOf(kind, runId, questions), input, released: 0 }
    this.runs.push(run)
    return run
  }

  tools(pass?: Pass): ClientTool[] {
    const run = (name: string, toolCallId: string): string => {
      this.executed.push(toolCallId)
      return name
    }
    return [
      defineTool({ name: 'ask', description: 'd' }),
      defineTool({ name: 'auto', description: 'd', execute: (_, { toolCallId }) => run('auto', toolCallId) }),
      defineTool({
        name: 'slow',
        description: 'd',
        execute: async (_, { toolCallId }) => {
          const said = run('slow', toolCallId)
          await new Promise<void>((resolve) => this.#slow.set(toolCallId, resolve))
          await pass?.()
          return said
        },
      }),
    ]
  }

  async *#join(runId: string, signal: AbortSignal | undefined, pass: Pass | undefined): AsyncGenerator<StreamChunk, void, undefined> {
    const run = this.runs.find((each) => each.runId === runId)
    if (run === undefined) throw new TransportError('unknown run', { code: 'http-status', status: 404 })
    yield* this.#read(run, signal, pass)
  }

  async *#read(run: Run, signal: AbortSignal | undefined, pass: Pass | undefined): AsyncGenerator<StreamChunk, void, undefined> {
    const cut = this.#cut
    for (let at = 0; at < run.script.length; at++) {
      while (at >= run.released) {
        await new Promise<void>((wake) => this.#waiting.push({ signal, wake }))
        if (signal?.aborted) return
        if (this.#cut !== cut) throw new TransportError('cut', { code: 'network' })
      }
      await pass?.()
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

  /** Lets the slow tools that run be done. */
  finishTools(): void {
    for (const resolve of this.#slow.values()) resolve()
    this.#slow.clear()
  }

  #ring(): void {
    for (const { wake } of this.#waiting.splice(0)) wake()
  }
}

/** What there is to see of messages, a line each. */
export function linesOf(messages: ChatSnapshot['messages']): string[] {
  return messages.flatMap(({ id, role, parts }) => {
    if (role === 'user') return [`user ${id} ${parts.map((part) => ('content' in part ? String(part.content) : '')).join('')}`]
    return parts.map((part) => {
      if (part.type === 'text') return `text ${(part.origin?.messageId ?? '').slice(2)} ${part.content}`
      if (part.type === 'tool-call') return `call ${part.id} ${part.result === undefined ? '-' : String(part.result.content)}`
      return part.type
    })
  })
}
