/** How a stream ended: what a thrown error says about its run, and what error a run's outcome stands for. */
import { ProtocolError, type Run, type RunOutcome } from '@millrace/protocol'
import { AgentError, StreamTruncatedError, toCodedError, TransportError } from './errors.ts'

export interface Ending {
  readonly outcome: RunOutcome
  /** Why, if the outcome is a failure (`error`, `truncated`, `violation`, `malformed`). */
  readonly error?: Error
}

const OF_PROTOCOL = { violation: 'violation', malformed: 'malformed', truncated: 'truncated', limit: 'malformed' } as const

/** The end of a stream whose transport threw. An abort by the connection's own signal is a stop, not a failure. */
export function resultOfThrown(thrown: unknown): Ending {
  const error = toCodedError(thrown)
  if (error instanceof ProtocolError) return { outcome: OF_PROTOCOL[error.code], error }
  if (error instanceof TransportError) {
    if (error.code === 'aborted') return { outcome: 'cancelled' }
    if (error.code === 'truncated') return { outcome: 'truncated', error }
  }
  return { outcome: 'error', error }
}

/** The end of a stream that came to it by itself. */
export function resultOfEnd(outcome: RunOutcome, violation: ProtocolError | undefined, run: Run | undefined): Ending {
  // What comes behind an error may break rules; why the run failed is what the agent said before.
  const failed = violation !== undefined && run?.outcome === 'error'
  if (violation !== undefined && !failed) return { outcome, error: violation }
  switch (failed ? 'error' : outcome) {
    case 'error': {
      const { error, runId } = run ?? {}
      return {
        outcome: 'error',
        error: new AgentError(error?.message ?? 'The agent reported an error.', {
          ...(error?.code !== undefined && { code: error.code }),
          ...(runId !== undefined && { runId }),
          cause: violation,
        }),
      }
    }
    case 'truncated':
      return { outcome, error: new StreamTruncatedError('The stream ended before the run had, so the answer may be cut.') }
    default:
      return { outcome }
  }
}
