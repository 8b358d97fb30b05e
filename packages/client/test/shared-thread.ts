/** A thread in memory: runs one after the other, told to all who listen, event by event as the test lets them. */
import type { HydratedThread, StreamChunk, SubscribeConnectionAdapter } from '@millrace/client'
import { buildRunAgentInput } from '@millrace/protocol'
import { markSynthetic } from '../src/connection/stamps.ts'
import { finished, started, text } from './runs.ts'

interface Told {
  readonly runId: string
  readonly input: { readonly messages: readonly { readonly id: string }[] }
  readonly events: StreamChunk[]
}

/** One who takes part, over a link that can be cut. */
export interface Member {
  readonly connection: SubscribeConnectionAdapter
  readonly linked: boolean
  cut(): void
  /** The link is there again. */
  join(): void
  /** Gives what was asked for; `later`: as it is now, else as it was when it was asked for. */
  answer(later: boolean): void
}

export class SharedThread {
  readonly #listeners = new Set<(chunk: StreamChunk) => void>()
  readonly #due: StreamChunk[] = []
  readonly #runs: Told[] = []

  /** What was told of all runs so far. */
  get runs(): readonly Told[] {
    return this.#runs
  }

  member(): Member {
    const mine: string[] = []
    const waiting: (() => void)[] = []
    const listeners = this.#listeners
    const asked: { readonly thread: HydratedThread; give(thread: HydratedThread): void }[] = []
    const told = (): HydratedThread => this.#told()
    let linked = true
    let listener: ((chunk: StreamChunk) => void) | undefined
    let tellLink: (state: 'open' | 'connecting') => void = () => {}
    const connection: SubscribeConnectionAdapter = {
      async *subscribe(signal) {
        const queue: StreamChunk[] = []
        let wake = (): void => {}
        listener = (chunk) => {
          queue.push(chunk)
          wake()
        }
        if (linked) listeners.add(listener)
        signal?.addEventListener('abort', () => wake(), { once: true })
        try {
          while (signal?.aborted !== true) {
            const next = queue.shift()
            if (next !== undefined) yield next
            else await new Promise<void>((resolve) => (wake = resolve))
          }
        } finally {
          listeners.delete(listener)
        }
      },
      watchLink: (tell) => {
        tellLink = tell
        tell(linked ? 'open' : 'connecting')
        return () => {}
      },
      send: async (messages, _data, _signal, context) => {
        if (!linked) await new Promise<void>((resolve) => waiting.push(resolve))
        const { runId = '' } = context ?? {}
        const input = buildRunAgentInput({ messages, runContext: { threadId: 't1', runId } })
        const said = input.messages.findLast(({ role }) => role === 'user')
        mine.push(runId)
        this.#due.push({ ...started(runId), input } as StreamChunk, ...text(`re ${String(said?.id)}`, `m-${runId}`), finished(runId))
      },
      hydrate: () => new Promise((give) => asked.push({ thread: told(), give })),
      joinRun: (runId, signal) => this.#join(runId, signal),
    }
    /** How what was open ends for who is cut off: a run of theirs is known to break, ours has failed. */
    const endings = (): StreamChunk[] => {
      const open = this.#open
      const theirs = open !== undefined && !mine.includes(open.runId) ? [markSynthetic({ type: 'RUN_ERROR', message: 'cut' } as const)] : []
      const isUnfinished = mine.some((runId) => this.#runs.every((run) => run.runId !== runId || !isOver(run)))
      return [...theirs, ...(isUnfinished ? [{ type: 'RUN_ERROR', message: 'cut' } as const] : [])]
    }
    return {
      connection,
      get linked() {
        return linked
      },
      cut() {
        linked = false
        if (listener !== undefined) {
          listeners.delete(listener)
          endings().forEach(listener)
        }
        tellLink('connecting')
      },
      join() {
        linked = true
        if (listener !== undefined) listeners.add(listener)
        tellLink('open')
        for (const go of waiting.splice(0)) go()
      },
      answer: (later) => asked.splice(0).forEach(({ thread, give }) => give(later ? told() : thread)),
    }
  }

  release(count: number): void {
    for (const chunk of this.#due.splice(0, count)) {
      if (chunk.type === 'RUN_STARTED') {
        const { runId, input } = chunk as unknown as Told
        this.#runs.push({ runId, input, events: [] })
      }
      this.#runs.at(-1)?.events.push(chunk)
      for (const tell of this.#listeners) tell(chunk)
    }
  }

  get #open(): Told | undefined {
    return this.#runs.find((run) => !isOver(run))
  }

  #told(): HydratedThread {
    const messages: { readonly id: string }[] = []
    const add = (message: { readonly id: string }): void => {
      if (!messages.some(({ id }) => id === message.id)) messages.push(message)
    }
    for (const { input, events, runId } of this.#runs) {
      const said = input.messages.at(-1)
      if (said !== undefined) add(said)
      if (!isOver({ events })) continue
      const content = events.map((event) => ('delta' in event ? String(event.delta) : '')).join('')
      add({ id: `m-${runId}`, role: 'assistant', content } as { readonly id: string })
    }
    return { messages, activeRun: this.#open ?? null, interrupts: null }
  }

  async *#join(runId: string, signal?: AbortSignal): AsyncGenerator<StreamChunk, void, undefined> {
    const events = this.#runs.find((run) => run.runId === runId)?.events ?? []
    for (let next = 0; ; next++) {
      while (events[next] === undefined) {
        if (signal?.aborted) return
        await new Promise((resolve) => setImmediate(resolve))
      }
      yield events[next] as StreamChunk
      if (events[next]?.type === 'RUN_FINISHED') return
    }
  }
}

function isOver({ events }: Pick<Told, 'events'>): boolean {
  return events.at(-1)?.type === 'RUN_FINISHED'
}

/** All that follows from what was done has happened. */
export async function settled(): Promise<void> {
  for (let n = 0; n < 6; n++) await new Promise((resolve) => setImmediate(resolve))
}
