/** A turn that runs, with what is needed to read its run again. */
import type { RunAgentInputContext, ThreadBuilder } from '@millrace/protocol'
import type { SentTurn } from './failed-turn.ts'
import type { LeftRun } from './left-run.ts'
import type { Source } from './source.ts'
import type { Turn } from './turn.ts'

export interface Underway extends SentTurn {
  readonly turn: Turn
  /** It is folded into this, which is not shown before `seen` events have come again. */
  readonly builder: ThreadBuilder
  /** Events of its run that were shown before it began. */
  readonly seen: number
  /** Begun by others: nothing of it is ours to answer or to end. */
  readonly foreign?: boolean
  /** It is read again, apart from what is listened to. */
  readonly apart?: boolean
}

/** What a turn is begun with. */
export type Plan = Omit<Underway, 'turn' | 'answered'> & { readonly source: Source; readonly runContext: RunAgentInputContext }

/** The run of a turn that is not read any more. */
export function leftBy({ turn, start, base, seen, foreign }: Underway): LeftRun {
  const left = { threadId: start.threadId, runId: turn.namedRunId, base, seen: Math.max(turn.seen, seen) }
  return { ...left, ...(turn.seen === 0 && { heard: turn.heard }), ...(foreign && { foreign }) }
}
