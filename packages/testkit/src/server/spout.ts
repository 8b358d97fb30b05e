/**
 * Writes pieces to one connection the way its fault says: in what sizes, how far, and what happens there. It knows
 * neither events nor protocols; a `Pipe` is what it writes to.
 */
import type { Bell } from './bell.ts'
import type { Chop, How } from './fault.ts'

/** The writing side of a connection. After one of the last four nothing more is written. */
export interface Pipe {
  /** Settles when the system has taken the bytes, or the connection is gone. */
  write(bytes: Uint8Array): Promise<void>
  end(): void
  cut(): void
  reset(): void
  /** Closes with a code, where there is such a thing. */
  close(code: number, reason: string): void
  /** The connection takes no more bytes. */
  readonly gone: boolean
}

/** A time source: calls back once after `ms`, and gives what cancels it. A `Clock` of `@millrace/server` is one. */
export interface Timer {
  after(ms: number, callback: () => void): () => void
}

/** Bytes that are one event, or none: a heartbeat, a head. */
export interface Piece {
  readonly bytes: Uint8Array
  readonly event: boolean
}

/** Where the answer stops, in bytes or events that went through the spout. */
export interface Stop {
  readonly at: { readonly byte: number } | { readonly event: number }
  readonly how: How
}

/** `closed`: by us, with a code. `left`: the other side went away first. */
export type Ended = 'open' | 'stalled' | 'end' | 'cut' | 'reset' | 'closed' | 'left'

/** How far an answer came; the spout keeps it up to date. */
export interface Progress {
  bytes: number
  events: number
  ending: Ended
}

export interface SpoutOptions {
  readonly stop?: Stop | undefined
  readonly chop?: Chop | undefined
  readonly progress: Progress
  readonly bell: Bell
  readonly timer: Timer
  /** How often `unstall()` was called. */
  readonly unstalled: () => number
}

export class Spout {
  readonly #pipe: Pipe
  readonly #options: SpoutOptions
  #stop: Stop | undefined
  #taken = { bytes: 0, events: 0 }
  #held: Uint8Array[] = []
  #work: Promise<void> = Promise.resolve()

  constructor(pipe: Pipe, options: SpoutOptions) {
    this.#pipe = pipe
    this.#options = options
    this.#stop = options.stop
  }

  /** Nothing can be written any more. */
  get over(): boolean {
    return this.#pipe.gone || !['open', 'stalled'].includes(this.#options.progress.ending)
  }

  /** Sends pieces that are there at the same time; none: only does what is due before the first byte. In the order of calls. */
  send(pieces: readonly Piece[]): Promise<void> {
    return this.#after(() => this.#send(pieces))
  }

  /** Ends the answer, by a cut if the other side would not believe the end. */
  finish(by: 'end' | 'cut' = 'end'): Promise<void> {
    return this.#after(async () => {
      if (this.over) return
      await this.#flush()
      this.#end(by)
    })
  }

  #after(job: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(job)
    return this.#work
  }

  async #send(pieces: readonly Piece[]): Promise<void> {
    let ready: Uint8Array[] = []
    let next = 0
    let rest: Piece | undefined
    for (;;) {
      if (this.over) return
      if (this.#due()) {
        await this.#write(ready)
        ready = []
        await this.#stopHere()
        continue
      }
      const piece = rest ?? pieces[next++]
      if (piece === undefined) break
      const room = this.#stop !== undefined && 'byte' in this.#stop.at ? this.#stop.at.byte - this.#taken.bytes : Infinity
      const whole = piece.bytes.length <= room
      const bytes = whole ? piece.bytes : piece.bytes.subarray(0, room)
      rest = whole ? undefined : { ...piece, bytes: piece.bytes.subarray(room) }
      this.#taken.bytes += bytes.length
      if (whole && piece.event) this.#taken.events++
      ready.push(bytes)
    }
    await this.#write(ready)
  }

  #due(): boolean {
    if (this.#stop === undefined) return false
    const { at } = this.#stop
    return 'byte' in at ? this.#taken.bytes >= at.byte : this.#taken.events >= at.event
  }

  async #stopHere(): Promise<void> {
    const { how } = this.#stop as Stop
    const { bell, progress, unstalled } = this.#options
    this.#stop = undefined
    await this.#flush()
    if (this.over) return
    if (how !== 'stall') return this.#end(how)
    const before = unstalled()
    progress.ending = 'stalled'
    bell.ring()
    await bell.until(() => this.over || unstalled() > before)
    if (progress.ending === 'stalled') progress.ending = 'open'
  }

  #end(how: Exclude<How, 'stall'>): void {
    const pipe = this.#pipe
    const { progress, bell } = this.#options
    if (typeof how === 'object') {
      pipe.close(how.close, how.reason ?? '')
      progress.ending = 'closed'
    } else {
      pipe[how]()
      progress.ending = how
    }
    bell.ring()
  }

  async #write(pieces: readonly Uint8Array[]): Promise<void> {
    const { chop } = this.#options
    if (pieces.length === 0) return this.#count()
    if (chop === 'buffered') this.#held.push(...pieces)
    else if (chop === undefined) for (const bytes of pieces) await this.#put(bytes)
    else if (chop === 'together') await this.#put(Buffer.concat(pieces))
    else await this.#inSizes(Buffer.concat(pieces), chop.size, chop.everyMs)
    this.#count()
  }

  async #inSizes(bytes: Uint8Array, size: number, everyMs: number | undefined): Promise<void> {
    const { bell, timer, progress } = this.#options
    for (let at = 0; at < bytes.length && !this.over; at += size) {
      if (everyMs !== undefined && progress.bytes > 0) {
        let due = false
        const cancel = timer.after(everyMs, () => {
          due = true
          bell.ring()
        })
        // A timer that is moved by hand can be moved from here on.
        bell.ring()
        await bell.until(() => due || this.over)
        cancel()
      }
      await this.#put(bytes.subarray(at, at + size))
    }
  }

  async #flush(): Promise<void> {
    const held = this.#held
    this.#held = []
    if (held.length > 0) await this.#put(Buffer.concat(held))
    this.#count()
  }

  async #put(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0 || this.#pipe.gone) return
    await this.#pipe.write(bytes)
    this.#options.progress.bytes += bytes.length
    this.#options.bell.ring()
  }

  /** Events count when their last byte is written; what is held back is not. */
  #count(): void {
    if (this.#held.length > 0) return
    this.#options.progress.events = this.#taken.events
    this.#options.bell.ring()
  }
}
