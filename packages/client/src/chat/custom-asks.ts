/**
 * What a server of before interrupts asks of its client by CUSTOM events, in the spelling of TanStack AI. An event that is not of
 * these shapes asks nothing.
 */
import type { Message, VerifiedEvent } from '@millrace/protocol'
import { isRecord } from '../checks.ts'

export type CustomAsk =
  /** The call runs when the user has said so. */
  | { readonly kind: 'approval'; readonly toolCallId: string; readonly id: string }
  /** A tool of ours is to run, and its result to go back. */
  | { readonly kind: 'tool'; readonly toolCallId: string; readonly toolName: string; readonly input: unknown }

export function customAsk(event: VerifiedEvent): CustomAsk | undefined {
  if (event.type !== 'CUSTOM' || !isRecord(event.value)) return undefined
  const { toolCallId, toolName, input, approval } = event.value
  if (typeof toolCallId !== 'string') return undefined
  switch (event.name) {
    case 'approval-requested':
      return isRecord(approval) && typeof approval['id'] === 'string' ? { kind: 'approval', toolCallId, id: approval['id'] } : undefined
    case 'tool-input-available':
      return typeof toolName === 'string' ? { kind: 'tool', toolCallId, toolName, input } : undefined
    default:
      return undefined
  }
}

/** Such a server tells the model of an approval by a result that is none: the call is still to be run. */
export function isNoResult(message: Message): boolean {
  if (message.role !== 'tool' || typeof message.content !== 'string' || !message.content.includes('"pendingExecution"')) return false
  try {
    const value: unknown = JSON.parse(message.content)
    return isRecord(value) && value['pendingExecution'] === true
  } catch {
    return false
  }
}
