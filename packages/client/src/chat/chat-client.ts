/**
 * A conversation with an agent: what the user does goes in, one snapshot comes out. It joins the parts beside it;
 * what a turn is, which questions are open and how messages are cut back is decided there.
 */
import {
  ThreadBuilder,
  toMessages,
  UsageError,
  type Interrupt,
  type Message,
  type ResumeEntry,
  type UIMessage,
} from '@millrace/protocol'
import type { NormalizedConnection } from '../connection/normalize.ts'
import { checkLimits, checkMode } from '../checks.ts'
import { generateId, type IdKind } from '../ids.ts'
import { Store } from '../store.ts'
import { Callbacks } from './callbacks.ts'
import { upToLastUser, reviveMessages, userMessage } from './history.ts'
import { checkEntries, InterruptDesk, requireAnswered } from './interrupts.ts'
import { LateEvents } from './late-events.ts'
import type {
  ChatClientOptions,
  ChatClientSettings,
  ChatSnapshot,
  InterruptAnswer,
  MessageInput,
  SendOptions,
  StoredMessage,
  TurnResult,
} from './options.ts'
import { IDLE, turnOf, type Phase } from './phase.ts'
import { makeRunContext, prepareStart, type Start } from './run-context.ts'
import { buildSnapshot } from './snapshot.ts'
import { MessageView } from './view.ts'
import { resolveConnection } from './transport.ts'
import { Turn } from './turn.ts'

export class ChatClient {
  readonly #options: ChatClientOptions
  readonly #desk = new InterruptDesk()
  readonly #late = new LateEvents()
  readonly #view = new MessageView()
  readonly #callbacks = new Callbacks(() => this.#settings)
  readonly #store: Store<ChatSnapshot>
  #settings: ChatClientSettings
  #connection: NormalizedConnection
  #builder: ThreadBuilder
  #phase: Phase = IDLE
  #threadId: string | undefined

