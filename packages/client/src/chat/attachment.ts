/** Coming back to a thread: to the run that was left, or to what the server has stored and the run that is under way there. */
import type { NormalizedConnection } from '../connection/normalize.ts'
import { toCodedError } from '../errors.ts'
import type { Conversation } from './conversation.ts'
import { datesOf, inParts, threadOf } from './hydration.ts'
import type { Keeper } from './keeper.ts'
import type { LeftRun } from './left-run.ts'
import type { TurnResult } from './options.ts'
import { IDLE } from './phase.ts'
import type { Runner } from './runner.ts'

export interface AttachmentParts {
  readonly conversation: Conversation
  readonly runner: Runner
  readonly keeper: Keeper | undefined
  connection(): NormalizedConnection
  onChange(): void
  onError(error: Error): void
}

export class Attachment {
  readonly #parts: AttachmentParts
  /** The server is being asked. */
  #asked: AbortController | undefined
  #asking: { readonly over: Promise<void>; settle(): void } | undefined

  constructor(parts: AttachmentParts) {
    this.#parts = parts
  }

  /** Settles when it is known what the thread holds; undefined if nobody asks. */
  get asking(): Promise<void> | undefined {
    return this.#asking?.over
  }

  /** See `ChatClient.attach`. A server that cannot be asked is a failure, and no empty thread. */
  async attach(current: () => string | undefined): Promise<TurnResult | undefined> {
    this.#settle()
    let settle: () => void = () => {}
    const asking = (this.#asking = { over: new Promise<void>((resolve) => (settle = resolve)), settle: () => settle() })
    try {
      return await this.#attach(current)
    } finally {
      if (this.#asking === asking) this.#settle()
    }
  }

  #settle(): void {
    this.#asking?.settle()
    this.#asking = undefined
  }

  async #attach(current: () => string | undefined): Promise<TurnResult | undefined> {
    const { runner, keeper, connection, onChange, onError } = this.#parts
    if (runner.busy) return undefined
    this.#asked?.abort()
    const asked = (this.#asked = new AbortController())
    const restoring = runner.left === undefined ? keeper?.restore() : undefined
    if (restoring !== undefined) await restoring
    // What the user did meanwhile goes before it.
    if (this.#asked !== asked || runner.busy) return undefined
    const { hydrate } = connection()
    const { left } = runner
    const threadId = current()
    if (left !== undefined || keeper?.mode === 'client' || hydrate === undefined || threadId === undefined) {
      this.#asked = undefined
      if (left !== undefined) return this.#join(left)
      this.#settle()
      return keeper?.mode === 'client' ? runner.goOn() : undefined
    }
    try {
      return await this.#hydrate(threadId, hydrate, asked)
    } catch (thrown) {
      if (this.#asked !== asked) return undefined
      const error = toCodedError(thrown)
      runner.phase = { kind: 'failed', error, unsent: [] }
      onChange()
      onError(error)
      return { outcome: 'error', error }
    } finally {
      if (this.#asked === asked) this.#asked = undefined
    }
  }

  /** What the user does meanwhile goes before what the server answers. */
  giveUp(): void {
    this.#asked?.abort()
    this.#asked = undefined
    this.#settle()
  }

  /** From here on it is the runner's. */
  #join(left: LeftRun): Promise<TurnResult | undefined> {
    const result = this.#parts.runner.join(left)
    this.#settle()
    return result
  }

  async #hydrate(threadId: string, hydrate: NonNullable<NormalizedConnection['hydrate']>, asked: AbortController): Promise<TurnResult | undefined> {
    const { conversation, runner, keeper, onChange } = this.#parts
    // Given up is over, whoever is asked.
    const stored = await Promise.race([hydrate(threadId, asked.signal), aborted(asked.signal)])
    if (this.#asked !== asked || runner.busy || stored === undefined) return undefined
    const told = threadOf(stored)
    const base = keeper?.complete(told) ?? told
    conversation.date(datesOf(stored.messages))
    conversation.approvals.read(inParts(stored.messages))
    conversation.outputs?.restore(stored.messages)
    conversation.show(conversation.branch(base))
    // What failed before is made good by what the server has.
    runner.phase = IDLE
    onChange()
    // From here on it is a turn like any other, which is stopped as such.
    this.#asked = undefined
    const { activeRun } = stored
    return activeRun === null ? undefined : this.#join({ threadId, runId: activeRun.runId, base, seen: 0 })
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}
