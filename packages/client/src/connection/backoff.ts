/**
 * When to try again, and how to wait for it: exponential with full jitter, at once when the network or the user is back,
 * not while there is none. It knows nothing of what is tried.
 */
import { UsageError } from '@millrace/protocol'
import { isRecord } from '../checks.ts'
import { systemClock, type Clock } from '../clock.ts'
import { browserEnvironment, type ConnectionEnvironment } from './environment.ts'

export interface ReconnectOptions {
  /** Attempts in a row that bring nothing new before we give up; each new event sets the count back. Default 5; 0 for none. */
  readonly maxAttempts?: number
  /** Longest first wait in ms; it doubles with each attempt, and a random part of it is waited. Default 250, or what the server's `retry:` says. */
  readonly delayMs?: number
  /** Ceiling of the doubling, in ms. Default 15,000. */
  readonly maxDelayMs?: number
  /**
   * Silence in ms after which a connection counts as dead: it is dropped, and resumed where that is possible. Any byte is
   * life, also a comment or a blank line; so are the headers of the answer. Default: off, until a server has shown that it sends heartbeats and can be
   * resumed from; then three times its longest silence, and at least 30 s.
   */
  readonly idleMs?: number
  /** Default: the platform's. */
  readonly clock?: Clock
  /** 0 ≤ x < 1. Default `Math.random`. */
  readonly random?: () => number
  /** Default: that of the browser, if it is one. null: none. */
  readonly environment?: ConnectionEnvironment | null
}

/** Told before each wait for a reconnection. */
export interface ReconnectInfo {
  /** Attempts since something new came, this one included. */
  readonly attempt: number
  /** The wait before it. */
  readonly delayMs: number
  /** What ended the connection before. */
  readonly error: Error
}

/** @throws UsageError `bad-reconnect`. */
export function checkReconnect(options: ReconnectOptions | undefined): void {
  if (options !== undefined && !isRecord(options)) throw new UsageError('bad-reconnect', '`reconnect` has to be an object, such as { maxAttempts: 3 }.')
  for (const name of ['maxAttempts', 'delayMs', 'maxDelayMs', 'idleMs'] as const) {
    const value = options?.[name]
    if (value === undefined || (typeof value === 'number' && value >= 0)) continue
    throw new UsageError('bad-reconnect', `reconnect.${name} has to be a number of 0 or more; leave it out for the default.`)
  }
}

/** No `retry:` is followed past this: a slip of three zeros would make an hour of some seconds. */
const LONGEST_RETRY_MS = 60_000

/** A page that was hidden this long is left alone until somebody looks at it. */
const HIDDEN_MS = 60_000

/** One for each stream: it remembers since when the page is hidden. */
export class Backoff {
  readonly clock: Clock
  readonly #options: ReconnectOptions
  readonly #random: () => number
  readonly #environment: ConnectionEnvironment | undefined
  #hiddenSince: number | undefined
  #retryMs: number | undefined

  constructor(options: ReconnectOptions = {}) {
    this.#options = options
    this.clock = options.clock ?? systemClock
    this.#random = options.random ?? Math.random
    this.#environment = options.environment === null ? undefined : (options.environment ?? browserEnvironment())
  }

  get maxAttempts(): number {
    return this.#options.maxAttempts ?? 5
  }

  /** The base delay in ms that the server asks for, if it does. */
  asked(retryMs: number | undefined): void {
    if (retryMs !== undefined) this.#retryMs = Math.min(retryMs, LONGEST_RETRY_MS)
  }

  /** Wait before attempt n (from 1), and no less than what the server asked for. */
  delay(attempt: number, askedMs = 0): number {
    const { delayMs = 250, maxDelayMs = 15_000 } = this.#options
    const base = this.#retryMs ?? delayMs
    const ceiling = Math.min(base * 2 ** (attempt - 1), Math.max(maxDelayMs, base))
    return Math.max(Math.round(this.#random() * ceiling), askedMs)
  }

  /**
   * Settles when the time is over and an attempt makes sense, or when `signal` aborts. Leaves neither timer nor listener.
   * `eager`: the return of the network or of the user ends the wait; false if the server asked for it.
   */
  wait(ms: number, signal: AbortSignal | undefined, eager: boolean): Promise<void> {
    return new Promise((resolve) => {
      let over = false
      // Notes since when the page is hidden.
      this.#away()
      const settle = (): void => {
        cancel()
        unwatch?.()
        signal?.removeEventListener('abort', settle)
        resolve()
      }
      const look = (): void => {
        if ((over || eager) && !this.#away()) settle()
      }
      const cancel = this.clock.after(ms, () => {
        over = true
        look()
      })
      const unwatch = this.#environment?.watch(look)
      signal?.addEventListener('abort', settle, { once: true })
      if (signal?.aborted) settle()
    })
  }

  /** Something came: a new outage is counted anew. */
  progressed(): void {
    this.#hiddenSince = undefined
  }

  /** An attempt would fail, or nobody would see it. */
  #away(): boolean {
    const environment = this.#environment
    if (environment === undefined) return false
    const now = this.clock.now()
    if (!environment.hidden()) this.#hiddenSince = undefined
    else this.#hiddenSince ??= now
    const hidden = this.#hiddenSince !== undefined && now - this.#hiddenSince >= HIDDEN_MS
    return hidden || !environment.online()
  }
}
