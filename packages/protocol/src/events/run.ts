/** Shapes of RUN_*. */
import { runAgentInput } from './run-input.ts'
import { count, event, list, object, record, string, union, value, type ObjectShape, type Shape, type Shapes } from './shape.ts'

export const interrupt: ObjectShape = object('id reason message? toolCallId? expiresAt? subagentRunId?', {
  'responseSchema?': record,
  'metadata?': record,
})

const outcome: Shape = union('type', {
  success: object('type', { 'pendingToolCallIds?': list(string) }),
  interrupt: object('type', { interrupts: list(interrupt, 1) }),
  cancelled: object('type'),
})

const usage: Shape = list(
  object('provider? model?', {
    'inputTokens?': count,
    'outputTokens?': count,
    'totalTokens?': count,
    'reasoningTokens?': count,
    'cachedInputTokens?': count,
    'cacheWriteInputTokens?': count,
  }),
)

export const run: Shapes<`RUN_${string}`> = {
  RUN_STARTED: event('threadId runId protocolVersion? parentRunId?', { 'input?': runAgentInput }),
  RUN_FINISHED: event('threadId runId', { 'result?': value, 'outcome?': outcome, 'usage?': usage }),
  RUN_ERROR: event('message code?', { 'usage?': usage }),
}
