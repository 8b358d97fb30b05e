/** Tells whether a RUN_STARTED begins a run of ours, on channels on which the runs of others come too. It keeps no runs. */
import type { LooseChunk, StreamChunk } from './adapter.ts'

export class RunNames {
  /** The server was seen to keep the ids that it is given. */
  #kept = false

  /**
   * Whether `start` begins the run that was sent as `sent` and of which nothing has come. A server may name runs itself: one
   * that has never kept an id, and does not say what was asked, is taken to have done so.
   */
  isOurs(start: StreamChunk, sent: string): boolean {
    const { runId, input } = start as LooseChunk
    if (runId === sent) {
      this.#kept = true
      return true
    }
    const { runId: asked } = Object(input) as { readonly runId?: unknown }
    return typeof asked === 'string' ? asked === sent : !this.#kept
  }
}
