/**
 * How MESSAGES_SNAPSHOT shows: an edit, not a replacement. What the server keeps no record of (activities, and
 * reasoning where the snapshot has none) stays; a message with a listed id is restated where it stands.
 */
import type { EventOf, Message } from '../events/event.ts'
import type { Draft } from './draft.ts'
import { jsonEqual } from '../json-value.ts'

export function snapshot(draft: Draft, event: EventOf<'MESSAGES_SNAPSHOT'>): void {
  const listed = new Map<string, Message>()
  let hasActivity = false
  let hasReasoning = false
  for (const message of event.messages) {
    listed.set(message.id, message)
    if (message.role === 'activity') hasActivity = true
    else if (message.role === 'reasoning') hasReasoning = true
  }
  const next: Message[] = []
  for (const { message } of draft.messages.slots) {
    const restated = listed.get(message.id)
    if (restated !== undefined) {
      listed.delete(message.id)
      next.push(jsonEqual(message, restated) ? message : restated)
    } else if (message.role === 'activity' ? !hasActivity : message.role === 'reasoning' && !hasReasoning) {
      next.push(message)
    }
  }
  next.push(...listed.values())
  draft.messages.rearrange(next)
}
