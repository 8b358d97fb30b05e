/**
 * Notices a stream that something between us and the server has held back: all of it came at once at its end. It reads no
 * clock; it is told when things come.
 */
import type { Delivery } from './deliveries.ts'

/** Fewer may well be made at once. */
const EVENTS = 20
/** Within this they came at once. */
const BURST_MS = 100
/** What was made over this much time should have come over some. */
const MADE_MS = 1_000
/** An answer whose status came as late as this, and all of it then, was held back with it. */
const HELD_MS = 3_000

export class Arrival {
  readonly #asked: number
  #answered: number | undefined
  #first: number | undefined
  #last = 0
  #count = 0
  #reads = 0
  #made: { from: number; to: number } | undefined

  /** Times are in ms of any one clock. */
  constructor(asked: number) {
    this.#asked = asked
  }

  answered(now: number): void {
    this.#answered = now
  }

  batch(deliveries: readonly Delivery[], now: number): void {
    if (deliveries.length === 0) return
    this.#first ??= now
    this.#last = now
    // It has come over time; no more has to be known.
    if (now - this.#first > BURST_MS) return
    this.#reads++
    this.#count += deliveries.length
    for (const delivery of deliveries) this.#note(delivery)
  }

  #note({ event }: Delivery): void {
    const { timestamp } = Object(event) as { readonly timestamp?: unknown }
    if (typeof timestamp !== 'number') return
    if (this.#made === undefined) this.#made = { from: timestamp, to: timestamp }
    else this.#made.to = timestamp
  }

  /** The stream has ended: whether it was held back. */
  get heldBack(): boolean {
    if (this.#count < EVENTS || this.#first === undefined || this.#last - this.#first > BURST_MS) return false
    if (this.#made !== undefined && this.#made.to > this.#made.from) return this.#made.to - this.#made.from >= MADE_MS
    // Without timestamps: the very status waited for the end. A server that only thinks for long sends that before.
    return this.#reads === 1 && this.#answered !== undefined && this.#answered - this.#asked >= HELD_MS && this.#last - this.#answered <= BURST_MS
  }
}
