/**
 * What the user says, and when it is sent: at once, after the turn that runs, in its place, or never. How a send then goes,
 * turn by turn, is the runner's.
 */
import { UsageError, type ResumeEntry, type RunOutcome } from '@millrace/protocol'
import type { GenerateId } from '../ids.ts'
import type { Attachment } from './attachment.ts'
import type { Conversation } from './conversation.ts'
import { upToLastUser, userMessage } from './history.ts'
import { requireAnswered } from './interrupts.ts'
import type { ChatClientOptions, ChatClientSettings, MessageInput, QueuedMessage, SendOptions, StoredMessage, TurnResult } from './options.ts'
import { Outbox, policyFor, type Waiting } from './outbox.ts'
import { prepareStart, type Start } from './run-context.ts'
import type { Runner } from './runner.ts'
import { failure } from '../tools/run-tool.ts'
import { LEFT, leftCalls, lostCalls } from './tool-desk.ts'

const CANCELLED: TurnResult = { outcome: 'cancelled' }

export interface SenderParts {
  readonly options: Pick<ChatClientOptions, 'whenBusy' | 'queue'>
  readonly conversation: Conversation
  readonly runner: Runner
  readonly attachment: Attachment
  readonly generateId: GenerateId
  settings(): ChatClientSettings
  now(): number
  threadId(): string | undefined
  nameThread(id: string): void
  onChange(): void
}

export class Sender {
  readonly #parts: SenderParts
  readonly #outbox: Outbox
  /** How often what waits was let go. */
  #halts = 0

  /** @throws UsageError `bad-options`. */
  constructor(parts: SenderParts) {
    this.#parts = parts
    this.#outbox = new Outbox(parts.options.queue)
  }

  /** What waits for its turn. */
  get queue(): readonly QueuedMessage[] {
    return this.#outbox.queue
  }

  /** See `ChatClient.sendMessage`. */
  async sendMessage(input: string | MessageInput, options: SendOptions): Promise<TurnResult> {
    const { options: own, conversation, runner, generateId, now, onChange } = this.#parts
    const message = userMessage(input, generateId)
    const known = this.#known
    if (known !== true && !(await known)) return CANCELLED
    this.#requireFree(message.id)
    const createdAt = new Date(now())
    if (runner.busy) {
      switch (policyFor(options.whenBusy ?? own.whenBusy, message, this.queue)) {
        case 'refuse':
          throw busy()
        case 'drop':
          return CANCELLED
        case 'queue': {
          const result = this.#outbox.add(message, createdAt, options)
          onChange()
          return result
        }
        case 'interrupt':
        // Once nothing can refuse it any more.
      }
    }
    requireAnswered(conversation.asked)
    const start = this.prepare(options)
    if (runner.busy) runner.halt()
    this.#closeCalls()
    conversation.add(message, createdAt)
    return this.run(start)
  }

  /** See `ChatClient.cancelQueued`. */
  cancelQueued(id: string): boolean {
    const removed = this.#outbox.remove(id)
    if (removed) this.#parts.onChange()
    return removed
  }

  /** See `ChatClient.edit`. */
  async edit(messageId: string, input: string | MessageInput, options: SendOptions): Promise<TurnResult> {
    const { conversation, now } = this.#parts
    const known = this.#known
    if (known !== true && !(await known)) return CANCELLED
    const { thread } = conversation
    requireAnswered(conversation.asked)
    const at = thread.messages.findIndex(({ id, role }) => id === messageId && role === 'user')
    if (at === -1) throw new UsageError('unknown-message', `No message "${messageId}" of the user is in the thread.`)
    const message = userMessage(input, () => messageId)
    const start = this.prepare(options)
    this.halt()
    // Halting may have shown another builder.
    const { builder } = conversation
    builder.setMessages(builder.snapshot().messages.slice(0, at))
    conversation.add(message, new Date(now()))
    return this.run(start)
  }

  /** See `ChatClient.append`. */
  async append(message: StoredMessage, options: SendOptions): Promise<TurnResult> {
    const { conversation } = this.#parts
    const known = this.#known
    if (known !== true && !(await known)) return CANCELLED
    this.requireIdle()
    requireAnswered(conversation.asked)
    const start = this.prepare(options)
    const adopted = conversation.adopt([message])
    if (message.role === 'user') this.#closeCalls()
    for (const wire of adopted) conversation.builder.addMessage(wire)
    return this.run(start)
  }

