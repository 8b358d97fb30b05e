/** Shapes of REASONING_*. */
import { event, literal, oneOf, string, type ObjectShape } from './shape.ts'

export const REASONING_START: ObjectShape = event({ messageId: string })
export const REASONING_END: ObjectShape = event({ messageId: string })
export const REASONING_MESSAGE_START: ObjectShape = event({ messageId: string, role: literal('reasoning') })
export const REASONING_MESSAGE_CONTENT: ObjectShape = event({ messageId: string, delta: string })
export const REASONING_MESSAGE_END: ObjectShape = event({ messageId: string })
export const REASONING_MESSAGE_CHUNK: ObjectShape = event({ 'messageId?': string, 'delta?': string })
export const REASONING_ENCRYPTED_VALUE: ObjectShape = event({
  subtype: oneOf('tool-call', 'message'),
  entityId: string,
  encryptedValue: string,
})
