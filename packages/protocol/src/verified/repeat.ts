/**
 * A short cut for the commonest event: a delta just like the one before it. Such a delta opens, closes and changes
 * nothing, so what was found of the first holds for the next: if nothing but its text differs, it is as well formed, as
 * legal and as much of its owner, and if it is a chunk, it goes on with the same item. `repeat.test.ts` holds this
 * against the stages it stands for.
 */
import type { Event, VerifiedEvent } from '../events/event.ts'
import { BRACKETS, type ItemRow } from './brackets.ts'
import type { Ledger } from './ledger.ts'

type Key = 'messageId' | 'toolCallId'
type Delta = { readonly type: string; readonly delta: string; readonly messageId?: string; readonly toolCallId?: string }

export class RepeatedDelta {
  #row: ItemRow | undefined
  #type: string | undefined
  #id: string | undefined

  /** Takes note of an event that has just been accepted; undefined if one was not, or only with a violation. */
  note(event: Event | undefined, ledger: Ledger): void {
    this.#row = undefined
    const bracket = event && BRACKETS.get(event.type)
    if (bracket === undefined || (bracket.does !== 'continue' && bracket.does !== 'chunk')) return
    const { does, row } = bracket
    this.#type = event?.type
    this.#id = (event as Delta)[row.key as Key]
    // A chunk of a subagent's stands for an event that names its owner; it goes the long way.
    if (does === 'chunk' && ledger.get(row.kind, this.#id as string)?.owner !== undefined) return
    this.#row = row
  }

  /** The event a raw one stands for, if it differs from the one before in its text (and time) alone. */
  match(raw: unknown): VerifiedEvent | undefined {
    const row = this.#row
    if (row === undefined || typeof raw !== 'object' || raw === null) return undefined
    const event = raw as Delta
    const key = row.key as Key
    if (event.type !== this.#type || event[key] !== this.#id || typeof event.delta !== 'string') return undefined
    let fields = 0
    for (const field in event) {
      if (field === 'timestamp') {
        if (!Number.isSafeInteger((event as { timestamp?: unknown }).timestamp)) return undefined
      } else if (field === 'type' || field === key || field === 'delta') {
        fields++
      } else {
        return undefined
      }
    }
    if (fields !== 3) return undefined
    return (event.type === row.chunk ? { type: row.continue, [key]: this.#id, delta: event.delta } : event) as VerifiedEvent
  }
}
