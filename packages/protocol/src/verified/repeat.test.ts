/** The short cut for repeated deltas against the stages it stands for. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Reporter, type Diagnostic } from '../diagnostics.ts'
import { ProtocolError } from '../errors.ts'
import { EventParser } from '../events/parse.ts'
import { ThreadReader, type Event, type VerifiedEvent } from '../index.ts'
import { DEFAULT_LIMITS } from '../limits.ts'
import { Verifier } from './verifier.ts'
import { anyEvent } from '../../test/arbitraries.ts'

interface Reading {
  readonly emitted: VerifiedEvent[]
  readonly diagnostics: Diagnostic[]
  readonly error: unknown
}

function short(events: readonly unknown[]): Reading {
  const emitted: VerifiedEvent[] = []
  const diagnostics: Diagnostic[] = []
  const reader = new ThreadReader({ onEvent: (event) => emitted.push(event), onDiagnostic: (found) => diagnostics.push(found) })
  try {
    for (const event of events) reader.accept(event)
  } catch (error) {
    return { emitted, diagnostics: diagnostics.filter(({ rule }) => !rule.startsWith('state.')), error }
  }
  return { emitted, diagnostics: diagnostics.filter(({ rule }) => !rule.startsWith('state.')), error: undefined }
}

/** Every event through enforcement and verification, with no memory of the one before. */
function plain(events: readonly unknown[]): Reading {
  const emitted: VerifiedEvent[] = []
  const diagnostics: Diagnostic[] = []
  const reporter = new Reporter((found) => diagnostics.push(found))
  const parser = new EventParser(reporter, DEFAULT_LIMITS)
  const verifier = new Verifier('strict', reporter, DEFAULT_LIMITS)
  try {
    events.forEach((raw, index) => {
      reporter.event = index
      const event = parser.parse(raw)
      if (event !== undefined) verifier.accept(event, (verified) => emitted.push(verified))
    })
  } catch (error) {
    if (error instanceof ProtocolError && error.code === 'malformed') diagnostics.push({ rule: error.rule, severity: 'error' } as Diagnostic)
    return { emitted, diagnostics, error }
  }
  return { emitted, diagnostics, error: undefined }
}

/** Deltas, mostly alike, some with a flaw; now and then another event. */
const id = fc.constantFrom('a', 'a', 'a', 'b')
const delta = fc
  .record({
    type: fc.constantFrom('TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_CONTENT', 'TOOL_CALL_ARGS', 'REASONING_MESSAGE_CONTENT'),
    id,
    delta: fc.oneof({ weight: 20, arbitrary: fc.string({ maxLength: 3 }) }, { weight: 1, arbitrary: fc.constantFrom(5, null, undefined) }),
    more: fc.oneof(
      { weight: 12, arbitrary: fc.constant({}) },
      fc.constantFrom({ timestamp: 1 }, { timestamp: 1.5 }, { metadata: { a: 1 } }, { subagentRunId: 's1' }, { rawEvent: null }, { mood: 1 }, JSON.parse('{"__proto__":1}') as object),
    ),
  })
  .map(({ type, id: key, delta: text, more }) => ({ type, [type === 'TOOL_CALL_ARGS' ? 'toolCallId' : 'messageId']: key, delta: text, ...more }))

const openers: readonly Event[] = [
  { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
  { type: 'TEXT_MESSAGE_START', messageId: 'a' },
  { type: 'TEXT_MESSAGE_START', messageId: 'b' },
  { type: 'TOOL_CALL_START', toolCallId: 'a', toolCallName: 'f' },
  { type: 'REASONING_MESSAGE_START', messageId: 'a', role: 'reasoning' },
]

it('gives the same events, findings and verdict as the plain stages', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof({ weight: 8, arbitrary: delta }, anyEvent), { maxLength: 25 }), (events) => {
      const stream = [...openers, ...events]
      const [a, b] = [short(stream), plain(stream)]
      expect(a.emitted).toEqual(b.emitted)
      expect(a.diagnostics.map(({ rule }) => rule)).toEqual(b.diagnostics.map(({ rule }) => rule))
      expect(a.error).toEqual(b.error)
    }),
    { numRuns: 3_000 },
  )
})
