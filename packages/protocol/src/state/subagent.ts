/** How SUBAGENT_* shows: the subagents of the run and how they ended. */
import { present } from '../json-value.ts'
import type { EventOf } from '../events/event.ts'
import type { Draft } from './draft.ts'
import type { Subagent } from './thread.ts'

export function started(draft: Draft, event: EventOf<'SUBAGENT_STARTED'>): void {
  const { subagentRunId, name, description, parentSubagentRunId, parentToolCallId, parentMessageId } = event
  draft.places.set(subagentRunId, draft.subagents.length)
  draft.subagents.push({
    subagentRunId,
    name,
    ...present({ description, parentSubagentRunId, parentToolCallId, parentMessageId }),
    outcome: 'running',
  })
}

export function finished(draft: Draft, event: EventOf<'SUBAGENT_FINISHED'>): void {
  const { subagentRunId, outcome, result } = event
  update(draft, subagentRunId, {
    outcome: outcome?.type === 'suspended' ? 'suspended' : 'finished',
    ...present({ result }),
  })
}

export function failed(draft: Draft, event: EventOf<'SUBAGENT_ERROR'>): void {
  const { subagentRunId, message, code } = event
  update(draft, subagentRunId, { outcome: 'error', error: { message, ...present({ code }) } })
}

function update(draft: Draft, subagentRunId: string, changes: Partial<Subagent>): void {
  const index = draft.places.get(subagentRunId)
  if (index !== undefined) draft.subagents.set(index, { ...(draft.subagents.at(index) as Subagent), ...changes })
}
