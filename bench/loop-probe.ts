/** How a program treats the event loop: how long it keeps it from turning, and how many macrotasks it asks for. It knows no contender. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as after } from 'node:timers/promises'
import { median } from './figures.ts'
import { countMacrotasks } from './macrotasks.ts'

export interface LoopUse {
  /** Longest time between two turns of the loop, in ms; a timer of 1 ms sees it, so an idle loop has 1 to 2. */
  readonly blockMs: number
  /** The time that 99 of 100 turns do not exceed. */
  readonly p99Ms: number
  readonly macrotasks: number
}

/** Each of its figures by itself. */
export function medianUse(all: readonly LoopUse[]): LoopUse {
  const of = (pick: (use: LoopUse) => number): number => median(all.map(pick))
  return { blockMs: of(({ blockMs }) => blockMs), p99Ms: of(({ p99Ms }) => p99Ms), macrotasks: of(({ macrotasks }) => macrotasks) }
}

const NANOSECONDS = 1e6
/** Enough for its timer to have fired. */
const SEEN_MS = 3

export class LoopProbe {
  readonly #macrotasks = countMacrotasks()
  #delay = monitorEventLoopDelay({ resolution: 1 })
  #before = 0

  /** Settles when it sees the loop: it counts from one turn to the next. */
  async start(): Promise<void> {
    this.#delay = monitorEventLoopDelay({ resolution: 1 })
    this.#delay.enable()
    await after(SEEN_MS)
    this.#before = this.#macrotasks.count
  }

  /** Settles after the loop has turned again: what blocks it now is seen only then. */
  async stop(): Promise<LoopUse> {
    const macrotasks = this.#macrotasks.count - this.#before
    await after(SEEN_MS)
    this.#delay.disable()
    return { blockMs: this.#delay.max / NANOSECONDS, p99Ms: this.#delay.percentile(99) / NANOSECONDS, macrotasks }
  }

  /** No more is counted. */
  close(): void {
    this.#macrotasks.restore()
  }
}
