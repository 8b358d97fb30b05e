/** What a chat holds: the thread that is built, and its messages as a view shows them. It runs and sends nothing. */
import {
  deriveToolMessageId,
  ThreadBuilder,
  toMessages,
  type Interrupt,
  type Message,
  type Thread,
  type UIMessage,
  type VerifiedEvent,
} from '@millrace/protocol'
import type { ToolAnswer } from '../tools/run-tool.ts'
import { Approvals } from './approvals.ts'
import { customAsk, isNoResult, type CustomAsk } from './custom-asks.ts'
import { reviveMessages } from './history.ts'
import type { InterruptDesk } from './interrupts.ts'
import { openCallIds } from './open-calls.ts'
import type { OutputReader } from '../output/reader.ts'
import { withTexts } from '../output/stored-outputs.ts'
import type { ChatClientOptions, StoredMessage } from './options.ts'
import { MessageView } from './view.ts'

export type ToolAsk = Extract<CustomAsk, { readonly kind: 'tool' }>

export class Conversation {
  readonly #options: Pick<ChatClientOptions, 'initialState' | 'limits'>
  readonly #view = new MessageView()
  /** Which texts are answers in the form of a value, if the chat is to know. */
  outputs: OutputReader | undefined
  readonly approvals: Approvals
  /** Tools of ours that the turn in hand asked for by CUSTOM events, by call. */
  readonly toolAsks: Map<string, ToolAsk> = new Map()
  /** Calls that were answered here since the turn in hand began, with what was given. */
  answered: ReadonlyMap<string, ToolAnswer> = new Map()
  /** Another one after `reset` and `show`. */
  builder: ThreadBuilder

  /** @throws UsageError `malformed-message`. */
  constructor(options: ChatClientOptions, desk: InterruptDesk, outputs: OutputReader | undefined) {
    this.#options = options
    this.outputs = outputs
    this.approvals = new Approvals(desk)
    this.builder = this.#begin(options.initialMessages ?? [])
  }

  get thread(): Thread {
    return this.builder.snapshot()
  }

  /** The messages for a view; those that did not change are the same objects. */
  get messages(): readonly UIMessage[] {
    const { thread } = this
    const messages = this.#view.of(thread.messages, this.approvals.of(thread.interrupts))
    return this.outputs === undefined ? messages : this.outputs.show(messages, this.builder, thread)
  }

  /** Questions of the agent that have no answer. */
  get questions(): readonly Interrupt[] {
    return this.thread.interrupts
  }

  /** Ids of all that waits for the user's word, whichever way it was asked. */
  get asked(): readonly string[] {
    const { thread } = this
    return [...thread.interrupts.map(({ id }) => id), ...[...this.approvals.open(thread).values()].map(({ approval }) => approval.id)]
  }

  /** Appends a message, or replaces the one with its id. */
  add(message: Message, createdAt: Date): void {
    this.builder.addMessage(message)
    this.#view.date(message.id, createdAt)
  }

  /** Notes when messages were made. */
  date(dates: readonly (readonly [id: string, createdAt: Date])[]): void {
    for (const [id, createdAt] of dates) this.#view.date(id, createdAt)
  }

  /** As {@link add}, for messages that were stored: all that is wrong with one is found before any is taken. */
  adopt(stored: readonly StoredMessage[]): Message[] {
    const messages = reviveMessages(stored)
    for (const { id, createdAt } of messages) this.#view.date(id, createdAt)
    this.approvals.read(messages)
    this.outputs?.adopt(messages, this.builder)
    return toMessages(withTexts(messages))
  }

  /** Adds what a tool of ours gave. */
  answer(toolCallId: string, given: ToolAnswer, newId: () => string): void {
    const { content, error } = given
    this.answered = new Map(this.answered).set(toolCallId, given)
    const derived = deriveToolMessageId(toolCallId)
    const taken = this.thread.messages.some((message) => message.id === derived && !(message.role === 'tool' && message.toolCallId === toolCallId))
    this.builder.addToolResult({
      id: taken ? newId() : derived,
      role: 'tool',
      toolCallId,
      content,
      ...(error !== undefined && { error }),
    })
  }

  /** A turn begins. */
  begin(): void {
    this.answered = new Map()
    this.toolAsks.clear()
    this.approvals.begin()
  }

  /** An event was folded into `builder`: what AG-UI's messages have no field for. `again`: it was folded before. */
  hear(event: VerifiedEvent, again: boolean, builder: ThreadBuilder): void {
    if (event.type === 'MESSAGES_SNAPSHOT' && this.approvals.byCustom && event.messages.some(isNoResult)) {
      builder.setMessages(builder.snapshot().messages.filter((message) => !isNoResult(message)))
    }
    if (event.type === 'TOOL_CALL_START' && !again) this.approvals.forget(event.toolCallId)
    const ask = event.type === 'CUSTOM' ? customAsk(event) : undefined
    if (ask?.kind === 'tool') this.toolAsks.set(ask.toolCallId, ask)
    else if (ask?.kind === 'approval') this.approvals.asked(ask.toolCallId, ask.id, again)
  }

  /** A builder that begins with this thread; it takes the place of ours with {@link show}. */
  branch({ messages, state, runs, interrupts }: Pick<Thread, 'messages' | 'state' | 'runs' | 'interrupts'>): ThreadBuilder {
    const { limits } = this.#options
    const builder = new ThreadBuilder({ messages, state, runs, interrupts, ...(limits !== undefined && { limits }) })
    this.outputs?.branch(this.builder, builder)
    return builder
  }

  show(builder: ThreadBuilder): void {
    this.builder = builder
  }

  /** A run that was read again shows: with the answers to calls that were given here since it was read first. */
  showAgain(builder: ThreadBuilder): void {
    const results = new Map<string, Message>()
    const calls = new Set<string>()
    for (const message of builder.snapshot().messages) {
      if (message.role === 'tool') results.set(message.toolCallId, message)
      if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) calls.add(id)
    }
    for (const message of this.thread.messages) {
      if (message.role !== 'tool' || !calls.has(message.toolCallId) || results.get(message.toolCallId)?.content === message.content) continue
      builder.addToolResult(message)
      const { toolCallId, content, error } = message
      if (typeof content === 'string' && !this.answered.has(toolCallId)) this.answered = new Map(this.answered).set(toolCallId, { content, ...(error !== undefined && { error }) })
    }
    this.builder = builder
  }

  /** Takes over results of calls, by default those that were given here, for calls of a builder that have none. */
  bringResults(builder: ThreadBuilder, results: readonly Message[] = this.thread.messages): void {
    const open = openCallIds(builder.snapshot().messages)
    for (const message of results) if (message.role === 'tool' && open.has(message.toolCallId)) builder.addToolResult(message)
  }

  /** Begins anew: no messages, the initial state. */
  reset(): void {
    this.outputs?.clear()
    this.begin()
    this.approvals.clear()
    this.builder = this.#begin([])
  }

  #begin(messages: readonly StoredMessage[]): ThreadBuilder {
    const { initialState, limits } = this.#options
    return new ThreadBuilder({
      messages: this.adopt(messages),
      ...(initialState !== undefined && { state: initialState }),
      ...(limits !== undefined && { limits }),
    })
  }
}
