/** Calls of messages that have no result. Pure. */
import type { Message } from '@millrace/protocol'

/** Their ids, in the order in which they were made. */
export function openCallIds(messages: readonly Message[]): ReadonlySet<string> {
  const open = new Set<string>()
  for (const message of messages) {
    if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) open.add(id)
    else if (message.role === 'tool') open.delete(message.toolCallId)
  }
  return open
}
