/** How SUBAGENT_* shows: the subagents of the run and how they ended. */
import { present } from '../json-value.ts'
import type { EventOf } from '../events/event.ts'
import type { Draft } from './draft.ts'

export function started(draft: Draft, event: EventOf<'SUBAGENT_STARTED'>): void {
  const { subagentRunId, name, description, parentSubagentRunId, parentToolCallId, parentMessageId } = event
  draft.startSubagent({
    subagentRunId,
    name,
    ...present({ description, parentSubagentRunId, parentToolCallId, parentMessageId }),
    outcome: 'running',
  })
}

export function finished(draft: Draft, event: EventOf<'SUBAGENT_FINISHED'>): void {
  const { subagentRunId, outcome, result } = event
  draft.updateSubagent(subagentRunId, {
    outcome: outcome?.type === 'suspended' ? 'suspended' : 'finished',
    ...present({ result }),
  })
}

export function failed(draft: Draft, event: EventOf<'SUBAGENT_ERROR'>): void {
  const { subagentRunId, message, code } = event
  draft.updateSubagent(subagentRunId, { outcome: 'error', error: { message, ...present({ code }) } })
}
