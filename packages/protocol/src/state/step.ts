/** How STEP_* shows: the list of open steps. */
import type { EventOf } from '../events/event.ts'
import type { Draft } from './draft.ts'

export function started(draft: Draft, event: EventOf<'STEP_STARTED'>): void {
  const { stepName, subagentRunId } = event
  draft.setSteps([...draft.steps, { stepName, ...(subagentRunId !== undefined && { subagentRunId }) }])
}

export function finished(draft: Draft, event: EventOf<'STEP_FINISHED'>): void {
  const index = draft.steps.findIndex((step) => step.stepName === event.stepName && step.subagentRunId === event.subagentRunId)
  if (index !== -1) draft.setSteps(draft.steps.toSpliced(index, 1))
}
