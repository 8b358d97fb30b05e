/** How REASONING_* shows: messages as text does, encrypted values on what they belong to. */
import type { Reporter } from '../diagnostics.ts'
import type { EventOf } from '../events/event.ts'
import type { Draft } from './draft.ts'

export { content, end, start } from './text.ts'

export function encryptedValue(draft: Draft, event: EventOf<'REASONING_ENCRYPTED_VALUE'>, reporter: Reporter): void {
  const { subtype, entityId, encryptedValue } = event
  if (subtype === 'tool-call') {
    const call = draft.messages.call(entityId)
    if (call !== undefined) {
      draft.messages.writeCall(call).encryptedValue = encryptedValue
      return
    }
  } else {
    const slot = draft.messages.slot(entityId)
    if (slot !== undefined && slot.message.role !== 'activity') {
      ;(draft.messages.write(slot) as { encryptedValue?: string }).encryptedValue = encryptedValue
      return
    }
  }
  reporter.report('state.no-target', { message: `No ${subtype} "${entityId}" can take an encrypted value`, pointer: '/entityId' })
}
