/**
 * A short cut for the commonest event: a delta just like the one before it. Such a delta opens, closes and changes
 * nothing, so what was found of the first holds for the next: if nothing but its text differs, it is as well formed, as
 * legal and as much of its owner, and if it is a chunk, it goes on with the same item. `repeat.test.ts` holds this
 * against the stages it stands for.
 */
import type { ChunkEvent, Event, VerifiedEvent } from '../events/event.ts'
import type { ItemKind, Ledger } from './ledger.ts'

interface Form {
  readonly type: Event['type']
  readonly key: 'messageId' | 'toolCallId'
  /** A chunk: what it goes on with, and the event it stands for. */
  readonly chunk?: { readonly kind: ItemKind; readonly as: VerifiedEvent['type'] }
}

function content(type: Exclude<VerifiedEvent['type'], ChunkEvent['type']>, key: Form['key']): Form {
  return { type, key }
}

function chunk(type: ChunkEvent['type'], key: Form['key'], kind: ItemKind, as: VerifiedEvent['type']): Form {
  return { type, key, chunk: { kind, as } }
}

const FORMS: ReadonlyMap<Event['type'], Form> = new Map(
  [
    content('TEXT_MESSAGE_CONTENT', 'messageId'),
    content('REASONING_MESSAGE_CONTENT', 'messageId'),
    content('TOOL_CALL_ARGS', 'toolCallId'),
    chunk('TEXT_MESSAGE_CHUNK', 'messageId', 'text', 'TEXT_MESSAGE_CONTENT'),
    chunk('REASONING_MESSAGE_CHUNK', 'messageId', 'reasoning', 'REASONING_MESSAGE_CONTENT'),
    chunk('TOOL_CALL_CHUNK', 'toolCallId', 'tool', 'TOOL_CALL_ARGS'),
  ].map((form) => [form.type, form]),
)

type Delta = { readonly type: string; readonly delta: string; readonly messageId?: string; readonly toolCallId?: string }

export class RepeatedDelta {
  #form: Form | undefined
  #id: string | undefined

  /** Takes note of an event that has just been accepted; undefined if one was not, or only with a violation. */
  note(event: Event | undefined, ledger: Ledger): void {
    const form = event && FORMS.get(event.type)
    this.#form = undefined
    if (form === undefined) return
    this.#id = (event as Delta)[form.key]
    // A chunk of a subagent's stands for an event that names its owner; it goes the long way.
    if (form.chunk !== undefined && ledger.get(form.chunk.kind, this.#id as string)?.owner !== undefined) return
    this.#form = form
  }

  /** The event a raw one stands for, if it differs from the one before in its text (and time) alone. */
  match(raw: unknown): VerifiedEvent | undefined {
    const form = this.#form
    if (form === undefined || typeof raw !== 'object' || raw === null) return undefined
    const event = raw as Delta
    const { key } = form
    if (event.type !== form.type || event[key] !== this.#id || typeof event.delta !== 'string') return undefined
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
    return (form.chunk === undefined ? event : { type: form.chunk.as, [key]: this.#id, delta: event.delta }) as VerifiedEvent
  }
}
