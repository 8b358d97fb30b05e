/**
 * Messages that were sent while a turn ran and wait for their own. It keeps order and bounds; it sends nothing and knows
 * nothing of turns.
 */
import { UsageError, type UserMessage } from '@millrace/protocol'
import { checkFields, COUNT, oneOf, type Check } from '../checks.ts'
import type { OutboxOptions, QueuedMessage, SendOptions, TurnResult, WhenBusy } from './options.ts'

export interface Waiting extends QueuedMessage {
  readonly message: UserMessage
  readonly options: SendOptions
  /** Tells whoever sent it how it ended. */
  readonly settle: (result: TurnResult | Promise<TurnResult>) => void
}

const MAX_SIZE = 100
const CANCELLED: TurnResult = { outcome: 'cancelled' }
export const POLICY: Check = oneOf('refuse', 'queue', 'drop', 'interrupt')

export class Outbox {
  readonly #options: OutboxOptions
  #waiting: readonly Waiting[] = []

  /** @throws UsageError `bad-options`. */
  constructor(options: OutboxOptions = {}) {
    checkFields(options, { drain: oneOf('fifo', 'batch'), maxSize: COUNT, onOverflow: oneOf('refuse', 'drop-oldest') })
    this.#options = options
  }

  /** What waits, in order: the same array until that changes. */
  get queue(): readonly QueuedMessage[] {
    return this.#waiting
  }

  /**
   * Lets a message wait.
   * @returns how its turn ends; `cancelled` if it never gets one.
   * @throws UsageError `queue-full`.
   */
  add(message: UserMessage, createdAt: Date, options: SendOptions): Promise<TurnResult> {
    const { maxSize = MAX_SIZE, onOverflow = 'refuse' } = this.#options
    if (this.#waiting.length >= maxSize) {
      const oldest = this.#waiting[0]
      if (onOverflow === 'refuse' || oldest === undefined) {
        throw new UsageError('queue-full', `As many messages wait as may (${maxSize}). Wait for one, or take one out with cancelQueued().`)
      }
      this.remove(oldest.id)
    }
    return new Promise((resolve) => {
      const { id, content } = message
      this.#waiting = [...this.#waiting, { id, content, createdAt, message, options, settle: resolve }]
    })
  }

  /** What is sent next, taken out: one message, or all of them. */
  next(): readonly Waiting[] {
    const next = this.#options.drain === 'batch' ? this.#waiting : this.#waiting.slice(0, 1)
    this.#waiting = this.#waiting.slice(next.length)
    return next
  }

  /** Takes a message out; false if it does not wait. */
  remove(id: string): boolean {
    const found = this.#waiting.find((waiting) => waiting.id === id)
    if (found === undefined) return false
    this.#waiting = this.#waiting.filter((waiting) => waiting !== found)
    found.settle(CANCELLED)
    return true
  }

  /** Lets all go unsent; false if none waited. */
  flush(): boolean {
    const gone = this.#waiting
    this.#waiting = []
    for (const { settle } of gone) settle(CANCELLED)
    return gone.length > 0
  }
}

/**
 * What to do with a message that is sent while a turn runs.
 * @throws UsageError `bad-options`.
 */
export function policyFor(
  policy: WhenBusy | ((message: UserMessage, queue: readonly QueuedMessage[]) => WhenBusy) | undefined,
  message: UserMessage,
  queue: readonly QueuedMessage[],
): WhenBusy {
  const chosen = (typeof policy === 'function' ? policy(message, queue) : policy) ?? 'refuse'
  checkFields({ whenBusy: chosen }, { whenBusy: POLICY })
  return chosen
}
