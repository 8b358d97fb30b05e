/** A run that goes on at the server while nobody here reads it: what is needed to read it again. A type only. */
import type { Thread } from '@millrace/protocol'

/** What a thread is before a run: all that a run goes on from. */
export type ThreadBase = Pick<Thread, 'messages' | 'state' | 'runs' | 'interrupts'>

export interface LeftRun {
  readonly threadId: string
  readonly runId: string
  /** The thread before the run. */
  readonly base: ThreadBase
  /** Events of it that were shown already. */
  readonly seen: number
  /** It was begun by others: nothing of it is ours to answer or to end. */
  readonly foreign?: boolean
  /** Settles when the server has been heard of the run: before that it may not know it. */
  readonly heard?: Promise<void>
  /** What brought it broke: nobody left it on purpose. */
  readonly lost?: boolean
}
