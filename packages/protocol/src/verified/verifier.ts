/**
 * Verification: holds each event against the tables, then commits it (check, then commit: a rejected event changes
 * nothing). Chunks are expanded on the way. It knows nothing of messages or state.
 */
import type { Reporter } from '../diagnostics.ts'
import type { ChunkEvent, Event, EventOf, VerifiedEvent } from '../events/event.ts'
import type { Limits } from '../limits.ts'
import { closerOf, CLOSES } from './brackets.ts'
import { checkEvent } from './checks.ts'
import { expandChunk, type Expansion } from './expand.ts'
import { Ledger, type Item, type RunIds } from './ledger.ts'
import type { Leniency, Verdict } from './leniency.ts'
import { isLegal, RUN_STATES, type RunState } from './run-states.ts'
import { seedOwners, subjectOf, tagOf, type Subject } from './subject.ts'
import type { Violation } from './violation.ts'

export type Emit = (event: VerifiedEvent) => void

const NONE: readonly Item[] = []

export class Verifier {
  readonly ledger: Ledger = new Ledger()
  #state: RunState = 'before'
  /** The event in hand has broken no rule so far. */
  #clean = true
  readonly #leniency: Leniency | undefined
  readonly #reporter: Reporter
  readonly #limits: Limits
  readonly #ordered: boolean

  /**
   * @param leniency undefined: the first violation ends the run.
   * @param order `unchecked` expands chunks and holds no event against the order rules.
   */
  constructor(leniency: Leniency | undefined, reporter: Reporter, limits: Limits, order: 'checked' | 'unchecked' = 'checked') {
    this.#ordered = order === 'checked'
    this.#leniency = leniency
    this.#reporter = reporter
    this.#limits = limits
  }

  get state(): RunState {
    return this.#state
  }

  get run(): RunIds | undefined {
    return this.ledger.run
  }

  /**
   * Checks an event and gives what it stands for to `emit`, in order.
   * @returns whether it broke no rule: one that did may pass, or be skipped, if the leniency says so.
   * @throws ProtocolError `violation`; the ledger is as before.
   */
  accept(event: Event, emit: Emit): boolean {
    this.#clean = true
    this.#accept(event, emit)
    return this.#clean
  }

