/** Recognises events of turns that are over, so that what a stopped turn still sends changes nothing. */
import type { LooseChunk, StreamChunk } from './adapter.ts'

/** For channels that many turns share; a wrapped `connect` tells requests apart itself. */
export class LateEvents {
  readonly #dead = new Set<string>()
  /** What comes after a stop belongs to the stopped turn until another run starts. */
  #skipping = false

  /** Notes the runs of a turn that was stopped: as we named it, and as the server did. */
  bury(...runIds: readonly (string | undefined)[]): void {
    for (const id of runIds) if (id !== undefined) this.#dead.add(id)
    this.#skipping = true
  }

  isLate(chunk: StreamChunk): boolean {
    if (!this.#skipping) return false
    const { type, runId: started } = Object(chunk) as Partial<LooseChunk>
    if (type === 'RUN_STARTED' && !(typeof started === 'string' && this.#dead.has(started))) {
      this.#skipping = false
      this.#dead.clear()
    }
    return this.#skipping
  }
}
