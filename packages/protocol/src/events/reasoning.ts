/** Shapes of REASONING_*. */
import { literal, oneOf, owned, type Shapes } from './shape.ts'

export const reasoning: Shapes<`REASONING_${string}`> = {
  REASONING_START: owned('messageId'),
  REASONING_END: owned('messageId'),
  REASONING_MESSAGE_START: owned('messageId', { role: literal('reasoning') }),
  REASONING_MESSAGE_CONTENT: owned('messageId delta'),
  REASONING_MESSAGE_END: owned('messageId'),
  REASONING_MESSAGE_CHUNK: owned('messageId? delta?'),
  REASONING_ENCRYPTED_VALUE: owned('entityId encryptedValue', { subtype: oneOf('tool-call', 'message') }),
}
