/** Chunk expansion alone, for those who verify elsewhere or not at all (the AG-UI client calls it `transformChunks`). */
import { Reporter } from '../diagnostics.ts'
import type { Event } from '../events/event.ts'
import { withDefaults, type Limits } from '../limits.ts'
import { Verifier, type Emit } from './verifier.ts'

/** *_CHUNK events → START, CONTENT and END; all others pass (AG-UI 1.0, chunks). One for each stream. */
export class ChunkExpander {
  readonly #verifier: Verifier
  readonly #reporter = new Reporter()
  #count = 0

  constructor(options: { readonly limits?: Partial<Limits> } = {}) {
    this.#verifier = new Verifier(undefined, this.#reporter, withDefaults(options.limits), 'unchecked')
  }

  /**
   * Gives what an event stands for: a chunk its START, CONTENT and END, any other event itself, after the END of what it
   * closes.
   * @throws ProtocolError `violation` (`chunk.*`, `attr.continuation`) if a chunk has no place; it changed nothing.
   */
  accept(event: Event, emit: Emit): void {
    this.#reporter.event = this.#count++
    this.#reporter.type = event.type
    this.#verifier.accept(event, emit)
  }

  /** Ends the input. Nothing is made up at the end of bytes (AG-UI 1.0): a chunk stream that is open stays open. */
  finish(): void {}
}
