/** Shapes of SUBAGENT_*. */
import { event, list, object, string, union, value, type Shape, type Shapes } from './shape.ts'

const outcome: Shape = union('type', {
  success: object('type'),
  suspended: object('type', { 'interruptIds?': list(string) }),
})

export const subagent: Shapes<`SUBAGENT_${string}`> = {
  SUBAGENT_STARTED: event('subagentRunId name description? parentSubagentRunId? parentToolCallId? parentMessageId?'),
  SUBAGENT_FINISHED: event('subagentRunId', { 'result?': value, 'outcome?': outcome }),
  SUBAGENT_ERROR: event('subagentRunId message code?'),
}
