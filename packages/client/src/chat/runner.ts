/**
 * What sending does, from the first turn to the last: a turn, the calls of our tools that it left, the turn that goes
 * on with their answers. It keeps the phase. It knows nothing of what the user may ask for, and when.
 */
import type { Message, ResumeEntry, RunAgentInputContext, RunOutcome, ThreadBuilder } from '@millrace/protocol'
import type { NormalizedConnection } from '../connection/normalize.ts'
import { AgentError } from '../errors.ts'
import type { GenerateId } from '../ids.ts'
import type { Callbacks } from './callbacks.ts'
import type { Conversation } from './conversation.ts'
import { answersKept, failedTurn, unsentBy, type FailedTurn, type SentTurn } from './failed-turn.ts'
import type { InterruptDesk } from './interrupts.ts'
import { LateEvents } from '../connection/late-events.ts'
import { mayPass } from '../connection/retry.ts'
import type { LeftRun } from './left-run.ts'
import type { ChatClientOptions, ChatClientSettings, TurnResult } from './options.ts'
import { IDLE, turnOf, type Phase } from './phase.ts'
import { makeRunContext, type Start } from './run-context.ts'
import { joining, sending, type Source } from './source.ts'
import { failure } from '../tools/run-tool.ts'
import { ToolAnswers, type Shift } from './tool-answers.ts'
import { leftCalls } from './tool-desk.ts'
import { askedCalls, storedAnswers } from './tool-replies.ts'
import { Turn } from './turn.ts'

export interface RunnerParts {
  readonly options: Pick<ChatClientOptions, 'mode' | 'limits' | 'maxContinuations'>
  readonly conversation: Conversation
  readonly callbacks: Callbacks
  readonly questions: InterruptDesk
  readonly generateId: GenerateId
  /** Asked when a turn starts: both may change while another runs. */
  connection(): NormalizedConnection
  settings(): ChatClientSettings
  /** Whether the calls that a run left are ours to answer; undefined: they are. */
  mayAnswerCalls?(runId: string): Promise<boolean> | undefined
  /** Something changed by the stream. */
  onProgress(): void
  /** The phase changed, or something that the user did; to be shown at once. */
  onChange(): void
}

/** A turn, and what is needed to read its run again. */
interface Underway extends SentTurn {
  readonly turn: Turn
  /** It is folded into this, which is not shown before `seen` events have come again. */
  readonly builder: ThreadBuilder
  /** Events of its run that were shown before it began. */
  readonly seen: number
}

/** Of a turn that was read before. */
const NOTHING: Source = { subscribe: async function* () {}, shared: false }

const NO_ANSWERS: Conversation['answered'] = new Map()

/** Turns that one send may take by itself, unless told otherwise: a model and a tool can call each other for ever. */
const MAX_CONTINUATIONS = 25

export class Runner {
  readonly #parts: RunnerParts
  readonly #late = new LateEvents()
  readonly #answers: ToolAnswers
  phase: Phase = IDLE
  #underway: Underway | undefined
  #left: LeftRun | undefined
  #failed: FailedTurn | undefined
  /** Of a thread that was restored; see `goOn`. */
  #begun: readonly string[] | undefined

