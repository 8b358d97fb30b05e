/** The run-state table: which lifecycle event is legal when, and where it leads (AG-UI 1.0, event order, rules 1–5). */
import type { EventType } from '../events/event.ts'
import type { RuleId } from '../severities.ts'

export type RunState =
  /** Nothing has come yet. */
  | 'before'
  | 'running'
  | 'finished'
  | 'failed'

type Lifecycle = 'RUN_STARTED' | 'RUN_FINISHED' | 'RUN_ERROR' | 'other'

type Cell = { readonly to: RunState } | { readonly breaks: RuleId }

export const RUN_STATES: Readonly<Record<RunState, Readonly<Record<Lifecycle, Cell>>>> = {
  before: {
    RUN_STARTED: { to: 'running' },
    RUN_FINISHED: { breaks: 'run.first-event' },
    RUN_ERROR: { to: 'failed' },
    other: { breaks: 'run.first-event' },
  },
  running: {
    RUN_STARTED: { breaks: 'run.nested' },
    RUN_FINISHED: { to: 'finished' },
    RUN_ERROR: { to: 'failed' },
    other: { to: 'running' },
  },
  finished: {
    RUN_STARTED: { to: 'running' },
    RUN_FINISHED: { breaks: 'run.after-finish' },
    RUN_ERROR: { to: 'failed' },
    other: { breaks: 'run.after-finish' },
  },
  failed: {
    RUN_STARTED: { to: 'running' },
    RUN_FINISHED: { breaks: 'run.after-error' },
    RUN_ERROR: { breaks: 'run.after-error' },
    other: { breaks: 'run.after-error' },
  },
}

/** Where an event leads from a state, or which rule it breaks. */
export function runStep(state: RunState, type: EventType): Cell {
  const row = RUN_STATES[state]
  return type === 'RUN_STARTED' || type === 'RUN_FINISHED' || type === 'RUN_ERROR' ? row[type] : row.other
}
