/**
 * The run of others that a chat shows, while it listens to its thread. Nothing of it is ours to answer, to cancel or to tell. It
 * has the stage to itself, or stands beside a turn of ours that waits for its events or for our tools.
 */
import type { RunOutcome } from '@millrace/protocol'
import type { Conversation } from './conversation.ts'
import type { LeftRun } from './left-run.ts'
import type { RunIds } from './line.ts'
import type { ChatClientSettings } from './options.ts'
import { IDLE, type Phase } from './phase.ts'
import { makeRunContext, type Start } from './run-context.ts'
import type { Source } from './source.ts'
import type { Turn } from './turn.ts'
import { leftBy, type Plan, type Underway } from './underway.ts'

/** What the runner lets it do. */
export interface Stage {
  readonly conversation: Conversation
  settings(): ChatClientSettings
  onChange(): void
  /** It is over, or left, and nothing else runs. */
  onFree(outcome: RunOutcome): void
  readonly busy: boolean
  /** Takes away the run that was left, if any. */
  takeLeft(): LeftRun | undefined
  begin(plan: Plan): Underway
  owns(turn: Turn): boolean
  reveal(underway: Underway, outcome: RunOutcome): void
  /** Reads a run again from its start; undefined if the connection cannot, which may be asked again. */
  rejoin(left: LeftRun): Promise<unknown> | undefined
  leave(phase: Phase): void
}

export class Guest {
  readonly #stage: Stage
  #current: Underway | undefined

  constructor(stage: Stage) {
    this.#stage = stage
  }

  get current(): Underway | undefined {
    return this.#current
  }

  /** Takes it off, for who ends it. */
  take(): Underway | undefined {
    const current = this.#current
    this.#current = undefined
    return current
  }

  /**
   * Shows a run, as it comes. One of which a part was shown before is shown again from its start when as much has come.
   */
  hear(ids: RunIds, source: Source): void {
    const { conversation, settings, takeLeft, begin, onChange } = this.#stage
    const { thread } = conversation
    const left = takeLeft()
    const lost = left?.runId === ids.runId ? left : undefined
    const { base, seen } = lost ?? { base: thread, seen: 0 }
    const start: Start = { ...ids, body: undefined }
    const builder = lost === undefined ? conversation.builder : conversation.branch(base)
    const runContext = makeRunContext(settings(), conversation, start, undefined)
    const guest = (this.#current = begin({ start, source, builder, base, runContext, seen, foreign: true }))
    onChange()
    guest.turn.start()
    void this.#attend(guest, source)
  }

  async #attend(guest: Underway, source: Source): Promise<void> {
    const { owns, reveal, rejoin, leave, onChange, onFree } = this.#stage
    const { turn } = guest
    const { outcome, error } = await turn.result
    if (this.#current === guest) this.#current = undefined
    if (!owns(turn)) return
    reveal(guest, outcome)
    if (source.wasCut?.() === true) await rejoin(leftBy(guest))
    if (owns(turn)) {
      leave(error === undefined ? IDLE : { kind: 'failed', error, unsent: [] })
      onChange()
    }
    if (!this.#stage.busy) onFree(outcome)
  }
}
