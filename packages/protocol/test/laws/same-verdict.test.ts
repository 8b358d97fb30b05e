/** Law 10: the same events give the same diagnostics, events and thread through JSON and through protobuf. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compatible, encodeSse, ProtocolError, SseDecoder, ThreadReader, type Event, type Mode, type Thread, type VerifiedEvent } from '../../src/index.ts'
import { encodeFrame, LengthPrefixedDecoder, parseBinaryFrame } from '../../src/proto.ts'
import { anyEvents, cut } from '../arbitraries.ts'
import { asCarried } from '../carried.ts'
import { json, shapedEvent } from '../shaped-arbitraries.ts'

interface Verdict {
  readonly found: readonly object[]
  readonly emitted: readonly VerifiedEvent[]
  readonly error: object | undefined
  readonly outcome: string
  readonly thread: Thread
}

function read(mode: Mode, feed: (reader: ThreadReader) => void): Verdict {
  const found: object[] = []
  const emitted: VerifiedEvent[] = []
  const reader = new ThreadReader({
    ...compatible(mode),
    // A binary frame stands on no line.
    onDiagnostic: (diagnostic) => found.push({ ...diagnostic, line: undefined }),
    onEvent: (event) => emitted.push(event),
  })
  let error: object | undefined
  try {
    feed(reader)
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(ProtocolError)
    const { code, rule, event, type, pointer, related, message } = thrown as ProtocolError
    error = { code, rule, event, type, pointer, related, message }
  }
  return { outcome: reader.finish(), found, emitted, error, thread: reader.snapshot() }
}

const throughSse = (mode: Mode, events: readonly Event[], places: readonly number[]): Verdict =>
  read(mode, (reader) => {
    const bytes = new TextEncoder().encode(events.map((event) => encodeSse({ data: JSON.stringify(event) })).join(''))
    const decoder = new SseDecoder((frame) => reader.acceptFrame(frame))
    for (const piece of cut(bytes, places)) decoder.feed(piece)
    decoder.finish()
  })

const throughProtobuf = (mode: Mode, events: readonly Event[], places: readonly number[]): Verdict =>
  read(mode, (reader) => {
    const bytes = Uint8Array.from(events.flatMap((event) => [...encodeFrame(event, { jsonDepth: 500 })]))
    const decoder = new LengthPrefixedDecoder((frame) => reader.acceptFrame(frame, parseBinaryFrame))
    for (const piece of cut(bytes, places)) decoder.feed(piece)
    decoder.finish()
  })

const raw = (event: fc.Arbitrary<object>): fc.Arbitrary<Event> => event as fc.Arbitrary<Event>
const id = fc.constantFrom('a', 'b')
const later = fc.constantFrom('later', 'toString', '')

/** Events that are wrong in a way that protobuf can say. */
const wrong: fc.Arbitrary<Event> = raw(
  fc.oneof(
    fc.record({ type: fc.constantFrom('TEXT_MESSAGE_START', 'TEXT_MESSAGE_CHUNK'), messageId: id, role: later }),
    fc.record({ type: fc.constant('REASONING_MESSAGE_START'), messageId: id, role: later }),
    fc.record({ type: fc.constant('TOOL_CALL_RESULT'), messageId: id, toolCallId: id, content: id, role: later }),
    fc.record({ type: fc.constant('REASONING_ENCRYPTED_VALUE'), subtype: later, entityId: id, encryptedValue: id }),
    fc.record({ type: fc.constant('RUN_FINISHED'), threadId: fc.constant('t'), runId: id, outcome: fc.constantFrom({ type: 'later' }, { type: 'interrupt', interrupts: [] }, { type: 'success', interrupts: [{ id: 'i', reason: 'r' }] }) }),
    fc.record({ type: fc.constant('RUN_FINISHED'), threadId: fc.constant('t'), runId: id, result: fc.constant(null) }),
    fc.record({ type: fc.constant('RUN_ERROR'), message: id, usage: fc.constant([{ inputTokens: -1 }]) }),
    fc.record({ type: fc.constant('STATE_DELTA'), delta: fc.constantFrom([{ op: 'add', path: '/a' }], [{ op: 'remove', path: 'a' }], [{ op: 'move', path: '/a' }]) }),
    fc.record({ type: fc.constant('TEXT_MESSAGE_END'), messageId: id, rawEvent: fc.constant(null) }),
    fc.record({
      type: fc.constant('MESSAGES_SNAPSHOT'),
      messages: fc.array(
        fc.constantFrom<object[]>(
          { id: 'a', role: 'later', content: 'x' },
          { id: 'a', role: 'assistant', content: [{ type: 'text', text: 'x' }] },
          { id: 'a', role: 'activity', activityType: 't', content: 'x' },
          { id: 'a', role: 'activity', content: {} },
          { id: 'a', role: 'user', content: 'x', toolCallId: 'c' },
          { id: 'a', role: 'tool', content: 'x' },
          { id: 'a', role: 'system' },
          { id: 'a', role: 'assistant', toolCalls: [{ id: 'c', type: 'later', function: { name: 'f', arguments: '' } }] },
          { id: 'a', role: 'user', content: [{ type: 'text', text: 'x', metadata: null }] },
        ),
        { maxLength: 3 },
      ),
    }),
    fc.record({
      type: fc.constant('RUN_STARTED'),
      threadId: fc.constant('t'),
      runId: id,
      protocolVersion: fc.constantFrom('2.0', 'x'),
      input: fc.constantFrom(
        { threadId: 't', runId: 'r', messages: [], state: null, forwardedProps: null },
        { threadId: 't', runId: 'r', messages: [], tools: [{ name: 'f', description: '', parameters: null }] },
        { threadId: 't', runId: 'r', messages: [], resume: [{ interruptId: 'i', status: 'later', payload: null }] },
      ),
    }),
    json.map((value) => ({ type: 'RAW', event: Array.from({ length: 201 }).reduce<unknown>((inner) => [inner], value) })),
  ),
)

const places = fc.array(fc.nat(), { maxLength: 10 })

describe('law 10, same verdict', () => {
  for (const mode of ['strict', 'tolerant', 'report'] as const) {
    it(`random streams, ${mode}`, () => {
      fc.assert(
        fc.property(anyEvents, places, (events, at) => {
          const stream = events.map(asCarried)
          expect(throughProtobuf(mode, stream, at)).toEqual(throughSse(mode, stream, at))
        }),
        { numRuns: 500 },
      )
    })

    it(`every field and what is wrong in one, ${mode}`, () => {
      fc.assert(
        fc.property(fc.array(fc.oneof({ weight: 3, arbitrary: shapedEvent }, { weight: 2, arbitrary: wrong }), { maxLength: 8 }), places, (events, at) => {
          const stream = [{ type: 'RUN_STARTED', threadId: 't', runId: 'r' } as const, ...events].map(asCarried)
          expect(throughProtobuf(mode, stream, at)).toEqual(throughSse(mode, stream, at))
        }),
        { numRuns: 300 },
      )
    })
  }
})
