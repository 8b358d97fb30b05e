/**
 * What sending does, from the first turn to the last: a turn, the calls of our tools that it left, the turn that goes
 * on with their answers. It keeps the phase. It knows nothing of what the user may ask for, and when.
 */
import type { Message, ResumeEntry, RunOutcome } from '@millrace/protocol'
import type { NormalizedConnection } from '../connection/normalize.ts'
import { AgentError } from '../errors.ts'
import type { GenerateId } from '../ids.ts'
import type { Callbacks } from './callbacks.ts'
import { cancelRun } from './cancel-run.ts'
import { chatTurn } from './chat-turn.ts'
import type { Conversation } from './conversation.ts'
import { answersKept, failedTurn, unsentBy, type FailedTurn } from './failed-turn.ts'
import type { InterruptDesk } from './interrupts.ts'
import { LateEvents } from '../connection/late-events.ts'
import { mayPass } from '../connection/retry.ts'
import { Guest, type Stage } from './guest.ts'
import type { LeftRun, ThreadBase } from './left-run.ts'
import type { RunIds } from './line.ts'
import type { ChatClientOptions, ChatClientSettings, TurnResult } from './options.ts'
import { IDLE, turnOf, type Phase } from './phase.ts'
import { RestoredCalls, type Recall, type RestoredStage } from './restored-calls.ts'
import { makeRunContext, type Start } from './run-context.ts'
import { joining, sending, type Source } from './source.ts'
import { ToolAnswers, type Shift } from './tool-answers.ts'
import type { Turn } from './turn.ts'
import { leftBy, type Plan, type Underway } from './underway.ts'

export interface RunnerParts {
  readonly options: Pick<ChatClientOptions, 'mode' | 'limits' | 'maxContinuations'>
  readonly conversation: Conversation
  readonly callbacks: Callbacks
  readonly questions: InterruptDesk
  readonly generateId: GenerateId
  /** Asked when a turn starts: both may change while another runs. */
  connection(): NormalizedConnection
  settings(): ChatClientSettings
  /** Where the events of a run come from that is about to be sent, if the thread is listened to all the time. */
  source(runId: string, send: (signal: AbortSignal) => Promise<void>): Source | undefined
  /** A run of others is over, or left, and nothing else runs. */
  onFree(outcome: RunOutcome): void
  /** Whether the calls that a run left are ours to answer; undefined: they are. */
  mayAnswerCalls?(runId: string): Promise<boolean> | undefined
  /** Something changed by the stream. */
  onProgress(): void
  /** The phase changed, or something that the user did; to be shown at once. */
  onChange(): void
  /** What was sent, or joined, is over, and was told. */
  onOver(result: TurnResult): void
}

/** Turns that one send may take by itself, unless told otherwise: a model and a tool can call each other for ever. */
const MAX_CONTINUATIONS = 25

export class Runner {
  readonly #parts: RunnerParts
  readonly late: LateEvents = new LateEvents()
  readonly #answers: ToolAnswers
  phase: Phase = IDLE
  #underway: Underway | undefined
  readonly #guest: Guest
  /** The last run that others began. */
  #theirs: string | undefined
  #left: LeftRun | undefined
  #failed: FailedTurn | undefined
  #stopped: Promise<boolean> | undefined
  readonly #restored: RestoredCalls

  constructor(parts: RunnerParts) {
    this.#parts = parts
    this.#answers = new ToolAnswers(parts)
    const stage = this.#stage()
    this.#guest = new Guest(stage)
    this.#restored = new RestoredCalls(stage)
  }

  get busy(): boolean {
    return turnOf(this.phase) !== undefined
  }

  /**
   * Sends what the conversation holds, and goes on until the agent has nothing left for us to answer. Shows what the
   * caller has changed together with the start of the turn: listeners never see one without the other.
   */
  async run(first: Start, resume?: readonly ResumeEntry[]): Promise<TurnResult> {
    return this.#follow(this.#send(first, resume))
  }

  /** The turn that failed last, if nothing was done since. */
  get failed(): FailedTurn | undefined {
    const failed = this.#failed
    return failed !== undefined && !this.busy && failed.after === this.#parts.conversation.thread ? failed : undefined
  }

  /** Messages of a turn that failed, if nothing was heard of it. */
  get unsent(): readonly string[] {
    return this.phase.kind === 'failed' ? this.phase.unsent : []
  }

  /** The server told the thread: what failed, or was lost, is in it. */
  isMadeGood(): void {
    this.#left = this.#failed = undefined
    this.phase = IDLE
  }

