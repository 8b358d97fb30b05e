/** Timers of one page, by a time that others move. */
import type { Clock } from '@millrace/client'

export class ModelClock implements Clock {
  readonly #time: { readonly now: number }
  readonly #timers = new Set<{ readonly at: number; readonly callback: () => void }>()

  constructor(time: { readonly now: number }) {
    this.#time = time
  }

  now(): number {
    return this.#time.now
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#time.now + ms, callback }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  get pending(): number {
    return this.#timers.size
  }

  /** When the next timer is due; Infinity if none is set. */
  get next(): number {
    return Math.min(...[...this.#timers].map(({ at }) => at))
  }

  /** Runs what is due. */
  fire(): void {
    const due = [...this.#timers].filter(({ at }) => at <= this.#time.now).sort((a, b) => a.at - b.at)
    for (const timer of due) if (this.#timers.delete(timer)) timer.callback()
  }
}
