/**
 * Random streams for the laws. `anyEvents` are well-formed events in any order; `legalRun` is a run that keeps every
 * order rule; both cover all 31 types. Few ids, so that events meet.
 */
import fc from 'fast-check'
import type { Event } from '../src/index.ts'

const id = fc.constantFrom('a', 'b', 'c')
const owner = fc.option(fc.constantFrom('s1', 's2', ''), { nil: undefined, freq: 6 })
const text = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom('é', '👋', '"', '\\', '\n', '\r', '{"a":1}', ''))
const json = fc.jsonValue({ maxDepth: 2 })
const record = fc.dictionary(fc.oneof(fc.constantFrom('a', 'b', '__proto__'), fc.string({ maxLength: 3 })), json, { maxKeys: 3 })
const metadata = fc.option(record, { nil: undefined, freq: 8 })
const path = fc.array(fc.constantFrom('a', 'b', '0', '1', '-', '__proto__', '~0'), { maxLength: 3 }).map((tokens) => tokens.map((token) => `/${token}`).join(''))
const patch = fc.array(
  fc.oneof(
    fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path, value: json }),
    fc.record({ op: fc.constant('remove'), path }),
    fc.record({ op: fc.constantFrom('move', 'copy'), from: path, path }),
  ),
  { maxLength: 4 },
)
const call = fc.record({ id, type: fc.constant('function'), function: fc.record({ name: id, arguments: text }) })
const part = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.record({ type: fc.constantFrom('image', 'document'), source: fc.record({ type: fc.constant('url'), value: text }) }),
)
const content = fc.oneof(text, fc.array(part, { maxLength: 3 }))

/** Any message; ids repeat between messages of different roles. */
export const message: fc.Arbitrary<object> = fc
  .tuple(
    fc.oneof(
      fc.record({ id, role: fc.constantFrom('system', 'developer', 'reasoning'), content: text }),
      fc.record({ id, role: fc.constant('user'), content }),
      fc.record({ id, role: fc.constant('tool'), content, toolCallId: id }),
      fc.record({ id, role: fc.constant('assistant'), content: fc.option(text, { nil: undefined }), toolCalls: fc.option(fc.array(call, { maxLength: 2 }), { nil: undefined }) }),
      fc.record({ id, role: fc.constant('activity'), activityType: id, content: record }),
    ),
    owner,
    metadata,
  )
  .map(([fields, subagentRunId, data]) => tidy({ ...fields, subagentRunId, metadata: data }))

function tidy(value: object): object {
  return JSON.parse(JSON.stringify(value)) as object
}

const role = fc.option(fc.constantFrom('assistant', 'user', 'system'), { nil: undefined })
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined })
const type = <T extends string>(...names: T[]): fc.Arbitrary<T> => fc.constantFrom(...names)

