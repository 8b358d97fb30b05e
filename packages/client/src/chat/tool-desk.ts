/**
 * The calls of our tools that wait for an answer, and those that are being run. It says what is to be done; it folds
 * nothing and sends nothing.
 */
import { UsageError, type Thread, type Tool, type ToolCall } from '@millrace/protocol'
import type { ClientTool } from '../tools/define-tool.ts'
import { contentOf, failure, parseArguments, runTool, type ToolAnswer } from '../tools/run-tool.ts'
import type { Conversation } from './conversation.ts'
import type { OpenToolCall, ToolResultInput } from './options.ts'

/** A call that nobody has answered, with the tool it names if that is ours. */
export interface OpenCall {
  readonly call: ToolCall
  readonly tool: ClientTool | undefined
}

export interface AnsweredCall {
  readonly toolCallId: string
  readonly answer: ToolAnswer
}

/** What a call is answered that was left while it ran: it may have done something, and is not run again. */
export const LEFT = 'The page was left while it ran.'

/**
 * Where the calls that the last run left stand. The run says which they are (`pendingToolCallIds`); those for which the
 * thread has a result by now are answered.
 */
export function leftCalls(
  { thread: { messages, runs }, toolAsks, approvals }: Asked,
  tools: readonly (ClientTool | Tool)[],
): { readonly ours: number; readonly open: readonly OpenCall[] } {
  const run = runs.at(-1)
  const pending = new Set(run?.outcome === 'finished' ? [...(run.pendingToolCallIds ?? []), ...toolAsks.keys()] : [])
  if (pending.size === 0) return { ours: 0, open: [] }
  const byName = new Map(tools.map((tool) => [tool.name, tool as ClientTool]))
  const answered = new Set(messages.map((message) => (message.role === 'tool' ? message.toolCallId : undefined)))
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
  const known = new Set(calls.map(({ id }) => id))
  // Of a call that it made in a run of before, a server may tell no more than this.
  const untold = [...toolAsks.values()].filter(({ toolCallId }) => !known.has(toolCallId)).map(({ toolCallId, toolName }) => bareCall(toolCallId, toolName))
  const left = [...calls, ...untold]
    .filter((call) => pending.has(call.id))
    .flatMap((call): readonly OpenCall[] => {
      const ask = toolAsks.get(call.id)
      const held = ask === undefined ? approvals.holds(call.id) : undefined
      // Whether it runs is for the agent, which is told what the user said.
      if (held === 'said') return []
      if (held === 'asked') return [{ call, tool: undefined }]
      return [{ call: withInput(call, ask?.input ?? approvals.inputOf(call.id)), tool: byName.get(call.function.name) }]
    })
  return {
    ours: left.filter(({ tool }) => tool !== undefined).length,
    open: left.filter(({ call }) => !answered.has(call.id)),
  }
}

/**
 * Calls since the user last spoke that have no result and will get none, as their run was stopped or failed. What a tool of the
 * server gave may have been told to the model alone: a call behind which the agent said more has its result.
 */
export function lostCalls({ thread: { runs }, messages, approvals }: Asked & Pick<Conversation, 'messages'>, tools: readonly (ClientTool | Tool)[]): readonly string[] {
  const outcome = runs.at(-1)?.outcome
  if (outcome === undefined || outcome === 'finished' || outcome === 'interrupted') return []
  const ours = new Set(tools.map(({ name }) => name))
  const lost = new Map<string, boolean>()
  for (const { parts } of messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)) {
    for (const part of parts) {
      if (part.type === 'text' && part.content !== '') for (const [id, isOurs] of lost) if (!isOurs) lost.delete(id)
      if (part.type === 'tool-call' && part.result === undefined && !approvals.goesAlong(part.id)) lost.set(part.id, ours.has(part.name))
    }
  }
  return [...lost.keys()]
}

/** What the agent asks for, beside what its messages say. */
type Asked = Pick<Conversation, 'thread' | 'toolAsks' | 'approvals'>

function bareCall(id: string, name: string): ToolCall {
  return { id, type: 'function', function: { name, arguments: '' } }
}

/** The call as it is to be run: with these arguments, if there are any. */
export function withInput(call: ToolCall, input: unknown): ToolCall {
  const text = input === undefined || input === null ? undefined : JSON.stringify(input)
  return text === undefined ? call : { ...call, function: { ...call.function, arguments: text } }
}

/** Tools at work. */
interface Shift {
  readonly controller: AbortController
  readonly calls: readonly OpenCall[]
  readonly answers: Map<string, ToolAnswer>
}

