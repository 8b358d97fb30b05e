/**
 * Where in a run we are, and which deliveries were had before. The only file that knows how ids are compared; it does
 * no I/O and looks into no event. What is exact and what is not: docs/decisions/0013-resume-and-duplicates.md.
 */
import type { Delivery } from './deliveries.ts'

/** A place in a run: behind the event with this id and so many that came after it; without an id, so many from the start. */
export interface Position {
  readonly id: string | undefined
  readonly seen: number
}

/**
 * What deliveries without an id mean now. `live`: they are new. `behind`: we asked for what follows the cursor, and the
 * first `left` of them were had; `met` if the cursor itself has come again. `start`: counted from the run's start, ids
 * or none. `replay`: the server began further back, and nothing is new before the cursor has been passed; `gap` if ids
 * that we do not know any more may lie between.
 */
type Phase =
  | { readonly at: 'live' }
  | { readonly at: 'behind'; left: number; readonly met: boolean }
  | { readonly at: 'start'; left: number }
  | { readonly at: 'replay'; gap: boolean }

type Relation = 'new' | 'cursor' | 'known' | 'forgotten'

const LIVE: Phase = { at: 'live' }

export class Cursor {
  readonly #capacity: number
  #id: string | undefined
  /** Events delivered since the id was set. */
  #since = 0
  /** Events delivered since the run's start. */
  #total = 0
  /** The last ids with a print of each event's text, and as many before them: a generation is forgotten as a whole. */
  #recent = new Map<string, number>()
  #older: ReadonlyMap<string, number> = new Map()
  /** Ids have been forgotten. */
  #forgot = false
  #first: { readonly id: string; readonly print: number } | undefined
  /** Print of the run's first event, by which a replay from the start is known where that has no id. */
  #origin: number | undefined
  /** Nothing has come over this connection yet. */
  #fresh = true
  /** Ids so far grow as numbers. */
  #growing = true
  #sawId = false
  /** Different events came with one id, so ids say nothing here. */
  #repeated = false
  #phase: Phase = LIVE
  /** Id in force on this connection. */
  #inForce: string | undefined

  /** `capacity`: how many recent ids to keep. `from`: where we are, if a run is not read from its start. */
  constructor(capacity: number, from?: Position) {
    this.#capacity = capacity
    if (from === undefined) return
    this.#id = from.id
    this.#since = this.#total = from.seen
    this.#forgot = from.id !== undefined
  }

  get position(): Position {
    return this.#id === undefined || this.#repeated ? { id: undefined, seen: this.#total } : { id: this.#id, seen: this.#since }
  }

  /** Ids have come, and none with two events: the server can be asked for what follows one. */
  get offered(): boolean {
    return this.#sawId && !this.#repeated
  }

  /** Different events came with one id. */
  get repeated(): boolean {
    return this.#repeated
  }

  /** A connection was opened behind {@link position}; what comes next is its first delivery. */
  reopened(): void {
    const { id, seen } = this.position
    this.#phase = id === undefined ? { at: 'start', left: seen } : { at: 'behind', left: seen, met: false }
    this.#inForce = undefined
    this.#fresh = true
  }

  /** Whether a delivery is new; then we are behind it. */
  take(delivery: Delivery): boolean {
    if (this.#fresh) this.#begin(delivery)
    return this.#take(delivery)
  }

  /** The first delivery of a connection. */
  #begin({ own, text }: Delivery): void {
    this.#fresh = false
    if (this.#total === 0) {
      this.#origin = printOf(text)
    } else if (this.#phase.at === 'behind' && !own && printOf(text) === this.#origin) {
      this.#phase = { at: 'replay', gap: this.#forgot && !this.#growing }
    }
  }

  #take(delivery: Delivery): boolean {
    if (this.#repeated || this.#phase.at === 'start') return this.#takeCounted(delivery)
    if (delivery.own) return delivery.id === undefined ? this.#takeReset() : this.#takeOwn(delivery.id, delivery.text)
    // A block without an event has set an id.
    if (delivery.id !== undefined && delivery.id !== this.#inForce) this.#mark(delivery.id)
    return this.#takeCounted(delivery)
  }

  /** By number alone. */
  #takeCounted(delivery: Delivery): boolean {
    const phase = this.#phase
    if (delivery.own) this.#inForce = delivery.id
    if (phase.at === 'replay') return false
    if (phase.at !== 'live') {
      if (phase.left > 0) {
        phase.left--
        return false
      }
      this.#phase = LIVE
      // The first that is new is judged as any other.
      if (phase.at === 'start' && !this.#repeated) return this.#take(delivery)
    }
    this.#since++
    this.#total++
    return true
  }

  /** An empty id: there is no cursor any more (WHATWG: the last event id is the empty string). */
  #takeReset(): boolean {
    const phase = this.#phase
    if (phase.at === 'replay' || (phase.at === 'behind' && phase.left > 0)) return false
    this.#phase = LIVE
    this.#id = this.#inForce = this.#first = undefined
    this.#older = new Map()
    this.#recent = new Map()
    this.#forgot = false
    this.#growing = true
    this.#since = 0
    this.#total++
    return true
  }