  #accept(event: Event, emit: Emit): void {
    if (this.#ordered && !this.#enterRun(event)) return
    const subject = subjectOf(event, this.ledger)
    if (subject?.does === 'chunk') {
      const expansion = expandChunk(event as ChunkEvent, subject.row, this.ledger)
      if ('rule' in expansion) this.#passes(expansion, event)
      else this.#acceptChunk(expansion, event, emit)
      return
    }
    const plain = event as VerifiedEvent
    const closing = this.ledger.lanes.size === 0 ? NONE : this.#lanesClosedBy(plain, subject)
    const broken = this.#check(plain, subject, closing)
    if (broken !== undefined && !this.#passes(broken, event)) return
    for (const item of closing) this.#closePending(item, emit)
    this.#commit(plain, subject, broken)
    emit(plain)
  }

  /** Ends the input. Reports what is missing; closes nothing (AG-UI 1.0: nothing is synthesized at the end of bytes). */
  finish(): void {
    if (this.#state === 'running') {
      this.#reporter.report('run.truncated', { message: 'The stream ended while the run was open' })
    } else if (this.#state === 'before') {
      this.#reporter.report('run.empty', { message: 'The stream ended without a run' })
    }
  }

  /** What would close everything that is open, newest first; RUN_FINISHED closes pending chunk streams by itself. */
  closers(): VerifiedEvent[] {
    const pending = new Set(this.ledger.lanes.values())
    // A span has its owner with the reasoning message of its id, which a snapshot may have given to another since.
    const owned = (item: Item): Item => (item.kind === 'span' ? { ...item, owner: this.ledger.get('reasoning', item.id)?.owner } : item)
    return [...this.ledger.openItems].filter((item) => !pending.has(item)).map((item) => closerOf(owned(item))).reverse()
  }

  /** Rules 1–5: false if the event has no place in the run and was rejected. */
  #enterRun(event: Event): boolean {
    if (isLegal(this.#state, event.type)) return true
    const { breaks, says } = RUN_STATES[this.#state]
    const related = this.#state === 'running' ? undefined : this.ledger.endedAt
    const broken = { rule: breaks, message: `${event.type} ${says}`, pointer: '/type', related }
    const effect = this.#judge(broken, event)
    if (effect === 'reopen') {
      this.ledger.reopened = true
      this.#state = event.type === 'RUN_STARTED' ? 'finished' : 'running'
    }
    return effect !== 'skip'
  }

  #acceptChunk({ lane, start, content }: Expansion, chunk: Event, emit: Emit): void {
    if (start === undefined) {
      if (content === undefined) return
      // The lane was found by the chunk's tag; the item may be another's by now, if a result took its id.
      const broken = this.#check(content, subjectOf(content, this.ledger), NONE)
      if (broken === undefined || this.#passes(broken, chunk)) emit(content)
      return
    }
    const displaced = this.ledger.lanes.get(lane)
    const closing = displaced === undefined ? NONE : [displaced]
    const subject = subjectOf(start, this.ledger)
    const broken = this.#check(start, subject, closing)
    if (broken !== undefined && !this.#passes(broken, chunk)) return
    for (const item of closing) this.#closePending(item, emit)
    const item = this.#commit(start, subject)
    if (item !== undefined) this.ledger.setPending(item, lane, start)
    emit(start)
    if (content !== undefined) emit(content)
  }

  #check(event: VerifiedEvent, subject: Subject | undefined, closing: readonly Item[]): Violation | undefined {
    return this.#ordered ? checkEvent(event, subject, this.ledger, this.#limits, closing) : undefined
  }

  #lanesClosedBy(event: VerifiedEvent, subject: Subject | undefined): readonly Item[] {
    const { lanes } = this.ledger
    const scope = CLOSES.get(event.type)
    if (scope === 'none') return NONE
    if (scope === 'all') return [...lanes.values()]
    // An item that chunks stream may be in another lane than its owner's: a chunk without a tag opens in the parent's.
    const pending = subject?.item?.pending
    const item = lanes.get(pending !== undefined ? pending.lane : subject === undefined ? tagOf(event) : subject.owner)
    return item === undefined ? NONE : [item]
  }

  /** Takes an event over into the ledger. `broken` is a violation that was let pass. */
  #commit(event: VerifiedEvent, subject: Subject | undefined, broken?: Violation): Item | undefined {
    const { ledger } = this
    if (subject !== undefined) return this.#commitItem(subject)
    switch (event.type) {
      case 'RUN_STARTED':
        ledger.reset({ threadId: event.threadId, runId: event.runId })
        if (event.input !== undefined) seedOwners(event.input.messages, ledger, 'unclaimed')
        this.#state = 'running'
        break
      case 'RUN_FINISHED':
        this.#compareIds(event)
        if (broken !== undefined) ledger.closeAll()
        this.#end('finished', event)
        break
      case 'RUN_ERROR':
        ledger.closeAll()
        this.#end('failed', event)
        break
      case 'MESSAGES_SNAPSHOT':
        seedOwners(event.messages, ledger, 'overwrite')
        break
      case 'TOOL_CALL_RESULT':
        ledger.claim('text', event.messageId, event.subagentRunId)
        break
      case 'ACTIVITY_SNAPSHOT':
        if (event.replace !== false || ledger.get('activity', event.messageId) === undefined) {
          ledger.claim('activity', event.messageId, event.subagentRunId).openedAt = this.#index
        }
        break
    }
    return undefined
  }

  #commitItem({ does, row, id, key, item, owner }: Subject): Item | undefined {
    const { ledger } = this
    if (does === 'open') {
      if (row.kind === 'span') ledger.claim('reasoning', id, owner)
      return ledger.open(row.kind, id, owner, this.#index, key)
    }
    if (does === 'close' && item !== undefined) ledger.close(item)
    return item
  }

  /** Rule run.identity: a duty of producers, so a finding, not the end. */
  #compareIds(event: EventOf<'RUN_FINISHED'>): void {
    const { run } = this.ledger
    if (run === undefined || (run.runId === event.runId && run.threadId === event.threadId)) return
    const field = run.runId === event.runId ? 'threadId' : 'runId'
    this.#reporter.report('run.identity', {
      message: `RUN_FINISHED names ${field} "${event[field]}"; the run was started as "${run[field]}"`,
      pointer: `/${field}`,
    })
  }

  #end(state: RunState, event: Ledger['ended']): void {
    this.#state = state
    this.ledger.ended = event
    this.ledger.endedAt = this.#index
  }

  get #index(): number | undefined {
    return this.#reporter.event ?? undefined
  }

  #closePending(item: Item, emit: Emit): void {
    const end = closerOf(item)
    this.ledger.close(item)
    emit(end)
  }

  /** Deals with a violation: throws, or says whether the event is let through all the same. */
  #passes(broken: Violation, event: Event): boolean {
    return this.#judge(broken, event) !== 'skip'
  }

  #judge(broken: Violation, event: Event): Verdict['effect'] {
    this.#clean = false
    const verdict = this.#leniency?.judge(broken.rule, event, this.ledger)
    this.#reporter.report(verdict?.reports ?? broken.rule, { ...broken, ...(verdict && { severity: verdict.severity }) })
    if (verdict !== undefined) return verdict.effect
    throw this.#reporter.error(broken.rule === 'run.ledger-full' ? 'limit' : 'violation', broken.rule, broken)
  }
}