export class ToolDesk {
  /** Calls that were run, by run and id: one that is seen again, in a replay, is not run again. */
  readonly #seen = new Set<string>()
  #shift: Shift | undefined

  /**
   * Runs those of these calls that can be, side by side.
   * @returns what each gave, in the order of the calls; undefined if `stop()` came first.
   */
  async run(open: readonly OpenCall[], runId: string): Promise<readonly AnsweredCall[] | undefined> {
    const calls = open.filter(({ call, tool }) => tool?.execute !== undefined && !this.#seen.has(`${runId} ${call.id}`))
    for (const { call } of calls) this.#seen.add(`${runId} ${call.id}`)
    const controller = new AbortController()
    const { signal } = controller
    const shift: Shift = { controller, calls, answers: new Map() }
    this.#shift = shift
    const work = calls.map(async ({ call, tool }) => {
      shift.answers.set(call.id, await runTool(tool as ClientTool, call, { toolCallId: call.id, signal }))
    })
    await new Promise<unknown>((resolve) => {
      signal.addEventListener('abort', resolve, { once: true })
      void Promise.all(work).then(resolve)
    })
    if (this.#shift !== shift) return undefined
    this.#shift = undefined
    return answersOf(shift)
  }

  /** Calls that were begun and have given nothing yet. */
  get begun(): readonly string[] {
    return this.#shift?.calls.map(({ call }) => call.id) ?? []
  }

  /** Ends what runs. A call that has not settled is answered all the same: a history with open calls is refused by models. */
  stop(): readonly AnsweredCall[] {
    const { answered, lost } = this.leave()
    return [...answered, ...lost.map(stoppedCall)]
  }

  /** Ends what runs: what is answered, and what was begun and gave nothing yet. */
  leave(): { readonly answered: readonly AnsweredCall[]; readonly lost: readonly string[] } {
    const shift = this.#shift
    this.#shift = undefined
    shift?.controller.abort()
    const answered = shift === undefined ? [] : answersOf(shift)
    const done = new Set(answered.map(({ toolCallId }) => toolCallId))
    return { answered, lost: (shift?.calls ?? []).flatMap(({ call }) => (done.has(call.id) ? [] : [call.id])) }
  }
}

/** Answers to calls that were to be run, and are not. */
export function stopped(open: readonly OpenCall[]): AnsweredCall[] {
  return open.flatMap(({ call, tool }) => (tool?.execute === undefined ? [] : [stoppedCall(call.id)]))
}

function stoppedCall(toolCallId: string): AnsweredCall {
  return { toolCallId, answer: failure('The user stopped it.') }
}

function answersOf({ calls, answers }: Shift): AnsweredCall[] {
  return calls.flatMap(({ call }) => {
    const answer = answers.get(call.id)
    return answer === undefined ? [] : [{ toolCallId: call.id, answer }]
  })
}

/**
 * The call that an answer of the application is for.
 * @throws UsageError `unknown-call` if the thread has no such call, or none of the tool that is named.
 */
export function requireCall({ messages }: Thread, { toolCallId, toolName }: Pick<ToolResultInput, 'toolCallId' | 'toolName'>): ToolCall {
  for (const message of messages) {
    const call = message.role === 'assistant' ? message.toolCalls?.find(({ id }) => id === toolCallId) : undefined
    if (call === undefined) continue
    if (toolName === undefined || toolName === call.function.name) return call
    throw new UsageError('unknown-call', `The call "${toolCallId}" is one of ${call.function.name}, not of ${toolName}.`)
  }
  throw new UsageError('unknown-call', `No call "${toolCallId}" is in the thread.`)
}

/** A call as the application is told of it. */
export function openToolCall({ id, function: { name, arguments: text } }: ToolCall): OpenToolCall {
  const parsed = parseArguments(text)
  return { toolCallId: id, toolName: name, input: parsed?.value }
}

/**
 * An answer of the application, as the agent will read it.
 * @throws UsageError `malformed-answer`.
 */
export function answerOf({ output, error }: ToolResultInput): ToolAnswer {
  if (error === undefined) {
    try {
      return { content: contentOf(output), output }
    } catch (cause) {
      throw new UsageError('malformed-answer', 'The output of a tool has to be JSON: it has a cycle or a BigInt.', { cause })
    }
  }
  if (typeof error !== 'string') throw new UsageError('malformed-answer', 'The error of a tool result has to be a string.')
  return failure(error)
}
