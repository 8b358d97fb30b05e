/** Shapes of TEXT_MESSAGE_*. */
import { event, oneOf, string, type ObjectShape, type Shape } from './shape.ts'

const role: Shape = oneOf('developer', 'system', 'assistant', 'user')

export const TEXT_MESSAGE_START: ObjectShape = event({ messageId: string, 'role?': role, 'name?': string })
export const TEXT_MESSAGE_CONTENT: ObjectShape = event({ messageId: string, delta: string })
export const TEXT_MESSAGE_END: ObjectShape = event({ messageId: string })
export const TEXT_MESSAGE_CHUNK: ObjectShape = event({
  'messageId?': string,
  'role?': role,
  'delta?': string,
  'name?': string,
})
