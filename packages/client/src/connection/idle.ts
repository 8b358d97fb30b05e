/** How long a server may be silent before its connection counts as dead. It reads no clock. */

/** Silence that makes a sign of life a heartbeat: comments that open a stream, and events in pieces, are none. */
const HEARTBEAT_MS = 1_000
/** Heartbeats after which we rely on them. */
const ENOUGH = 2
/** No shorter: a server may be held up for that long and live. */
const SHORTEST_MS = 30_000

export class Idle {
  readonly #givenMs: number | undefined
  #heartbeats = 0
  #longest = 0

  /** `givenMs`: the limit, if it was chosen. */
  constructor(givenMs: number | undefined) {
    this.#givenMs = givenMs
  }

  /** Something came after `silenceMs`; `event` if it was more than a sign of life. */
  heard(silenceMs: number, event: boolean): void {
    if (silenceMs > this.#longest) this.#longest = silenceMs
    if (!event && silenceMs >= HEARTBEAT_MS) this.#heartbeats++
  }

  /** The limit now, if there is one. `resumable`: dropping the connection loses nothing. */
  limitMs(resumable: boolean): number | undefined {
    if (this.#givenMs !== undefined) return this.#givenMs
    return resumable && this.#heartbeats >= ENOUGH ? Math.max(3 * this.#longest, SHORTEST_MS) : undefined
  }
}
