/** Laws 2 and 6: replaying gives the live state; a snapshot differs from the one before only along what changed. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyPatch, JsonPatchError, reportMode, ThreadReader, toUIMessages, type Event, type JsonPatch, type Thread } from '../../src/index.ts'
import { anyEvents } from '../arbitraries.ts'

/** All snapshots of a stream, one after each event; report mode goes on after violations. */
function snapshots(events: readonly Event[], look: (index: number) => boolean = () => true): Thread[] {
  const reader = new ThreadReader({ mode: reportMode })
  const seen = [reader.snapshot()]
  events.forEach((event, index) => {
    reader.accept(event)
    if (look(index)) seen.push(reader.snapshot())
  })
  seen.push(reader.snapshot())
  return seen
}

describe('law 6, sharing', () => {
  it('snapshots never change after they were taken', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const reader = new ThreadReader({ mode: reportMode })
        const taken: [Thread, string][] = []
        for (const event of events) {
          reader.accept(event)
          const thread = reader.snapshot()
          taken.push([thread, JSON.stringify(thread)])
        }
        for (const [thread, text] of taken) expect(JSON.stringify(thread)).toBe(text)
      }),
      { numRuns: 500 },
    )
  })

  it('a text delta changes one message and nothing else', () => {
    fc.assert(
      fc.property(anyEvents, fc.string({ minLength: 1 }), (events, delta) => {
        const reader = new ThreadReader({ mode: reportMode })
        for (const event of events) reader.accept(event)
        reader.accept({ type: 'RUN_ERROR', message: 'settle' })
        reader.accept({ type: 'RUN_STARTED', threadId: 't', runId: 'r' })
        reader.accept({ type: 'TEXT_MESSAGE_START', messageId: 'fresh' })
        const before = reader.snapshot()
        const uiBefore = toUIMessages(before.messages)
        reader.accept({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'fresh', delta })
        const after = reader.snapshot()
        expect(after.state).toBe(before.state)
        expect(after.runs).toBe(before.runs)
        expect(after.messages.filter((message, index) => message !== before.messages[index]).map(({ id }) => id)).toEqual(['fresh'])
        const uiAfter = toUIMessages(after.messages)
        expect(uiAfter.filter((message) => !uiBefore.includes(message))).toHaveLength(1)
      }),
    )
  })

  it('an event makes at most one message new, whatever it is about', () => {
    // These may restate, close or add several: snapshots, ends of runs, echoes, and chunks that displace others.
    const many = /^(?:RUN_|MESSAGES_SNAPSHOT$)|_CHUNK$/
    fc.assert(
      fc.property(
        anyEvents.map((events) => events.filter(({ type }) => !type.endsWith('_CHUNK'))),
        (events) => {
          const all = snapshots(events)
          events.forEach(({ type }, index) => {
            const before = new Set((all[index] as Thread).messages)
            const fresh = (all[index + 1] as Thread).messages.filter((message) => !before.has(message))
            if (!many.test(type)) expect(fresh.length, type).toBeLessThanOrEqual(1)
          })
        },
      ),
      { numRuns: 1_000 },
    )
  })

  it('an event that is not about state keeps the state, and one about state keeps the messages', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const all = snapshots(events)
        events.forEach(({ type }, index) => {
          const [before, after] = [all[index] as Thread, all[index + 1] as Thread]
          if (!type.startsWith('STATE_')) expect(after.state, type).toBe(before.state)
          else if (!events.some((event) => event.type.endsWith('_CHUNK'))) expect(after.messages, type).toBe(before.messages)
        })
      }),
      { numRuns: 1_000 },
    )
  })

  it('a snapshot without change is the same object', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const reader = new ThreadReader({ mode: reportMode })
        for (const event of events) reader.accept(event)
        expect(reader.snapshot()).toBe(reader.snapshot())
      }),
    )
  })

  it('a patch shares every branch it does not touch, and keeps all of it when it fails', () => {
    const path = fc.array(fc.constantFrom('a', 'b', '0', '1', '-'), { maxLength: 3 }).map((tokens) => tokens.map((token) => `/${token}`).join(''))
    const patch = fc.array(
      fc.oneof(
        fc.record({ op: fc.constantFrom('add' as const, 'replace' as const, 'test' as const), path, value: fc.jsonValue({ maxDepth: 1 }) }),
        fc.record({ op: fc.constant('remove' as const), path }),
        fc.record({ op: fc.constantFrom('move' as const, 'copy' as const), from: path, path }),
      ),
      { maxLength: 3 },
    ) as fc.Arbitrary<JsonPatch>
    const document = fc.record({ a: fc.array(fc.record({ a: fc.nat(), b: fc.array(fc.nat()) })), b: fc.record({ a: fc.nat(), b: fc.record({ a: fc.nat() }) }) })
    fc.assert(
      fc.property(document, fc.array(patch, { maxLength: 5 }), (before, patches) => {
        const text = JSON.stringify(before)
        let value: unknown = before
        for (const one of patches) {
          try {
            const next = applyPatch(value, one)
            if (one.length === 1 && one[0]?.op !== 'move' && one[0]?.op !== 'copy') {
              // A replaced branch is new; everything beside its path is the old object.
              const [head] = one[0]?.path.split('/').slice(1) ?? []
              for (const key of ['a', 'b']) {
                if (head !== undefined && key !== head && typeof next === 'object' && next !== null) {
                  expect((next as Record<string, unknown>)[key]).toBe((value as Record<string, unknown>)[key])
                }
              }
            }
            value = next
          } catch (error) {
            expect(error).toBeInstanceOf(JsonPatchError)
          }
        }
        expect(JSON.stringify(before)).toBe(text)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('law 2, replay', () => {
  it('how often one looks changes nothing', () => {
    fc.assert(
      fc.property(anyEvents, fc.array(fc.boolean(), { minLength: 31, maxLength: 31 }), (events, looks) => {
        const often = snapshots(events).at(-1)
        const sometimes = snapshots(events, (index) => looks[index] ?? false).at(-1)
        const once = snapshots(events, () => false).at(-1)
        expect(sometimes).toEqual(often)
        expect(once).toEqual(often)
        const shown = (thread: Thread | undefined): unknown => toUIMessages(thread?.messages ?? [])
        expect(shown(once)).toEqual(shown(often))
      }),
      { numRuns: 1_000 },
    )
  })

  it('what is verified once is accepted again, and folds to the same', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const verified: Event[] = []
        const reader = new ThreadReader({ onEvent: (event) => verified.push(event) })
        try {
          for (const event of events) reader.accept(event)
        } catch {
          return
        }
        const again = new ThreadReader()
        for (const event of verified) again.accept(event)
        expect(again.snapshot()).toEqual(reader.snapshot())
      }),
      { numRuns: 1_000 },
    )
  })
})
