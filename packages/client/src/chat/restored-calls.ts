/**
 * The calls of our tools that waited when a page, or another one, left the thread: which of them are run now, and how the agent is
 * gone on with. It reads no run and sends nothing.
 */
import { isToolRequest } from '@millrace/protocol'
import { failure } from '../tools/run-tool.ts'
import type { Conversation } from './conversation.ts'
import type { Recalled } from './keeper.ts'
import type { ChatClientSettings, TurnResult } from './options.ts'
import type { Start } from './run-context.ts'
import type { Source } from './source.ts'
import type { ToolAnswers } from './tool-answers.ts'
import { LEFT, leftCalls, type OpenCall } from './tool-desk.ts'
import { askedCalls, storedAnswers } from './tool-replies.ts'
import type { Plan, Underway } from './underway.ts'

/** What is known here of the calls that a run left; undefined: it was not one of ours. */
export type Recall = (runId: string) => Promise<Recalled | undefined> | undefined

/** What the runner lets it do. */
export interface RestoredStage {
  readonly conversation: Conversation
  readonly answers: Pick<ToolAnswers, 'show' | 'tell'>
  settings(): ChatClientSettings
  /** Whether the calls that a run left are ours to answer; undefined: they are. */
  readonly mayAnswerCalls: ((runId: string) => Promise<boolean> | undefined) | undefined
  onChange(): void
  readonly busy: boolean
  begin(plan: Plan): Underway
  /** Goes on after a turn that ended like this. */
  follow(underway: Underway, ended: TurnResult): Promise<TurnResult>
}

/** Of a turn that was read before. */
const NOTHING: Source = { subscribe: async function* () {}, shared: false }

const NO_ANSWERS: Conversation['answered'] = new Map()

export class RestoredCalls {
  readonly #stage: RestoredStage
  /** Calls that had been begun when the thread was left; undefined: there is nothing to go on with. */
  begun: readonly string[] | undefined

  constructor(stage: RestoredStage) {
    this.#stage = stage
  }

  /**
   * Goes on where a page was left while calls of ours waited: those that had not been begun are run. One that had is not run
   * twice: nobody knows what it did.
   * @param recall for a thread that the server told.
   * @returns undefined if no call waits for us.
   */
  async goOn(recall?: Recall): Promise<TurnResult | undefined> {
    const begun = recall === undefined ? this.begun : []
    this.begun = undefined
    if (begun === undefined || this.#stage.busy) return undefined
    const { conversation, mayAnswerCalls } = this.#stage
    const { thread } = conversation
    const { threadId, runId } = thread.runs.at(-1) ?? {}
    const waits = this.#waiting().length > 0 || this.#isAnswered
    if (threadId === undefined || runId === undefined || !waits) return undefined
    const isSame = (): boolean => !this.#stage.busy && conversation.thread === thread
    const asked = mayAnswerCalls?.(runId)
    if (asked !== undefined && (!(await asked) || !isSame())) return undefined
    const start: Start = { threadId, runId, body: undefined }
    if (recall === undefined) return this.#answer(start, begun)
    // Not before it is ours: until then another tab may answer some.
    const recalled = await recall(runId)
    if (recalled === undefined || !isSame()) return undefined
    for (const result of recalled.results) conversation.builder.addToolResult(result)
    return this.#answer(start, recalled.begun)
  }

  /** Calls of ours that the last run left, with the answers of before to those that interrupts ask for. */
  #waiting(): readonly OpenCall[] {
    const { conversation, settings } = this.#stage
    const { thread } = conversation
    const tools = settings().tools ?? []
    if (thread.runs.at(-1)?.outcome !== 'interrupted') return leftCalls(conversation, tools).open
    const stored = storedAnswers(thread)
    if (stored.size > 0) conversation.answered = stored
    return askedCalls(conversation, tools)
  }

  /** All that the agent asked for by interrupts has its answer, and it was not told. */
  get #isAnswered(): boolean {
    const { thread, answered } = this.#stage.conversation
    const { interrupts } = thread
    return interrupts.length > 0 && interrupts.every((interrupt) => isToolRequest(interrupt) && answered.has(interrupt.toolCallId as string))
  }

  async #answer(start: Start, begun: readonly string[]): Promise<TurnResult | undefined> {
    const { conversation, answers, onChange, begin, follow } = this.#stage
    const open = this.#waiting()
    const results = new Set(conversation.thread.messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])))
    // What has a result and is asked for still was stopped: whether it is run again is for the application to say.
    const isRun = ({ call, tool }: OpenCall): boolean => tool?.execute !== undefined && !results.has(call.id)
    if (!this.#isAnswered && !open.some(isRun)) {
      onChange()
      return void answers.tell(open)
    }
    const { thread, builder, answered } = conversation
    const interrupted = thread.runs.at(-1)?.outcome === 'interrupted'
    const underway = begin({ start, source: NOTHING, builder, base: thread, runContext: start, seen: 0 })
    // It was read to its end before.
    underway.turn.leave()
    conversation.answered = interrupted ? answered : NO_ANSWERS
    const lost = open.filter(({ call }) => begun.includes(call.id))
    answers.show(lost.map(({ call }) => ({ toolCallId: call.id, answer: failure(LEFT) })))
    return follow(underway, { outcome: interrupted ? 'interrupted' : 'finished' })
  }
}
