/** What the user answers the agent: its questions, and the calls of tools that the application runs. It decides when to go on. */
import { buildResume, UsageError, type ResumeEntry } from '@millrace/protocol'
import type { GenerateId } from '../ids.ts'
import type { Conversation } from './conversation.ts'
import type { InterruptDesk } from './interrupts.ts'
import type { Keeper } from './keeper.ts'
import type { ChatClientSettings, InterruptAnswer, SendOptions, ToolResultInput, TurnResult } from './options.ts'
import type { Start } from './run-context.ts'
import type { Runner } from './runner.ts'
import { answerOf, leftCalls, requireCall } from './tool-desk.ts'

export interface AnswersParts {
  readonly conversation: Conversation
  readonly runner: Runner
  readonly desk: InterruptDesk
  readonly keeper: Keeper | undefined
  readonly generateId: GenerateId
  settings(): ChatClientSettings
  now(): number
  prepare(options: SendOptions): Start
  run(start: Start, resume?: readonly ResumeEntry[]): Promise<TurnResult>
  /** Throws if a turn runs. */
  requireIdle(): void
  onChange(): void
}

export class Answers {
  readonly #parts: AnswersParts

  constructor(parts: AnswersParts) {
    this.#parts = parts
  }

  /** See `ChatClient.respond`. */
  async respond(interruptId: string, answer: InterruptAnswer, options: SendOptions): Promise<TurnResult> {
    const { conversation, desk, now, requireIdle, onChange } = this.#parts
    requireIdle()
    const { questions } = conversation
    const entries = desk.with(interruptId, answer, questions, now())
    if (entries.length === questions.length) return this.#goOn(entries, options)
    desk.take(entries)
    onChange()
    return { outcome: 'interrupted' }
  }

  /** See `ChatClient.resume`. */
  async resume(entries: readonly ResumeEntry[], options: SendOptions): Promise<TurnResult> {
    const { conversation, now, requireIdle } = this.#parts
    requireIdle()
    const { questions } = conversation
    if (questions.length === 0) throw new UsageError('nothing-to-resume', 'No interrupt is open.')
    return this.#goOn(buildResume(questions, entries, now()), options)
  }

  async #goOn(entries: readonly ResumeEntry[], options: SendOptions): Promise<TurnResult> {
    const { conversation, desk, keeper, now, prepare, run, requireIdle } = this.#parts
    const start = prepare(options)
    const claim = keeper?.claimAnswers?.(entries.map(({ interruptId }) => interruptId))
    if (claim !== undefined) {
      await claim
      // Another tab may have been quicker.
      requireIdle()
      buildResume(conversation.questions, entries, now())
    }
    desk.take(entries)
    return run(start, entries)
  }

  /** See `ChatClient.addToolResult`. */
  async addToolResult(result: ToolResultInput, options: SendOptions): Promise<TurnResult> {
    const { conversation, runner, generateId, settings, prepare, run, onChange } = this.#parts
    const given: ToolResultInput = Object(result)
    const answer = answerOf(given)
    requireCall(conversation.thread, given)
    const start = prepare(options)
    const { tools = [] } = settings()
    const waited = leftCalls(conversation.thread, tools).open.length > 0
    conversation.answer(given.toolCallId, answer, () => generateId('message'))
    const { ours, open } = leftCalls(conversation.thread, tools)
    if (!runner.busy && waited && ours > 0 && open.length === 0) return run(start)
    onChange()
    return { outcome: 'finished' }
  }
}
