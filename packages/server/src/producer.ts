/**
 * One run's life on the producing side: drives the agent, verifies what it sends, appends it to the log, and ends the
 * run in every case. It knows nothing of requests, responses or readers.
 */
import { compatible, EventVerifier, PROTOCOL_VERSION, ProtocolError, UsageError, type Event, type EventOf, type Interrupt, type RunAgentInput } from '@millrace/protocol'
import type { Agent, FinishDetails, InterruptRequest, RunContext } from './agent.ts'
import type { Clock } from './clock.ts'
import { Driver } from './drive.ts'
import { createEmitter } from './emit.ts'
import { eventText } from './event-text.ts'
import { LogError, RunEndedError } from './errors.ts'
import type { ServerLimits } from './limits.ts'
import type { EventLog, Lease, LeaseState, RunEndOutcome } from './log/contract.ts'
import type { Logger } from './logger.ts'
import { runError, storeError } from './run-error.ts'
import { SharedState } from './shared-state.ts'
import { UnansweredCalls } from './unanswered.ts'

export interface ProducerOptions {
  readonly agent: Agent
  readonly input: RunAgentInput
  readonly request: Request
  readonly log: EventLog
  readonly lease: Lease
  readonly leaseMs: number
  readonly clock: Clock
  readonly logger: Logger
  readonly limits: ServerLimits
  readonly createId: () => string
}

type RunFinished = EventOf<'RUN_FINISHED'>
type EndCode = RunEndedError['code']

/** Events after which the agent leaves the event loop to others, so that an agent that never waits starves nobody. */
const EVENTS_PER_TURN = 64

const OUTCOMES = { success: 'finished', interrupt: 'interrupted', cancelled: 'cancelled' } as const

