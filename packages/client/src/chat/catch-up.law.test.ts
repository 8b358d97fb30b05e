/** Law: a chat that listens misses nothing: cut off at any time and for any time, it shows in the end what the server has, once. */
import { ChatClient } from '@millrace/client'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { settled, SharedThread, type Member } from '../../test/shared-thread.ts'

const who = fc.integer({ min: 0, max: 2 })
type Command =
  | { readonly do: 'send' | 'cut' | 'join'; readonly who: number }
  | { readonly do: 'answer'; readonly who: number; readonly later: boolean }
  | { readonly do: 'release'; readonly count: number }

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('send' as const), who }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('cut' as const, 'join' as const), who }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('answer' as const), who, later: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('release' as const), count: fc.integer({ min: 1, max: 14 }) }) },
)

const shown = (chat: ChatClient): string[] => chat.getSnapshot().messages.flatMap(({ parts }) => parts.map((part) => ('content' in part ? String(part.content) : part.type)))

it('whatever is cut, and whenever it is answered', { timeout: 240_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 40 }), async (commands) => {
      const thread = new SharedThread()
      const members = [0, 1, 2].map(() => thread.member())
      const chats = members.map(({ connection }, index) => {
        let id = 0
        return new ChatClient({ connection, threadId: 't1', live: true, whenBusy: 'queue', generateId: (kind) => `${index}-${kind}-${++id}` })
      })
      for (const chat of chats) chat.subscribe(() => {})
      await settled()
      for (const member of members) member.answer(true)
      await settled()
      let said = 0
      for (const given of commands) {
        if (given.do === 'release') thread.release(given.count)
        else {
          const member = members[given.who] as Member
          if (given.do === 'answer') member.answer(given.later)
          else if (given.do === 'cut' && member.linked) member.cut()
          else if (given.do === 'join' && !member.linked) member.join()
          else if (given.do === 'send' && member.linked) {
            const id = `u${said++}`
            void chats[given.who]?.sendMessage({ content: id, id })
          }
        }
        await settled()
      }
      for (const member of members) if (!member.linked) member.join()
      for (let n = 0; n <= said + 2; n++) {
        await settled()
        thread.release(Number.POSITIVE_INFINITY)
        await settled()
        for (const member of members) member.answer(true)
      }
      await settled()
      const expected = thread.runs.flatMap(({ input }) => [String(input.messages.at(-1)?.id), `re ${String(input.messages.at(-1)?.id)}`]).sort()
      for (const chat of chats) {
        expect(shown(chat).sort()).toEqual(expected)
        expect(chat.getSnapshot().status).toBe('ready')
        await chat.dispose()
      }
    }),
    { numRuns: 300 },
  )
})
