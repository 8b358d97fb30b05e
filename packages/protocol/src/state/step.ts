/** How STEP_* shows: the list of open steps. */
import { present } from '../json-value.ts'
import type { EventOf } from '../events/event.ts'
import type { Draft } from './draft.ts'

export function started(draft: Draft, event: EventOf<'STEP_STARTED'>): void {
  const { stepName, subagentRunId } = event
  draft.steps.push({ stepName, ...present({ subagentRunId }) })
}

export function finished(draft: Draft, event: EventOf<'STEP_FINISHED'>): void {
  const { stepName, subagentRunId } = event
  draft.steps.removeLast((step) => step.stepName === stepName && step.subagentRunId === subagentRunId)
}
