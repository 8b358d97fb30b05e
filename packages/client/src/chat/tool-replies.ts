/**
 * Calls that the agent asks us to run by interrupts, and what their results answer. It runs and sends nothing.
 */
import { checkPayload, isToolRequest, type Interrupt, type ResumeEntry, type Thread, type Tool, type ToolCall, type ToolMessage } from '@millrace/protocol'
import { isRecord } from '../checks.ts'
import type { ClientTool } from '../tools/define-tool.ts'
import type { ToolAnswer } from '../tools/run-tool.ts'
import type { Conversation } from './conversation.ts'
import { withInput, type OpenCall } from './tool-desk.ts'

type Asked = Pick<Conversation, 'thread' | 'approvals' | 'answered'>

/** What the calls that were answered since the turn in hand began say to the interrupts that asked for them. */
export function toolReplies(interrupts: readonly Interrupt[], answered: ReadonlyMap<string, ToolAnswer>): readonly ResumeEntry[] {
  return interrupts.filter(isToolRequest).flatMap(({ id, toolCallId }): readonly ResumeEntry[] => {
    const answer = answered.get(toolCallId as string)
    if (answer === undefined) return []
    const { error, output } = answer
    return [{ interruptId: id, status: 'resolved', payload: error === undefined ? (output ?? null) : { error } }]
  })
}

/** Calls of tools of ours that open interrupts ask for and nobody has answered, with the input the agent names. */
export function askedCalls({ thread: { messages, interrupts }, approvals, answered }: Asked, tools: readonly (ClientTool | Tool)[]): readonly OpenCall[] {
  const asked = interrupts.filter((interrupt) => isToolRequest(interrupt) && !answered.has(interrupt.toolCallId as string))
  if (asked.length === 0) return []
  const calls = new Map<string, ToolCall>()
  for (const message of messages) if (message.role === 'assistant') for (const call of message.toolCalls ?? []) calls.set(call.id, call)
  return asked.flatMap(({ toolCallId, metadata }): readonly OpenCall[] => {
    const call = calls.get(toolCallId as string)
    const tool = tools.find(({ name }) => name === call?.function.name) as ClientTool | undefined
    if (call === undefined || tool === undefined) return []
    return [{ call: withInput(call, metadata?.['input'] ?? approvals.inputOf(call.id)), tool }]
  })
}

/**
 * Of a thread that was restored: results of calls that interrupts ask for. Where nothing else is open and one of them says that it
 * failed, the user has stopped it, and is to be asked: none of them is an answer then.
 */
export function storedAnswers({ messages, interrupts }: Thread): ReadonlyMap<string, ToolAnswer> {
  const results = new Map(messages.flatMap((message) => (message.role === 'tool' ? [[message.toolCallId, message] as const] : [])))
  const answered = interrupts.filter((interrupt) => isToolRequest(interrupt) && results.has(interrupt.toolCallId as string))
  const failed = answered.some(({ toolCallId }) => results.get(toolCallId as string)?.error !== undefined)
  if (answered.length === interrupts.length && failed) return new Map()
  return new Map(
    answered.map((interrupt) => {
      const id = interrupt.toolCallId as string
      return [id, answerIn(results.get(id) as ToolMessage, interrupt)] as const
    }),
  )
}

/** A result as it was given: it was written as JSON, but for text, which the schema tells. */
function answerIn({ content, error }: ToolMessage, { responseSchema = {} }: Interrupt): ToolAnswer {
  if (typeof content !== 'string') return { content: JSON.stringify(content), output: content }
  if (error !== undefined) return { content, error }
  try {
    const value: unknown = JSON.parse(content)
    const plain = isRecord(value) || Array.isArray(value) || value === null
    return { content, output: plain || checkPayload(responseSchema, content, {} as Interrupt) !== undefined ? value : content }
  } catch {
    return { content, output: content }
  }
}
