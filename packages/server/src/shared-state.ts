/** The shared state as the client has it: what the agent may read, and what its patches must apply to. */
import { applyPatch, JsonPatchError, type VerifiedEvent } from '@millrace/protocol'

export class SharedState {
  #value: unknown

  /** @param initial the input's state; the baseline is `{}` without one (AG-UI 1.0, state). */
  constructor(initial: unknown) {
    this.#value = initial ?? {}
  }

  get value(): unknown {
    return this.#value
  }

  /** Follows an event. Gives the reason if it is a patch that clients will not be able to apply. */
  note(event: VerifiedEvent): JsonPatchError | undefined {
    if (event.type === 'STATE_SNAPSHOT') this.#value = event.snapshot
    else if (event.type === 'STATE_DELTA') {
      try {
        this.#value = applyPatch(this.#value, event.delta)
      } catch (error) {
        if (error instanceof JsonPatchError) return error
        throw error
      }
    }
    return undefined
  }
}
