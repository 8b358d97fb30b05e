/** What the resume engine asks of a transport. Types only; `resume.ts` is the engine. */
import type { Position } from './cursor.ts'
import type { Delivery } from './deliveries.ts'

export type { Position } from './cursor.ts'

/** A connection that stands. */
export interface Opened {
  /**
   * What comes over it; an empty batch is a sign of life. Ends when the other side ends it cleanly, and quietly when the
   * signal aborts; throws `StreamTruncatedError` when it breaks.
   */
  readonly batches: AsyncIterable<readonly Delivery[]>
  /** Whether the other side can be resumed from. `unknown`: if it gives ids. */
  readonly offersResume: 'yes' | 'no' | 'unknown'
  /** Wait before a reconnection in ms, if the other side has named one by now. */
  retryMs?(): number | undefined
}

/** Where a run's events come from, as often as it takes. */
export interface RunSource {
  /**
   * When it may be opened again. `always`: opening again does no harm. `offered`: if the other side offers it, or nothing
   * has been heard of it. `cursor`: behind an id only. `unheard`: behind an id, or while no event has come of it. `never`.
   */
  readonly reopen: 'always' | 'offered' | 'cursor' | 'unheard' | 'never'
  /**
   * Opens a connection: without a position the run itself, else what follows the position; one without an id asks for the
   * run from its start. Rejects with a `TransportError`; leaves nothing behind once `signal` has aborted.
   */
  open(request: { readonly position: Position | undefined; readonly signal: AbortSignal }): Promise<Opened>
}
