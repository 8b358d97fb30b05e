/** The shape of RunAgentInput: what a client sends, and what RUN_STARTED may echo. */
import { message } from './messages.ts'
import { list, object, oneOf, record, value, type ObjectShape, type Shape } from './shape.ts'

const tool: Shape = object('name description', { 'parameters?': value, 'metadata?': record })
const context: Shape = object('description value')
const resume: Shape = object('interruptId', { status: oneOf('resolved', 'cancelled'), 'payload?': value, 'metadata?': record })

export const runAgentInput: ObjectShape = object('threadId runId protocolVersion? parentRunId?', {
  messages: list(message),
  'state?': value,
  'tools?': list(tool),
  'context?': list(context),
  'forwardedProps?': value,
  'resume?': list(resume),
})