  constructor(parts: RunnerParts) {
    this.#parts = parts
    this.#answers = new ToolAnswers(parts)
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

  /** Goes back to where a turn that failed began: what came of it goes. Tells nobody yet. */
  rewind({ base, runId, answered }: FailedTurn): void {
    const { conversation } = this.#parts
    // Two runs would go on with one thread.
    if (runId !== undefined) this.#cancel(runId)
    conversation.show(conversation.branch(base))
    conversation.answered = answered
  }

  /**
   * Reads a run that was left, from its start, and goes on as `run` does. What was shown of it stays until as much has come
   * again.
   * @returns undefined if the connection cannot join a run.
   */
  async join(left: LeftRun): Promise<TurnResult | undefined> {
    const { conversation, connection, onChange } = this.#parts
    const { threadId, runId, base, seen } = left
    const source = joining(connection(), runId, { threadId }, left.heard)
    if (source === undefined) return undefined
    this.#left = undefined
    const start: Start = { threadId, runId, body: undefined }
    const underway = this.#begin({ start, source, builder: conversation.branch(base), base, runContext: { threadId, runId }, seen })
    onChange()
    underway.turn.start()
    const { outcome, error } = await underway.turn.result
    if (this.#owns(underway.turn)) {
      this.#reveal(underway, outcome)
      // Whether it goes on there is not known: it can be asked for again.
      if (mayPass(error)) this.#left = leftBy(underway)
    }
    return this.#follow(underway)
  }

  /** The run that was left last, if nothing was sent since. */
  get left(): LeftRun | undefined {
    return this.#left
  }

  /** The run that is being read, or was left: it may go on at the server. */
  get unfinished(): LeftRun | undefined {
    const { kind } = this.phase
    return (kind === 'submitted' || kind === 'streaming') && this.#underway !== undefined ? leftBy(this.#underway) : this.#left
  }

  /** Calls of our tools that are being answered. */
  get begun(): readonly string[] {
    return this.#answers.begun
  }

  /** The thread was restored: this run was left, or these calls had been begun. */
  keep(left: LeftRun | undefined, begun: readonly string[]): void {
    this.#left = left
    this.#begun = left === undefined ? begun : undefined
  }

  /**
   * Goes on where a page was left while calls of ours waited: those that had not been begun are run. One that had is not run
   * twice: nobody knows what it did.
   * @returns undefined if no call waits for us.
   */
  async goOn(): Promise<TurnResult | undefined> {
    const begun = this.#begun
    this.#begun = undefined
    const { conversation, settings, mayAnswerCalls } = this.#parts
    const { thread, builder } = conversation
    const { threadId, runId, outcome } = thread.runs.at(-1) ?? {}
    const tools = settings().tools ?? []
    const interrupted = outcome === 'interrupted'
    const stored = interrupted && begun !== undefined ? storedAnswers(thread) : NO_ANSWERS
    if (stored.size > 0) conversation.answered = stored
    const open = interrupted ? askedCalls(conversation, tools) : leftCalls(conversation, tools).open
    if (begun === undefined || threadId === undefined || runId === undefined || open.length === 0) return undefined
    const asked = mayAnswerCalls?.(runId)
    if (asked !== undefined && (!(await asked) || this.busy || conversation.thread !== thread)) return undefined
    if (!open.some(({ tool }) => tool?.execute !== undefined)) return void this.#answers.tell(open)
    const start: Start = { threadId, runId, body: undefined }
    const underway = this.#begin({ start, source: NOTHING, builder, base: thread, runContext: start, seen: 0 })
    // It was read to its end before.
    underway.turn.leave()
    conversation.answered = stored
    const lost = open.filter(({ call }) => begun.includes(call.id))
    this.#answers.show(lost.map(({ call }) => ({ toolCallId: call.id, answer: failure('The page was left while it ran.') })))
    return this.#follow(underway, { outcome: interrupted ? 'interrupted' : 'finished' })
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
    for (let count = 0; (result.outcome === 'finished' || result.outcome === 'interrupted') && this.#owns(turn); count++) {
      const next = await this.#answers.after(result.outcome, this.#shift(turn))
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
    return result.outcome === 'running' ? result : this.#end(turn, result)
  }

  /** Ends what runs and tells nobody yet: a listener would act on a change that is half made. False if nothing ran. */
  halt(): boolean {
    const turn = turnOf(this.phase)
    const left = this.#left
    this.#left = undefined
    if (turn === undefined) {
      if (left !== undefined) this.#cancel(left.runId)
      return left !== undefined
    }
    if (this.phase.kind !== 'answering') this.#cancel(turn.namedRunId)
    turn.stop()
    if (this.#underway?.turn === turn) this.#reveal(this.#underway, 'cancelled')
    this.#answers.stop()
    this.#parts.conversation.approvals.withdraw()
    this.#leave(IDLE)
    return true
  }

  /**
   * Ends what runs here. The run goes on at the server if it can be joined there again; calls of our tools run here, so they end.
   * False if nothing ran.
   */
  depart(): boolean {
    const { joinRun, keepsRuns } = this.#parts.connection()
    if (joinRun === undefined || keepsRuns?.() === false) return this.halt()
    return this.leave() || (this.busy && this.halt())
  }

  /** A run that was read again is over, or left: what it came to is shown, unless what was there before is more. */
  #reveal({ turn, builder, seen }: Underway, outcome: RunOutcome): void {
    const { conversation } = this.#parts
    if (conversation.builder === builder) return
    if (turn.seen >= seen || outcome === 'finished' || outcome === 'interrupted') conversation.show(builder)
    else if (outcome !== 'running') conversation.builder.endRun(outcome)
  }

  /** Asks the server to end a run, if it can. Whether it does is its own affair: here the run is over. */
  #cancel(runId: string): void {
    const { connection, callbacks } = this.#parts
    const { keepsRuns, cancelRun } = connection()
    if (keepsRuns?.() === false) return
    cancelRun?.(runId).catch((error: unknown) => callbacks.log('A run could not be cancelled at the server.', error))
  }

  #send(start: Start, resume: readonly ResumeEntry[] | undefined): Underway {
    const { conversation, connection, settings, onChange } = this.#parts
    const { thread, builder } = conversation
    const runContext = makeRunContext(settings(), conversation, start, resume)
    const source = sending(connection(), conversation.messages, start.body, runContext)
    this.#left = this.#begun = undefined
    const underway = this.#begin({ start, source, builder, base: thread, runContext, seen: 0, resume: resume ?? [] })
    onChange()
    underway.turn.start()
    return underway
  }

