// Law: whatever an agent yields, the stream a client gets is legal, complete and ended.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Event } from '@millrace/protocol'
import { runAgent } from './test/fixtures.ts'

const id = fc.constantFrom('a', 'b')
const tag = fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: fc.record({ subagentRunId: id }) })
const value = fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>(undefined, 1n, () => 1, new Date(0), Symbol('x'), Number.NaN, '\ud800', null))

function event(type: string, fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> {
  return fc.tuple(fc.record(fields), tag).map(([own, owner]) => ({ type, ...own, ...owner }))
}

const anyEvent = fc.oneof(
  { weight: 3, arbitrary: event('TEXT_MESSAGE_START', { messageId: id }) },
  { weight: 3, arbitrary: event('TEXT_MESSAGE_CONTENT', { messageId: id, delta: fc.string() }) },
  event('TEXT_MESSAGE_END', { messageId: id }),
  { weight: 3, arbitrary: event('TEXT_MESSAGE_CHUNK', { messageId: id, delta: fc.string() }) },
  event('TEXT_MESSAGE_CHUNK', { delta: fc.string() }),
  { weight: 3, arbitrary: event('TOOL_CALL_START', { toolCallId: id, toolCallName: fc.string() }) },
  event('TOOL_CALL_ARGS', { toolCallId: id, delta: fc.string() }),
  event('TOOL_CALL_END', { toolCallId: id }),
  event('TOOL_CALL_CHUNK', { toolCallId: id, toolCallName: id, delta: fc.string() }),
  event('TOOL_CALL_RESULT', { toolCallId: id, messageId: fc.string(), content: fc.string() }),
  { weight: 3, arbitrary: event('STEP_STARTED', { stepName: id }) },
  event('STEP_FINISHED', { stepName: id }),
  event('REASONING_START', { messageId: id }),
  event('REASONING_MESSAGE_START', { messageId: id, role: fc.constant('reasoning') }),
  event('REASONING_MESSAGE_CHUNK', { messageId: id, delta: fc.string() }),
  event('REASONING_END', { messageId: id }),
  { weight: 2, arbitrary: event('SUBAGENT_STARTED', { subagentRunId: id, name: id }) },
  event('SUBAGENT_FINISHED', { subagentRunId: id }),
  event('STATE_SNAPSHOT', { snapshot: value }),
  event('STATE_DELTA', { delta: fc.constantFrom([], [{ op: 'add', path: '/x', value: 1 }], [{ op: 'remove', path: '/y' }], 'nonsense') }),
  event('ACTIVITY_SNAPSHOT', { messageId: id, activityType: id, content: fc.oneof(fc.constant({}), value) }),
  event('CUSTOM', { name: id, value }),
  event('RUN_STARTED', { threadId: fc.constantFrom('t1', 't2'), runId: fc.constant('r1') }),
  event('RUN_FINISHED', { threadId: fc.constant('t1'), runId: fc.constantFrom('r1', 'r2'), result: value }),
  event('RUN_ERROR', { message: fc.string() }),
  event('NO_SUCH_EVENT', {}),
  fc.constantFrom<object>(null as never, 1 as never, {}, { type: 7 }, []),
)

test('whatever an agent yields, the client gets a legal stream with one end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyEvent, { maxLength: 30 }), fc.boolean(), async (events, throws) => {
      // `runAgent` folds what came over the wire in strict mode, and throws if a rule is broken.
      const run = await runAgent(async function* () {
        yield* events as Event[]
        if (throws) throw new Error('no')
      })
      expect(['finished', 'interrupted', 'cancelled', 'error']).toContain(run.outcome)
      expect(run.events.filter(({ type }) => type === 'RUN_FINISHED' || type === 'RUN_ERROR')).toHaveLength(1)
      expect(run.clock.pending).toBe(0)
    }),
    { numRuns: 300 },
  )
})
