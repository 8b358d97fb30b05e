/** Shapes of messages, content parts and MESSAGES_SNAPSHOT. */
import { event, list, literal, object, record, stringOr, union, value, type ObjectShape, type Shape, type Shapes } from './shape.ts'

const source: Shape = union('type', {
  data: object('type value mimeType'),
  url: object('type value mimeType?'),
  file: object('type value provider? mimeType?'),
})

const media: ObjectShape = object('type id?', { source, 'metadata?': value })

const part: Shape = union('type', {
  text: object('type id? text', { 'metadata?': value }),
  image: media,
  audio: media,
  video: media,
  document: media,
})

/** A string or a list of parts. */
export const content: Shape = stringOr(list(part))

const toolCall: ObjectShape = object('id encryptedValue?', {
  type: literal('function'),
  function: object('name arguments'),
  'metadata?': record,
})

function messageOf(strings: string, others: Readonly<Record<string, Shape>> = {}): ObjectShape {
  return object(`id role subagentRunId? ${strings}`, { 'metadata?': record, ...others })
}

const instruction: ObjectShape = messageOf('encryptedValue? name? content')

export const message: Shape = union('role', {
  developer: instruction,
  system: instruction,
  assistant: messageOf('encryptedValue? name? content?', { 'toolCalls?': list(toolCall) }),
  user: messageOf('encryptedValue? name?', { content }),
  tool: messageOf('encryptedValue? toolCallId error?', { content }),
  activity: messageOf('activityType', { content: record }),
  reasoning: messageOf('encryptedValue? content'),
})

export const messages: Shapes<'MESSAGES_SNAPSHOT'> = { MESSAGES_SNAPSHOT: event('', { messages: list(message) }) }
