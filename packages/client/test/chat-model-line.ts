/**
 * A run as a chat reads it, over connections that break: each outage is waited out, each wait twice as long as the one before, and
 * so many in a row that bring nothing new are the end of it.
 */
import type { Run } from './model-runs.ts'
import type { Asked, Cut } from './model-server.ts'
import { ATTEMPTS, RECONNECT_MS } from './model-world.ts'

/** `waits`: for another reading of the run, which nothing was heard of when it was left. */
type Stage = 'waits' | 'asks' | 'reads' | 'over'

/** How a reading ended before its run did. */
export interface Broken {
  /** By what began the outage: an answer that was cut, or a request that failed. */
  readonly outcome: 'truncated' | 'error'
  /** The run may go on at the server all the same. */
  readonly mayPass: boolean
}

export class Line {
  readonly run: Run
  /** It begins the run, and does not only join it. */
  readonly begins: boolean
  stage: Stage
  /** Events that were read. */
  seen = 0
  broken: Broken | undefined
  readonly #resumes: boolean
  readonly #after: Line | undefined
  /** When it asks. */
  #due: number
  /** Attempts in vain since something new came, and what made the first of them necessary. */
  #vain = 0
  #outage: Broken['outcome'] | undefined
  #held = false

  constructor(run: Run, { begins, resumes, after, now }: { readonly begins: boolean; readonly resumes: boolean; readonly after?: Line | undefined; readonly now: number }) {
    this.run = run
    this.begins = begins
    this.#resumes = resumes
    this.#after = after
    this.#due = now
    this.stage = after === undefined ? 'asks' : 'waits'
  }

  /** Nobody reads on. */
  leave(): void {
    this.stage = 'over'
  }

  /** The connection broke. */
  cut({ how, rest }: Cut, now: number): void {
    if (this.stage !== 'reads') return
    const isLast = this.seen + 1 === this.run.script.length
    const isEnd = isLast && rest === 'whole' && how === 'ended'
    const again = !isEnd && this.#again('truncated', now)
    // It comes again if one comes back; if not, it counts.
    if (rest !== 'whole' || again) return
    this.#held = true
    this.stage = 'over'
    if (isLast) this.broken = undefined
  }

  /** Whether an event came whose end nobody saw, and which counts now that nobody comes back. */
  takeHeld(): boolean {
    if (!this.#held) return false
    this.#held = false
    this.seen++
    return true
  }

  /** Whether something happens at this time. `asked` gives what became of the next request for the run. */
  advance(now: number, asked: () => Asked | undefined): boolean {
    switch (this.stage) {
      case 'waits':
        if (this.#after?.stage !== 'over') return false
        this.stage = 'asks'
        this.#due = now
        return true
      case 'asks': {
        if (this.#due > now) return false
        const request = asked()
        if (request === undefined) return false
        this.#hear(request, now)
        return true
      }
      case 'reads':
        if (this.run.released <= this.seen) return false
        this.seen = this.run.released
        this.#vain = 0
        this.#outage = undefined
        if (this.seen === this.run.script.length) this.stage = 'over'
        return true
      case 'over':
        return false
    }
  }

  /** It should have asked by now. */
  overdue(now: number): boolean {
    return this.stage === 'asks' && this.#due <= now
  }

  #hear({ method, result, waitMs }: Asked, now: number): void {
    if (result === 'open') this.stage = 'reads'
    else if (result === 'unknown') this.#break(this.#outage !== undefined)
    // What was refused has not begun.
    else if (result === 'busy' && method === 'POST') this.#break(true)
    else this.#again('error', now, waitMs)
  }

  /** False if that is the end. */
  #again(outcome: Broken['outcome'], now: number, waitMs = 0): boolean {
    this.#outage ??= outcome
    if (!this.#resumes || this.#vain === ATTEMPTS) {
      this.#break(true)
      return false
    }
    this.stage = 'asks'
    this.#due = now + Math.max(waitMs, RECONNECT_MS * 2 ** this.#vain++)
    return true
  }

  #break(mayPass: boolean): void {
    this.stage = 'over'
    this.broken = { outcome: this.#outage ?? 'error', mayPass }
  }
}
