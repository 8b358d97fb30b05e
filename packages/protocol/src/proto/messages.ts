/**
 * The protobuf messages of AG-UI 1.0 as data: every field number there is, and the JSON member it stands for. Encoder
 * and decoder read these tables and nothing else; which values are allowed is for enforcement (`events`) to say.
 */
import type { EventType } from '../events/event.ts'
import { bool, enumeration, int64, list, message, spread, string, struct, union, value, type FieldRows, type UnionShape, type WireType } from './schema.ts'

/** The names of enum `EventType`, by value. A frame says its type twice: here, and by the arm of the envelope. */
const TYPES: readonly EventType[] = [
  'TEXT_MESSAGE_START',
  'TEXT_MESSAGE_CONTENT',
  'TEXT_MESSAGE_END',
  'TOOL_CALL_START',
  'TOOL_CALL_ARGS',
  'TOOL_CALL_END',
  'STATE_SNAPSHOT',
  'STATE_DELTA',
  'MESSAGES_SNAPSHOT',
  'RAW',
  'CUSTOM',
  'RUN_STARTED',
  'RUN_FINISHED',
  'RUN_ERROR',
  'STEP_STARTED',
  'STEP_FINISHED',
  'SUBAGENT_STARTED',
  'SUBAGENT_FINISHED',
  'SUBAGENT_ERROR',
  'TEXT_MESSAGE_CHUNK',
  'TOOL_CALL_CHUNK',
  'TOOL_CALL_RESULT',
  'ACTIVITY_SNAPSHOT',
  'ACTIVITY_DELTA',
  'REASONING_START',
  'REASONING_MESSAGE_START',
  'REASONING_MESSAGE_CONTENT',
  'REASONING_MESSAGE_END',
  'REASONING_MESSAGE_CHUNK',
  'REASONING_END',
  'REASONING_ENCRYPTED_VALUE',
]

/** What every event begins with. */
const base: WireType = spread({
  1: ['type', enumeration(...TYPES)],
  2: ['timestamp?', int64],
  3: ['rawEvent?', value],
  4: ['metadata?', struct],
})

const source: WireType = {
  kind: 'union',
  shape: union({
    1: ['data', { 1: 'value', 2: 'mimeType' }],
    2: ['url', { 1: 'value', 2: 'mimeType?' }],
    3: ['file', { 1: 'value', 2: 'provider?', 3: 'mimeType?' }],
  }),
}

const media: FieldRows = { 1: ['source', source], 2: ['metadata?', value], 3: 'id?' }

const part: WireType = {
  kind: 'union',
  shape: union({
    1: ['text', { 1: 'text', 2: 'id?', 3: ['metadata?', value] }],
    2: ['image', media],
    3: ['audio', media],
    4: ['video', media],
    5: ['document', media],
  }),
}

const toolCall: WireType = message({
  1: 'id',
  2: 'type',
  3: ['function', message({ 1: 'name', 2: 'arguments' })],
  4: ['metadata?', struct],
  5: 'encryptedValue?',
})

/** One message for all roles: `content` has a field for each form it may have. */
const chatMessage: WireType = message({
  1: 'id',
  2: 'role',
  3: ['content?', string],
  4: 'name?',
  5: ['toolCalls?', list(toolCall)],
  6: 'toolCallId?',
  7: 'error?',
  // An empty list leaves no trace: where a list may stand and no text came, it was one.
  8: ['content?', list(part), { role: ['user', 'tool'] }],
  9: ['metadata?', struct],
  10: 'subagentRunId?',
  11: 'encryptedValue?',
  12: 'activityType?',
  13: ['content?', struct],
})

const patch = list(
  message({
    1: ['op', enumeration('add', 'remove', 'replace', 'move', 'copy', 'test')],
    2: 'path',
    3: 'from?',
    4: ['value?', value],
  }),
)

const usage = list(
  message({
    1: 'provider?',
    2: 'model?',
    3: ['inputTokens?', int64],
    4: ['outputTokens?', int64],
    5: ['totalTokens?', int64],
    6: ['reasoningTokens?', int64],
    7: ['cachedInputTokens?', int64],
    8: ['cacheWriteInputTokens?', int64],
  }),
)

const interrupt: WireType = message({
  1: 'id',
  2: 'reason',
  3: 'message?',
  4: 'toolCallId?',
  5: ['responseSchema?', value],
  6: 'expiresAt?',
  7: ['metadata?', value],
  8: 'subagentRunId?',
})

const tool: WireType = message({ 1: 'name', 2: 'description', 3: ['parameters?', value], 4: ['metadata?', struct] })
const context: WireType = message({ 1: 'description', 2: 'value' })
const resume: WireType = message({ 1: 'interruptId', 2: 'status', 3: ['payload?', value], 4: ['metadata?', struct] })

