/**
 * A conversation with an agent: what the user does goes in, one snapshot comes out. It joins the parts beside it;
 * what a send does, which questions are open and how messages are cut back is decided there.
 */
import { UsageError, type ApprovalDecision, type ResumeEntry } from '@millrace/protocol'
import type { NormalizedConnection } from '../connection/normalize.ts'
import { generateId, type IdKind } from '../ids.ts'
import type { OutputReader } from '../output/reader.ts'
import { strategyOf } from '../scheduler.ts'
import { Store } from '../store.ts'
import type { AnswerSchemas, AnswerTo, ChatTypes, ChatTypesOf, OutputSchema, ToolList } from '../tools/tool-types.ts'
import { heldAnswer } from './answer-schemas.ts'
import { Answers } from './answers.ts'
import { Attachment } from './attachment.ts'
import { Callbacks } from './callbacks.ts'
import { CatchUp } from './catch-up.ts'
import { checkClientOptions, checkSettings } from './client-options.ts'
import { Conversation } from './conversation.ts'
import type { Keeper } from './keeper.ts'
import { InterruptDesk } from './interrupts.ts'
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
import { IDLE } from './phase.ts'
import { Live, requireLive } from './live.ts'
import { Runner } from './runner.ts'
import { Sender } from './sender.ts'
import { buildSnapshot } from './snapshot.ts'
import { Told } from './told.ts'
import { toolReplies } from './tool-replies.ts'
import { resolveConnection } from './transport.ts'

/** What a client is; made by {@link ChatClient}, which knows the types. */
export class Chat<Types extends ChatTypes = ChatTypes> {
  readonly #options: ChatClientOptions
  readonly #desk = new InterruptDesk()
  readonly #callbacks = new Callbacks(() => this.#settings)
  readonly #conversation: Conversation
  readonly #runner: Runner
  readonly #attachment: Attachment
  readonly #answers: Answers
  readonly #keeper: Keeper | undefined
  readonly #sender: Sender
  readonly #live: Live
  readonly #catchUp: CatchUp
  readonly #store: Store<ChatSnapshot>
  #settings: ChatClientSettings
  #connection: NormalizedConnection
  #threadId: string | undefined

