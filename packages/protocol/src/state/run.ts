/** How RUN_* shows: runs, their outcome, pending calls and interrupts. */
import type { Reporter } from '../diagnostics.ts'
import type { EventOf, Interrupt } from '../events/event.ts'
import type { Draft } from './draft.ts'
import type { RunOutcome } from './thread.ts'

/** The echoed input adds messages that are not known; nothing else of it is adopted. */
export function started(draft: Draft, event: EventOf<'RUN_STARTED'>): void {
  const { threadId, runId, parentRunId, input } = event
  const { run } = draft
  // Only tolerant and report modes get here with a run open: the same run that goes on, or one that never ended.
  if (run?.outcome === 'running' && run.runId !== runId) draft.endRun('truncated')
  if (run?.outcome !== 'running' || run.runId !== runId) {
    draft.startRun({ threadId, runId, ...(parentRunId !== undefined && { parentRunId }), outcome: 'running' })
    draft.heldNull = draft.state === null
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
  const interrupts = outcome?.type === 'interrupt' ? outcome.interrupts : []
  draft.setInterrupts(interrupts)
  reportRepeated(interrupts, reporter)
  draft.endRun(OUTCOMES[outcome?.type ?? 'success'])
  const run = draft.run
  if (run === undefined || (result === undefined && usage === undefined && pending.length === 0 && run.pendingToolCallIds === undefined)) return
  const { pendingToolCallIds: _, ...rest } = run
  draft.replaceRun({
    ...rest,
    ...(result !== undefined && { result }),
    ...(usage !== undefined && { usage }),
    ...(pending.length > 0 && outcome?.type !== 'cancelled' && { pendingToolCallIds: pending }),
  })
}

function reportRepeated(interrupts: readonly Interrupt[], reporter: Reporter): void {
  const seen = new Set<string>()
  for (const [index, { id }] of interrupts.entries()) {
    if (seen.has(id)) reporter.report('state.interrupt-repeated', { message: `The interrupt "${id}" is asked twice`, pointer: `/outcome/interrupts/${index}/id` })
    seen.add(id)
  }
}

export function failed(draft: Draft, event: EventOf<'RUN_ERROR'>): void {
  const { message, code, usage } = event
  draft.endRun('error', { message, ...(code !== undefined && { code }) })
  const run = draft.run
  if (usage !== undefined && run !== undefined) draft.replaceRun({ ...run, usage })
}
