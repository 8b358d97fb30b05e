/** The answer to the last message of the user, out of the messages that show. Pure. */
import type { StructuredOutputPart, UIMessage } from '@millrace/protocol'

/** The part that is the answer to the last message of the user: of several, the last. */
export function currentOutput(messages: readonly UIMessage[]): StructuredOutputPart | undefined {
  for (let index = messages.length - 1; index >= 0; index--) {
    const { role, parts } = messages[index] as UIMessage
    if (role === 'user') return undefined
    const part = parts.findLast(({ type }) => type === 'structured-output')
    if (part !== undefined) return part as StructuredOutputPart
  }
  return undefined
}