  /**
   * Opens nothing and makes no ids, so it may be called while rendering.
   * @throws UsageError for options that cannot work: no connection, two, or one of neither shape; a mode, a limit, a
   * tool, a schema or a message that is none; `bad-options` for any other that is not what it has to be.
   */
  constructor(given: ChatClientOptions) {
    // No options at all lack a connection, as empty ones do.
    const options: ChatClientOptions = Object(given)
    this.#options = options
    this.#settings = options
    this.#threadId = options.threadId
    this.#connection = resolveConnection(options)
    checkClientOptions(options)
    this.#conversation = new Conversation(options, this.#desk, this.#readOutputs())
    this.#runner = new Runner({
      options,
      conversation: this.#conversation,
      callbacks: this.#callbacks,
      questions: this.#desk,
      generateId: (kind) => this.#generateId(kind),
      connection: () => this.#reach(),
      settings: () => this.#settings,
      source: (runId, send) => this.#live.source(runId, send),
      onFree: (outcome) => this.#sender.goOn(outcome),
      mayAnswerCalls: (runId) => this.#keeper?.mayAnswerCalls?.(runId),
      onProgress: () => this.#store.touch(),
      onChange: () => this.#store.commit(),
      onOver: (result) => this.#sender.sendWaiting(result),
    })
    this.#keeper = this.#keep(options)
    requireLive(options.live, this.#connection, this.#keeper)
    const told = new Told()
    this.#attachment = new Attachment({
      told,
      conversation: this.#conversation,
      runner: this.#runner,
      keeper: this.#keeper,
      connection: () => this.#reach(),
      onChange: () => this.#store.commit(),
      onError: (error) => this.#callbacks.call('onError', error),
    })
    this.#sender = new Sender({
      options,
      conversation: this.#conversation,
      runner: this.#runner,
      attachment: this.#attachment,
      generateId: (kind) => this.#generateId(kind),
      settings: () => this.#settings,
      now: () => this.#now(),
      threadId: () => this.#threadId,
      nameThread: (id) => this.#nameThread(id),
      onChange: () => this.#store.commit(),
    })
    this.#answers = new Answers({
      conversation: this.#conversation,
      runner: this.#runner,
      desk: this.#desk,
      keeper: this.#keeper,
      generateId: (kind) => this.#generateId(kind),
      settings: () => this.#settings,
      now: () => this.#now(),
      prepare: (given) => this.#sender.prepare(given),
      run: (start, resume) => this.#sender.run(start, resume),
      requireIdle: () => this.#sender.requireIdle(),
      onChange: () => this.#store.commit(),
    })
    this.#catchUp = new CatchUp({
      told,
      conversation: this.#conversation,
      runner: this.#runner,
      attachment: this.#attachment,
      keeper: this.#keeper,
      callbacks: this.#callbacks,
      connection: () => this.#reach(),
      threadId: () => this.#threadId,
      listens: () => this.#live.state === 'open',
    })
    this.#live = new Live({
      callbacks: this.#callbacks,
      late: this.#runner.late,
      connection: () => this.#connection,
      settings: () => this.#settings,
      threadId: () => this.#threadId,
      ready: () => this.#attachment.asking ?? this.#runner.settled ?? this.#catchUp.look(),
      knows: (runId) => this.#runner.knows(runId),
      has: (runId, event) => told.has(runId, event),
      hear: (ids, source) => this.#runner.hear(ids, source),
      leave: () => {
        if (this.#runner.leaveGuest()) this.#store.touch()
      },
      onChange: () => this.#store.refresh(),
      onOpen: () => this.#catchUp.missed(),
      onMissed: (over) => {
        if (!this.#catchUp.missed() && !over) this.#callbacks.log('Events of a run came whose start was not heard; attach() reads it, if the server can tell.', undefined)
      },
    })
    this.#store = new Store(
      (previous) => this.#snapshot(previous),
      (error) => this.#callbacks.report('A listener threw.', error),
      strategyOf(options.coalesce),
      () => {
        this.#keeper?.changed()
        this.#catchUp.changed()
      },
    )
  }

  /** The present snapshot; the same object until something changes. */
  readonly getSnapshot = (): ChatSnapshot<Types> => this.#store.getSnapshot() as ChatSnapshot<Types>

  /**
   * Calls `listener` after changes, until the function it returns is called. While there is one, `live` listens to the thread.
   * @throws UsageError `bad-options` if it is no function.
   */
  readonly subscribe = (listener: () => void): (() => void) => {
    if (typeof listener !== 'function') throw new UsageError('bad-options', 'What subscribe() is given has to be a function.')
    const leave = this.#store.subscribe(listener)
    const unwatch = this.#live.watch()
    return () => {
      leave()
      unwatch()
    }
  }

  /** Id of the conversation; made here if none was given. */
  get threadId(): string {
    this.#threadId ??= this.#generateId('thread')
    return this.#threadId
  }

  /**
   * Adds a message of the user and runs the agent. The message is in the snapshot when this returns; the promise
   * resolves when the turn is over, and failures of the agent or the network are in its result. While another turn runs,
   * `whenBusy` decides.
   * While `attach()` asks what the thread holds, it waits for that. Calls of our tools that nobody has answered are answered with that.
   * @throws UsageError (rejects) `busy`, `queue-full`, `interrupts-pending`, `empty-message`, `malformed-message`,
   * `id-taken`.
   */
  async sendMessage(input: string | MessageInput, options: SendOptions = {}): Promise<TurnResult> {
    return this.#sender.sendMessage(input, options)
  }

  /** Takes a message that waits for its turn out of the queue: its send ends `cancelled`. False if it does not wait. */
  cancelQueued(id: string): boolean {
    return this.#sender.cancelQueued(id)
  }

  /**
   * Says something else at a place of the past: the message of the user and all that followed it go, the new one is
   * added, and the agent runs. It keeps the id unless it has one of its own: a server that keeps the thread sees by that what
   * was edited. A turn that runs is stopped first.
   * @throws UsageError (rejects) `unknown-message` if no message of the user has this id, and as `sendMessage`.
   */
  async edit(messageId: string, input: string | MessageInput, options: SendOptions = {}): Promise<TurnResult> {
    return this.#sender.edit(messageId, input, options)
  }

  /**
   * Adds any message (or replaces the one with its id) and runs the agent.
   * @throws UsageError (rejects) as `sendMessage`.
   */
  async append(message: StoredMessage, options: SendOptions = {}): Promise<TurnResult> {
    return this.#sender.append(message, options)
  }

  /**
   * Drops what follows the last message of the user and runs again. A turn that runs is stopped first.
   * @throws UsageError (rejects) `nothing-to-reload`, `interrupts-pending`.
   */
  async reload(options: SendOptions = {}): Promise<TurnResult> {
    return this.#sender.reload(options)
  }

  /**
   * Ends the turn that runs: its outcome is `cancelled`, what came stays, what still comes is ignored, and what waits
   * for its turn is let go. Does nothing if none runs. On a thread that is the server's (`persisted(storage, { mode: 'server' })`)
   * what it had said when it was stopped there shows a moment later, unless something is done meanwhile.
   */
  stop(): void {
    if (!this.#sender.halt()) return
    this.#store.commit()
    void this.#attachment.afterStop(this.#threadId)
  }

  /**
   * Ends the reading of the turn that runs and lets the run go on at the server: its send ends with outcome `running`, and
   * `attach()` reads it again. Does nothing if none runs.
   */
  detach(): void {
    if (this.#sender.leave()) this.#store.commit()
  }

  /**
   * Comes back to a thread: to the run that was left by `detach()`, else to what the server has stored of the thread
   * (`hydrate` of the connection) and the run that is under way there. What was shown stays until as much has come again.
   * With `persistence` what was stored here is shown first; unless its mode is `server`, that is the thread, and the server
   * is asked for the run alone. Calls of our tools that a reload left open are then gone on with, in mode `server` if their run was
   * begun in this browser.
   * @returns how the run ended; undefined if there was none to join, or the connection cannot.
   */
  async attach(): Promise<TurnResult | undefined> {
    return this.#attachment.attach(() => this.#threadId)
  }

  /**
   * Answers one interrupt. When all are answered, the run goes on and the promise resolves with its result; until
   * then it resolves with `interrupted` at once. The payload is held against the schema for the reason (`answers`), and against
   * the `responseSchema` of the interrupt (a part of JSON Schema: see `checkPayload` of the protocol package).
   * @param interrupt of the snapshot, by whose `reason` the compiler knows the payload; or its id.
   * @throws UsageError (rejects) `malformed-answer`, `unknown-interrupt`, `interrupt-expired`, `busy`, and `answered-elsewhere`
   * if another tab was quicker.
   */
  respond<Question extends Types['interrupt']>(interrupt: Question, answer: AnswerTo<Question>, options?: SendOptions): Promise<TurnResult>
  respond(interruptId: string, answer: InterruptAnswer, options?: SendOptions): Promise<TurnResult>
  async respond(interrupt: string | { readonly id: string }, answer: InterruptAnswer, options: SendOptions = {}): Promise<TurnResult> {
    const { id } = typeof interrupt === 'string' ? { id: interrupt } : (Object(interrupt) as { readonly id: string })
    this.#sender.requireIdle()
    const held = this.#held(id, answer)
    return this.#answers.respond(id, held instanceof Promise ? await held : held, options)
  }

  /**
   * Says yes or no to a call that waits for it, with other arguments if need be. `id` is `approval.id` of its part. The agent is
   * answered the way it asked: by the interrupt, with the payload its schema wants, or in the message of the call for servers
   * that ask by CUSTOM `approval-requested`. When all that is asked is answered, the run goes on and the promise resolves with
   * its result; until then with `interrupted` at once.
   * @throws UsageError (rejects) `malformed-answer`, `unknown-approval`, `interrupt-expired`, `busy`. An answer that the agent does not take is
   * malformed, and so are arguments that the tool does not take.
   */
  async approve(id: string, decision: ApprovalDecision, options: SendOptions = {}): Promise<TurnResult> {
    return this.#answers.approve(id, decision, options)
  }

  /**
   * Sends the turn that failed last again as it was: the same messages, `body`, answers to interrupts and results of tools, with
   * the settings of now. What came of it goes, but for answers that the user gave since; a run that may go on at a server which keeps
   * runs is cancelled there.
   * `unsent` in the snapshot tells which messages were not heard of.
   * @throws UsageError (rejects) `nothing-to-retry` if none failed, or something was done since (a reload of the page, too);
   * `interrupt-expired`, `busy`.
   */
  async retry(): Promise<TurnResult> {
    return this.#answers.retry()
  }

  /**
   * Answers all interrupts at once and goes on.
   * @throws UsageError (rejects) `unanswered-interrupts`, `duplicate-answer`, and what `respond` throws.
   */
  async resume(entries: readonly ResumeEntry[], options: SendOptions = {}): Promise<TurnResult> {
    if (this.#settings.answers === undefined || !Array.isArray(entries)) return this.#answers.resume(entries, options)
    this.#sender.requireIdle()
    const held = entries.map((entry: ResumeEntry) => this.#held(Object(entry).interruptId, entry))
    return this.#answers.resume(held.some((entry) => entry instanceof Promise) ? await Promise.all(held) : (held as ResumeEntry[]), options)
  }

  #held<Answer extends InterruptAnswer>(interruptId: string, answer: Answer): Answer | Promise<Answer> {
    return heldAnswer(this.#settings.answers, this.#conversation.questions, interruptId, answer)
  }

  /**
   * Answers a call of a tool that the application runs itself, also while the turn is still running. When no call is left
   * open, the agent goes on and the promise resolves with how that ended; until then with `finished` at once, or with
   * `interrupted` if it asked for the call by an interrupt. With `toolName` the compiler holds the output against the tool:
   * `addToolResult({ ...call, output })`.
   * @throws UsageError (rejects) `unknown-call`, `malformed-answer`, `interrupt-expired`.
   */
  async addToolResult(result: Types['result'], options: SendOptions = {}): Promise<TurnResult> {
    return this.#answers.addToolResult(result, options)
  }

  /** Puts other messages in the place of those here; nothing is sent. */
  setMessages(messages: readonly StoredMessage[]): void {
    this.#conversation.builder.setMessages(this.#conversation.adopt(messages))
    this.#store.commit()
  }

  /** Sets the state shared with the agent; it goes along with the next run. */
  setState(state: unknown): void {
    this.#conversation.builder.setState(state)
    this.#store.commit()
  }

  /** Stops what runs and begins anew: no messages, no questions, the initial state, the same thread id. */
  clear(): void {
    this.#sender.halt()
    this.#runner.phase = IDLE
    this.#desk.forget()
    this.#conversation.reset()
    this.#store.commit()
    this.#keeper?.forget()
  }

  /**
   * Takes over settings that may change: connection, callbacks, tools, schemas, context, `forwardedProps`, `live`. What is absent is
   * off; a turn that runs keeps the connection it has, and so does a thread that is listened to (`live`).
   * @throws UsageError as the constructor, changing nothing.
   */
  updateOptions(given: ChatClientSettings<Types>): void {
    const settings: ChatClientSettings = Object(given)
    const { connection, fetcher } = this.#settings
    checkSettings(settings)
    const changed = connection !== settings.connection || fetcher !== settings.fetcher
    const next = changed ? resolveConnection(settings) : this.#connection
    requireLive(settings.live, next, this.#keeper)
    this.#connection = next
    this.#settings = settings
    this.#conversation.outputs ??= this.#readOutputs()
    this.#live.follow()
  }

  /**
   * Ends what runs and lets all listeners go. The client can be used again.
   * @param run `stop` (default): as `stop()`. `leave`: a run that the connection can join again goes on at the server, as it does
   * when a page is closed; any other is stopped. Tools of ours are ended, and calls that they did not answer stay open for `attach()`.
   * @returns settles when something was heard of a run that goes on, or nothing will be: before that the server may not know it.
   */
  async dispose(run: 'leave' | 'stop' = 'stop'): Promise<void> {
    this.#store.close()
    if (run === 'leave' ? this.#sender.depart() : this.#sender.halt()) this.#store.commit()
    this.#live.close()
    this.#keeper?.close()
    await this.#runner.left?.heard
  }

  #keep({ persistence }: ChatClientOptions): Keeper | undefined {
    return persistence?.({
      threadId: () => this.#threadId,
      nameThread: (id) => this.#nameThread(id),
      conversation: this.#conversation,
      runner: this.#runner,
      attach: () => this.attach(),
      canHydrate: () => this.#connection.hydrate !== undefined,
      onChange: () => this.#store.commit(),
    })
  }

  #readOutputs(): OutputReader | undefined {
    return this.#settings.output?.open({ schema: () => this.#settings.output?.schema, onChange: () => this.#store.commit() })
  }

  #reach(): NormalizedConnection {
    return this.#live.connection ?? this.#connection
  }

  #nameThread(id: string): void {
    this.#threadId = id
  }

  #snapshot(previous: ChatSnapshot | undefined): ChatSnapshot {
    const { thread, messages } = this.#conversation
    return buildSnapshot(previous, {
      threadId: this.#threadId,
      messages,
      outputs: this.#conversation.outputs,
      phase: this.#runner.phase,
      interrupts: this.#desk.open(thread.interrupts, toolReplies(thread.interrupts, this.#conversation.answered)),
      queue: this.#sender.queue,
      thread,
      storageError: this.#keeper?.error,
      live: this.#live.state,
    })
  }

  #generateId(kind: IdKind): string {
    const id: unknown = (this.#options.generateId ?? generateId)(kind)
    if (typeof id === 'string' && id !== '') return id
    throw new UsageError('bad-options', '`generateId` has to give text that is not empty.')
  }

  #now(): number {
    return (this.#options.now ?? Date.now)()
  }
}

/** A conversation with an agent. Without types of its own it is the general one, which each other can stand for. */
export type ChatClient<Types extends ChatTypes = ChatTypes> = Chat<Types>

/** The types of a client follow from the tools and schemas in its options. */
interface ChatClientConstructor {
  new <const Tools extends ToolList = ToolList, Output extends OutputSchema = OutputSchema, Reasons extends AnswerSchemas = AnswerSchemas>(
    options: ChatClientOptions<Tools, Output, Reasons>,
  ): Chat<ChatTypesOf<Tools, Output, Reasons>>
  readonly prototype: Chat
}

/** Makes a conversation with an agent; its types follow from the tools and schemas in its options. */
export const ChatClient: ChatClientConstructor = Chat as ChatClientConstructor
