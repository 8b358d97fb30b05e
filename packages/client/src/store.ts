/**
 * One snapshot, one subscribe. Values are built when somebody looks; listeners are told when something changed. It
 * knows nothing of chats.
 */
import { perTurn, type Coalescer, type CoalesceStrategy } from './scheduler.ts'

export class Store<Value> {
  readonly #build: (previous: Value | undefined) => Value
  readonly #listeners = new Set<() => void>()
  readonly #coalescer: Coalescer
  readonly #onListenerError: (error: unknown) => void
  readonly #onChange: (() => void) | undefined
  #value: Value | undefined
  #stale = true

  /**
   * `build` gives the present value, and the previous one itself if nothing changed. What a listener throws goes to
   * `onListenerError`: one broken view must not stop the others or the stream. `onChange` is called at each change, before
   * listeners are.
   */
  constructor(
    build: (previous: Value | undefined) => Value,
    onListenerError: (error: unknown) => void,
    strategy: CoalesceStrategy = perTurn,
    onChange?: () => void,
  ) {
    this.#build = build
    this.#onListenerError = onListenerError
    this.#onChange = onChange
    this.#coalescer = strategy(() => this.#notify())
  }

  readonly getSnapshot = (): Value => {
    if (this.#stale || this.#value === undefined) {
      this.#value = this.#build(this.#value)
      this.#stale = false
    }
    return this.#value
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    // Wrapped, so that a listener given twice is told twice and taken off one at a time.
    const entry = (): void => listener()
    this.#listeners.add(entry)
    return () => {
      this.#listeners.delete(entry)
    }
  }

  /** Something changed by the stream: listeners are told once per flush. */
  touch(): void {
    this.#onChange?.()
    this.refresh()
  }

  /** Something changed that is only shown: as {@link touch}, but `onChange` is not called. */
  refresh(): void {
    this.#stale = true
    if (this.#listeners.size > 0) this.#coalescer.request()
  }

  /** Something changed by the user: listeners are told now. */
  commit(): void {
    this.#stale = true
    this.#onChange?.()
    this.#coalescer.cancel()
    this.#notify()
  }

  /** Lets all listeners go. */
  close(): void {
    this.#coalescer.cancel()
    this.#listeners.clear()
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener()
      } catch (error) {
        this.#onListenerError(error)
      }
    }
  }
}
