/** What one tab alone may do about a thread: store and go on with a run, answer a question. It keeps the names, and no thread. */
import type { TabLine } from './tabs.ts'

/** Runs whose claim is kept: one that is this many runs behind is being read by nobody any more. */
export const RUNS_LED = 32

export class RunClaims {
  readonly #line: () => TabLine | undefined
  /** Claims of runs of ours, oldest first. */
  readonly #led = new Set<string>()

  constructor(line: () => TabLine | undefined) {
    this.#line = line
  }

  /** True where there is no other tab to ask. */
  async claim(name: string): Promise<boolean> {
    return this.#line()?.claims.claim(name) ?? true
  }

  /**
   * A run stays ours when it is over: a tab that reads it more slowly is not to answer its calls again.
   * @returns false if it is another tab's.
   */
  async lead(runId: string): Promise<boolean> {
    const claims = this.#line()?.claims
    if (claims === undefined) return true
    const name = `run:${runId}`
    const asked = claims.claim(name)
    this.#led.delete(name)
    this.#led.add(name)
    for (const old of this.#led) {
      if (this.#led.size <= RUNS_LED) break
      this.#led.delete(old)
      claims.release((each) => each === old)
    }
    return asked
  }

  /** Answers that failed may be given by whoever comes next. */
  releaseAnswers(): void {
    this.#line()?.claims.release((name) => name.startsWith('answer:'))
  }

  forget(): void {
    this.#led.clear()
  }
}
