/** The shape of RunAgentInput: what a client sends, and what RUN_STARTED may echo. */
import { message } from './messages.ts'
import { list, object, oneOf, record, string, value, type ObjectShape, type Shape } from './shape.ts'

const tool: Shape = object({ name: string, description: string, 'parameters?': value, 'metadata?': record })
const context: Shape = object({ description: string, value: string })
const resume: Shape = object({
  interruptId: string,
  status: oneOf('resolved', 'cancelled'),
  'payload?': value,
  'metadata?': record,
})

export const runAgentInput: ObjectShape = object({
  threadId: string,
  runId: string,
  messages: list(message),
  'protocolVersion?': string,
  'parentRunId?': string,
  'state?': value,
  'tools?': list(tool),
  'context?': list(context),
  'forwardedProps?': value,
  'resume?': list(resume),
})
