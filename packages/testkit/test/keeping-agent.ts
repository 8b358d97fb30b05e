/** A server that keeps its runs, whose agent says what a test says: a run can be left, joined again and cancelled. */
import type { ConnectConnectionAdapter, StreamChunk } from '@millrace/client'

type Ids = { readonly threadId: string; readonly runId: string }

/** A run as the server has it. Whoever reads it is given all of it, from its start. */
export class KeptRun {
  readonly ids: Ids
  /** What it was asked. */
  readonly asked: readonly unknown[]
  readonly #events: StreamChunk[] = []
  readonly #readers = new Set<() => void>()
  over = false

  constructor(ids: Ids, asked: readonly unknown[]) {
    this.ids = ids
    this.asked = asked
    this.say({ type: 'RUN_STARTED', ...ids }, { type: 'TEXT_MESSAGE_START', messageId: `answer-${ids.runId}`, role: 'assistant' })
  }

  get readers(): number {
    return this.#readers.size
  }

  say(...events: StreamChunk[]): void {
    this.#events.push(...events)
    for (const wake of [...this.#readers]) wake()
  }

  delta(delta: string): void {
    this.say({ type: 'TEXT_MESSAGE_CONTENT', messageId: `answer-${this.ids.runId}`, delta })
  }

  finish(): void {
    this.over = true
    this.say({ type: 'TEXT_MESSAGE_END', messageId: `answer-${this.ids.runId}` }, { type: 'RUN_FINISHED', ...this.ids })
  }

  async *read(signal: AbortSignal | undefined): AsyncGenerator<StreamChunk, void, undefined> {
    let wake: () => void = () => undefined
    const reader = (): void => wake()
    this.#readers.add(reader)
    signal?.addEventListener('abort', reader)
    try {
      for (let at = 0; !isOver(signal); at++) {
        while (at >= this.#events.length) {
          if (this.over || isOver(signal)) return
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
        yield this.#events[at] as StreamChunk
      }
    } finally {
      this.#readers.delete(reader)
    }
  }
}

function isOver(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

async function* after<Item>(accepting: Promise<void>, accept: () => AsyncIterable<Item>): AsyncGenerator<Item, void, undefined> {
  await accepting
  yield* accept()
}

export interface KeepingAgent {
  readonly connection: ConnectConnectionAdapter
  readonly runs: readonly KeptRun[]
  readonly last: () => KeptRun
  /** What was asked of the server besides runs, in order: `hydrate THREAD`, `join RUN`, `cancel RUN`. */
  readonly asked: readonly string[]
}

/** @param accepting the server knows of a run when this has settled. Default: at once. */
export function keepingAgent(accepting?: Promise<void>): KeepingAgent {
  const runs: KeptRun[] = []
  const asked: string[] = []
  const connection: ConnectConnectionAdapter = {
    connect(messages, _data, signal, context) {
      const { threadId = 't', runId = 'r' } = context ?? {}
      const accept = (): AsyncGenerator<StreamChunk, void, undefined> => {
        const run = new KeptRun({ threadId, runId }, messages)
        runs.push(run)
        return run.read(signal)
      }
      return accepting === undefined ? accept() : after(accepting, accept)
    },
    joinRun(runId, signal) {
      asked.push(`join ${runId}`)
      return (runs.find(({ ids }) => ids.runId === runId) as KeptRun).read(signal)
    },
    async hydrate(threadId) {
      asked.push(`hydrate ${threadId}`)
      const last = runs.findLast(({ ids }) => ids.threadId === threadId)
      if (last === undefined) return undefined
      return { messages: last.asked, activeRun: last.over ? null : { runId: last.ids.runId }, interrupts: null }
    },
    async cancelRun(runId) {
      asked.push(`cancel ${runId}`)
      return 'closed'
    },
  }
  return { connection, runs, last: () => runs.at(-1) as KeptRun, asked }
}
