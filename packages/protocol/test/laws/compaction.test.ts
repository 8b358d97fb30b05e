/** Law 2, second half: folding a compacted log equals folding the original, and nothing is lost on the way. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compact,
  EventVerifier,
  ProtocolError,
  reportMode,
  snapshotOf,
  ThreadBuilder,
  toUIMessages,
  type Diagnostic,
  type Event,
  type Message,
  type Thread,
  type VerifiedEvent,
} from '../../src/index.ts'
import { anyEvent, anyEvents, message } from '../arbitraries.ts'

/** Deltas and state make most of a real stream, and are what compaction is about. */
const id = fc.constantFrom('a', 'b')
const extras = fc.record({ timestamp: fc.nat(9), rawEvent: fc.constant('raw'), metadata: fc.dictionary(fc.constantFrom('k', 'l'), fc.nat(3)), subagentRunId: fc.constantFrom('s1', '') }, { requiredKeys: [] })
const rarely = fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: extras })
const path = fc.constantFrom('', '/a', '/b', '/a/b', '/a/0', '/a/-')
const busy = fc
  .tuple(
    fc.oneof(
      { weight: 3, arbitrary: fc.record({ type: fc.constantFrom('TEXT_MESSAGE_CONTENT', 'REASONING_MESSAGE_CONTENT'), messageId: id, delta: fc.string({ maxLength: 3 }) }) },
      { weight: 2, arbitrary: fc.record({ type: fc.constant('TOOL_CALL_ARGS'), toolCallId: id, delta: fc.string({ maxLength: 3 }) }) },
      fc.record({ type: fc.constant('STATE_SNAPSHOT'), snapshot: fc.constantFrom({}, { a: [1] }, { a: { b: 1 } }, null) }),
      { weight: 2, arbitrary: fc.record({ type: fc.constant('STATE_DELTA'), delta: fc.array(fc.oneof(fc.record({ op: fc.constantFrom('add', 'replace'), path, value: fc.constantFrom(1, {}, [2]) }), fc.record({ op: fc.constant('remove'), path }), fc.record({ op: fc.constantFrom('move', 'copy'), from: path, path })), { maxLength: 2 }) }) },
      fc.record({ type: fc.constantFrom('TEXT_MESSAGE_START', 'TEXT_MESSAGE_END'), messageId: id }),
      fc.record({ type: fc.constant('REASONING_MESSAGE_START'), messageId: id, role: fc.constant('reasoning') }),
      fc.record({ type: fc.constant('TOOL_CALL_START'), toolCallId: id, toolCallName: fc.constant('f'), parentMessageId: id }),
    ),
    rarely,
  )
  .map(([event, more]) => ({ ...event, ...more }) as Event)