  /**
   * Opens nothing and makes no ids, so it may be called while rendering.
   * @throws UsageError for options that cannot work: no connection, two, or one of neither shape; a mode, a limit or
   * a message that is none.
   */
  constructor(given: ChatClientOptions) {
    // No options at all lack a connection, as empty ones do.
    const options: ChatClientOptions = Object(given)
    this.#options = options
    this.#settings = options
    this.#threadId = options.threadId
    this.#connection = resolveConnection(options)
    checkMode(options.mode)
    checkLimits(options.limits)
    this.#builder = this.#newThread(options.initialMessages ?? [])
    this.#store = new Store(
      (previous) => this.#snapshot(previous),
      (error) => this.#callbacks.report('A listener threw.', error),
    )
  }

  /** The present snapshot; the same object until something changes. */
  readonly getSnapshot = (): ChatSnapshot => this.#store.getSnapshot()

  /** Calls `listener` after changes, until the function it returns is called. */
  readonly subscribe = (listener: () => void): (() => void) => this.#store.subscribe(listener)

  /** Id of the conversation; made here if none was given. */
  get threadId(): string {
    this.#threadId ??= this.#generateId('thread')
    return this.#threadId
  }

  /**
   * Adds a message of the user and runs the agent. The message is in the snapshot when this returns; the promise
   * resolves when the turn is over, and failures of the agent or the network are in its result.
   * @throws UsageError (rejects) `busy`, `interrupts-pending`, `empty-message`, `malformed-message`.
   */
  async sendMessage(input: string | MessageInput, options: SendOptions = {}): Promise<TurnResult> {
    this.#requireReady()
    const message = userMessage(input, (kind) => this.#generateId(kind))
    const start = this.#prepare(options)
    const createdAt = new Date(this.#now())
    this.#builder.addMessage(message)
    this.#view.date(message.id, createdAt)
    return this.#run(start)
  }

  /**
   * Adds any message (or replaces the one with its id) and runs the agent.
   * @throws UsageError (rejects) as `sendMessage`.
   */
  async append(message: StoredMessage, options: SendOptions = {}): Promise<TurnResult> {
    this.#requireReady()
    const revived = reviveMessages([message])
    const start = this.#prepare(options)
    for (const wire of this.#adopt(revived)) this.#builder.addMessage(wire)
    return this.#run(start)
  }

  /**
   * Drops what follows the last message of the user and runs again. A turn that runs is stopped first.
   * @throws UsageError (rejects) `nothing-to-reload`, `interrupts-pending`.
   */
  async reload(options: SendOptions = {}): Promise<TurnResult> {
    requireAnswered(this.#questions())
    upToLastUser(this.#builder.snapshot().messages)
    const start = this.#prepare(options)
    this.#halt()
    // Asked again: what was open is closed now, also in messages that stay.
    this.#builder.setMessages(upToLastUser(this.#builder.snapshot().messages))
    return this.#run(start)
  }

  /**
   * Ends the turn that runs: its outcome is `cancelled`, what came stays, what still comes is ignored. Does nothing if
   * none runs.
   */
  stop(): void {
    if (this.#halt()) this.#store.commit()
  }

  /**
   * Answers one interrupt. When all are answered, the run goes on and the promise resolves with its result; until
   * then it resolves with `interrupted` at once.
   * @throws UsageError (rejects) `malformed-answer`, `unknown-interrupt`, `interrupt-expired`, `busy`.
   */
  async respond(interruptId: string, answer: InterruptAnswer, options: SendOptions = {}): Promise<TurnResult> {
    this.#requireIdle()
    const questions = this.#questions()
    const entries = this.#desk.with(interruptId, answer, questions, this.#now())
    if (entries.length === questions.length) return this.#resume(entries, options)
    this.#desk.take(entries)
    this.#store.commit()
    return { outcome: 'interrupted' }
  }

  /**
   * Answers all interrupts at once and goes on.
   * @throws UsageError (rejects) `unanswered-interrupts`, `duplicate-answer`, and what `respond` throws.
   */
  async resume(entries: readonly ResumeEntry[], options: SendOptions = {}): Promise<TurnResult> {
    this.#requireIdle()
    const questions = this.#questions()
    if (questions.length === 0) throw new UsageError('nothing-to-resume', 'No interrupt is open.')
    checkEntries(entries, questions, this.#now())
    return this.#resume([...entries], options)
  }

  /** Puts other messages in the place of those here; nothing is sent. */
  setMessages(messages: readonly StoredMessage[]): void {
    this.#builder.setMessages(this.#adopt(reviveMessages(messages)))
    this.#store.commit()
  }

  /** Sets the state shared with the agent; it goes along with the next run. */
  setState(state: unknown): void {
    this.#builder.setState(state)
    this.#store.commit()
  }

  /** Stops what runs and begins anew: no messages, no questions, the initial state, the same thread id. */
  clear(): void {
    this.#halt()
    this.#phase = IDLE
    this.#desk.forget()
    this.#builder = this.#newThread([])
    this.#store.commit()
  }

  /**
   * Takes over settings that may change: connection, callbacks, tools, context, `forwardedProps`. What is absent is
   * off; a turn that runs keeps the connection it has.
   * @throws UsageError as the constructor, changing nothing.
   */
  updateOptions(given: ChatClientSettings): void {
    const settings: ChatClientSettings = Object(given)
    const { connection, fetcher } = this.#settings
    if (connection !== settings.connection || fetcher !== settings.fetcher) this.#connection = resolveConnection(settings)
    this.#settings = settings
  }

  /** Stops what runs and lets all listeners go. The client can be used again. */
  dispose(): void {
    this.#store.close()
    this.stop()
  }

  #resume(entries: readonly ResumeEntry[], options: SendOptions): Promise<TurnResult> {
    const start = this.#prepare(options)
    this.#desk.take(entries)
    return this.#run(start, entries)
  }

  #prepare(options: SendOptions): Start {
    return prepareStart(options, this.#threadId, (kind) => this.#generateId(kind))
  }

  /** Commits what the caller has changed together with the start of the turn: listeners never see one without the other. */
  async #run(start: Start, resume?: readonly ResumeEntry[]): Promise<TurnResult> {
    this.#threadId = start.threadId
    const thread = this.#builder.snapshot()
    const turn: Turn = new Turn({
      connection: this.#connection,
      messages: this.#view.of(thread.messages),
      data: start.body,
      runContext: makeRunContext(this.#settings, thread, start, resume),
      builder: this.#builder,
      late: this.#late,
      mode: this.#options.mode ?? 'tolerant',
      ...(this.#options.limits !== undefined && { limits: this.#options.limits }),
      onEvent: (event, index) => {
        if (this.#phase.kind === 'submitted' && this.#phase.turn === turn) this.#phase = { kind: 'streaming', turn }
        this.#callbacks.call('onEvent', event, index)
      },
      onDiagnostic: (diagnostic) => this.#callbacks.diagnostic(diagnostic),
      onProgress: () => this.#store.touch(),
    })
    this.#phase = { kind: 'submitted', turn }
    this.#store.commit()
    turn.start()
    const result = await turn.result
    // As the turn left them: a listener may go on to the next one.
    const messages = this.#view.of(this.#builder.snapshot().messages)
    if (this.#leave(turn, result.error === undefined ? IDLE : { kind: 'failed', error: result.error })) this.#store.commit()
    if (result.error !== undefined) this.#callbacks.call('onError', result.error)
    this.#callbacks.call('onFinish', { ...result, messages })
    return result
  }

  /** Stops the turn that runs and tells nobody yet: a listener would act on a change that is half made. */
  #halt(): boolean {
    const turn = turnOf(this.#phase)
    turn?.stop()
    return turn !== undefined && this.#leave(turn, IDLE)
  }

  /** A turn is over. False if it was left before, as a stopped one was. */
  #leave(turn: Turn, phase: Phase): boolean {
    if (turnOf(this.#phase) !== turn) return false
    this.#phase = phase
    // Questions that are open now have to be asked again: the answers were used, or did not arrive.
    this.#desk.forget()
    return true
  }

  #snapshot(previous: ChatSnapshot | undefined): ChatSnapshot {
    const thread = this.#builder.snapshot()
    return buildSnapshot(previous, {
      threadId: this.#threadId,
      messages: this.#view.of(thread.messages),
      phase: this.#phase,
      interrupts: this.#desk.open(thread.interrupts),
      thread,
    })
  }

  #newThread(messages: readonly StoredMessage[]): ThreadBuilder {
    const { initialState, limits } = this.#options
    return new ThreadBuilder({
      messages: this.#adopt(reviveMessages(messages)),
      ...(initialState !== undefined && { state: initialState }),
      ...(limits !== undefined && { limits }),
    })
  }

  /** UI messages as the thread holds them; what the thread cannot hold is kept by the view. */
  #adopt(messages: readonly UIMessage[]): Message[] {
    for (const { id, createdAt } of messages) this.#view.date(id, createdAt)
    return toMessages(messages)
  }

  #questions(): readonly Interrupt[] {
    return this.#builder.snapshot().interrupts
  }

  #requireIdle(): void {
    if (turnOf(this.#phase) === undefined) return
    throw new UsageError('busy', 'A turn is running. Wait for it, or call stop() first.')
  }

  #requireReady(): void {
    this.#requireIdle()
    requireAnswered(this.#questions())
  }

  #generateId(kind: IdKind): string {
    return (this.#options.generateId ?? generateId)(kind)
  }

  #now(): number {
    return (this.#options.now ?? Date.now)()
  }
}
