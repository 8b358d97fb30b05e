/** Shapes of SUBAGENT_*. */
import { event, list, object, string, union, value, type ObjectShape, type Shape } from './shape.ts'

const outcome: Shape = union('type', {
  success: object({ type: string }),
  suspended: object({ type: string, 'interruptIds?': list(string) }),
})

export const SUBAGENT_STARTED: ObjectShape = event(
  {
    subagentRunId: string,
    name: string,
    'description?': string,
    'parentSubagentRunId?': string,
    'parentToolCallId?': string,
    'parentMessageId?': string,
  },
  'run',
)
export const SUBAGENT_FINISHED: ObjectShape = event(
  { subagentRunId: string, 'result?': value, 'outcome?': outcome },
  'run',
)
export const SUBAGENT_ERROR: ObjectShape = event({ subagentRunId: string, message: string, 'code?': string }, 'run')
