/**
 * Live mode: whether the thread is listened to, over which connection, and how that stands. What comes is the line's to hand
 * out, and what becomes of it the runner's.
 */
import { UsageError } from '@millrace/protocol'
import { DRAIN, type NormalizedConnection } from '../connection/normalize.ts'
import { macrotask } from '../scheduler.ts'
import type { Callbacks } from './callbacks.ts'
import type { Keeper } from './keeper.ts'
import { Line, type LineParts, type LiveState } from './line.ts'
import type { ChatClientSettings } from './options.ts'
import type { Source } from './source.ts'

export interface LiveParts extends Omit<LineParts, 'connection' | 'onState'> {
  readonly callbacks: Callbacks
  connection(): NormalizedConnection
  settings(): ChatClientSettings
  /** Ends the reading of a run of others. */
  leave(): void
  onChange(): void
  /** The thread is listened to from now on, or again. */
  onOpen(): void
}

export class Live {
  readonly #parts: LiveParts
  readonly #listeners = new Set<object>()
  #line: Line | undefined
  #cancelLook: (() => void) | undefined
  state: LiveState = 'closed'

  constructor(parts: LiveParts) {
    this.#parts = parts
  }

  /** Somebody watches the chat, until the function returned is called. */
  watch(): () => void {
    const listener = {}
    this.#listeners.add(listener)
    this.follow()
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return
      // Views that only change how they listen are back at once.
      this.#cancelLook?.()
      this.#cancelLook = macrotask(() => this.follow())
    }
  }

  /** The connection that is listened to; it stays while it is, since what is sent has to be heard there. */
  get connection(): NormalizedConnection | undefined {
    return this.#line?.over === false ? this.#line.connection : undefined
  }

  /** Settings have changed, or who listens. */
  follow(): void {
    const wanted = this.#parts.settings().live === true && this.#listeners.size > 0
    if (wanted === (this.#line !== undefined)) return
    if (wanted) this.#open()
    else this.#hangUp()
  }

  /** Where the events of a run come from that is about to be sent; undefined if the thread is not listened to. */
  source(runId: string, send: (signal: AbortSignal) => Promise<void>): Source | undefined {
    if (this.#line === undefined) return undefined
    if (!this.#line.over) return this.#line.source(runId, send)
    // A subscription that has ended is taken up again by who does something.
    const line = (this.#line = this.#makeLine())
    this.state = 'connecting'
    const { subscribe, ...source } = line.source(runId, send)
    return {
      ...source,
      subscribe: (signal) => {
        const events = subscribe(signal)
        line.open()
        return events
      },
    }
  }

  /** Nobody listens any more. */
  close(): void {
    this.#cancelLook?.()
    this.#listeners.clear()
    this.#hangUp()
  }

  #makeLine(): Line {
    const { callbacks, onChange, onOpen } = this.#parts
    const line = new Line({
      ...this.#parts,
      connection: this.#parts.connection(),
      onState: (state, error) => {
        if (this.#line !== line || this.state === state) return
        this.state = state
        onChange()
        if (state === 'open') onOpen()
        if (error !== undefined) callbacks.call('onError', error)
      },
    })
    return line
  }

  #open(): void {
    const line = (this.#line = this.#makeLine())
    this.state = 'connecting'
    line.open()
    this.#parts.onChange()
  }

  #hangUp(): void {
    const line = this.#line
    if (line === undefined) return
    this.#line = undefined
    this.state = 'closed'
    this.#parts.leave()
    line.retire()
    this.#parts.onChange()
  }
}

/**
 * @throws UsageError `bad-options`; `live-needs-subscribe` if the connection has no subscription of its own: each of its streams is
 * one run's; `live-and-shared-tabs` if tabs share by what they store: each would be told of a run by two ways.
 */
export function requireLive(live: unknown, connection: NormalizedConnection, keeper?: Pick<Keeper, 'sharesStored'>): void {
  if (live !== undefined && typeof live !== 'boolean') throw new UsageError('bad-options', '`live` has to be true or false.')
  if (live !== true) return
  if (connection[DRAIN] !== undefined) {
    throw new UsageError(
      'live-needs-subscribe',
      'This connection cannot be listened to between runs. Use webSocket(url) or a connection with subscribe() and send(), or leave `live` out.',
    )
  }
  if (keeper?.sharesStored !== true) return
  throw new UsageError(
    'live-and-shared-tabs',
    'Tabs that listen to their thread (`live`) hear each other by that, and would be told again by what is stored. Leave `tabs` of persisted() out, or store in `server` mode.',
  )
}
