/** Shapes of RUN_*. */
import { runAgentInput } from './run-input.ts'
import { count, event, list, object, record, string, union, value, type ObjectShape, type Shape } from './shape.ts'

export const interrupt: ObjectShape = object({
  id: string,
  reason: string,
  'message?': string,
  'toolCallId?': string,
  'responseSchema?': record,
  'expiresAt?': string,
  'metadata?': record,
  'subagentRunId?': string,
})

const outcome: Shape = union('type', {
  success: object({ type: string, 'pendingToolCallIds?': list(string) }),
  interrupt: object({ type: string, interrupts: list(interrupt, 1) }),
  cancelled: object({ type: string }),
})

const usage: Shape = list(
  object({
    'provider?': string,
    'model?': string,
    'inputTokens?': count,
    'outputTokens?': count,
    'totalTokens?': count,
    'reasoningTokens?': count,
    'cachedInputTokens?': count,
    'cacheWriteInputTokens?': count,
  }),
)

export const RUN_STARTED: ObjectShape = event(
  { threadId: string, runId: string, 'protocolVersion?': string, 'parentRunId?': string, 'input?': runAgentInput },
  'run',
)
export const RUN_FINISHED: ObjectShape = event(
  { threadId: string, runId: string, 'result?': value, 'outcome?': outcome, 'usage?': usage },
  'run',
)
export const RUN_ERROR: ObjectShape = event({ message: string, 'code?': string, 'usage?': usage }, 'run')