  /** The server told the thread and has not heard of a turn that failed: that can be sent again behind what it told. */
  sendsAgain(failed: FailedTurn | undefined): void {
    const { thread } = this.#parts.conversation
    this.#left = undefined
    this.#failed = failed && { ...failed, base: thread, after: thread }
  }

  /** The thread before a run that was read last, or left. */
  baseOf(runId: string): ThreadBase | undefined {
    const last = this.#underway
    return this.#left?.runId === runId ? this.#left.base : last?.turn.namedRunId === runId ? last.base : undefined
  }

  /** Whether a run that shows was sent here. */
  isOurs(runId: string): boolean {
    return this.#theirs !== runId && this.#parts.conversation.thread.runs.some((run) => run.runId === runId)
  }

  /** Goes back to where a turn that failed began: what came of it goes, what the user answered meanwhile stays. Tells nobody yet. */
  rewind({ base, answered, given }: FailedTurn): void {
    const { conversation } = this.#parts
    conversation.show(conversation.branch(base))
    conversation.answered = answered
    this.#answers.show([...given].map(([toolCallId, answer]) => ({ toolCallId, answer })))
  }

  /** Asks the server to end the run of a turn that failed: two would go on with one thread. Settles when it has answered; undefined if none goes on. */
  endRunOf({ runId }: FailedTurn): Promise<unknown> | undefined {
    return runId === undefined ? undefined : cancelRun(this.#parts, runId)
  }

  /**
   * Reads a run that was left, from its start, and goes on as `run` does. What was shown of it stays until as much has come
   * again.
   * @returns undefined if the connection cannot join a run.
   */
  async join(left: LeftRun): Promise<TurnResult | undefined> {
    const { conversation, connection, onChange } = this.#parts
    const { threadId, runId, base, seen, foreign } = left
    const source = joining(connection(), runId, { threadId }, left.heard)
    if (source === undefined) return undefined
    this.#left = undefined
    if (foreign) this.#theirs = runId
    const start: Start = { threadId, runId, body: undefined }
    const underway = this.#begin({ start, source, builder: conversation.branch(base), base, runContext: { threadId, runId }, seen, apart: true, ...(foreign && { foreign }) })
    onChange()
    underway.turn.start()
    const { outcome, error } = await underway.turn.result
    if (this.#owns(underway.turn)) {
      this.#reveal(underway, outcome)
      // Whether it goes on there is not known: it can be asked for again.
      if (mayPass(error)) this.#left = { ...leftBy(underway), lost: true }
    }
    return this.#follow(underway)
  }

  /** Shows a run that others began, as it comes; see {@link Guest}. */
  hear(ids: RunIds, source: Source): void {
    this.#theirs = ids.runId
    this.#guest.hear(ids, source)
  }

  /** Whether a run is in the thread, or about to be; not one that was lost on its way. */
  knows(runId: string): boolean {
    if (turnOf(this.phase)?.runId === runId) return true
    return this.#left?.runId !== runId && this.#parts.conversation.thread.runs.some((run) => run.runId === runId)
  }

  /** Settles when no run is read again; undefined if none is. */
  get settled(): Promise<unknown> | undefined {
    const { phase } = this
    const reading = phase.kind === 'submitted' || phase.kind === 'streaming'
    if (reading && this.#underway?.apart === true && this.#underway.turn === phase.turn) return phase.turn.result
    return this.#guest.current?.turn.result
  }

  /** Ends the reading of a run of others. False if there is none. */
  leaveGuest(): boolean {
    const { current } = this.#guest
    if (current === undefined) return false
    if (this.#owns(current.turn)) this.leave()
    else this.#guest.take()?.turn.leave()
    return true
  }

  /** The run that was left last, if nothing was sent since. */
  get left(): LeftRun | undefined {
    return this.#left
  }

  /** Whether the run that was stopped last is over at the server, too; undefined if it was not asked to end. */
  get stopped(): Promise<boolean> | undefined {
    return this.#stopped
  }

  /** The run that is being read, or was left: it may go on at the server. */
  get unfinished(): LeftRun | undefined {
    const { kind } = this.phase
    return (kind === 'submitted' || kind === 'streaming') && this.#underway !== undefined ? leftBy(this.#underway) : this.#left
  }

  /** Calls of our tools that are being answered, or were when the thread was left. */
  get begun(): readonly string[] {
    return [...this.#answers.begun, ...(this.#restored.begun ?? [])]
  }

  /** The last run was begun by others. */
  get foreign(): boolean {
    const last = this.unfinished?.runId ?? this.#parts.conversation.thread.runs.at(-1)?.runId
    return last !== undefined && last === this.#theirs
  }

  /** The thread was restored: this run was left, or these calls had been begun; undefined: they are of a run of others. */
  keep(left: LeftRun | undefined, begun: readonly string[] | undefined): void {
    if (begun === undefined || left?.foreign === true) this.#theirs = left?.runId ?? this.#parts.conversation.thread.runs.at(-1)?.runId
    this.#left = left
    this.#restored.begun = left === undefined ? begun : undefined
  }

  /** Goes on where a page was left while calls of ours waited; see {@link RestoredCalls}. */
  async goOn(recall?: Recall): Promise<TurnResult | undefined> {
    return this.#restored.goOn(recall)
  }

  /** Puts messages before those that the run which is read began with. */
  goBehind(messages: readonly Message[]): void {
    if (this.#underway === undefined) return
    const { base, ...rest } = this.#underway
    this.#underway = { ...rest, base: { ...base, messages: [...messages, ...base.messages] } }
  }

  /** Ends the reading of what runs; the run goes on. False if no run is being read. */
  leave(): boolean {
    const { phase } = this
    if (phase.kind !== 'submitted' && phase.kind !== 'streaming') return false
    const { turn } = phase
    const underway = this.#underway
    if (underway?.turn !== turn) return false
    if (this.#guest.current === underway) this.#guest.take()
    turn.leave()
    this.#reveal(underway, 'running')
    this.#left = leftBy(underway)
    this.#leave(IDLE)
    return true
  }

  async #follow(first: Underway, ended?: TurnResult): Promise<TurnResult> {
    const most = this.#parts.options.maxContinuations ?? MAX_CONTINUATIONS
    let { turn } = first
    let result = ended ?? (await turn.result)
    for (let count = 0; first.foreign !== true && (result.outcome === 'finished' || result.outcome === 'interrupted') && this.#owns(turn); count++) {
      const after = await this.#answers.after(result.outcome, this.#shift(turn))
      const next = after !== 'told' ? after : this.#owns(turn) ? this.#answers.sinceTold(result.outcome) : 'stopped'
      if (next === 'stopped') result = { outcome: 'cancelled' }
      if (next === 'stopped' || next === 'done') break
      if (count === most) {
        result = { outcome: 'error', error: new AgentError(`The agent called tools ${most} times in a row.`, { code: 'too-many-continuations' }) }
        break
      }
      const entries = next === 'go on' ? undefined : next
      if (entries !== undefined) this.#parts.questions.take(entries)
      turn = this.#send({ ...first.start, runId: this.#parts.generateId('run') }, entries).turn
      result = await turn.result
    }
    return result.outcome === 'running' ? result : this.#end(turn, result, first.foreign === true)
  }

  /** Ends what runs and tells nobody yet: a listener would act on a change that is half made. False if nothing ran. */
  halt(): boolean {
    const turn = turnOf(this.phase)
    const left = this.#left
    const guest = this.#guest.take()
    this.#left = this.#stopped = undefined
    if (turn === undefined) {
      if (left !== undefined && left.foreign !== true) this.#stopped = cancelRun(this.#parts, left.runId)
      return left !== undefined
    }
    if (this.phase.kind !== 'answering' && this.#underway?.foreign !== true) this.#stopped = cancelRun(this.#parts, turn.namedRunId)
    guest?.turn.stop()
    turn.stop()
    if (this.#underway?.turn === turn) this.#reveal(this.#underway, 'cancelled')
    this.#answers.stop()
    this.#parts.conversation.approvals.withdraw()
    this.#leave(IDLE)
    return true
  }

  /**
   * Ends what runs here. The run goes on at the server if it can be joined there again; calls of our tools run here, so they end, and
   * are left open, as those of a page that goes. False if nothing ran.
   */
  depart(): boolean {
    if (this.phase.kind === 'answering') return this.#leaveCalls()
    const { joinRun, keepsRuns } = this.#parts.connection()
    if (joinRun === undefined || keepsRuns?.() === false) return this.halt()
    return this.leave() || (this.busy && this.halt())
  }

  #leaveCalls(): true {
    this.#guest.take()?.turn.leave()
    this.#restored.begun = this.#answers.leave()
    this.#leave(IDLE)
    return true
  }

  /** A run that was read again is over, or left: what it came to is shown, unless what was there before is more. */
  #reveal({ turn, builder, seen }: Underway, outcome: RunOutcome): void {
    const { conversation } = this.#parts
    if (conversation.builder === builder) return
    if (turn.seen >= seen || outcome === 'finished' || outcome === 'interrupted') conversation.showAgain(builder)
    else if (outcome !== 'running') conversation.builder.endRun(outcome)
  }

  #send(start: Start, resume: readonly ResumeEntry[] | undefined): Underway {
    const { conversation, connection, settings, onChange } = this.#parts
    const { thread, builder } = conversation
    const runContext = makeRunContext(settings(), conversation, start, resume)
    const own = sending(connection(), conversation.messages, start.body, runContext)
    const source = this.#parts.source(start.runId, own.send) ?? own
    this.#left = this.#restored.begun = undefined
    const underway = this.#begin({ start, source, builder, base: thread, runContext, seen: 0, resume: resume ?? [] })
    onChange()
    underway.turn.start()
    return underway
  }

  #begin(plan: Plan): Underway {
    const { conversation } = this.#parts
    const { builder, seen, start, base, resume, foreign, apart } = plan
    const { answered } = conversation
    const turn: Turn = chatTurn(this.#parts, plan, {
      late: this.late,
      isOn: () => this.#owns(turn),
      onEvent: () => {
        if (this.phase.kind === 'submitted' && this.#owns(turn)) this.phase = { kind: 'streaming', turn }
      },
    })
    const more = { ...(resume !== undefined && { resume }), ...(foreign && { foreign }), ...(apart && { apart }) }
    const underway: Underway = { turn, start, base, builder, seen, answered, ...more }
    // Beside what runs.
    if (foreign && this.busy) return underway
    this.#underway = underway
    this.#failed = undefined
    conversation.begin()
    this.phase = { kind: foreign ? 'streaming' : 'submitted', turn }
    return underway
  }

  #end(turn: Turn, result: TurnResult, foreign: boolean): TurnResult {
    const { conversation, callbacks, onChange, onOver } = this.#parts
    // As the turn left them: a listener may go on to the next one.
    const { messages } = conversation
    if (this.#owns(turn)) {
      const { error, outcome } = result
      if (outcome !== 'finished' && outcome !== 'interrupted') conversation.approvals.withdraw()
      const sent = this.#underway
      this.#leave(error === undefined || sent === undefined ? IDLE : { kind: 'failed', error, unsent: unsentBy(sent) })
      if (error !== undefined && sent !== undefined) {
        const { thread, answered } = conversation
        this.#failed = failedTurn(sent, answered, thread, error)
        conversation.answered = answersKept(sent, answered, thread)
      }
      onChange()
    }
    // It was no send of ours.
    if (foreign) return result
    if (result.error !== undefined) callbacks.call('onError', result.error)
    callbacks.call('onFinish', { ...result, messages })
    onOver(result)
    return result
  }

  #stage(): Stage & RestoredStage {
    const { conversation, settings, onChange, onFree, mayAnswerCalls } = this.#parts
    const busy = (): boolean => this.busy
    return {
      conversation,
      settings,
      onChange,
      onFree,
      mayAnswerCalls,
      answers: this.#answers,
      get busy() {
        return busy()
      },
      takeLeft: () => {
        const left = this.#left
        this.#left = this.#restored.begun = undefined
        return left
      },
      begin: (plan) => this.#begin(plan),
      follow: (underway, ended) => this.#follow(underway, ended),
      owns: (turn) => this.#owns(turn),
      reveal: (underway, outcome) => this.#reveal(underway, outcome),
      rejoin: (left) => {
        this.#left = { ...left, lost: true }
        if (this.#parts.connection().joinRun === undefined) return undefined
        this.phase = IDLE
        return this.join(left)
      },
      leave: (phase) => this.#leave(phase),
    }
  }

  #shift(turn: Turn): Shift {
    return {
      runId: turn.namedRunId,
      begin: () => {
        this.phase = { kind: 'answering', turn }
      },
      isOn: () => this.#owns(turn),
    }
  }

  /** False for a turn that was left before, as a stopped one was. */
  #owns(turn: Turn): boolean {
    return turnOf(this.phase) === turn
  }

  #leave(phase: Phase): void {
    const guest = this.#guest.current
    if (guest !== undefined) this.#underway = guest
    this.phase = guest === undefined ? phase : { kind: 'streaming', turn: guest.turn }
    // Questions that are open now have to be asked again: the answers were used, or did not arrive.
    this.#parts.questions.forget()
  }
}
