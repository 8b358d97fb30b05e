/** A thread → the shortest stream that rebuilds it: what a client that comes late is sent, and what a log can begin with. */
import { UsageError } from '../errors.ts'
import type { EventOf, VerifiedEvent } from '../events/event.ts'
import { jsonEqual, present } from '../json-value.ts'
import type { Thread } from './thread.ts'

/**
 * One run that says what the thread holds: its messages, its state, and the interrupts or calls that wait for an answer.
 * Legal on its own, and after any run that has ended. Messages go as they stand, and AG-UI has no field in them for where
 * in a text a call was made; a view of the copy shows the text first.
 * @param ids of the run; those of the thread's last run if left out.
 * @throws UsageError `no-run-ids` if there are none.
 */
export function snapshotOf(thread: Thread, ids: { readonly threadId?: string; readonly runId?: string } = thread.runs.at(-1) ?? {}): VerifiedEvent[] {
  const { threadId, runId } = ids
  if (threadId === undefined || runId === undefined) {
    throw new UsageError('no-run-ids', 'The thread has no run whose ids the events could carry; give threadId and runId')
  }
  const { messages, state } = thread
  const outcome = outcomeOf(thread)
  return [
    { type: 'RUN_STARTED', threadId, runId },
    ...(messages.length > 0 ? [{ type: 'MESSAGES_SNAPSHOT' as const, messages: [...messages] }] : []),
    ...(jsonEqual(state, {}) ? [] : [{ type: 'STATE_SNAPSHOT' as const, snapshot: state }]),
    { type: 'RUN_FINISHED', threadId, runId, ...present({ outcome }) },
  ]
}

function outcomeOf({ interrupts, runs }: Thread): EventOf<'RUN_FINISHED'>['outcome'] {
  if (interrupts.length > 0) return { type: 'interrupt', interrupts: [...interrupts] }
  const pending = runs.at(-1)?.pendingToolCallIds ?? []
  return pending.length > 0 ? { type: 'success', pendingToolCallIds: [...pending] } : undefined
}
