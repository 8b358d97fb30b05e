/** Shapes of TOOL_CALL_*. */
import { content } from './messages.ts'
import { event, literal, string, type ObjectShape } from './shape.ts'

export const TOOL_CALL_START: ObjectShape = event({ toolCallId: string, toolCallName: string, 'parentMessageId?': string })
export const TOOL_CALL_ARGS: ObjectShape = event({ toolCallId: string, delta: string })
export const TOOL_CALL_END: ObjectShape = event({ toolCallId: string })
export const TOOL_CALL_CHUNK: ObjectShape = event({
  'toolCallId?': string,
  'toolCallName?': string,
  'parentMessageId?': string,
  'delta?': string,
})
export const TOOL_CALL_RESULT: ObjectShape = event({
  messageId: string,
  toolCallId: string,
  content,
  'role?': literal('tool'),
})
