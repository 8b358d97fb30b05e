/**
 * What a chat that listens did not hear: when it is asked for, and how it is joined to what came since. Asking the server is the
 * attachment's.
 */
import type { Message, Run } from '@millrace/protocol'
import type { NormalizedConnection } from '../connection/normalize.ts'
import type { Attachment } from './attachment.ts'
import type { Callbacks } from './callbacks.ts'
import type { Conversation } from './conversation.ts'
import type { Keeper } from './keeper.ts'
import type { ThreadBase } from './left-run.ts'
import type { Runner } from './runner.ts'
import type { Told } from './told.ts'

export interface CatchUpParts {
  readonly told: Told
  readonly conversation: Pick<Conversation, 'thread'>
  readonly runner: Pick<Runner, 'busy' | 'left' | 'unsent' | 'failed' | 'baseOf'>
  readonly attachment: Pick<Attachment, 'asking' | 'catchUp'>
  readonly keeper: Keeper | undefined
  readonly callbacks: Pick<Callbacks, 'log'>
  connection(): NormalizedConnection
  threadId(): string | undefined
  /** The thread is listened to. */
  listens(): boolean
}

export class CatchUp {
  readonly #parts: CatchUpParts
  /** Messages that were there when something was missed first. */
  #before: ReadonlySet<string> | undefined
  /** It was asked in vain: not again before something is done, or missed. */
  #inVain = false
  #looks = false

  constructor(parts: CatchUpParts) {
    this.#parts = parts
  }

  /** Something may have been missed. False if nobody can tell it: the connection cannot, or what is stored here is the thread. */
  missed(): boolean {
    const { told, conversation, keeper, connection } = this.#parts
    if (connection().hydrate === undefined || keeper?.mode === 'client') return false
    if (!told.due) this.#before = new Set(conversation.thread.messages.map(({ id }) => id))
    told.missed()
    this.#inVain = false
    this.changed()
    return true
  }

  /** Something changed: it may be time to ask. Not at once, since what comes next may be known already. */
  changed(): void {
    if (!this.#parts.told.due || this.#looks) return
    if (this.#parts.runner.busy) {
      this.#inVain = false
      return
    }
    this.#looks = true
    queueMicrotask(() => {
      this.#looks = false
      this.look()
    })
  }

  /** Asks, if something was missed and nothing runs. Settles when that is over; undefined if there is nothing to ask. */
  look(): Promise<unknown> | undefined {
    const { told, runner, attachment, listens, threadId } = this.#parts
    const id = threadId()
    // A run that was left on purpose stays left.
    const isLeft = runner.left !== undefined && runner.left.lost !== true
    if (!told.due || this.#inVain || !listens() || runner.busy || isLeft || id === undefined) return undefined
    if (attachment.asking !== undefined) {
      void attachment.asking.then(() => this.changed())
      return undefined
    }
    return this.#ask(id)
  }

  async #ask(threadId: string): Promise<void> {
    const { attachment, callbacks } = this.#parts
    try {
      await attachment.catchUp(threadId, (told, active, joins) => this.#joined(told, active, joins))
    } catch (error) {
      this.#inVain = true
      callbacks.log('What was missed of the thread could not be asked for.', error)
    }
    this.changed()
  }

  /**
   * What shows: what the server told; behind it what came since and is not in that, and what was never delivered. Messages that did
   * not change stay the objects they are.
   */
  #joined(told: ThreadBase, active: string | undefined, joins: boolean): ThreadBase {
    const { conversation, runner } = this.#parts
    const { thread } = conversation
    const before = this.#before ?? new Set()
    const here = new Map(thread.messages.map((message) => [message.id, message]))
    const there = new Set(told.messages.map(({ id }) => id))
    // What shows of a run that is under way comes again if it is joined, and else not.
    const base = active === undefined ? undefined : runner.baseOf(active)
    const ofActive = ({ id }: Message): boolean => base !== undefined && !base.messages.some((message) => message.id === id)
    const stays = (message: Message): boolean =>
      !there.has(message.id) && (ofActive(message) ? !joins : !before.has(message.id) || runner.unsent.includes(message.id))
    // A run that broke off here is not known by that: it may begin at the server yet.
    const failed = runner.failed?.turn.namedRunId
    const isOver = ({ runId, outcome }: Run): boolean => outcome !== 'running' && outcome !== 'truncated' && runId !== failed
    const runs = thread.runs.filter((run) => (run.runId === active ? !joins : isOver(run) && !told.runs.some(({ runId }) => runId === run.runId)))
    return {
      messages: [...told.messages.map((message) => unchanged(here.get(message.id), message)), ...thread.messages.filter(stays)],
      state: unchanged(thread.state, told.state),
      runs: [...runs, ...told.runs],
      interrupts: unchanged(thread.interrupts, told.interrupts),
    }
  }
}

/** The value that was there before, if it says the same. */
function unchanged<Value>(before: Value | undefined, now: Value): Value {
  return before !== undefined && JSON.stringify(before) === JSON.stringify(now) ? before : now
}
