/** How ACTIVITY_* shows: one message of role `activity`, its content set whole or patched. */
import type { Reporter } from '../diagnostics.ts'
import { isObject, present } from '../json-value.ts'
import type { ActivityMessage, EventOf } from '../events/event.ts'
import type { Draft } from './draft.ts'
import { applyPatch } from './json-patch.ts'
import { JsonPatchError } from './json-patch-error.ts'

export function snapshot(draft: Draft, event: EventOf<'ACTIVITY_SNAPSHOT'>): void {
  const { messageId, activityType, content, metadata, subagentRunId } = event
  const known = draft.messages.slot(messageId)
  const next: ActivityMessage = {
    id: messageId,
    role: 'activity',
    activityType,
    content,
    ...present({ subagentRunId, metadata }),
  }
  if (known === undefined) {
    draft.messages.put(next)
  } else if (known.message.role !== 'activity') {
    if (event.replace !== false) draft.messages.put(next)
  } else if (event.replace === false) {
    draft.messages.merge(known, metadata)
  } else {
    const before = known.message.metadata
    draft.messages.put(before === undefined ? next : { ...next, metadata: { ...before, ...metadata } })
  }
}

export function delta(draft: Draft, event: EventOf<'ACTIVITY_DELTA'>, reporter: Reporter): void {
  const slot = draft.messages.slot(event.messageId)
  if (slot?.message.role !== 'activity') {
    reporter.report('state.no-target', { message: `No activity "${event.messageId}" is in the thread`, pointer: '/messageId' })
    return
  }
  const message = draft.messages.write(slot) as ActivityMessage
  draft.messages.merge(slot, event.metadata)
  try {
    const content = applyPatch(message.content, event.patch, draft.limits)
    if (!isObject(content)) {
      reporter.report('state.patch-failed', { message: 'The patch would make the content of an activity no object', pointer: '/patch' })
      return
    }
    message.content = content
    message.activityType = event.activityType
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error
    reporter.report('state.patch-failed', { message: error.message, pointer: `/patch/${error.operation}` })
  }
}
