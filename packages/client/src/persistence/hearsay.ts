/**
 * Who has taken in whose saves. A save is written over what is there without asking, so two tabs may do so at the same time; by this
 * the tab whose save is not in what it finds knows that it has to say again what it said.
 */
import { generateId } from '../ids.ts'
import type { Heard } from './stored-thread.ts'

/** Tabs that are remembered: those that come and go must not add up. */
const TABS = 16

export class Hearsay {
  readonly #me = generateId('message')
  readonly #saves = new Map<string, number>()

  /** Saves of this tab so far. */
  get own(): number {
    return this.#saves.get(this.#me) ?? 0
  }

  /** All that is known. */
  get all(): readonly Heard[] {
    return [...this.#saves]
  }

  /** The next save of this tab, if it is a removal. */
  remove(): Heard {
    this.next()
    return [this.#me, this.own]
  }

  /** What goes along with the next save of this tab. */
  next(): readonly Heard[] {
    this.#note(this.#me, this.own + 1)
    return this.all
  }

  /** What another tab stored is shown, or merged, here. */
  take(heard: readonly Heard[] = []): void {
    for (const [tab, saves] of heard) if (saves > (this.#saves.get(tab) ?? 0)) this.#note(tab, saves)
  }

  /** Whether what was stored is of this tab: the last to be named is who saved it. */
  isOurs(heard: readonly Heard[] = []): boolean {
    return heard.at(-1)?.[0] === this.#me
  }

  /** Whether this many saves of this tab are in what was stored. */
  isIn(heard: readonly Heard[] = [], saves: number): boolean {
    return heard.some(([tab, count]) => tab === this.#me && count >= saves)
  }

  /** Whether a save that was told of is not in what was stored. */
  static lacks(heard: readonly Heard[] = [], told: readonly Heard[]): boolean {
    const known = new Map(heard)
    return told.some(([tab, count]) => (known.get(tab) ?? 0) < count)
  }

  #note(tab: string, saves: number): void {
    this.#saves.delete(tab)
    this.#saves.set(tab, saves)
    for (const [old] of this.#saves) {
      if (this.#saves.size <= TABS) break
      if (old !== this.#me) this.#saves.delete(old)
    }
  }
}