export class Producer {
  /** Settles when the log is closed, or given up; never rejects. */
  readonly done: Promise<void>
  readonly #options: ProducerOptions
  readonly #verifier: EventVerifier
  readonly #unanswered = new UnansweredCalls()
  readonly #state: SharedState
  readonly #abort = new AbortController()
  readonly #driver = new Driver(
    (event) => this.#push(event),
    (error) => this.#fail(error),
  )
  readonly #interrupts: Interrupt[] = []
  #details: FinishDetails = {}
  #queue: string[] = []
  #accepted = 0
  #flushing: Promise<void> | undefined
  #untilTurn = EVENTS_PER_TURN
  #end: { readonly outcome: RunEndOutcome; readonly code: EndCode } | undefined
  /** What ended the run, and was reported then. */
  #failure: unknown
  /** Set if the log refused: what the queue holds has lost its place. */
  #logFailure: unknown

  constructor(options: ProducerOptions) {
    this.#options = options
    const { logger, input } = options
    this.#state = new SharedState(input.state)
    this.#verifier = new EventVerifier({
      ...compatible(),
      onDiagnostic: (diagnostic) => {
        // Errors are thrown as well, and reported where they are caught.
        if (diagnostic.severity === 'warning') logger.warn(diagnostic.message, { ...this.#ids, ...diagnostic })
      },
    })
    this.done = this.#run()
  }

  /** Ends the run with outcome cancelled, at once: what the agent sends afterwards is refused. */
  cancel(): void {
    try {
      this.#cut('cancelled', 'cancelled', () => this.#acceptFinish({ outcome: { type: 'cancelled' } }))
    } catch (error) {
      this.#fail(error)
    }
  }

  async #run(): Promise<void> {
    const { clock, limits, input } = this.#options
    const cancelTimeout = clock.after(limits.runMs, () => this.#fail(new RunEndedError('timeout')))
    let cancelRenewal = (): void => undefined
    const renewLater = (): void => {
      cancelRenewal = clock.after(this.#options.leaseMs / 3, () => void this.#renew().then(() => this.#end ?? renewLater()))
    }
    renewLater()
    try {
      const { parentRunId } = input
      this.#accept({ type: 'RUN_STARTED', ...this.#ids, protocolVersion: PROTOCOL_VERSION, ...(parentRunId !== undefined && { parentRunId }) })
      this.#flush()
      await this.#driver.drive(this.#options.agent(input, this.#context()))
      this.#finish()
    } catch (error) {
      this.#fail(error)
    }
    cancelTimeout()
    await this.#close()
    cancelRenewal()
  }

  #context(): RunContext {
    const { input, request, logger, createId } = this.#options
    const track = <Result>(promise: Promise<Result>): Promise<Result> => this.#driver.track(promise)
    return {
      ...createEmitter({ push: (event) => track(this.#push(event)), track, createId, readState: () => this.#state.value }),
      ...this.#ids,
      signal: this.#abort.signal,
      request,
      logger,
      createId,
      interrupt: (...requests) => this.#interrupt(requests),
      answer: (interruptId) => input.resume?.find((entry) => entry.interruptId === interruptId),
      finish: (details) => {
        this.#details = { ...this.#details, ...details }
      },
    }
  }

  #interrupt(requests: readonly InterruptRequest[]): void {
    for (const request of requests) {
      const interrupt = { ...request, id: request.id ?? this.#options.createId() }
      if (this.#interrupts.some(({ id }) => id === interrupt.id)) {
        throw new UsageError('interrupt.id', `Interrupt "${interrupt.id}" was asked before in this run`)
      }
      this.#interrupts.push(interrupt)
    }
  }

  async #push(event: Event): Promise<void> {
    if (this.#end !== undefined) throw new RunEndedError(this.#end.code)
    try {
      // Authors without types yield anything; `#accept` says what is wrong with it.
      if (event?.type === 'RUN_STARTED') this.#checkStart(event)
      else if (event?.type === 'RUN_FINISHED') this.#finishWith(event)
      else if (event?.type === 'RUN_ERROR') this.#cut('error', 'ended', () => this.#accept(event))
      else this.#accept(event)
    } catch (error) {
      this.#fail(error)
      throw error
    }
    this.#flush()
    if (this.#queue.length >= this.#options.limits.queuedEvents) await this.#flushing
  }

  /** The run has started; an agent that says so too is not wrong, one that starts another run is. */
  #checkStart(event: EventOf<'RUN_STARTED'>): void {
    this.#checkIdentity(event)
    if (this.#accepted > 1) this.#accept(event)
  }

  #checkIdentity(event: { readonly type: string; readonly threadId: string; readonly runId: string }): void {
    const { threadId, runId } = this.#ids
    if (event.threadId === threadId && event.runId === runId) return
    const message = `${event.type} names another run or thread than the input`
    throw new ProtocolError(message, { code: 'violation', rule: 'run.identity', type: event.type })
  }

  /** Verifies an event and queues what it stands for. Throws ProtocolError; then nothing has changed. */
  #accept(event: Event): void {
    // Verified as it will be sent: JSON drops and changes values that the types let pass. It is also a copy, so that
    // the agent may go on with its objects.
    const text = eventText(event)
    const sent = JSON.parse(text) as Event
    this.#verifier.accept(sent, (verified) => {
      this.#queue.push(verified === sent ? text : JSON.stringify(verified))
      this.#unanswered.note(verified)
      const unappliable = this.#state.note(verified)
      if (unappliable !== undefined) this.#options.logger.warn('A state patch does not apply', { ...this.#ids, error: unappliable })
    })
    this.#accepted += 1
  }

  #finish(): void {
    const { result, usage, pendingToolCallIds = this.#unanswered.ids() } = this.#details
    const outcome: RunFinished['outcome'] =
      this.#interrupts.length > 0
        ? { type: 'interrupt', interrupts: this.#interrupts }
        : pendingToolCallIds.length > 0
          ? { type: 'success', pendingToolCallIds: [...pendingToolCallIds] }
          : undefined
    this.#stop(OUTCOMES[outcome?.type ?? 'success'], 'ended', () =>
      this.#acceptFinish({
        ...(outcome !== undefined && { outcome }),
        ...(result !== undefined && result !== null && { result }),
        ...(usage !== undefined && { usage: [...usage] }),
      }),
    )
  }

  #finishWith(event: RunFinished): void {
    this.#checkIdentity(event)
    if (event.outcome?.type === 'interrupt') this.#interrupts.splice(0, Infinity, ...event.outcome.interrupts)
    this.#cut(OUTCOMES[event.outcome?.type ?? 'success'], 'ended', () => this.#acceptFinish(event))
  }

  #acceptFinish(fields: Partial<RunFinished>): void {
    for (const closer of this.#verifier.closers()) this.#accept(closer)
    this.#accept({ ...fields, type: 'RUN_FINISHED', ...this.#ids })
  }

  /** Turns what went wrong into RUN_ERROR. Brackets stay open: RUN_ERROR abandons them, and an END would say complete. */
  #fail(error: unknown): void {
    if (this.#end !== undefined) {
      if (error !== this.#failure && !this.#isOwnEnd(error)) this.#report('The agent failed after its run had ended', error)
      return
    }
    this.#cut('error', error instanceof RunEndedError ? error.code : 'ended', () => this.#accept(runError(error)))
    this.#failure = error
    this.#report('A run failed', error)
  }

  /** The agent passes on that its run has ended: it did as it was told. */
  #isOwnEnd(error: unknown): boolean {
    const { signal } = this.#abort
    if (error instanceof RunEndedError) return true
    return signal.aborted && (error === signal.reason || (error instanceof Error && (error.name === 'AbortError' || error.cause === signal.reason)))
  }

  /** The only way to end. `last` queues the terminal event; if it throws, the run goes on to end in error. */
  #stop(outcome: RunEndOutcome, code: EndCode, last: () => void): void {
    if (this.#end !== undefined) return
    last()
    this.#end = { outcome, code }
  }

  /** Ends the run while the agent may be at work. */
  #cut(outcome: RunEndOutcome, code: EndCode, last: () => void): void {
    if (this.#end !== undefined) return
    this.#stop(outcome, code, last)
    this.#abort.abort(new RunEndedError(code))
    this.#driver.stop()
  }

  /** Starts appending unless that is going on. */
  #flush(): void {
    this.#flushing ??= this.#appendQueue()
      .catch((error: unknown) => {
        this.#logFailure = error
        this.#fail(storeError(error))
      })
      .finally(() => {
        this.#flushing = undefined
      })
  }

  async #appendQueue(): Promise<void> {
    const { log, lease, clock } = this.#options
    // What is queued when the run has ended goes into the closing batch.
    while (this.#queue.length > 0 && this.#end === undefined) {
      const batch = this.#queue
      this.#queue = []
      this.#heed(await log.append(lease, batch))
      this.#untilTurn -= batch.length
      if (this.#untilTurn > 0) continue
      this.#untilTurn = EVENTS_PER_TURN
      await clock.turn()
    }
  }

  async #renew(): Promise<void> {
    try {
      this.#heed(await this.#options.log.renew(this.#options.lease))
    } catch (error) {
      this.#report('A lease could not be renewed', error)
      if (!(error instanceof LogError)) return
      this.#logFailure = error
      this.#fail(storeError(error))
    }
  }

  #heed(state: LeaseState): void {
    if (state.cancelRequested) this.cancel()
  }

  async #close(): Promise<void> {
    const { log, lease } = this.#options
    await this.#flushing
    // Somebody else holds the run now, and ends it.
    if (this.#logFailure instanceof LogError && this.#logFailure.code !== 'limit') return
    const failed = this.#logFailure !== undefined
    const interruptIds = this.#interrupts.map(({ id }) => id)
    const outcome = failed ? 'error' : (this.#end?.outcome ?? 'error')
    try {
      await log.close(lease, {
        outcome,
        data: failed ? [JSON.stringify(runError(storeError(this.#logFailure)))] : this.#queue,
        ...(outcome === 'interrupted' && { interruptIds }),
      })
    } catch (error) {
      // The lease will expire, and whoever reads the run then closes it.
      this.#report('A run could not be closed', error)
    }
  }

  get #ids(): { readonly threadId: string; readonly runId: string } {
    const { threadId, runId } = this.#options.input
    return { threadId, runId }
  }

  #report(message: string, error: unknown): void {
    this.#options.logger.error(message, { ...this.#ids, error })
  }
}
