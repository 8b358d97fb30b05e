/** Shapes of messages, content parts and MESSAGES_SNAPSHOT. */
import { event, list, literal, object, record, string, stringOr, union, value, type ObjectShape, type Shape } from './shape.ts'

const source: Shape = union('type', {
  data: object({ type: string, value: string, mimeType: string }),
  url: object({ type: string, value: string, 'mimeType?': string }),
  file: object({ type: string, value: string, 'provider?': string, 'mimeType?': string }),
})

const media: ObjectShape = object({ type: string, 'id?': string, source, 'metadata?': value })

const part: Shape = union('type', {
  text: object({ type: string, 'id?': string, text: string, 'metadata?': value }),
  image: media,
  audio: media,
  video: media,
  document: media,
})

/** A string or a list of parts. */
export const content: Shape = stringOr(list(part))

const toolCall: ObjectShape = object({
  id: string,
  type: literal('function'),
  function: object({ name: string, arguments: string }),
  'encryptedValue?': string,
  'metadata?': record,
})

const common: Readonly<Record<string, Shape>> = { id: string, role: string, 'subagentRunId?': string, 'metadata?': record }
const sealed: Readonly<Record<string, Shape>> = { ...common, 'encryptedValue?': string }
const named: Readonly<Record<string, Shape>> = { ...sealed, 'name?': string }

export const message: Shape = union('role', {
  developer: object({ ...named, content: string }),
  system: object({ ...named, content: string }),
  assistant: object({ ...named, 'content?': string, 'toolCalls?': list(toolCall) }),
  user: object({ ...named, content }),
  tool: object({ ...sealed, content, toolCallId: string, 'error?': string }),
  activity: object({ ...common, activityType: string, content: record }),
  reasoning: object({ ...sealed, content: string }),
})

export const MESSAGES_SNAPSHOT: ObjectShape = event({ messages: list(message) }, 'run')
