/** A clock that stands still until it is told to go on, and counts what waits for it. */
import type { Clock } from '@millrace/client'
import { tick } from './events.ts'

export class FakeClock implements Clock {
  #now = 1_000_000
  readonly #timers = new Set<{ readonly at: number; readonly callback: () => void }>()

  now(): number {
    return this.#now
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  get pending(): number {
    return this.#timers.size
  }

  /** Lets time pass, then lets what it woke run. */
  async advance(ms: number): Promise<void> {
    await tick()
    const end = this.#now + ms
    for (;;) {
      const next = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      this.#now = next.at
      this.#timers.delete(next)
      next.callback()
      await tick()
    }
    this.#now = end
    await tick()
  }
}

/** Every wait is over at once; time goes on by it. */
export function instantClock(): Clock & { readonly pending: () => number } {
  let now = 1_000_000
  let pending = 0
  return {
    now: () => now,
    after(ms, callback) {
      let live = true
      pending++
      const end = (): void => {
        if (!live) return
        live = false
        pending--
      }
      queueMicrotask(() => {
        if (!live) return
        end()
        now += ms
        callback()
      })
      return end
    },
    pending: () => pending,
  }
}
