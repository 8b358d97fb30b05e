/** Law: chats that listen to one thread show each message of it once, whole, whoever sent it and however it was cut. */
import { ChatClient, type StreamChunk, type SubscribeConnectionAdapter, type TurnResult } from '@millrace/client'
import { buildRunAgentInput } from '@millrace/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { finished, started, text } from '../../test/runs.ts'

/** A thread in memory: runs one after the other, told to all who listen, event by event as the test lets them. */
class SharedThread {
  readonly #listeners = new Set<(chunk: StreamChunk) => void>()
  readonly #due: StreamChunk[] = []

  member(): SubscribeConnectionAdapter {
    const listeners = this.#listeners
    return {
      async *subscribe(signal) {
        const queue: StreamChunk[] = []
        let wake = (): void => {}
        const listener = (chunk: StreamChunk): void => {
          queue.push(chunk)
          wake()
        }
        listeners.add(listener)
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
      send: async (messages, _data, _signal, context) => {
        const { runId = '' } = context ?? {}
        const input = buildRunAgentInput({ messages, runContext: { threadId: 't1', runId } })
        const said = input.messages.findLast(({ role }) => role === 'user')
        this.#due.push({ ...started(runId), input } as StreamChunk, ...text(`re ${String(said?.id)}`, `m-${runId}`), finished(runId))
      },
    }
  }

  release(count: number): void {
    for (const chunk of this.#due.splice(0, count)) for (const tell of this.#listeners) tell(chunk)
  }
}

async function settled(): Promise<void> {
  for (let n = 0; n < 6; n++) await new Promise((resolve) => setImmediate(resolve))
}

const who = fc.integer({ min: 0, max: 2 })
type Command =
  | { readonly do: 'send' | 'stop' | 'clear'; readonly who: number }
  | { readonly do: 'release'; readonly count: number }

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('send' as const), who }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('release' as const), count: fc.integer({ min: 1, max: 20 }) }) },
)

/** Plays the commands to three chats of one thread, and lets all of it come to its end. */
async function play(commands: readonly Command[]): Promise<{ chats: ChatClient[]; said: string[]; results: TurnResult[]; end(): void }> {
  const thread = new SharedThread()
  const chats = ['a', 'b', 'c'].map((name) => {
    let id = 0
    return new ChatClient({ connection: thread.member(), threadId: 't1', live: true, whenBusy: 'queue', generateId: (kind) => `${name}-${kind}-${++id}` })
  })
  for (const chat of chats) chat.subscribe(() => {})
  const results: Promise<TurnResult>[] = []
  const said: string[] = []
  await settled()
  for (const given of commands) {
    const chat = chats['who' in given ? given.who : 0] as ChatClient
    if (given.do === 'release') thread.release(given.count)
    else if (given.do === 'send') {
      const id = `u${said.length}`
      said.push(id)
      results.push(chat.sendMessage({ content: id, id }))
    } else chat[given.do]()
    await settled()
  }
  // What waits in a chat is sent when it is free, one after the other.
  for (let n = 0; n <= said.length; n++) {
    thread.release(Number.POSITIVE_INFINITY)
    await settled()
  }
  return { chats, said, results: await Promise.all(results), end: () => chats.forEach((chat) => chat.dispose()) }
}

const shown = (chat: ChatClient): string[] => chat.getSnapshot().messages.flatMap(({ parts }) => parts.map((part) => ('content' in part ? String(part.content) : part.type)))

it('everybody shows everything once', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 25 }), async (commands) => {
      const { chats, said, results, end } = await play(commands)
      expect(results.map(({ outcome }) => outcome)).toEqual(said.map(() => 'finished'))
      const expected = said.flatMap((id) => [id, `re ${id}`]).sort()
      for (const chat of chats) {
        const { status, runs } = chat.getSnapshot()
        expect(shown(chat).sort()).toEqual(expected)
        expect([status, runs.map(({ outcome }) => outcome)]).toEqual(['ready', said.map(() => 'finished')])
      }
      end()
    }),
    { numRuns: 150 },
  )
})

it('who stops or clears shows less, and never more or anything twice', { timeout: 120_000 }, async () => {
  const rude = fc.oneof({ weight: 6, arbitrary: command }, { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('stop' as const, 'clear' as const), who: fc.constant(0) }) })
  await fc.assert(
    fc.asyncProperty(fc.array(rude, { maxLength: 25 }), async (commands) => {
      const { chats, said, results, end } = await play(commands)
      expect(results.every(({ outcome }) => outcome === 'finished' || outcome === 'cancelled')).toBe(true)
      const possible = said.flatMap((id) => [id, `re ${id}`])
      for (const chat of chats) {
        expect(chat.getSnapshot().status).toBe('ready')
        const texts = shown(chat)
        expect(texts.filter((each) => !possible.some((whole) => whole.startsWith(each)))).toEqual([])
        const whole = texts.filter((each) => possible.includes(each))
        expect(new Set(whole).size).toBe(whole.length)
      }
      end()
    }),
    { numRuns: 150 },
  )
})
