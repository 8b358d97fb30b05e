/**
 * Follows a stream just enough to say whether its last run has ended, and makes the terminal event when the peer sent
 * none. It checks no order; that is the verifier's work.
 */
import { UsageError, type RunAgentInputContext } from '@millrace/protocol'
import type { StreamTruncatedError } from '../errors.ts'
import type { LooseChunk, StreamChunk } from './adapter.ts'
import { truncated } from './pieces.ts'
import { markSynthetic } from './stamps.ts'

/** Ids for a terminal event that has to be made up. */
export type RunIds = Partial<Pick<RunAgentInputContext, 'threadId' | 'runId'>>

/**
 * The id for a synthetic event: as seen, else as given.
 * @throws UsageError `missing-synthetic-id`. An id made up here would hide that a caller left the context out.
 */
export function requireSyntheticId(name: 'threadId' | 'runId', seen: string | undefined, given: string | undefined): string {
  const id = seen ?? given
  if (id !== undefined && id !== '') return id
  throw new UsageError(
    'missing-synthetic-id',
    `The stream ended without a terminal event, and there is no ${name} to make one with: none was in the stream and ` +
      'send() was called without a runContext. Pass { threadId, runId } as its fourth argument.',
  )
}

/** Reads ids and terminal events as chunks pass. */
export class RunTracker {
  readonly #given: RunIds
  #threadId: string | undefined
  #runId: string | undefined
  #model: string | undefined
  #last: 'none' | 'open' | 'finished' | 'failed' = 'none'

  constructor(given: RunIds = {}) {
    this.#given = given
  }

  /** The last run seen has its terminal event. */
  get terminal(): boolean {
    return this.#last === 'finished' || this.#last === 'failed'
  }

  see(chunk: StreamChunk): void {
    if (typeof chunk !== 'object' || chunk === null) return
    const { type, threadId, runId, model } = chunk as LooseChunk
    if (typeof threadId === 'string' && threadId !== '') this.#threadId = threadId
    if (typeof runId === 'string' && runId !== '') this.#runId = runId
    if (typeof model === 'string' && model !== '') this.#model = model
    switch (type) {
      case 'RUN_FINISHED':
        this.#last = 'finished'
        break
      case 'RUN_ERROR':
        this.#last = 'failed'
        break
      case 'RUN_STARTED':
        this.#last = 'open'
        break
      case 'RAW':
      case 'CUSTOM':
        // Stragglers such as usage notes say nothing about a run that has ended.
        if (this.#last === 'none') this.#last = 'open'
        break
      default:
        // TanStack AI ends each model turn with RUN_FINISHED and goes on in the same run: that one was not the last.
        if (this.#last !== 'failed') this.#last = 'open'
    }
  }

  /**
   * A RUN_FINISHED in place of the one that is missing.
   * @throws UsageError if there are no ids for it.
   */
  finished(): StreamChunk {
    return this.#made({
      type: 'RUN_FINISHED',
      threadId: requireSyntheticId('threadId', this.#threadId, this.#given.threadId),
      runId: requireSyntheticId('runId', this.#runId, this.#given.runId),
    })
  }

  /**
   * A RUN_ERROR in place of the terminal event that will not come.
   * @throws UsageError if there are no ids for it.
   */
  failed(error: Error): StreamChunk {
    const { code } = error as { readonly code?: unknown }
    return this.#made({
      type: 'RUN_ERROR',
      threadId: requireSyntheticId('threadId', this.#threadId, this.#given.threadId),
      runId: requireSyntheticId('runId', this.#runId, this.#given.runId),
      message: error.message,
      ...(typeof code === 'string' && { code }),
    })
  }

  #made(event: LooseChunk): StreamChunk {
    return markSynthetic(this.#model === undefined ? event : { ...event, model: this.#model })
  }
}

/** The error for bytes that ended cleanly while a run is open (AG-UI 1.0, transport: truncation). */
export function unfinished(url?: string): StreamTruncatedError {
  return truncated(
    'The stream ended without RUN_FINISHED or RUN_ERROR, so the answer may be cut. If this server never sends them, set ' +
      "missingTerminal: 'finish'.",
    url,
  )
}