const opened: readonly Event[] = [
  { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
  { type: 'TEXT_MESSAGE_START', messageId: 'a' },
  { type: 'REASONING_MESSAGE_START', messageId: 'a', role: 'reasoning' },
  { type: 'TOOL_CALL_START', toolCallId: 'a', toolCallName: 'f', parentMessageId: 'a' },
  { type: 'TEXT_MESSAGE_START', messageId: 'b', subagentRunId: 's1' },
  { type: 'TOOL_CALL_START', toolCallId: 'b', toolCallName: 'f' },
]
const busyEvents = fc.array(fc.oneof({ weight: 6, arbitrary: busy }, { weight: 1, arbitrary: anyEvent }), { maxLength: 40 }).map((events) => [...opened, ...events])
const streams = fc.oneof(anyEvents, busyEvents)

/** What report mode lets through: any order, legal or not. */
function verified(events: readonly Event[]): VerifiedEvent[] {
  const out: VerifiedEvent[] = []
  const verifier = new EventVerifier({ mode: reportMode })
  for (const event of events) verifier.accept(event, (one) => out.push(one))
  return out
}

/** What strict mode accepts of these: a legal stream. */
function legal(events: readonly Event[]): VerifiedEvent[] {
  const out: VerifiedEvent[] = []
  const verifier = new EventVerifier()
  for (const event of events) {
    try {
      verifier.accept(event, (one) => out.push(one))
    } catch (error) {
      expect(error).toBeInstanceOf(ProtocolError)
    }
  }
  return out
}

/** Verdict of a fresh strict verifier: the errors and what it throws. */
function verdict(events: readonly VerifiedEvent[]): string[] {
  const found: Diagnostic[] = []
  const verifier = new EventVerifier({ onDiagnostic: (diagnostic) => found.push(diagnostic) })
  const out: VerifiedEvent[] = []
  for (const event of events) verifier.accept(event, (one) => out.push(one))
  expect(out).toEqual(events)
  return found.filter(({ severity }) => severity === 'error').map(({ rule }) => rule)
}

interface Before {
  readonly messages: Message[]
  readonly state?: unknown
}

const before: fc.Arbitrary<Before> = fc.record({ messages: fc.uniqueArray(message as fc.Arbitrary<Message>, { maxLength: 2, selector: (one) => one.id }), state: fc.constantFrom({}, { a: { b: 1 } }, [1], undefined) })

function folded(events: readonly VerifiedEvent[], initial: Before): { thread: Thread; ui: unknown } {
  const builder = new ThreadBuilder(initial)
  for (const event of events) builder.apply(event)
  const thread = builder.snapshot()
  return { thread, ui: toUIMessages(thread.messages) }
}

const isMergeable = ({ type }: VerifiedEvent): boolean => /_CONTENT$|_ARGS$|^STATE_/.test(type)
const isRunEdge = ({ type }: VerifiedEvent): boolean => type.startsWith('RUN_')

describe('law 2, compaction', () => {
  it('folds to the same thread and the same view, whatever was there before', () => {
    fc.assert(
      fc.property(streams, before, (events, initial) => {
        const all = verified(events)
        expect(folded(compact(all), initial)).toEqual(folded(all, initial))
      }),
      { numRuns: 3_000 },
    )
  })

  it('and so it does at every edge of a run', () => {
    const threads = (events: readonly VerifiedEvent[], initial: Before): Thread[] => {
      const builder = new ThreadBuilder(initial)
      return events.flatMap((event) => {
        const earlier = isRunEdge(event) ? [builder.snapshot()] : []
        builder.apply(event)
        return earlier
      })
    }
    fc.assert(
      fc.property(fc.tuple(streams, streams), before, ([first, second], initial) => {
        const all = verified([...first, ...second])
        expect(threads(compact(all), initial)).toEqual(threads(all, initial))
      }),
      { numRuns: 1_000 },
    )
  })

  it('what was legal stays legal', () => {
    fc.assert(
      fc.property(fc.tuple(streams, streams), ([first, second]) => {
        const all = legal([...first, ...second])
        expect(verdict(compact(all))).toEqual(verdict(all))
      }),
      { numRuns: 3_000 },
    )
  })

  it('compacting again changes nothing, and nothing is changed by it', () => {
    fc.assert(
      fc.property(streams, (events) => {
        const all = verified(events)
        const copy = structuredClone(all)
        const once = compact(all)
        expect(all).toEqual(copy)
        expect(compact(once)).toEqual(once)
        expect(once.length).toBeLessThanOrEqual(all.length)
        expect(JSON.stringify(once).length).toBeLessThanOrEqual(JSON.stringify(all).length)
      }),
      { numRuns: 2_000 },
    )
  })

  it('events of other kinds stay, the same objects in the same order; so does every rawEvent and every tag', () => {
    const outline = (events: readonly VerifiedEvent[]): unknown[] => events.filter((event) => !isMergeable(event))
    const raw = (events: readonly VerifiedEvent[]): unknown[] => events.flatMap((event) => (event.rawEvent === undefined ? [] : [event]))
    /** Text by item, kind and tag between two events of other kinds. */
    const words = (events: readonly VerifiedEvent[]): unknown => {
      const found: Map<string, string>[] = [new Map()]
      for (const event of events) {
        if (!isMergeable(event)) found.push(new Map())
        else if ('delta' in event && typeof event.delta === 'string') {
          const { type, messageId, toolCallId, subagentRunId } = event as { type: string; messageId?: string; toolCallId?: string; subagentRunId?: string }
          const key = JSON.stringify([type, messageId, toolCallId, subagentRunId ?? null])
          found.at(-1)?.set(key, (found.at(-1)?.get(key) ?? '') + event.delta)
        }
      }
      return found
    }
    const tags = (events: readonly VerifiedEvent[]): unknown => [...new Set(events.filter(({ type }) => type.startsWith('STATE_')).map((event) => (event as { subagentRunId?: string }).subagentRunId))]
    fc.assert(
      fc.property(streams, (events) => {
        const all = verified(events)
        const some = compact(all)
        expect(outline(some).every((event, index) => event === outline(all)[index])).toBe(true)
        expect(outline(some)).toHaveLength(outline(all).length)
        expect(raw(some)).toEqual(raw(all))
        expect(words(some)).toEqual(words(all))
        expect(tags(some)).toEqual(tags(all))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('compaction by example', () => {
  const run = (...events: VerifiedEvent[]): VerifiedEvent[] => [{ type: 'RUN_STARTED', threadId: 't', runId: 'r' }, ...events]
  const text = (messageId: string, delta: string, more: object = {}): VerifiedEvent => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta, ...more })
  const start = (messageId: string): VerifiedEvent => ({ type: 'TEXT_MESSAGE_START', messageId })
  const patch = (value: number, more: object = {}): VerifiedEvent => ({ type: 'STATE_DELTA', delta: [{ op: 'replace', path: '/n', value }], ...more })
  const state = (n: number, more: object = {}): VerifiedEvent => ({ type: 'STATE_SNAPSHOT', snapshot: { n }, ...more })

  it('joins the deltas of items that stream at the same time', () => {
    const [first, second] = [start('a'), start('b')]
    expect(compact(run(first, second, text('a', '1'), text('b', '2'), text('a', '3'), text('b', '4')))).toEqual(run(first, second, text('a', '13'), text('b', '24')))
  })

  it('keeps tag, metadata and the first timestamp of joined deltas', () => {
    const all = run(start('a'), text('a', '1', { subagentRunId: 's', timestamp: 1, metadata: { k: 1 } }), text('a', '2', { subagentRunId: 's', timestamp: 2, metadata: { k: 2, l: 2 } }))
    expect(compact(all)).toEqual(run(start('a'), text('a', '12', { subagentRunId: 's', timestamp: 1, metadata: { k: 2, l: 2 } })))
  })

  it('does not join over a message snapshot, a call that begins in the text, or an event of the application', () => {
    const betweens: readonly VerifiedEvent[] = [
      { type: 'MESSAGES_SNAPSHOT', messages: [] },
      { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'f', parentMessageId: 'a' },
      { type: 'CUSTOM', name: 'x', value: 1 },
    ]
    for (const between of betweens) {
      const all = run(start('a'), text('a', '1'), between, text('a', '2'))
      expect(compact(all)).toEqual(all)
    }
  })

  it('keeps what is open at RUN_ERROR before it', () => {
    const failed: VerifiedEvent = { type: 'RUN_ERROR', message: 'x' }
    expect(compact(run(start('a'), text('a', '1'), text('a', '2'), failed))).toEqual(run(start('a'), text('a', '12'), failed))
  })

  it('tells state from a snapshot on as one, with its tag and the last timestamp', () => {
    const tag = { subagentRunId: 's' }
    const all = run(patch(0, tag), state(1, tag), start('a'), patch(2, { ...tag, timestamp: 5 }), text('a', 'x'), patch(3, { ...tag, timestamp: 7 }), text('a', 'y'))
    expect(compact(all)).toEqual(run(start('a'), text('a', 'xy'), state(3, { ...tag, timestamp: 7 })))
  })

  it('leaves deltas without a snapshot, other tags, and copies', () => {
    const copy: VerifiedEvent = { type: 'STATE_DELTA', delta: [{ op: 'copy', from: '', path: '/n' }] }
    for (const all of [run(patch(1), patch(2)), run(state(1), patch(2, { subagentRunId: 's' }), patch(3)), run(state(1), copy, patch(2)), run(state(1), patch(2, { metadata: {} }))]) {
      expect(compact(all)).toEqual(all)
    }
  })

  it('does not reach over the end of a run', () => {
    const all = [...run(state(1), { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }), ...run(patch(2), patch(3))]
    expect(compact(all)).toEqual(all)
  })
})

describe('the snapshot of a thread', () => {
  const ids = { threadId: 't', runId: 'r' }

  it('is legal and rebuilds messages, state and interrupts', () => {
    fc.assert(
      fc.property(streams, before, (events, initial) => {
        const { thread } = folded(verified(events), initial)
        const some = snapshotOf(thread, ids)
        expect(verdict(some)).toEqual([])
        const again = folded(some, { messages: [] }).thread
        expect(again.messages).toEqual(thread.messages)
        expect(again.state).toEqual(thread.state)
        expect(again.interrupts).toEqual(thread.interrupts)
        expect(some.length).toBeLessThanOrEqual(4)
        expect(snapshotOf(again)).toEqual(some)
      }),
      { numRuns: 2_000 },
    )
  })

  it('carries the questions that are open', () => {
    const start: VerifiedEvent = { type: 'RUN_STARTED', ...ids }
    const interrupts = [{ id: 'i', reason: 'approval' }]
    expect(snapshotOf(folded([start, { type: 'RUN_FINISHED', ...ids, outcome: { type: 'interrupt', interrupts } }], { messages: [] }).thread)).toEqual([
      start,
      { type: 'RUN_FINISHED', ...ids, outcome: { type: 'interrupt', interrupts } },
    ])
    const called = folded([start, { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'f' }, { type: 'TOOL_CALL_END', toolCallId: 'c' }, { type: 'RUN_FINISHED', ...ids }], { messages: [] })
    const again = folded(snapshotOf(called.thread), { messages: [] })
    expect(again.thread.runs.at(-1)?.pendingToolCallIds).toEqual(['c'])
  })

  it('has ids, or says that it needs them', () => {
    expect(() => snapshotOf(folded([], { messages: [] }).thread)).toThrow(expect.objectContaining({ code: 'no-run-ids' }))
    expect(snapshotOf(folded([], { messages: [] }).thread, ids)).toEqual([{ type: 'RUN_STARTED', ...ids }, { type: 'RUN_FINISHED', ...ids }])
  })
})
