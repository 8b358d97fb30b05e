/** What closes an open item: the event that verification emits for chunks, and that a producer sends for what it left. */
import type { VerifiedEvent } from '../events/event.ts'
import type { Item } from './ledger.ts'

/** The event that closes an item, as its owner would send it. */
export function closerOf(item: Item): VerifiedEvent {
  const { id } = item
  const owner = item.owner === undefined ? {} : { subagentRunId: item.owner }
  switch (item.kind) {
    case 'tool':
      return { type: 'TOOL_CALL_END', toolCallId: id, ...owner }
    case 'reasoning':
      return { type: 'REASONING_MESSAGE_END', messageId: id, ...owner }
    case 'span':
      return { type: 'REASONING_END', messageId: id, ...owner }
    case 'step':
      return { type: 'STEP_FINISHED', stepName: id, ...owner }
    case 'subagent':
      return { type: 'SUBAGENT_FINISHED', subagentRunId: id }
    default:
      return { type: 'TEXT_MESSAGE_END', messageId: id, ...owner }
  }
}
