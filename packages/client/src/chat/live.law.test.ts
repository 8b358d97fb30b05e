/** Law: chats that listen to one thread show each message of it once, whole, whoever sent it and however it was cut. */
import { ChatClient, type TurnResult } from '@millrace/client'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { settled, SharedThread } from '../../test/shared-thread.ts'

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
    // It cannot be asked for what was missed: nothing is.
    const { hydrate: _, ...connection } = thread.member().connection
    return new ChatClient({ connection, threadId: 't1', live: true, whenBusy: 'queue', generateId: (kind) => `${name}-${kind}-${++id}` })
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
