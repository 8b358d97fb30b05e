/**
 * When something is written: not at each change, never an older value over a newer one, and at once when the page goes away. It
 * knows nothing of what is written.
 */
import type { Clock } from '../clock.ts'

export interface SaverOptions {
  readonly clock: Clock
  /** Milliseconds between the first change that is not saved and the save. */
  readonly throttleMs: number
  /** Writes the present value. Asked once for each save, and not again before what it gave has settled. */
  save(): void | Promise<void>
  /** A save succeeded, or failed with this. */
  onSaved(failure: { readonly thrown: unknown } | undefined): void
  /** Tells of `pagehide`; absent where there is no page. */
  readonly page?: Pick<EventTarget, 'addEventListener' | 'removeEventListener'> | undefined
}

export class Saver {
  readonly #options: SaverOptions
  /** What there is was not written. It stays so when writing fails: the next change tries again. */
  #dirty = false
  #writing: Promise<void> | undefined
  /** Someone wants it written as soon as the write in hand is over. */
  #urgent = false
  #cancelTimer: (() => void) | undefined
  #watching = false

  constructor(options: SaverOptions) {
    this.#options = options
  }

  /** Something changed: it is saved within `throttleMs`. */
  request(): void {
    this.#dirty = true
    this.#watch(true)
    const { clock, throttleMs } = this.#options
    this.#cancelTimer ??= clock.after(throttleMs, () => {
      this.#cancelTimer = undefined
      this.flush()
    })
  }

  /** Saves what is not saved yet: now, or when the write in hand is over. */
  readonly flush = (): void => {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    if (!this.#dirty) return
    if (this.#writing !== undefined) this.#urgent = true
    else this.#write()
  }

  /** Forgets what was not saved. */
  drop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#dirty = this.#urgent = false
    this.#watch(false)
  }

  /** Saves what is not saved yet, and then has nothing left to do. A promise if that takes a while. */
  close(): Promise<void> | undefined {
    this.flush()
    if (this.#writing === undefined) return void this.drop()
    return this.#writing.then(() => this.close())
  }

  #write(): void {
    this.#dirty = false
    let saving: void | Promise<void>
    try {
      saving = this.#options.save()
    } catch (thrown) {
      this.#done({ thrown })
      return
    }
    if (saving === undefined) return this.#done(undefined)
    this.#writing = Promise.resolve(saving).then(
      () => this.#done(undefined),
      (thrown: unknown) => this.#done({ thrown }),
    )
  }

  #done(failure: { readonly thrown: unknown } | undefined): void {
    this.#writing = undefined
    if (failure !== undefined) this.#dirty = true
    if (!this.#dirty) this.#watch(false)
    const again = this.#urgent
    this.#urgent = false
    this.#options.onSaved(failure)
    if (again) this.flush()
  }

  /** Listens for the end of the page only while there is something to save. */
  #watch(on: boolean): void {
    const { page } = this.#options
    if (page === undefined || on === this.#watching) return
    this.#watching = on
    if (on) page.addEventListener('pagehide', this.flush)
    else page.removeEventListener('pagehide', this.flush)
  }
}
