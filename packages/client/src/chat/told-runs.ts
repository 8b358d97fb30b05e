/** Runs as they are stored, or told by a server, and the checks on them. */
import type { Run, RunOutcome } from '@millrace/protocol'
import { record, text, texts } from '../shapes.ts'

/** Who a run is and how it ended. Its result and usage are not needed to go on. */
export type StoredRun = Pick<Run, 'threadId' | 'runId' | 'parentRunId' | 'outcome' | 'error' | 'pendingToolCallIds'>

const OUTCOMES: ReadonlySet<unknown> = new Set<RunOutcome>(['running', 'finished', 'interrupted', 'cancelled', 'error', 'truncated', 'violation', 'malformed'])

/** Throws if the value is no run. */
export function runFrom(value: unknown): StoredRun {
  const { threadId, runId, parentRunId, outcome, error, pendingToolCallIds } = record(value, 'a run')
  if (!OUTCOMES.has(outcome)) throw new Error(`no run ends "${String(outcome)}"`)
  return {
    outcome: outcome as RunOutcome,
    ...(threadId !== undefined && { threadId: text(threadId, 'threadId of a run') }),
    ...(runId !== undefined && { runId: text(runId, 'runId') }),
    ...(parentRunId !== undefined && { parentRunId: text(parentRunId, 'parentRunId') }),
    ...(error !== undefined && { error: errorFrom(error) }),
    ...(pendingToolCallIds !== undefined && { pendingToolCallIds: texts(pendingToolCallIds, 'pendingToolCallIds') }),
  }
}

function errorFrom(value: unknown): NonNullable<StoredRun['error']> {
  const { message, code } = record(value, 'error of a run')
  return { message: text(message, 'message of an error'), ...(code !== undefined && { code: text(code, 'code of an error') }) }
}
