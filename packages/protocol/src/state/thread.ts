/**
 * The folded state of one conversation. A `Thread` is an immutable value: a later one shares with it all that did
 * not change (messages keep their identity, untouched branches of `state` keep theirs).
 */
import type { Interrupt, Message, TokenUsage } from '../events/event.ts'

/** How a run ended, or `running`. AG-UI 1.0 keeps a failed run, a rejected stream and a truncated one apart. */
export type RunOutcome =
  | 'running'
  /** RUN_FINISHED with success, or without outcome. */
  | 'finished'
  /** RUN_FINISHED with an interrupt outcome: the agent asks the user. */
  | 'interrupted'
  /** RUN_FINISHED with a cancelled outcome, or stopped by us. */
  | 'cancelled'
  /** RUN_ERROR. */
  | 'error'
  /** The stream ended without a terminal event. */
  | 'truncated'
  /** An order rule was broken. */
  | 'violation'
  /** A known field had a wrong value, or the bytes were no events. */
  | 'malformed'

/** Why a run failed: what RUN_ERROR said, or the message and rule of what the reader refused. */
export interface RunError {
  readonly message: string
  readonly code?: string
}

/** One run as it stands: who it is, how it ended, what it left. */
export interface Run {
  /** Absent if the stream failed before any RUN_STARTED. */
  readonly threadId?: string
  readonly runId?: string
  readonly parentRunId?: string
  readonly outcome: RunOutcome
  readonly result?: unknown
  readonly error?: RunError
  readonly usage?: readonly TokenUsage[]
  /** Calls that the front end has to answer (RUN_FINISHED lists them, or they are derived). */
  readonly pendingToolCallIds?: readonly string[]
}

/** A step that is open. Steps of one name and different owners are different steps. */
export interface Step {
  readonly stepName: string
  readonly subagentRunId?: string
}

/** A subagent that was announced in the run in hand, and how it ended. */
export interface Subagent {
  readonly subagentRunId: string
  readonly name: string
  readonly description?: string
  readonly parentSubagentRunId?: string
  readonly parentToolCallId?: string
  readonly parentMessageId?: string
  readonly outcome: 'running' | 'finished' | 'suspended' | 'error'
  readonly result?: unknown
  readonly error?: RunError
}

/** A conversation as it stands: an immutable value. */
export interface Thread {
  readonly messages: readonly Message[]
  /** Shared state; `{}` until a snapshot or delta says otherwise. */
  readonly state: unknown
  /** Runs of this stream, oldest first. */
  readonly runs: readonly Run[]
  /** Steps that are open now. */
  readonly steps: readonly Step[]
  /** Subagents announced in this stream, in order. */
  readonly subagents: readonly Subagent[]
  /** Questions of the last interrupted run that are not answered yet. */
  readonly interrupts: readonly Interrupt[]
}

/** A thread in which nothing has happened. */
export const EMPTY_THREAD: Thread = {
  messages: [],
  state: {},
  runs: [],
  steps: [],
  subagents: [],
  interrupts: [],
}
