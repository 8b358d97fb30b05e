/**
 * Verified events → fewer verified events that fold to the same thread, on top of whatever was there before. For logs
 * that are kept or read again. It knows which events may be told together; what they do is in the fold.
 *
 * Law: folded, the result equals the original (messages, state, runs, all that a view shows), at the end and where a run
 * begins or ends; what was legal stays legal; compacting again changes nothing. Two things are told together:
 *
 * - *Deltas of one item* with nothing between them but other deltas and state: one delta, where the first one stood. It has
 *   their tag, their metadata merged, and the timestamp of the first.
 * - *State from a snapshot on*, within a run: one snapshot, where the last change stood. It has their tag and the
 *   timestamp of the last.
 *
 * What would be lost stays as it came: events with a `rawEvent`, state events with `metadata` or of another tag, deltas
 * without a snapshot before them, and a patch that copies, which is short where a snapshot is long. Everything else stays,
 * in its order. A patch that does not apply is left out of what it would have changed.
 */
import { present } from '../json-value.ts'
import type { EventOf, Metadata, VerifiedEvent } from '../events/event.ts'
import type { Limits } from '../limits.ts'
import { PatchedDocument } from './json-patch.ts'
import { JsonPatchError } from './json-patch-error.ts'

type Delta = EventOf<'TEXT_MESSAGE_CONTENT'> | EventOf<'REASONING_MESSAGE_CONTENT'> | EventOf<'TOOL_CALL_ARGS'>
type StateEvent = EventOf<'STATE_SNAPSHOT'> | EventOf<'STATE_DELTA'>

/**
 * @param events what verification gave, in order.
 * @param limits those that the fold applies to patches.
 * @returns a new list; events that stay are the same objects.
 */
export function compact(events: readonly VerifiedEvent[], limits?: Partial<Limits>): VerifiedEvent[] {
  const compactor = new Compactor(limits)
  for (const event of events) compactor.take(event)
  return compactor.finish()
}

/** State events of one tag, one after another but for what is no state. */
interface StateGroup {
  readonly tag: string | undefined
  /** Places of what is emitted for it so far. */
  places: number[]
  /** The state, once there was a snapshot. */
  document: PatchedDocument | undefined
  /** The last event that changed it. */
  last: StateEvent | undefined
}

class Compactor {
  readonly #limits: Partial<Limits> | undefined
  /** Undefined where something stood that is told elsewhere. */
  readonly #out: (VerifiedEvent | undefined)[] = []
  /** Place of the delta that may grow, by item. */
  readonly #growing = new Map<string, number>()
  /** Deltas that were made here and may be changed. */
  readonly #made = new Set<VerifiedEvent>()
  #group: StateGroup | undefined

  constructor(limits: Partial<Limits> | undefined) {
    this.#limits = limits
  }

  take(event: VerifiedEvent): void {
    switch (event.type) {
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
        // A message and a thought of one id are written to the same place, so their deltas keep their order.
        return this.#delta(event, `message ${event.messageId}`)
      case 'TOOL_CALL_ARGS':
        return this.#delta(event, `call ${event.toolCallId}`)
      case 'STATE_SNAPSHOT':
      case 'STATE_DELTA':
        return this.#state(event)
      case 'RUN_STARTED':
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
        this.#endGroup()
    }
    this.#growing.clear()
    this.#out.push(event)
  }

  finish(): VerifiedEvent[] {
    this.#endGroup()
    return this.#out.filter((event) => event !== undefined)
  }

  #delta(event: Delta, item: string): void {
    const place = this.#growing.get(item)
    const before = place === undefined ? undefined : (this.#out[place] as Delta)
    if (before !== undefined && before.type === event.type && before.subagentRunId === event.subagentRunId && event.rawEvent === undefined) {
      this.#grow(before, event, place as number)
      return
    }
    if (event.rawEvent === undefined) this.#growing.set(item, this.#out.length)
    else this.#growing.delete(item)
    this.#out.push(event)
  }

  #grow(before: Delta, { delta, metadata }: Delta, place: number): void {
    let made = before
    if (!this.#made.has(before)) {
      made = { ...before }
      this.#made.add(made)
      this.#out[place] = made
    }
    made.delta += delta
    if (metadata !== undefined) made.metadata = merged(made.metadata, metadata)
  }

  #state(event: StateEvent): void {
    const { subagentRunId: tag } = event
    if (event.rawEvent !== undefined || event.metadata !== undefined || copies(event)) {
      this.#endGroup()
      this.#out.push(event)
      return
    }
    if (this.#group?.tag !== tag) this.#endGroup()
    const group = (this.#group ??= { tag, places: [], document: undefined, last: undefined })
    if (event.type === 'STATE_SNAPSHOT') {
      group.document = new PatchedDocument(event.snapshot, this.#limits)
    } else if (group.document !== undefined && !applies(event, group.document)) {
      return
    }
    if (group.document !== undefined) for (const place of group.places.splice(0)) this.#out[place] = undefined
    group.last = event
    group.places.push(this.#out.length)
    this.#out.push(event)
  }

  #endGroup(): void {
    const group = this.#group
    this.#group = undefined
    if (group?.last?.type !== 'STATE_DELTA' || group.document === undefined) return
    const { timestamp } = group.last
    this.#out[group.places[0] as number] = {
      type: 'STATE_SNAPSHOT',
      snapshot: group.document.value,
      ...present({ subagentRunId: group.tag, timestamp }),
    }
  }
}

function merged(before: Metadata | undefined, metadata: Metadata): Metadata {
  return before === undefined ? metadata : { ...before, ...metadata }
}

function copies(event: StateEvent): boolean {
  return event.type === 'STATE_DELTA' && event.delta.some(({ op }) => op === 'copy')
}

function applies(event: EventOf<'STATE_DELTA'>, document: PatchedDocument): boolean {
  try {
    document.apply(event.delta)
    return true
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error
    return false
  }
}
