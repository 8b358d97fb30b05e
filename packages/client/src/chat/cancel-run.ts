/** Asking the server to end a run. Whether it does is its own affair: here the run is over. */
import type { NormalizedConnection } from '../connection/normalize.ts'
import type { Callbacks } from './callbacks.ts'

export interface CancelParts {
  readonly callbacks: Callbacks
  connection(): NormalizedConnection
}

/**
 * Asks the server to end a run, if it can. It never rejects: what fails is logged.
 * @returns whether it is over there, too, as far as the server says.
 */
export async function cancelRun({ connection, callbacks }: CancelParts, runId: string): Promise<boolean> {
  const { keepsRuns, cancelRun: cancel } = connection()
  if (keepsRuns?.() === false) return false
  try {
    return (await cancel?.(runId)) === 'closed'
  } catch (error) {
    callbacks.log('A run could not be cancelled at the server.', error)
    return false
  }
}
