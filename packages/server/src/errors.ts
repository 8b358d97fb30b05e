/**
 * Every error of this package beside `UsageError`. Each carries a `code` and data; texts are for people and may
 * change. Which HTTP status belongs to which is known in `handler.ts` alone.
 */

/** Thrown by an agent: its code and message go over the wire. Those of every other error stay in the log. */
export class AgentError extends Error {
  override readonly name: string = 'AgentError'
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** What a helper of `run` rejects with once the run is over: stop working. */
export class RunEndedError extends Error {
  override readonly name: string = 'RunEndedError'
  readonly code: 'cancelled' | 'timeout' | 'ended'

  constructor(code: 'cancelled' | 'timeout' | 'ended') {
    super(code === 'ended' ? 'The run is over' : code === 'timeout' ? 'The run took too long' : 'The run was cancelled')
    this.code = code
  }
}

export type LogErrorCode =
  /** The runId exists under another threadId. */
  | 'conflict'
  /** The lease was taken over; its holder must stop. */
  | 'fenced'
  /** The run is closed; nothing can be added. */
  | 'closed'
  /** The log does not know the run: it never did, or it was trimmed. */
  | 'unknown'
  /** The offset is none this run ever had. */
  | 'offset'
  /** A bound of the log was passed; `limit` names it. */
  | 'limit'

/** An `EventLog` refused. Failures of the store itself (disk, network) come through as they are. */
export class LogError extends Error {
  override readonly name: string = 'LogError'
  readonly code: LogErrorCode
  declare readonly runId?: string
  declare readonly limit?: string

  constructor(code: LogErrorCode, message: string, data: { runId?: string; limit?: string } = {}) {
    super(message)
    this.code = code
    Object.assign(this, data)
  }
}

/** A bound of `limits.ts` was reached. */
export class ServerLimitError extends Error {
  override readonly name: string = 'ServerLimitError'
  readonly code = 'limit' as const
  readonly limit: 'subscribersPerRun' | 'activeRuns'

  constructor(limit: 'subscribersPerRun' | 'activeRuns', value: number) {
    super(`The limit ${limit} (${value}) is reached`)
    this.limit = limit
  }
}
