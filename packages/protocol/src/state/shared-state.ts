/** How STATE_* shows: the shared state, set whole or patched. */
import type { Reporter } from '../diagnostics.ts'
import type { EventOf } from '../events/event.ts'
import type { Draft } from './draft.ts'
import { JsonPatchError } from './json-patch-error.ts'

export function snapshot(draft: Draft, event: EventOf<'STATE_SNAPSHOT'>): void {
  draft.setState(event.snapshot)
}

/**
 * A patch that does not apply leaves the state as it was; the stream goes on (AG-UI 1.0, state). A null that was held
 * before the run went out as `{}`, since an input cannot say null: what does not apply to the one is held against the other.
 */
export function delta(draft: Draft, event: EventOf<'STATE_DELTA'>, reporter: Reporter): void {
  const error = patch(draft, event)
  if (error === undefined) return
  if (draft.heldNull) {
    draft.document.value = {}
    if (patch(draft, event) === undefined) {
      draft.heldNull = false
      const message = 'The state held before the run is null; the delta was applied to {}'
      reporter.report('state.null-baseline', { message, pointer: '/delta' })
      return
    }
    draft.document.value = null
  }
  reporter.report('state.patch-failed', { message: error.message, pointer: `/delta/${error.operation}` })
}

/** @returns why the patch was refused, if it was. */
function patch(draft: Draft, event: EventOf<'STATE_DELTA'>): JsonPatchError | undefined {
  try {
    draft.document.apply(event.delta)
    return undefined
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error
    return error
  }
}
