/**
 * Verification: holds each event against the tables, then commits it (check, then commit: a rejected event changes
 * nothing). Chunks are expanded on the way. It knows nothing of messages or state.
 */
import type { Reporter } from '../diagnostics.ts'
import type { Event, EventOf, VerifiedEvent } from '../events/event.ts'
import type { Limits } from '../limits.ts'
import type { RuleId } from '../severities.ts'
import { BRACKETS, keyOf, laneScope, type Bracket } from './brackets.ts'
import { checkEvent } from './checks.ts'
import { closerOf } from './closing.ts'
import { expandChunk, isChunk, type Expansion } from './expand.ts'
import { Ledger, stepKey, type Item, type Owner, type RunIds } from './ledger.ts'
import type { Leniency, Verdict } from './leniency.ts'
import { openingOwner, ownerKind, seedOwners, tagOf } from './ownership.ts'
import { runStep, type RunState } from './run-states.ts'
import { violation, type Violation } from './violation.ts'

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
    if (isChunk(event)) {
      const expansion = expandChunk(event, this.ledger)
      if ('rule' in expansion) this.#passes(expansion, event)
      else this.#acceptChunk(expansion, event, emit)
      return
    }
    const closing = this.ledger.lanes.size === 0 ? NONE : this.#lanesClosedBy(event)
    const broken = this.#check(event, closing)
    if (broken !== undefined && !this.#passes(broken, event)) return
    for (const item of closing) this.#closePending(item, emit)
    this.#commit(event, broken)
    emit(event)
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
    return [...this.ledger.openItems].filter((item) => !pending.has(item)).map(closerOf).reverse()
  }

  /** Rules 1–5: false if the event has no place in the run and was rejected. */
  #enterRun(event: Event): boolean {
    const cell = runStep(this.#state, event.type)
    if ('to' in cell) return true
    const { endedAt, run } = this.ledger
    const related = this.#state === 'running' ? undefined : endedAt
    const broken = violation(cell.breaks, this.#runMessage(cell.breaks, event, run), '/type', related)
    const effect = this.#judge(broken, event)
    if (effect === 'reopen') {
      this.ledger.reopened = true
      this.#state = event.type === 'RUN_STARTED' ? 'finished' : 'running'
    }
    return effect !== 'skip'
  }

  #runMessage(rule: RuleId, event: Event, run: RunIds | undefined): string {
    switch (rule) {
      case 'run.first-event':
        return `The stream begins with ${event.type}`
      case 'run.nested':
        return `RUN_STARTED comes while run "${run?.runId ?? ''}" is open`
      case 'run.after-finish':
        return `${event.type} comes after RUN_FINISHED`
      default:
        return `${event.type} comes after RUN_ERROR`
    }
  }

  #acceptChunk(expansion: Expansion, chunk: Event, emit: Emit): void {
    const { lane, start, content, opener } = expansion
    if (start === undefined) {
      if (content === undefined) return
      // The lane was found by the chunk's tag; the item may be another's by now, if a result took its id.
      const broken = this.#check(content, NONE)
      if (broken === undefined || this.#passes(broken, chunk)) emit(content)
      return
    }
    const displaced = this.ledger.lanes.get(lane)
    const closing = displaced === undefined ? NONE : [displaced]
    const broken = this.#check(start, closing)
    if (broken !== undefined && !this.#passes(broken, chunk)) return
    if (displaced !== undefined) this.#closePending(displaced, emit)
    const item = this.#commit(start, broken)
    if (item !== undefined && opener !== undefined) this.ledger.setPending(item, lane, opener)
    emit(start)
    if (content !== undefined) emit(content)
  }

  #check(event: VerifiedEvent, closing: readonly Item[]): Violation | undefined {
    return this.#ordered ? checkEvent(event, this.ledger, this.#limits, closing) : undefined
  }

  #lanesClosedBy(event: VerifiedEvent): readonly Item[] {
    const { lanes } = this.ledger
    const scope = laneScope(event.type)
    if (scope === 'none') return NONE
    if (scope === 'all') return [...lanes.values()]
    const item = lanes.get(this.#ownerOf(event))
    return item === undefined ? NONE : [item]
  }

  /** The owner of the item an event is about: what it opens, or what it continues. */
  #ownerOf(event: VerifiedEvent): Owner {
    const bracket = BRACKETS[event.type]
    if (bracket === undefined || bracket.kind === 'step') return tagOf(event)
    const id = keyOf(event, bracket)
    if (bracket.kind === 'subagent') return id
    return bracket.does === 'open'
      ? openingOwner(event, bracket, id, this.ledger)
      : (this.ledger.get(ownerKind(bracket.kind), id)?.owner ?? tagOf(event))
  }

  /** Takes an event over into the ledger. `broken` is a violation that was let pass. */
  #commit(event: VerifiedEvent, broken?: Violation): Item | undefined {
    const { ledger } = this
    const bracket = BRACKETS[event.type]
    if (bracket !== undefined) return this.#commitBracket(event, bracket)
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

  #commitBracket(event: VerifiedEvent, bracket: Bracket): Item | undefined {
    const { ledger } = this
    if (bracket.does === 'continue') return undefined
    const id = keyOf(event, bracket)
    const key = bracket.kind === 'step' ? stepKey(tagOf(event), id) : id
    if (bracket.does === 'close') {
      const item = ledger.get(bracket.kind, key)
      if (item !== undefined) ledger.close(item)
      return item
    }
    const owner = openingOwner(event, bracket, id, ledger)
    if (bracket.kind === 'span') ledger.claim('reasoning', id, owner)
    return ledger.open(bracket.kind, id, owner, this.#index, key)
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

  get #index(): number {
    return this.#reporter.event ?? -1
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
