/** How RUN_* shows: runs, their outcome, pending calls and interrupts. */
import type { Reporter } from '../diagnostics.ts'
import { present } from '../json-value.ts'
import type { EventOf } from '../events/event.ts'
import type { Draft } from './draft.ts'
import type { RunOutcome } from './thread.ts'

/** The echoed input adds messages that are not known; nothing else of it is adopted. */
export function started(draft: Draft, event: EventOf<'RUN_STARTED'>): void {
  const { threadId, runId, parentRunId, input } = event
  const { run } = draft
  // Only tolerant and report modes get here with a run open: the same run that goes on, or one that never ended.
  if (run?.outcome === 'running' && run.runId !== runId) draft.endRun('truncated')
  if (run?.outcome !== 'running' || run.runId !== runId) {
    draft.startRun({ threadId, runId, ...present({ parentRunId }), outcome: 'running' })
    draft.heldNull = draft.document.value === null
  }
  for (const message of input?.messages ?? []) if (draft.messages.slot(message.id) === undefined) draft.messages.put(message)
}

const OUTCOMES: Readonly<Record<'success' | 'interrupt' | 'cancelled', RunOutcome>> = {
  success: 'finished',
  interrupt: 'interrupted',
  cancelled: 'cancelled',
}

export function finished(draft: Draft, event: EventOf<'RUN_FINISHED'>, reporter: Reporter): void {
  const { outcome, result, usage } = event
  const listed = outcome?.type === 'success' ? outcome.pendingToolCallIds : undefined
  // A missing or empty list proves nothing: then a call is pending if it was started and no result came.
  const pending = listed?.length ? listed : [...draft.runCalls].filter(([, answered]) => !answered).map(([id]) => id)
  const pendingToolCallIds = pending.length > 0 && outcome?.type !== 'cancelled' ? pending : undefined
  draft.setInterrupts(outcome?.type === 'interrupt' ? outcome.interrupts : [], (id, index) =>
    reporter.report('state.interrupt-repeated', { message: `The interrupt "${id}" is asked twice`, pointer: `/outcome/interrupts/${index}/id` }),
  )
  draft.endRun(OUTCOMES[outcome?.type ?? 'success'], { ...present({ result, usage }), pendingToolCallIds })
}

export function failed(draft: Draft, event: EventOf<'RUN_ERROR'>): void {
  const { message, code, usage } = event
  draft.endRun('error', present({ error: { message, ...present({ code }) }, usage }))
}
