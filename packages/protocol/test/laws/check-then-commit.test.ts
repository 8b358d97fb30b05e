/** Law 4: a rejected event changes nothing, and what was valid before it stays. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProtocolError, reportMode, ThreadReader, type Event, type Thread, type VerifiedEvent } from '../../src/index.ts'
import { anyEvents } from '../arbitraries.ts'

interface Outcome {
  readonly thread: Thread
  readonly emitted: VerifiedEvent[]
  readonly rejectedAt: number | undefined
}

function read(events: readonly unknown[]): Outcome {
  const emitted: VerifiedEvent[] = []
  const reader = new ThreadReader({ onEvent: (event) => emitted.push(event) })
  let rejectedAt: number | undefined
  for (const event of events) {
    try {
      reader.accept(event)
    } catch (error) {
      expect(error).toBeInstanceOf(ProtocolError)
      rejectedAt = (error as ProtocolError).event
      break
    }
  }
  return { thread: reader.snapshot(), emitted, rejectedAt }
}

describe('law 4, check, then commit', () => {
  it('a stream up to its rejected event folds as if it had ended there', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const { thread, emitted, rejectedAt } = read(events)
        if (rejectedAt === undefined) return
        const before = read(events.slice(0, rejectedAt))
        expect(before.rejectedAt).toBeUndefined()
        expect(emitted).toEqual(before.emitted)
        const { runs, steps: _, ...content } = thread
        expect(content).toEqual({ messages: before.thread.messages, state: before.thread.state, subagents: before.thread.subagents, interrupts: before.thread.interrupts })
        // A run that had failed keeps what was said of it.
        expect(runs.at(-1)?.outcome).toBe(before.thread.runs.at(-1)?.outcome === 'error' ? 'error' : 'violation')
      }),
      { numRuns: 2_000 },
    )
  })

  it('a rejected event leaves the ledger as it was: what would have been legal still is', () => {
    // In report mode a rejected event is skipped, so a stream with and without it goes on alike.
    fc.assert(
      fc.property(anyEvents, anyEvents, (head, tail) => {
        const { rejectedAt } = read(head)
        if (rejectedAt === undefined) return
        const skipped = new Set(['text.open', 'text.continue', 'tool.open', 'tool.continue', 'reasoning.open', 'reasoning.continue', 'span.open', 'span.close', 'step.open', 'step.close', 'chunk.opener', 'chunk.conflict', 'chunk.ambiguous', 'sub.start', 'sub.end'])
        const report = (events: readonly Event[]): { thread: Thread; rules: string[] } => {
          const rules: string[] = []
          const reader = new ThreadReader({ mode: reportMode, onDiagnostic: ({ rule }) => rules.push(rule) })
          for (const event of events) reader.accept(event)
          return { thread: reader.snapshot(), rules }
        }
        const good = head.slice(0, rejectedAt)
        const rule = report(head.slice(0, rejectedAt + 1)).rules.at(-1) as string
        if (!skipped.has(rule)) return
        const bad = head[rejectedAt] as Event
        expect(report([...good, bad, ...tail]).thread).toEqual(report([...good, ...tail]).thread)
      }),
      { numRuns: 2_000 },
    )
  })

  it('a malformed event changes nothing, wherever it stands', () => {
    fc.assert(
      fc.property(anyEvents, fc.nat(), (events, at) => {
        const place = at % (events.length + 1)
        const good = read(events.slice(0, place))
        if (good.rejectedAt !== undefined) return
        const { thread, rejectedAt } = read([...events.slice(0, place), { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 5 }])
        expect(rejectedAt).toBe(place)
        expect(thread.messages).toEqual(good.thread.messages)
        expect(thread.state).toEqual(good.thread.state)
      }),
    )
  })

  it('events are not changed by reading them', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const copy = structuredClone(events)
        read(events)
        expect(events).toEqual(copy)
      }),
    )
  })
})