  #takeOwn(id: string, text: string): boolean {
    this.#inForce = id
    const print = printOf(text)
    const order = this.#order(id)
    const relation = this.#relation(id, order)
    const phase = this.#phase
    // A server writes an event anew when it replays it, perhaps otherwise; within one connection it is comparable.
    const sameText = phase.at === 'live' || (phase.at === 'behind' && phase.met)
    if (sameText && relation !== 'new' && this.#differs(id, print)) {
      this.#repeated = true
      this.#phase = LIVE
      this.#older = new Map()
      this.#recent = new Map()
    } else {
      if (relation === 'cursor') this.#recent.set(id, print)
      if (!this.#passes(relation)) return false
      this.#first ??= { id, print }
      this.#setId(id, print, order)
    }
    this.#total++
    return true
  }

  /** An id without an event: what follows it counts from there. */
  #mark(id: string): void {
    this.#inForce = id
    const order = this.#order(id)
    if (this.#passes(this.#relation(id, order))) this.#setId(id, 0, order)
  }

  #setId(id: string, print: number, order: number | undefined): void {
    if (this.#id !== undefined) this.#growing = order !== undefined && order < 0
    this.#id = id
    this.#sawId = true
    this.#since = 0
    this.#remember(id, print)
  }

  /** Moves on over an id; whether it is new. */
  #passes(relation: Relation): boolean {
    const phase = this.#phase
    switch (relation) {
      case 'cursor':
        this.#phase = { at: 'behind', left: this.#since, met: true }
        return false
      case 'known':
        this.#phase = { at: 'replay', gap: false }
        return false
      case 'forgotten':
        this.#phase = { at: 'replay', gap: true }
        return false
      case 'new':
        if (phase.at === 'replay' && phase.gap) return false
        this.#phase = LIVE
        return true
    }
  }

  /** How the cursor stands to an id as numbers (below 0: the id is behind it); undefined if ids here are none. */
  #order(id: string): number | undefined {
    return this.#growing && this.#id !== undefined ? orderOf(this.#id, id) : undefined
  }

  /** `known` and what follows it up to the cursor is remembered; behind `forgotten` there are ids that are not. */
  #relation(id: string, order: number | undefined): Relation {
    if (this.#id === undefined || (order !== undefined && order < 0)) return 'new'
    if (id === this.#id) return 'cursor'
    if (this.#recent.has(id) || this.#older.has(id)) return 'known'
    // All that came are remembered, so this did not.
    if (!this.#forgot) return 'new'
    if (order !== undefined) return 'known'
    return id === this.#first?.id ? 'forgotten' : 'new'
  }

  /** This id came with another event before. On one connection that is no repetition, but a server that repeats ids. */
  #differs(id: string, print: number): boolean {
    const before = this.#recent.get(id) ?? this.#older.get(id) ?? (id === this.#first?.id ? this.#first.print : undefined)
    return before !== undefined && before !== print
  }

  #remember(id: string, print: number): void {
    if (this.#recent.size >= this.#capacity) {
      this.#forgot ||= this.#older.size > 0
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(id, print)
  }
}

/**
 * How two ids stand as numbers, or as groups of numbers (`1700000000000-3`): below 0 if `a` comes before `b`. Undefined if
 * one is no number, or they have not as many groups. No number is too long for it.
 */
function orderOf(a: string, b: string): number | undefined {
  let order = 0
  for (let left = 0, right = 0; ; left++, right++) {
    const fromLeft = left
    const fromRight = right
    left = endOfDigits(a, left)
    right = endOfDigits(b, right)
    if (left === fromLeft || right === fromRight) return undefined
    order ||= compareDigits(a.slice(fromLeft, left), b.slice(fromRight, right))
    if (left === a.length || right === b.length) return left === a.length && right === b.length ? order : undefined
    if (a[left] !== '-' || b[right] !== '-') return undefined
  }
}

function endOfDigits(text: string, from: number): number {
  let at = from
  for (let code = text.charCodeAt(at); code >= 48 && code <= 57; code = text.charCodeAt(++at));
  return at
}

function compareDigits(a: string, b: string): number {
  if (a.length === b.length) return a < b ? -1 : a > b ? 1 : 0
  const length = Math.max(a.length, b.length)
  const left = a.padStart(length, '0')
  const right = b.padStart(length, '0')
  return left < right ? -1 : left > right ? 1 : 0
}

/** A number by which two texts are told apart: FNV-1a over all of it, and its length. A sample would take deltas for each other. */
function printOf(text: string): number {
  let hash = 0x811c9dc5 ^ text.length
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash
}