  #begin(plan: Omit<Underway, 'turn' | 'answered'> & { readonly source: Source; readonly runContext: RunAgentInputContext }): Underway {
    const { conversation, callbacks, options, onProgress } = this.#parts
    const { source, builder, runContext, seen, start, base, resume } = plan
    const { answered } = conversation
    const turn: Turn = new Turn({
      source,
      runContext,
      builder,
      late: this.#late,
      mode: options.mode ?? 'tolerant',
      ...(options.limits !== undefined && { limits: options.limits }),
      onEvent: (event, index) => {
        if (this.phase.kind === 'submitted' && this.#owns(turn)) this.phase = { kind: 'streaming', turn }
        conversation.outputs.take(builder, event)
        conversation.hear(event, index < seen, builder)
        // What is read again was told before.
        if (index >= seen) callbacks.call('onEvent', event, index)
      },
      onDiagnostic: (diagnostic) => callbacks.diagnostic(diagnostic),
      onProgress: () => {
        if (conversation.builder !== builder && turn.seen >= seen && this.#owns(turn)) conversation.show(builder)
        onProgress()
      },
    })
    const underway: Underway = { turn, start, base, builder, seen, answered, ...(resume !== undefined && { resume }) }
    this.#underway = underway
    this.#failed = undefined
    conversation.begin()
    this.phase = { kind: 'submitted', turn }
    return underway
  }

  #end(turn: Turn, result: TurnResult): TurnResult {
    const { conversation, callbacks, onChange } = this.#parts
    // As the turn left them: a listener may go on to the next one.
    const { messages } = conversation
    if (this.#owns(turn)) {
      const { error, outcome } = result
      if (outcome !== 'finished' && outcome !== 'interrupted') conversation.approvals.withdraw()
      const sent = this.#underway
      this.#leave(error === undefined || sent === undefined ? IDLE : { kind: 'failed', error, unsent: unsentBy(sent) })
      if (error !== undefined && sent !== undefined) {
        const { thread } = conversation
        this.#failed = failedTurn(sent, thread, error)
        conversation.answered = answersKept(sent, thread)
      }
      onChange()
    }
    if (result.error !== undefined) callbacks.call('onError', result.error)
    callbacks.call('onFinish', { ...result, messages })
    return result
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
    this.phase = phase
    // Questions that are open now have to be asked again: the answers were used, or did not arrive.
    this.#parts.questions.forget()
  }
}

function leftBy({ turn, start, base, seen }: Underway): LeftRun {
  return { threadId: start.threadId, runId: turn.namedRunId, base, seen: Math.max(turn.seen, seen), ...(turn.seen === 0 && { heard: turn.heard }) }
}
