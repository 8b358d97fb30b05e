/** Recognises events of turns that are over, so that what a stopped turn still sends changes nothing. */
import type { LooseChunk, StreamChunk } from './adapter.ts'

/** Ids of stopped runs that are kept: what stands in line at a server is less. */
const KEPT = 1_000

/** For channels that many turns share; a wrapped `connect` tells requests apart itself. */
export class LateEvents {
  readonly #dead = new Set<string>()
  /** What comes after a stop belongs to the stopped turn until another run starts. */
  #skipping = false

  /** Notes the runs of a turn that was stopped: as we named it, and as the server did. */
  bury(...runIds: readonly (string | undefined)[]): void {
    for (const id of runIds) if (id !== undefined) this.#dead.add(id)
    for (const oldest of this.#dead) {
      if (this.#dead.size <= KEPT) break
      this.#dead.delete(oldest)
    }
    this.#skipping = true
  }

  isLate(chunk: StreamChunk): boolean {
    const { type, runId: started } = Object(chunk) as Partial<LooseChunk>
    // A run may be stopped before it starts, and another one come between.
    if (type === 'RUN_STARTED') this.#skipping = typeof started === 'string' && this.#dead.has(started)
    return this.#skipping
  }
}