// To AG-UI 1.0 an absent list of an input is an empty one, so nothing is lost where the wire cannot tell them apart.
const input: WireType = message({
  1: 'threadId',
  2: 'runId',
  3: 'parentRunId?',
  4: ['state?', value],
  5: ['messages', list(chatMessage)],
  6: ['tools?', list(tool), {}],
  7: ['context?', list(context), {}],
  8: ['forwardedProps?', value],
  9: ['resume?', list(resume), {}],
  10: 'protocolVersion?',
})

const owner = 'subagentRunId?'

/** The arm of each event in the envelope, and its fields; field 1 is the base. */
const EVENTS: Readonly<Record<EventType, readonly [arm: number, fields: FieldRows]>> = {
  TEXT_MESSAGE_START: [1, { 2: 'messageId', 3: 'role?', 4: 'name?', 5: owner }],
  TEXT_MESSAGE_CONTENT: [2, { 2: 'messageId', 3: 'delta', 4: owner }],
  TEXT_MESSAGE_END: [3, { 2: 'messageId', 3: owner }],
  TEXT_MESSAGE_CHUNK: [17, { 2: 'messageId?', 3: 'role?', 4: 'delta?', 5: 'name?', 6: owner }],
  TOOL_CALL_START: [4, { 2: 'toolCallId', 3: 'toolCallName', 4: 'parentMessageId?', 5: owner }],
  TOOL_CALL_ARGS: [5, { 2: 'toolCallId', 3: 'delta', 4: owner }],
  TOOL_CALL_END: [6, { 2: 'toolCallId', 3: owner }],
  TOOL_CALL_CHUNK: [18, { 2: 'toolCallId?', 3: 'toolCallName?', 4: 'parentMessageId?', 5: 'delta?', 6: owner }],
  TOOL_CALL_RESULT: [22, { 2: owner, 3: 'messageId', 4: 'toolCallId', 5: ['content?', string], 6: 'role?', 7: ['content', list(part)] }],
  STATE_SNAPSHOT: [7, { 2: ['snapshot', value], 3: owner }],
  STATE_DELTA: [8, { 2: ['delta', patch], 3: owner }],
  MESSAGES_SNAPSHOT: [9, { 2: ['messages', list(chatMessage)] }],
  ACTIVITY_SNAPSHOT: [23, { 2: owner, 3: 'messageId', 4: 'activityType', 5: ['content', struct], 6: ['replace?', bool] }],
  ACTIVITY_DELTA: [24, { 2: owner, 3: 'messageId', 4: 'activityType', 5: ['patch', patch] }],
  RAW: [10, { 2: ['event', value], 3: 'source?', 4: owner }],
  CUSTOM: [11, { 2: 'name', 3: ['value', value], 4: owner }],
  RUN_STARTED: [12, { 2: 'threadId', 3: 'runId', 4: 'parentRunId?', 5: ['input?', input], 6: 'protocolVersion?' }],
  RUN_FINISHED: [
    13,
    {
      2: 'threadId',
      3: 'runId',
      4: ['result?', value],
      5: 'outcome.type',
      6: ['outcome.interrupts?', list(interrupt), { type: ['interrupt'] }],
      7: ['usage?', usage],
      8: ['outcome.pendingToolCallIds?', list(string)],
    },
  ],
  RUN_ERROR: [14, { 2: 'code?', 3: 'message', 4: ['usage?', usage] }],
  STEP_STARTED: [15, { 2: 'stepName', 3: owner }],
  STEP_FINISHED: [16, { 2: 'stepName', 3: owner }],
  SUBAGENT_STARTED: [19, { 2: 'subagentRunId', 3: 'name', 4: 'description?', 5: 'parentSubagentRunId?', 6: 'parentToolCallId?', 7: 'parentMessageId?' }],
  SUBAGENT_FINISHED: [20, { 2: 'subagentRunId', 3: ['result?', value], 4: 'outcome.type', 5: ['outcome.interruptIds?', list(string)] }],
  SUBAGENT_ERROR: [21, { 2: 'subagentRunId', 3: 'message', 4: 'code?' }],
  REASONING_START: [25, { 2: owner, 3: 'messageId' }],
  REASONING_MESSAGE_START: [26, { 2: owner, 3: 'messageId', 4: 'role' }],
  REASONING_MESSAGE_CONTENT: [27, { 2: owner, 3: 'messageId', 4: 'delta' }],
  REASONING_MESSAGE_END: [28, { 2: owner, 3: 'messageId' }],
  REASONING_MESSAGE_CHUNK: [29, { 2: owner, 3: 'messageId?', 4: 'delta?' }],
  REASONING_END: [30, { 2: owner, 3: 'messageId' }],
  REASONING_ENCRYPTED_VALUE: [31, { 2: owner, 3: 'subtype', 4: 'entityId', 5: 'encryptedValue' }],
}

/** The envelope around every event: what one frame holds. */
export const envelope: UnionShape = union(
  Object.fromEntries(Object.entries(EVENTS).map(([type, [arm, fields]]) => [arm, [type, { 1: ['', base], ...fields }] as const])),
)
