/** Waiting for something to become true, without a timer: whoever changes something rings, and all conditions are asked again. */

export class BellClosedError extends Error {
  override readonly name = 'BellClosedError'
  readonly code = 'testkit.closed'
}

export class Bell {
  readonly #waiting = new Set<() => void>()
  #closed = false

  /**
   * Settles when `condition` is true, at once if it is; rejects with what it throws.
   * @param name Says what was waited for when the bell is closed before: then it rejects with `BellClosedError`.
   */
  until(condition: () => boolean, name: string = condition.toString()): Promise<void> {
    return new Promise((resolve, reject) => {
      const ask = (): void => {
        try {
          if (condition()) resolve()
          else if (this.#closed) reject(new BellClosedError(`The server was closed before this came true: ${name}`))
          else return
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
        this.#waiting.delete(ask)
      }
      this.#waiting.add(ask)
      ask()
    })
  }

  ring(): void {
    for (const ask of this.#waiting) ask()
  }

  close(): void {
    this.#closed = true
    this.ring()
  }
}
