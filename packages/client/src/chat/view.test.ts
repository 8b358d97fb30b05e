/** What a view is given is what the whole thread reads as, however the thread before it looked. */
import { toUIMessages, type Message } from '@millrace/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { MessageView } from './view.ts'

const message = fc.record({ role: fc.constantFrom('user', 'assistant', 'reasoning', 'tool', 'system'), content: fc.string({ maxLength: 3 }) })
let made = 0
const make = ({ role, content }: { readonly role: string; readonly content: string }): Message =>
  ({ id: `m${made++}`, role, content, ...(role === 'tool' && { toolCallId: `c${made}` }) }) as Message

const edit = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), at: fc.nat(), message }),
  fc.record({ kind: fc.constant('append' as const), message }),
  fc.record({ kind: fc.constant('insert' as const), at: fc.nat(), message }),
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat() }),
  fc.record({ kind: fc.constant('date' as const), at: fc.nat(), day: fc.integer({ min: 1, max: 28 }) }),
)
type Edit = typeof edit extends fc.Arbitrary<infer One> ? One : never

function edited(messages: readonly Message[], one: Exclude<Edit, { kind: 'date' }>): Message[] {
  const at = 'at' in one ? one.at % (messages.length + 1) : messages.length
  switch (one.kind) {
    case 'put':
      return messages.map((old, index) => (index === at ? { ...make(one.message), id: old.id } : old))
    case 'cut':
      return messages.slice(0, at)
    default:
      return messages.toSpliced(at, 0, make(one.message))
  }
}

it('is what the thread reads as, with dates, after any edits and however often one looks', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(edit, fc.boolean()), { maxLength: 40 }), (edits) => {
      const view = new MessageView()
      const dates = new Map<string, Date>()
      let messages: readonly Message[] = []
      for (const [one, look] of edits) {
        if (one.kind === 'date') {
          const id = messages[one.at % (messages.length || 1)]?.id ?? 'later'
          dates.set(id, new Date(2026, 0, one.day))
          view.date(id, dates.get(id))
        } else messages = edited(messages, one)
        if (!look) continue
        const seen = view.of(messages)
        const plain = toUIMessages(messages)
        expect(seen.map(({ createdAt }) => createdAt)).toEqual(plain.map(({ id }) => dates.get(id)))
        // What has no date is the very object; the others are as they were made.
        for (const [index, ui] of plain.entries()) {
          if (dates.has(ui.id)) expect(seen[index]).toEqual({ ...ui, createdAt: dates.get(ui.id) })
          else expect(seen[index]).toBe(ui)
        }
        const again = view.of([...messages])
        for (const [index, ui] of again.entries()) expect(ui).toBe(seen[index])
      }
    }),
    { numRuns: 1_000 },
  )
})

it('looks at no turn before the last question again', () => {
  const view = new MessageView()
  let looks = 0
  const watched = (role: 'user' | 'assistant', content: string): Message => {
    const one = make({ role, content })
    return Object.defineProperty({ ...one }, 'role', { enumerable: true, get: () => (looks++, role) }) as Message
  }
  const history = Array.from({ length: 100 }, (_, index) => watched(index % 2 === 0 ? 'user' : 'assistant', ''))
  const asked = [...history, watched('user', 'Well?')]
  view.of([...asked, make({ role: 'assistant', content: 'We' })])
  looks = 0
  view.of([...asked, make({ role: 'assistant', content: 'Well' })])
  expect(looks).toBeLessThan(10)
})
