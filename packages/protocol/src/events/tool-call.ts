/** Shapes of TOOL_CALL_*. */
import { content } from './messages.ts'
import { literal, owned, type Shapes } from './shape.ts'

export const toolCall: Shapes<`TOOL_CALL_${string}`> = {
  TOOL_CALL_START: owned('toolCallId toolCallName parentMessageId?'),
  TOOL_CALL_ARGS: owned('toolCallId delta'),
  TOOL_CALL_END: owned('toolCallId'),
  TOOL_CALL_CHUNK: owned('toolCallId? toolCallName? parentMessageId? delta?'),
  TOOL_CALL_RESULT: owned('messageId toolCallId', { content, 'role?': literal('tool') }),
}
