/**
 * What a turn left for our tools: runs them, shows what they gave, and says whether the agent can go on. It sends nothing and
 * knows nothing of turns but whether the one it works for is still on.
 */
import type { ResumeEntry, RunOutcome } from '@millrace/protocol'
import type { GenerateId } from '../ids.ts'
import type { Callbacks } from './callbacks.ts'
import type { Conversation } from './conversation.ts'
import type { ChatClientSettings } from './options.ts'
import { leftCalls, openToolCall, stopped, ToolDesk, type AnsweredCall, type OpenCall } from './tool-desk.ts'
import { askedCalls, toolReplies } from './tool-replies.ts'

export interface ToolAnswersParts {
  readonly conversation: Conversation
  readonly callbacks: Callbacks
  readonly generateId: GenerateId
  settings(): ChatClientSettings
  /** Whether the calls that a run left are ours to answer; undefined: they are. */
  mayAnswerCalls?(runId: string): Promise<boolean> | undefined
  onProgress(): void
  onChange(): void
}

/** The turn that is worked for. */
export interface Shift {
  readonly runId: string
  /** Tools are about to run. */
  begin(): void
  /** Nobody has stopped it. */
  isOn(): boolean
}

/** `go on`: the agent has all it waits for; entries: it waits for these answers; `done`: there is nothing for us to do. */
export type Next = 'go on' | readonly ResumeEntry[] | 'done' | 'stopped'

/** `told`: the application has the rest, and may have answered it by now; see `sinceTold`. */
type After = Next | 'told'

export class ToolAnswers {
  readonly #parts: ToolAnswersParts
  readonly #desk = new ToolDesk()
  /** Calls of which is being asked whether they are ours. */
  #asking: readonly OpenCall[] = []

  constructor(parts: ToolAnswersParts) {
    this.#parts = parts
  }

  /** Calls that are being answered. */
  get begun(): readonly string[] {
    return this.#desk.begun
  }

  /** What is to be done after a turn that ended like this. */
  async after(outcome: RunOutcome, shift: Shift): Promise<After> {
    if (outcome === 'finished') return this.#answerCalls(shift)
    return outcome === 'interrupted' ? this.#answerAsked(shift) : 'done'
  }

  /** What the application answered while it was told: as long as the turn is not let go, its answers start nothing themselves. */
  sinceTold(outcome: RunOutcome): Next {
    const { conversation, settings } = this.#parts
    if (outcome === 'interrupted') {
      const { interrupts } = conversation.thread
      const entries = toolReplies(interrupts, conversation.answered)
      return entries.length > 0 && entries.length === interrupts.length ? entries : 'done'
    }
    const { ours, open } = leftCalls(conversation, settings().tools ?? [])
    return ours > 0 && open.length === 0 ? 'go on' : 'done'
  }

  /** Ends what runs, and shows what it gave and that the rest was stopped. */
  stop(): void {
    this.show([...this.#desk.stop(), ...stopped(this.#asking)])
    this.#asking = []
    // The agent is not gone on with: what it asked for it asks still.
    this.#parts.conversation.answered = new Map()
  }

  /** Ends what runs, and shows what it gave: the rest stays open. Gives those calls. */
  leave(): readonly string[] {
    const { answered, lost } = this.#desk.leave()
    this.#asking = []
    this.show(answered)
    return lost
  }

  /** Gives those whose call is still in the thread: the user may have taken it out meanwhile. */
  show(answers: readonly AnsweredCall[]): readonly AnsweredCall[] {
    const { conversation, generateId } = this.#parts
    const calls = new Set(conversation.thread.messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => id) : [])))
    const kept = answers.filter(({ toolCallId }) => calls.has(toolCallId))
    for (const { toolCallId, answer } of kept) conversation.answer(toolCallId, answer, () => generateId('message'))
    return kept
  }

  /** Tells the application of the calls that are its to answer. */
  tell(open: readonly OpenCall[]): void {
    for (const { call, tool } of open) if (tool !== undefined) this.#parts.callbacks.call('onToolCall', openToolCall(call))
  }

  async #answerCalls(shift: Shift): Promise<After> {
    const { conversation, settings, onChange } = this.#parts
    const before = leftCalls(conversation, settings().tools ?? [])
    if (before.ours === 0) return 'done'
    const answers = await this.#run(shift, before.open)
    if (answers === 'done' || answers === 'stopped') return answers
    const { open } = leftCalls(conversation, settings().tools ?? [])
    // What was answered before this turn is no answer to it: an agent that uses an id again would be gone on with for ever.
    if (open.length === 0) return conversation.answered.size > 0 ? 'go on' : 'done'
    onChange()
    this.tell(open)
    return 'told'
  }

  /** For an agent that asks for its calls by interrupts. What it asks beside them is for the application. */
  async #answerAsked(shift: Shift): Promise<After> {
    const { conversation, settings, onChange } = this.#parts
    const asked = askedCalls(conversation, settings().tools ?? [])
    if (asked.length > 0) {
      const answers = await this.#run(shift, asked)
      if (answers === 'done' || answers === 'stopped') return answers
    }
    const { interrupts } = conversation.thread
    const entries = toolReplies(interrupts, conversation.answered)
    if (entries.length === interrupts.length) return entries
    const open = askedCalls(conversation, settings().tools ?? [])
    if (open.length === 0) return 'done'
    onChange()
    // One that was run before, as far as we know, is for the application to judge.
    this.tell(open)
    return 'told'
  }

  /** Runs what can be run of these, and shows the answers. */
  async #run(shift: Shift, open: readonly OpenCall[]): Promise<readonly AnsweredCall[] | 'done' | 'stopped'> {
    const { mayAnswerCalls, onProgress } = this.#parts
    shift.begin()
    const asked = mayAnswerCalls?.(shift.runId)
    if (asked !== undefined) {
      this.#asking = open
      const ours = await asked
      if (!shift.isOn()) return 'stopped'
      this.#asking = []
      if (!ours) return 'done'
    }
    const work = this.#desk.run(open, shift.runId)
    // What was begun is to be stored before it is done.
    onProgress()
    const answers = await work
    if (answers === undefined || !shift.isOn()) return 'stopped'
    const kept = this.show(answers)
    return kept.length === 0 && answers.length > 0 ? 'done' : kept
  }
}
