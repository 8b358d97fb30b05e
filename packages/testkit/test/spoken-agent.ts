/** An agent that says what a test says, when the test says it; and what else tests of bindings share. */
import { stream, type ChatClient, type ConnectionAdapter, type StreamChunk } from '@millrace/client'

/** One run of the agent, which says what the test says. */
export class Run {
  readonly signal: AbortSignal
  readonly #ids: { readonly threadId: string; readonly runId: string }
  readonly #events: StreamChunk[] = []
  #wake: () => void = () => undefined
  #over = false

  constructor(signal: AbortSignal, ids: { readonly threadId: string; readonly runId: string }) {
    this.signal = signal
    this.#ids = ids
    signal.addEventListener('abort', () => this.#wake())
  }

  say(...events: StreamChunk[]): void {
    this.#events.push(...events)
    this.#wake()
  }

  start(): void {
    this.say({ type: 'RUN_STARTED', ...this.#ids }, { type: 'TEXT_MESSAGE_START', messageId: 'answer', role: 'assistant' })
  }

  delta(delta: string): void {
    this.say({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'answer', delta })
  }

  finish(): void {
    this.#over = true
    this.say({ type: 'TEXT_MESSAGE_END', messageId: 'answer' }, { type: 'RUN_FINISHED', ...this.#ids })
  }

  fail(message: string): void {
    this.#over = true
    this.say({ type: 'RUN_STARTED', ...this.#ids }, { type: 'RUN_ERROR', message })
  }

  async *events(): AsyncGenerator<StreamChunk, void, undefined> {
    while (!this.signal.aborted) {
      const next = this.#events.shift()
      if (next !== undefined) yield next
      else if (this.#over) return
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }
}

/** A connection to an agent whose runs say what a test says, and these runs. */
export function agent(): { readonly connection: ConnectionAdapter; readonly runs: readonly Run[]; readonly last: () => Run } {
  const runs: Run[] = []
  const connection = stream((_messages, _data, signal, context) => {
    const run = new Run(signal as AbortSignal, { threadId: context?.threadId ?? 't', runId: context?.runId ?? 'r' })
    runs.push(run)
    return run.events()
  })
  const last = (): Run => runs.at(-1) as Run
  return { connection, runs, last }
}

/** A connection to a thread on which a test says what happens, and how many listen to it. */
export function thread(): { readonly connection: ConnectionAdapter; readonly say: (...events: StreamChunk[]) => void; readonly listeners: () => number } {
  const listeners = new Set<Run>()
  const connection: ConnectionAdapter = {
    async *subscribe(signal) {
      const run = new Run(signal as AbortSignal, { threadId: 't', runId: 'r' })
      listeners.add(run)
      try {
        yield* run.events()
      } finally {
        listeners.delete(run)
      }
    },
    send: async () => {},
  }
  return { connection, say: (...events) => listeners.forEach((run) => run.say(...events)), listeners: () => listeners.size }
}

/** Lets a stream, its fold and what is told of it pass: each takes a macrotask at most. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A stored message of the user. */
export const user = (id: string, content: string) => ({ id, role: 'user' as const, parts: [{ type: 'text' as const, content }] })

/** A client, and how many listen to it. */
export function counted(client: ChatClient): { readonly client: ChatClient; readonly listeners: () => number } {
  let listeners = 0
  const { subscribe } = client
  const counting: ChatClient['subscribe'] = (listener) => {
    const unsubscribe = subscribe(listener)
    listeners++
    let open = true
    return () => {
      if (open) listeners--
      open = false
      unsubscribe()
    }
  }
  Object.defineProperty(client, 'subscribe', { value: counting })
  return { client, listeners: () => listeners }
}
