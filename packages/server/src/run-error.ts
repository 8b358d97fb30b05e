/** What went wrong → what the client is told. Of errors that were not made to be shown, only that there was one. */
import { ProtocolError, type EventOf } from '@millrace/protocol'
import { AgentError, LogError, RunEndedError } from './errors.ts'

export function runError(error: unknown): EventOf<'RUN_ERROR'> {
  const [code, message] = shown(error)
  return { type: 'RUN_ERROR', message, code }
}

function shown(error: unknown): readonly [code: string, message: string] {
  if (error instanceof AgentError) return [error.code, error.message]
  if (error instanceof ProtocolError) return [error.rule, `The agent sent an event that AG-UI 1.0 does not allow (${error.rule})`]
  if (error instanceof RunEndedError && error.code === 'timeout') return ['run.timeout', 'The run took too long']
  return ['agent.failed', 'The agent failed']
}

/** A failure of the log, as the run's readers may know it. */
export function storeError(cause: unknown): AgentError {
  return cause instanceof LogError && cause.code === 'limit'
    ? new AgentError('log.limit', 'The run is longer than the server keeps', { cause })
    : new AgentError('log.failed', 'The server could not store the run', { cause })
}
