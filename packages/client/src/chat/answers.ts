/** What the user answers the agent: its questions, and the calls of tools that the application runs. It decides when to go on. */
import {
  approvalReply,
  buildResume,
  checkDecision,
  isToolRequest,
  resumeEntry,
  UsageError,
  type ApprovalDecision,
  type Interrupt,
  type ResumeEntry,
} from '@millrace/protocol'
import type { GenerateId } from '../ids.ts'
import { heldAnswer } from './answer-schemas.ts'
import { checkEdited } from './approval-input.ts'
import type { Conversation } from './conversation.ts'
import { answersAgain } from './failed-turn.ts'
import { checkAnswer, type InterruptDesk } from './interrupts.ts'
import type { Keeper } from './keeper.ts'
import type { ChatClientSettings, InterruptAnswer, SendOptions, ToolResultInput, TurnResult } from './options.ts'
import type { Start } from './run-context.ts'
import type { Runner } from './runner.ts'
import { answerOf, leftCalls, requireCall } from './tool-desk.ts'
import { toolReplies } from './tool-replies.ts'

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

/** More is waited for. */
const WAITING: TurnResult = { outcome: 'interrupted' }

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
    const noted = desk.with(interruptId, answer, questions, now())
    const entries = this.#withReplies(noted)
    if (entries.length === questions.length) return this.#goOn(entries, options)
    desk.take(noted)
    onChange()
    return WAITING
  }

  /** See `ChatClient.resume`. */
  async resume(given: readonly ResumeEntry[], options: SendOptions): Promise<TurnResult> {
    const { conversation, now, requireIdle } = this.#parts
    requireIdle()
    const { questions } = conversation
    if (questions.length === 0) throw new UsageError('nothing-to-resume', 'No interrupt is open.')
    const entries = Array.isArray(given) ? this.#withReplies(given) : given
    return this.#goOn(buildResume(questions, entries, now(), checkAnswer), options)
  }

  /** See `ChatClient.approve`. */
  async approve(id: string, decision: ApprovalDecision, options: SendOptions): Promise<TurnResult> {
    const { conversation, settings, requireIdle } = this.#parts
    requireIdle()
    checkDecision(decision)
    const { toolCallId, interrupt } = this.#asked(id)
    const { tools = [], answers } = settings()
    if (decision.input !== undefined) {
      await checkEdited(decision.input, toolCallId, conversation.thread, tools)
      // The schema may have taken its time.
      requireIdle()
      this.#asked(id)
    }
    if (interrupt !== undefined) {
      const reply = heldAnswer(answers, [interrupt], id, approvalReply(interrupt, decision))
      return this.respond(id, reply instanceof Promise ? await reply : reply, options)
    }
    return this.#decide(toolCallId as string, id, decision, options)
  }

  /** @throws UsageError `unknown-approval`. */
  #asked(id: string): { readonly toolCallId: string | undefined; readonly interrupt?: Interrupt } {
    const { conversation } = this.#parts
    const { thread, questions, approvals } = conversation
    const interrupt = questions.find((question) => question.id === id)
    if (interrupt !== undefined && !isToolRequest(interrupt)) return { toolCallId: interrupt.toolCallId, interrupt }
    for (const [toolCallId, { approval }] of approvals.inHand(thread)) if (approval.id === id) return { toolCallId }
    const open = [...questions.filter((question) => !isToolRequest(question)), ...[...approvals.open(thread).values()].map(({ approval }) => approval)]
    const others = open.length === 0 ? 'none is' : open.map((each) => `"${each.id}" is`).join(', ')
    throw new UsageError('unknown-approval', `No approval "${id}" is asked for; ${others}.`)
  }

  /** For a server that asks by CUSTOM events: the answer is in the message of the call, and the next run brings it. */
  async #decide(toolCallId: string, id: string, decision: ApprovalDecision, options: SendOptions): Promise<TurnResult> {
    const { conversation, settings, prepare, run, onChange } = this.#parts
    const { approvals, thread } = conversation
    const open = [...approvals.open(thread).keys()].filter((call) => call !== toolCallId)
    const waits = open.length > 0 || leftCalls(conversation, settings().tools ?? []).open.some(({ call }) => call.id !== toolCallId)
    if (waits) {
      approvals.decide(toolCallId, id, decision)
      onChange()
      return WAITING
    }
    const start = prepare(options)
    // All that one run asks is answered at once, by one tab.
    const claim = this.#claim([`approvals of ${thread.runs.at(-1)?.runId ?? ''}`], () => this.#asked(id))
    if (claim !== undefined) await claim
    approvals.decide(toolCallId, id, decision)
    return run(start)
  }

  /** See `ChatClient.addToolResult`. */
  async addToolResult(result: ToolResultInput, options: SendOptions): Promise<TurnResult> {
    const { conversation, runner, desk, generateId, settings, now, prepare, run, onChange } = this.#parts
    const given: ToolResultInput = Object(result)
    const answer = answerOf(given)
    requireCall(conversation.thread, given)
    const { questions } = conversation
    const question = questions.find((one) => isToolRequest(one) && one.toolCallId === given.toolCallId)
    if (question !== undefined) resumeEntry(question.id, { status: 'resolved' }, questions, now())
    const start = prepare(options)
    const { tools = [] } = settings()
    const waited = leftCalls(conversation, tools).open.length > 0
    conversation.answer(given.toolCallId, answer, () => generateId('message'))
    const { ours, open } = leftCalls(conversation, tools)
    // A run that was left, and of which nothing was heard, was asked for more than these answers.
    if (!runner.busy && runner.left === undefined && waited && ours > 0 && open.length === 0) return run(start)
    const entries = this.#withReplies([...desk.replies.values()])
    if (!runner.busy && question !== undefined && entries.length === questions.length) return this.#goOn(entries, options)
    onChange()
    return question === undefined ? { outcome: 'finished' } : WAITING
  }

  /** See `ChatClient.retry`. */
  async retry(): Promise<TurnResult> {
    const { conversation, runner, desk, now, prepare, run, requireIdle } = this.#parts
    requireIdle()
    const { failed } = runner
    if (failed === undefined) throw nothingToRetry()
    const { start: before, base } = failed
    const resume = answersAgain(failed, desk.replies)
    const start = prepare({ ...(before.body !== undefined && { body: before.body }) })
    if (resume.length === 0) void runner.endRunOf(failed)
    else {
      buildResume(base.interrupts, resume, now())
      const again = (): void => {
        requireIdle()
        if (runner.failed !== failed) throw nothingToRetry()
      }
      const claim = this.#claim(
        resume.map(({ interruptId }) => interruptId),
        again,
      )
      if (claim !== undefined) await claim
      // A server takes an answer once: not while a run goes on with it.
      const ended = runner.endRunOf(failed)
      if (ended !== undefined) await ended.then(again)
      desk.take(resume)
      conversation.approvals.sent(base.interrupts, resume)
    }
    runner.rewind(failed)
    return run(start, resume.length > 0 ? resume : undefined)
  }

  /** These answers and what tools answer, in the order of the questions; an answer given goes before a tool's. */
  #withReplies(given: readonly ResumeEntry[]): readonly ResumeEntry[] {
    const { questions, answered } = this.#parts.conversation
    const told = new Set(given.map((entry) => (Object(entry) as Partial<ResumeEntry>).interruptId))
    const replies = toolReplies(questions, answered).filter(({ interruptId }) => !told.has(interruptId))
    return replies.length === 0 ? given : [...given, ...replies]
  }

  async #goOn(given: readonly ResumeEntry[], options: SendOptions): Promise<TurnResult> {
    const { conversation, desk, now, prepare, run } = this.#parts
    const entries = buildResume(conversation.questions, given, now())
    const start = prepare(options)
    const claim = this.#claim(
      entries.map(({ interruptId }) => interruptId),
      () => buildResume(conversation.questions, entries, now()),
    )
    if (claim !== undefined) await claim
    desk.take(entries)
    conversation.approvals.sent(conversation.questions, entries)
    return run(start, entries)
  }

  /** Makes the answers ours to give: another tab may have been quicker. Undefined if there is none, and nothing to wait for. */
  #claim(names: readonly string[], again: () => unknown): Promise<void> | undefined {
    const { keeper, requireIdle } = this.#parts
    return keeper?.claimAnswers?.(names).then(() => {
      requireIdle()
      again()
    })
  }
}

function nothingToRetry(): UsageError {
  return new UsageError('nothing-to-retry', 'No turn failed here since something else was done. reload() asks the last message again.')
}
