/**
 * A short cut for the commonest event: a delta just like the one before it. Such a delta opens, closes and changes
 * nothing, so what was found of the first holds for the next: if nothing but its text differs, it is as well formed, as
 * legal and as much of its owner. `repeat.test.ts` holds this against the stages it stands for.
 */
import type { Event, VerifiedEvent } from '../events/event.ts'
import type { Ledger } from './ledger.ts'

type Delta = { readonly type: string; readonly delta: string; readonly messageId?: string; readonly toolCallId?: string }

export class RepeatedDelta {
  #type: string | undefined
  #key: 'messageId' | 'toolCallId' = 'messageId'
  #id: string | undefined

  /** Takes note of an event that has just been accepted. */
  note(event: Event, ledger: Ledger): void {
    this.#type = undefined
    // With chunks pending, an explicit event may close them.
    if (ledger.lanes.size > 0) return
    switch (event.type) {
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
        this.#key = 'messageId'
        this.#id = event.messageId
        break
      case 'TOOL_CALL_ARGS':
        this.#key = 'toolCallId'
        this.#id = event.toolCallId
        break
      default:
        return
    }
    this.#type = event.type
  }

  /** Whether a raw event differs from the one before in its text (and time) alone. */
  matches(raw: unknown): raw is VerifiedEvent {
    if (this.#type === undefined || typeof raw !== 'object' || raw === null) return false
    const event = raw as Delta
    const key = this.#key
    if (event.type !== this.#type || event[key] !== this.#id || typeof event.delta !== 'string') return false
    let fields = 0
    for (const field in event) {
      if (field === 'timestamp') {
        if (!Number.isSafeInteger((event as { timestamp?: unknown }).timestamp)) return false
      } else if (field === 'type' || field === key || field === 'delta') {
        fields++
      } else {
        return false
      }
    }
    return fields === 3
  }
}