const fields: fc.Arbitrary<object> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ type: type('RUN_STARTED'), threadId: fc.constant('t'), runId: id, input: fc.option(fc.record({ threadId: fc.constant('t'), runId: id, messages: fc.array(message, { maxLength: 2 }) }), { nil: undefined, freq: 8 }) }) },
  { weight: 2, arbitrary: fc.record({ type: type('RUN_FINISHED'), threadId: fc.constant('t'), runId: id, result: optional(fc.constant(1)) }) },
  fc.record({ type: type('RUN_ERROR'), message: text }),
  { weight: 2, arbitrary: fc.record({ type: type('STEP_STARTED', 'STEP_FINISHED'), stepName: id }) },
  { weight: 2, arbitrary: fc.record({ type: type('TEXT_MESSAGE_START'), messageId: id, role }) },
  { weight: 4, arbitrary: fc.record({ type: type('TEXT_MESSAGE_CONTENT', 'REASONING_MESSAGE_CONTENT'), messageId: id, delta: text }) },
  { weight: 4, arbitrary: fc.record({ type: type('TEXT_MESSAGE_END', 'REASONING_START', 'REASONING_END', 'REASONING_MESSAGE_END'), messageId: id }) },
  { weight: 2, arbitrary: fc.record({ type: type('REASONING_MESSAGE_START'), messageId: id, role: fc.constant('reasoning') }) },
  { weight: 2, arbitrary: fc.record({ type: type('TEXT_MESSAGE_CHUNK'), messageId: optional(id), role, delta: optional(text) }) },
  { weight: 2, arbitrary: fc.record({ type: type('TOOL_CALL_START'), toolCallId: id, toolCallName: id, parentMessageId: optional(id) }) },
  { weight: 3, arbitrary: fc.record({ type: type('TOOL_CALL_ARGS'), toolCallId: id, delta: text }) },
  { weight: 2, arbitrary: fc.record({ type: type('TOOL_CALL_END'), toolCallId: id }) },
  { weight: 2, arbitrary: fc.record({ type: type('TOOL_CALL_CHUNK'), toolCallId: optional(id), toolCallName: optional(id), parentMessageId: optional(id), delta: optional(text) }) },
  { weight: 2, arbitrary: fc.record({ type: type('TOOL_CALL_RESULT'), messageId: id, toolCallId: id, content }) },
  fc.record({ type: type('REASONING_MESSAGE_CHUNK'), messageId: optional(id), delta: optional(text) }),
  fc.record({ type: type('REASONING_ENCRYPTED_VALUE'), subtype: type('message', 'tool-call'), entityId: id, encryptedValue: text }),
  fc.record({ type: type('STATE_SNAPSHOT'), snapshot: json }),
  { weight: 2, arbitrary: fc.record({ type: type('STATE_DELTA'), delta: patch }) },
  fc.record({ type: type('MESSAGES_SNAPSHOT'), messages: fc.array(message, { maxLength: 4 }) }),
  fc.record({ type: type('ACTIVITY_SNAPSHOT'), messageId: id, activityType: id, content: record, replace: optional(fc.boolean()) }),
  fc.record({ type: type('ACTIVITY_DELTA'), messageId: id, activityType: id, patch }),
  fc.record({ type: type('SUBAGENT_STARTED'), subagentRunId: fc.constantFrom('s1', 's2'), name: id, parentSubagentRunId: fc.option(fc.constantFrom('s1', 's2'), { nil: undefined, freq: 4 }) }),
  fc.record({ type: type('SUBAGENT_FINISHED'), subagentRunId: fc.constantFrom('s1', 's2') }),
  fc.record({ type: type('SUBAGENT_ERROR'), subagentRunId: fc.constantFrom('s1', 's2'), message: text }),
  fc.record({ type: type('RAW'), event: json }),
  fc.record({ type: type('CUSTOM'), name: id, value: json }),
)

const UNTAGGED = new Set(['RUN_STARTED', 'RUN_FINISHED', 'RUN_ERROR', 'MESSAGES_SNAPSHOT', 'SUBAGENT_STARTED', 'SUBAGENT_FINISHED', 'SUBAGENT_ERROR'])

/** One well-formed event of any type. */
export const anyEvent: fc.Arbitrary<Event> = fc.tuple(fields, owner, metadata).map(([event, subagentRunId, data]) => {
  const { type: name } = event as { type: string }
  return tidy({ ...event, metadata: data, ...(!UNTAGGED.has(name) && { subagentRunId }) }) as Event
})

/** Well-formed events in any order, most often opened by RUN_STARTED. */
export const anyEvents: fc.Arbitrary<Event[]> = fc
  .tuple(fc.boolean(), fc.array(anyEvent, { maxLength: 30 }))
  .map(([bare, events]) => (bare ? events : [{ type: 'RUN_STARTED', threadId: 't', runId: 'r' } as Event, ...events]))

/** The events as they would stand in a stream of bytes, cut at `places`. */
export function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length))
}
