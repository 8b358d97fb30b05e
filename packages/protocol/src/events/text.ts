/** Shapes of TEXT_MESSAGE_*. */
import { oneOf, owned, type Shape, type Shapes } from './shape.ts'

const role: Shape = oneOf('developer', 'system', 'assistant', 'user')

export const text: Shapes<`TEXT_MESSAGE_${string}`> = {
  TEXT_MESSAGE_START: owned('messageId name?', { 'role?': role }),
  TEXT_MESSAGE_CONTENT: owned('messageId delta'),
  TEXT_MESSAGE_END: owned('messageId'),
  TEXT_MESSAGE_CHUNK: owned('messageId? delta? name?', { 'role?': role }),
}
