/** The short cut for repeated deltas against the stages it stands for. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Reporter, type Diagnostic } from '../diagnostics.ts'
import { ProtocolError } from '../errors.ts'
import { EventParser } from '../events/parse.ts'
import { compatible, EventVerifier, type Event, type Mode, type RuleId, type VerifiedEvent } from '../index.ts'
import { DEFAULT_LIMITS } from '../limits.ts'
import { leniencyOf } from './leniency.ts'
import { Verifier } from './verifier.ts'
import { anyEvent } from '../../test/arbitraries.ts'

interface Reading {
  readonly emitted: VerifiedEvent[]
  readonly diagnostics: Diagnostic[]
  readonly error: unknown
}

function short(events: readonly unknown[], mode: Mode): Reading {
  const emitted: VerifiedEvent[] = []
  const diagnostics: Diagnostic[] = []
  const verifier = new EventVerifier({ ...compatible(mode), onDiagnostic: (found) => diagnostics.push(found) })
  try {
    for (const event of events) verifier.accept(event, (verified) => emitted.push(verified))
  } catch (error) {
    return { emitted, diagnostics, error }
  }
  return { emitted, diagnostics, error: undefined }
}

/** Every event through enforcement and verification, with no memory of the one before. */
function plain(events: readonly unknown[], mode: Mode): Reading {
  const emitted: VerifiedEvent[] = []
  const diagnostics: Diagnostic[] = []
  const reporter = new Reporter((found) => diagnostics.push(found))
  const { mode: how, upgrade } = compatible(mode)
  const leniency = leniencyOf(how)
  const parser = new EventParser(reporter, DEFAULT_LIMITS, upgrade, leniency?.nulls)
  const verifier = new Verifier(leniency, reporter, DEFAULT_LIMITS)
  try {
    events.forEach((raw, index) => {
      reporter.event = index
      try {
        const event = parser.parse(raw)
        if (event !== undefined) verifier.accept(event, (verified) => emitted.push(verified))
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error
        if (error.code === 'malformed') reporter.report(error.rule as RuleId, { message: error.message })
        if (mode !== 'report') throw error
      }
    })
  } catch (error) {
    return { emitted, diagnostics, error }
  }
  return { emitted, diagnostics, error: undefined }
}

/** Deltas, mostly alike, some with a flaw; now and then another event. */
const id = fc.constantFrom('a', 'a', 'a', 'b')
const delta = fc
  .record({
    type: fc.constantFrom(
      ...['TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_CONTENT', 'TOOL_CALL_ARGS', 'REASONING_MESSAGE_CONTENT'],
      ...['TEXT_MESSAGE_CHUNK', 'TEXT_MESSAGE_CHUNK', 'TOOL_CALL_CHUNK', 'REASONING_MESSAGE_CHUNK'],
    ),
    id,
    delta: fc.oneof({ weight: 20, arbitrary: fc.string({ maxLength: 3 }) }, { weight: 1, arbitrary: fc.constantFrom(5, null, undefined) }),
    more: fc.oneof(
      { weight: 12, arbitrary: fc.constant({}) },
      ...[{ timestamp: 1 }, { timestamp: 1.5 }, { metadata: { a: 1 } }, { rawEvent: null }, { mood: 1 }].map((fields) => fc.constant(fields)),
      ...[{ subagentRunId: 's1' }, { toolCallName: 'f' }, { role: 'assistant' }, JSON.parse('{"__proto__":1}') as object].map((fields) => fc.constant(fields)),
    ),
  })
  .map(({ type, id: key, delta: text, more }) => ({ type, [type.startsWith('TOOL') ? 'toolCallId' : 'messageId']: key, delta: text, ...more }))

/** The same event a few times: what the short cut is for. */
const deltas = fc.tuple(delta, fc.integer({ min: 1, max: 3 })).map(([event, times]) => Array.from({ length: times }, () => event))

const started: Event = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const openers: readonly Event[] = [
  { type: 'TEXT_MESSAGE_START', messageId: 'a' },
  { type: 'TEXT_MESSAGE_START', messageId: 'b' },
  { type: 'TOOL_CALL_START', toolCallId: 'a', toolCallName: 'f' },
  { type: 'REASONING_MESSAGE_START', messageId: 'a', role: 'reasoning' },
  { type: 'TEXT_MESSAGE_CHUNK', messageId: 'a', subagentRunId: 's1', delta: 'x' },
]

it.each<Mode>(['strict', 'tolerant', 'report'])('gives the same events, findings and verdict as the plain stages, %s', (mode) => {
  const events = fc.array(fc.oneof({ weight: 4, arbitrary: deltas }, anyEvent.map((event) => [event])), { maxLength: 12 })
  fc.assert(
    fc.property(fc.subarray([...openers]), events, (opened, rest) => {
      const stream = [started, ...opened, ...rest.flat()]
      const [a, b] = [short(stream, mode), plain(stream, mode)]
      expect(a.emitted).toEqual(b.emitted)
      expect(a.diagnostics.map(({ rule, event }) => [rule, event])).toEqual(b.diagnostics.map(({ rule, event }) => [rule, event]))
      expect(a.error).toEqual(b.error)
    }),
    { numRuns: 3_000 },
  )
})

it('forgets what was when [DONE] ends the run', () => {
  const verifier = new EventVerifier()
  const read = (event: object | string): void => verifier.acceptFrame({ data: typeof event === 'string' ? event : JSON.stringify(event), line: 1 }, () => {})
  const content = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'x' }
  for (const event of [started, { type: 'TEXT_MESSAGE_START', messageId: 'a' }, content, content, '[DONE]']) read(event)
  expect(() => read(content)).toThrow(expect.objectContaining({ rule: 'run.after-finish' }))
})