  /** See `ChatClient.reload`. */
  async reload(options: SendOptions): Promise<TurnResult> {
    const { conversation } = this.#parts
    const known = this.#known
    if (known !== true && !(await known)) return CANCELLED
    const { thread } = conversation
    requireAnswered(conversation.asked)
    upToLastUser(thread.messages)
    const start = this.prepare(options)
    this.halt()
    // Asked again: what was open is closed now, also in messages that stay.
    const { builder } = conversation
    builder.setMessages(upToLastUser(builder.snapshot().messages))
    return this.run(start)
  }

  /** Ends what runs and lets go what waits, also behind a question. False if there was neither. */
  halt(): boolean {
    this.#halts++
    const emptied = this.#outbox.flush()
    this.#parts.attachment.giveUp()
    return this.#parts.runner.halt() || emptied
  }

  /** Ends the reading of what runs, and lets go what waits. False if no run was being read. */
  leave(): boolean {
    if (!this.#parts.runner.leave()) return false
    this.#outbox.flush()
    return true
  }

  /** As `halt`, but a run that can be joined again goes on at the server. */
  depart(): boolean {
    this.#halts++
    this.#outbox.flush()
    this.#parts.attachment.giveUp()
    return this.#parts.runner.depart()
  }

  /** @throws UsageError `bad-options`, and whatever `generateId` throws; nothing has changed then. */
  prepare(options: SendOptions): Start {
    return prepareStart(options, this.#parts.threadId(), this.#parts.generateId)
  }

  /** Sends what the conversation holds. */
  async run(start: Start, resume?: readonly ResumeEntry[]): Promise<TurnResult> {
    const { runner, attachment, nameThread } = this.#parts
    nameThread(start.threadId)
    attachment.giveUp()
    return runner.run(start, resume)
  }

  /**
   * Whether it is known what the thread holds, so that something can be said in it: it may be asked for at the moment. True at once
   * if it is; false if what waits was let go meanwhile.
   */
  get #known(): true | Promise<boolean> {
    const { attachment } = this.#parts
    if (attachment.asking === undefined) return true
    const halts = this.#halts
    return (async () => {
      while (attachment.asking !== undefined) await attachment.asking
      return halts === this.#halts
    })()
  }

  /** A run of others is over: what waited for it is sent. */
  goOn(outcome: RunOutcome): void {
    // That theirs failed says nothing against ours.
    this.sendWaiting({ outcome: outcome === 'interrupted' ? outcome : 'finished' })
  }

  /** @throws UsageError `busy`. */
  requireIdle(): void {
    if (this.#parts.runner.busy) throw busy()
  }

  /** What ran is over: after a success the next message has its turn; a question keeps it waiting, and a failure lets it go. */
  sendWaiting({ outcome }: TurnResult): void {
    const { conversation, runner, onChange } = this.#parts
    // A listener may have gone on already; what waits then has its turn after that.
    if (runner.busy || outcome === 'interrupted' || this.queue.length === 0) return
    if (outcome === 'finished') {
      const next = this.#outbox.next()
      const last = next.at(-1) as Waiting
      const start = this.prepare(last.options)
      this.#closeCalls()
      for (const { message, createdAt } of next) conversation.add(message, createdAt)
      const result = this.run(start)
      for (const { settle } of next) settle(result)
    } else {
      this.#outbox.flush()
      onChange()
    }
  }

  /**
   * Calls of ours that nobody has answered are answered with that by what is said instead, and those of a run that is over before its
   * time with that: the next input has a result for each (AG-UI 1.0, tool calls), and models refuse a history without.
   */
  #closeCalls(): void {
    const { conversation, runner, settings } = this.#parts
    const tools = settings().tools ?? []
    const { begun } = runner
    for (const { call, tool } of leftCalls(conversation, tools).open) {
      if (tool !== undefined) this.#close(call.id, begun.includes(call.id) ? LEFT : 'The user said something else instead.')
    }
    // What a run that was left comes to is not known here.
    if (runner.left === undefined) for (const id of lostCalls(conversation, tools)) this.#close(id, 'The run ended before there was a result.')
  }

  #close(toolCallId: string, why: string): void {
    const { conversation, generateId } = this.#parts
    conversation.answer(toolCallId, failure(why), () => generateId('message'))
  }

  /** A message that is sent is a new one; `append` and `edit` replace. */
  #requireFree(id: string): void {
    const taken = this.#parts.conversation.thread.messages.some((message) => message.id === id) || this.queue.some((waiting) => waiting.id === id)
    if (taken) throw new UsageError('id-taken', `There is a message "${id}" already. Leave the id out, or use append() or edit() to replace it.`)
  }
}

function busy(): UsageError {
  return new UsageError('busy', 'A turn is running. Wait for it, call stop() first, or say by `whenBusy` what is to be done.')
}
