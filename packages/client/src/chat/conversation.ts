/** What a chat holds: the thread that is built, and its messages as a view shows them. It runs and sends nothing. */
import {
  deriveToolMessageId,
  ThreadBuilder,
  toMessages,
  type Interrupt,
  type Message,
  type Thread,
  type UIMessage,
} from '@millrace/protocol'
import type { ToolAnswer } from '../tools/run-tool.ts'
import { reviveMessages } from './history.ts'
import type { Outputs } from '../output/outputs.ts'
import { withTexts } from '../output/stored-outputs.ts'
import type { ChatClientOptions, StoredMessage } from './options.ts'
import { MessageView } from './view.ts'

export class Conversation {
  readonly #options: Pick<ChatClientOptions, 'initialState' | 'limits'>
  readonly #view = new MessageView()
  /** Which texts are answers in the form of a value. */
  readonly outputs: Outputs
  /** A call of a tool of ours was answered since the turn in hand began. */
  answered = false
  /** Another one after `reset` and `show`. */
  builder: ThreadBuilder

  /** @throws UsageError `malformed-message`. */
  constructor(options: ChatClientOptions, outputs: Outputs) {
    this.#options = options
    this.outputs = outputs
    this.builder = this.#begin(options.initialMessages ?? [])
  }

  get thread(): Thread {
    return this.builder.snapshot()
  }

  /** The messages for a view; those that did not change are the same objects. */
  get messages(): readonly UIMessage[] {
    const { thread } = this
    return this.outputs.show(this.#view.of(thread.messages), this.builder, thread)
  }

  /** Questions of the agent that have no answer. */
  get questions(): readonly Interrupt[] {
    return this.thread.interrupts
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
    this.outputs.adopt(messages, this.builder)
    return toMessages(withTexts(messages))
  }

  /** Adds what a tool of ours gave. */
  answer(toolCallId: string, { content, error }: ToolAnswer, newId: () => string): void {
    this.answered = true
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

  /** A builder that begins with this thread; it takes the place of ours with {@link show}. */
  branch({ messages, state, runs, interrupts }: Pick<Thread, 'messages' | 'state' | 'runs' | 'interrupts'>): ThreadBuilder {
    const { limits } = this.#options
    const builder = new ThreadBuilder({ messages, state, runs, interrupts, ...(limits !== undefined && { limits }) })
    this.outputs.branch(this.builder, builder)
    return builder
  }

  show(builder: ThreadBuilder): void {
    this.builder = builder
  }

  /** Begins anew: no messages, the initial state. */
  reset(): void {
    this.outputs.clear()
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
