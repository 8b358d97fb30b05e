/** How STATE_* shows: the shared state, set whole or patched. */
import type { Reporter } from '../diagnostics.ts'
import type { EventOf } from '../events/event.ts'
import type { Draft } from './draft.ts'
import { JsonPatchError } from './json-patch-error.ts'

export function snapshot(draft: Draft, event: EventOf<'STATE_SNAPSHOT'>): void {
  draft.setState(event.snapshot)
}

/** A patch that does not apply leaves the state as it was; the stream goes on (AG-UI 1.0, state). */
export function delta(draft: Draft, event: EventOf<'STATE_DELTA'>, reporter: Reporter): void {
  try {
    draft.document.apply(event.delta)
    draft.stateChanged()
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error
    reporter.report('state.patch-failed', { message: error.message, pointer: `/delta/${error.operation}` })
  }
}
