/** The run-state table: which lifecycle event is legal when, and where it leads (AG-UI 1.0, event order, rules 1–5). */
import type { EventType } from '../events/event.ts'
import type { RuleId } from '../severities.ts'

export type RunState =
  /** Nothing has come yet. */
  | 'before'
  | 'running'
  | 'finished'
  | 'failed'

export interface RunRow {
  /** What an event breaks that leads nowhere from here, and what is said of it. */
  readonly breaks: RuleId
  readonly says: string
  /** Where RUN_STARTED, RUN_FINISHED, RUN_ERROR and any other event lead, if they may come. */
  readonly to: Readonly<Partial<Record<'RUN_STARTED' | 'RUN_FINISHED' | 'RUN_ERROR' | 'other', RunState>>>
}

export const RUN_STATES: Readonly<Record<RunState, RunRow>> = {
  before: { breaks: 'run.first-event', says: 'comes first, in the place of RUN_STARTED', to: { RUN_STARTED: 'running', RUN_ERROR: 'failed' } },
  running: { breaks: 'run.nested', says: 'comes while the run before it is open', to: { RUN_FINISHED: 'finished', RUN_ERROR: 'failed', other: 'running' } },
  finished: { breaks: 'run.after-finish', says: 'comes after RUN_FINISHED', to: { RUN_STARTED: 'running', RUN_ERROR: 'failed' } },
  failed: { breaks: 'run.after-error', says: 'comes after RUN_ERROR', to: { RUN_STARTED: 'running' } },
}

/** Whether an event may come in a state. */
export function isLegal(state: RunState, type: EventType): boolean {
  const { to } = RUN_STATES[state]
  return (type === 'RUN_STARTED' || type === 'RUN_FINISHED' || type === 'RUN_ERROR' ? to[type] : to.other) !== undefined
}
