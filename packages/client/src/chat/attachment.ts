/** Coming back to a thread: to the run that was left, or to what the server has stored and the run that is under way there. */
import type { ThreadBuilder } from '@millrace/protocol'
import type { HydratedThread } from '../connection/adapter.ts'
import type { NormalizedConnection } from '../connection/normalize.ts'
import { toCodedError } from '../errors.ts'
import type { Conversation } from './conversation.ts'
import { datesOf, inParts, saysAll, threadOf } from './hydration.ts'
import type { Keeper } from './keeper.ts'
import type { LeftRun, ThreadBase } from './left-run.ts'
import type { TurnResult } from './options.ts'
import type { Runner } from './runner.ts'
import type { Told } from './told.ts'

/**
 * How what the server told is joined to what shows. `active`: the run that is under way there; `joins`: it is read from its start
 * next.
 */
export type Join = (told: ThreadBase, active: string | undefined, joins: boolean) => ThreadBase

export interface AttachmentParts {
  readonly conversation: Conversation
  readonly runner: Runner
  readonly keeper: Keeper | undefined
  readonly told: Told
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
    return this.#during(() => this.#attach(current))
  }

  /**
   * Asks for the thread while it is listened to and nothing runs: `join` says what shows. What fails is thrown, and changes
   * nothing.
   */
  async catchUp(threadId: string, join: Join): Promise<void> {
    const { hydrate } = this.#parts.connection()
    if (hydrate === undefined) return
    await this.#during(async () => {
      this.#asked?.abort()
      const asked = (this.#asked = new AbortController())
      try {
        await this.#hydrate(threadId, hydrate, asked, join)
      } catch (thrown) {
        if (this.#asked === asked) throw thrown
      } finally {
        if (this.#asked === asked) this.#asked = undefined
      }
    })
  }

  async #during<Result>(ask: () => Promise<Result>): Promise<Result> {
    this.#settle()
    let settle: () => void = () => {}
    const asking = (this.#asking = { over: new Promise<void>((resolve) => (settle = resolve)), settle: () => settle() })
    try {
      return await ask()
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
      return runner.goOn()
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

  /**
   * A run was stopped: what the server has of it is shown when it has ended it, if nothing was done here meanwhile. What says less than
   * is here is not taken, and nobody is told if the server cannot be asked.
   */
  async afterStop(threadId: string | undefined): Promise<void> {
    const { conversation, runner, keeper, connection, onChange } = this.#parts
    const { hydrate } = connection()
    const { stopped } = runner
    if (keeper?.mode !== 'server' || hydrate === undefined || stopped === undefined || threadId === undefined) return
    const { thread } = conversation
    const asked = (this.#asked = new AbortController())
    const isSame = (): boolean => this.#asked === asked && !runner.busy && conversation.thread === thread
    try {
      if (!(await stopped) || !isSame()) return
      const stored = await Promise.race([hydrate(threadId, asked.signal), aborted(asked.signal)])
      if (!isSame() || stored === undefined || stored.activeRun !== null) return
      const told = threadOf(stored, threadId)
      if (!saysAll(told.messages, thread.messages)) return
      conversation.showAgain(this.#adopt(keeper.complete(told), stored.messages))
      onChange()
      keeper.caughtUp?.()
    } catch {
      // It shows what it had, as any thread that was stopped.
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

  async #hydrate(
    threadId: string,
    hydrate: NonNullable<NormalizedConnection['hydrate']>,
    asked: AbortController,
    join?: Join,
  ): Promise<TurnResult | undefined> {
    const { conversation, runner, keeper, told } = this.#parts
    const { asOf } = told
    // Given up is over, whoever is asked.
    const stored = await Promise.race([hydrate(threadId, asked.signal), aborted(asked.signal)])
    if (this.#asked !== asked || runner.busy) return undefined
    if (stored === undefined) return void told.take(asOf, undefined, undefined)
    const read = threadOf(stored, threadId)
    const complete = keeper?.complete(read) ?? read
    const active = stored.activeRun?.runId
    const joins = this.#parts.connection().joinRun !== undefined
    const foreign = join !== undefined && active !== undefined && !runner.isOurs(active)
    const base = join?.(complete, active, joins) ?? complete
    told.take(asOf, complete, stored.runs === undefined ? undefined : read.runs)
    // It was all heard.
    if (join === undefined || active !== undefined || !isSame(base, conversation.thread)) this.#show(base, stored, join !== undefined)
    // From here on it is a turn like any other, which is stopped as such.
    this.#asked = undefined
    if (active !== undefined) return this.#join({ threadId, runId: active, base, seen: 0, ...(foreign && { foreign }) })
    this.#settle()
    return keeper?.recall === undefined ? undefined : runner.goOn((runId) => keeper.recall?.(runId))
  }

  #show(base: ThreadBase, { messages }: HydratedThread, keepsUnsent: boolean): void {
    const { conversation, runner, onChange } = this.#parts
    const unsent = keepsUnsent ? runner.unsent : []
    const { failed } = runner
    conversation.show(this.#adopt(base, messages))
    // What failed before is made good by what the server has, unless it never came there.
    if (unsent.length > 0 && unsent.every((id) => !messages.some((message) => Object(message).id === id))) runner.sendsAgain(failed)
    else runner.isMadeGood()
    onChange()
  }

  /** A builder of the thread that a server told, and what its messages say beside. */
  #adopt(base: ThreadBase, messages: HydratedThread['messages']): ThreadBuilder {
    const { conversation, keeper } = this.#parts
    conversation.date(datesOf(messages))
    conversation.approvals.read(inParts(messages))
    conversation.outputs?.restore(messages)
    const builder = conversation.branch(base)
    conversation.bringResults(builder)
    conversation.bringResults(builder, keeper?.results ?? [])
    return builder
  }
}

function isSame(one: ThreadBase, other: ThreadBase): boolean {
  return one.state === other.state && one.interrupts === other.interrupts && areSame(one.runs, other.runs) && areSame(one.messages, other.messages)
}

function areSame(some: readonly object[], others: readonly object[]): boolean {
  return some.length === others.length && some.every((each, index) => each === others[index])
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}
