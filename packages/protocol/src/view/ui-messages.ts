/**
 * Messages → what a user interface renders. Consecutive assistant, reasoning, tool and activity messages are one
 * turn, and a turn is one `UIMessage` whose parts stand in the order in which they came. Pure, and memoised: an
 * unchanged turn gives the same object.
 */
import { isObject, present } from '../json-value.ts'
import type { AssistantMessage, ContentPart, Message, ToolCall, ToolMessage } from '../events/event.ts'
import { notesOf } from '../state/notes.ts'
import { withApprovals, type CallApproval } from './approvals.ts'
import { setCall } from './tool-input.ts'
import type { MessageOrigin, ToolCallPart, ToolCallState, ToolOutcome, UIMessage, UIPart } from './ui-message.ts'

/** The turn last made from a group of messages, kept with its first one. */
interface Turn {
  readonly messages: readonly Message[]
  readonly ui: UIMessage
}

const turns = new WeakMap<Message, Turn>()
const NONE: ReadonlyMap<string, CallApproval> = new Map()

/**
 * What to render for these messages.
 * @param messages AG-UI messages in order. Objects that are the same as in an earlier call give the same result.
 * @param approvals what is known of approvals, by the id of the call; `approvalsOf(thread.interrupts)` gives those that are
 * asked for. Default: nothing.
 */
export function toUIMessages(messages: readonly Message[], approvals: ReadonlyMap<string, CallApproval> = NONE): readonly UIMessage[] {
  const result: UIMessage[] = []
  let start = 0
  while (start < messages.length) {
    const first = messages[start] as Message
    let end = start + 1
    if (isAgentSide(first)) while (end < messages.length && isAgentSide(messages[end] as Message)) end++
    result.push(turnOf(messages, start, end))
    start = end
  }
  return withApprovals(result, approvals)
}

function isAgentSide(message: Message): boolean {
  return message.role === 'assistant' || message.role === 'reasoning' || message.role === 'tool' || message.role === 'activity'
}

function turnOf(messages: readonly Message[], start: number, end: number): UIMessage {
  const first = messages[start] as Message
  const known = turns.get(first)
  if (known !== undefined && sameGroup(known.messages, messages, start, end)) return known.ui
  const group = messages.slice(start, end)
  const ui = isAgentSide(first) ? assistantTurn(group) : singleMessage(first)
  turns.set(first, { messages: group, ui })
  return ui
}

function sameGroup(known: readonly Message[], messages: readonly Message[], start: number, end: number): boolean {
  if (known.length !== end - start) return false
  // From the end: what changed is almost always the last message.
  for (let index = known.length - 1; index >= 0; index--) if (known[index] !== messages[start + index]) return false
  return true
}

function singleMessage(message: Message): UIMessage {
  const { id, role, metadata } = message
  const content = message.role === 'user' || message.role === 'system' || message.role === 'developer' ? message.content : ''
  const name = 'name' in message ? message.name : undefined
  return {
    id,
    role: role as UIMessage['role'],
    parts: contentParts(content, originOf(message)),
    ...present({ name, metadata }),
  }
}

function originOf(message: Message): MessageOrigin {
  const { id, subagentRunId, metadata } = message
  const name = 'name' in message ? message.name : undefined
  const sealed = message.role === 'tool' || message.role === 'activity' || message.role === 'reasoning' ? undefined : message.encryptedValue
  return {
    messageId: id,
    ...present({ subagentRunId, name, encryptedValue: sealed }),
    ...(metadata !== undefined && message.role !== 'activity' && message.role !== 'tool' && { metadata }),
  }
}

function contentParts(content: string | ContentPart[], origin: MessageOrigin): UIPart[] {
  if (typeof content === 'string' || content.length === 0) return [{ type: 'text', content: typeof content === 'string' ? content : '', origin }]
  return content.map((part) => {
    const { metadata, id } = part
    const extra = { ...present({ metadata, id }), origin }
    return part.type === 'text' ? { type: 'text', content: part.text, ...extra } : { type: part.type, source: part.source, ...extra }
  })
}

function assistantTurn(group: readonly Message[]): UIMessage {
  const results = new Map<string, ToolMessage>()
  const calls = new Set<string>()
  for (const message of group) {
    if (message.role === 'tool') results.set(message.toolCallId, message)
    else if (message.role === 'assistant') for (const call of message.toolCalls ?? []) calls.add(call.id)
  }
  const parts: UIPart[] = []
  for (const message of group) {
    if (message.role === 'tool' && calls.has(message.toolCallId) && results.get(message.toolCallId) === message) continue
    parts.push(...partsOf(message, results))
  }
  const first = group[0] as Message
  // A turn has the metadata and name of its assistant message, if it is of one.
  const assistants = group.filter((message) => message.role === 'assistant')
  const [only] = assistants
  const named = assistants.length === 1 && only !== undefined ? only : undefined
  return {
    id: first.id,
    role: 'assistant',
    parts,
    ...(named?.name !== undefined && { name: named.name }),
    ...(named?.metadata !== undefined && { metadata: named.metadata }),
  }
}

/** The parts of one message; those of a message whose results did not change are the same objects. */
const cache = new WeakMap<Message, { readonly answers: readonly (ToolMessage | undefined)[]; readonly parts: readonly UIPart[] }>()

function partsOf(message: Message, results: ReadonlyMap<string, ToolMessage>): readonly UIPart[] {
  const answers = message.role === 'assistant' ? (message.toolCalls ?? []).map((call) => results.get(call.id)) : []
  const known = cache.get(message)
  if (known !== undefined && known.answers.length === answers.length && known.answers.every((answer, index) => answer === answers[index])) {
    return known.parts
  }
  const parts = makeParts(message, answers)
  cache.set(message, { answers, parts })
  return parts
}

function makeParts(message: Message, answers: readonly (ToolMessage | undefined)[]): UIPart[] {
  const origin = originOf(message)
  switch (message.role) {
    case 'assistant':
      return assistantParts(message, answers, origin)
    case 'reasoning': {
      const { content, encryptedValue } = message
      const state = notesOf(message).open ? 'streaming' : 'done'
      return [{ type: 'thinking', content, state, ...present({ encryptedValue }), origin }]
    }
    case 'tool': {
      const { toolCallId, content, error, encryptedValue, metadata } = message
      return [
        {
          type: 'tool-result',
          toolCallId,
          content,
          state: error === undefined ? 'complete' : 'error',
          ...present({ error, encryptedValue, metadata }),
          origin,
        },
      ]
    }
    case 'activity': {
      const { activityType, content, metadata } = message
      return [{ type: 'activity', activityType, content, ...present({ metadata }), origin }]
    }
    default:
      return []
  }
}

/** Text and calls in the order in which they came: the fold noted where in the text each call began. */
function assistantParts(message: AssistantMessage, answers: readonly (ToolMessage | undefined)[], origin: MessageOrigin): UIPart[] {
  const text = message.content ?? ''
  const open = notesOf(message).open ?? false
  const parts: UIPart[] = []
  let at = 0
  const textUpTo = (end: number): void => {
    if (end > at) parts.push({ type: 'text', content: text.slice(at, end), state: 'done', origin })
    at = Math.max(at, end)
  }
  ;(message.toolCalls ?? []).forEach((call, index) => {
    textUpTo(Math.min(notesOf(call).textOffset ?? text.length, text.length))
    parts.push(toolCallPart(call, answers[index], origin))
  })
  textUpTo(text.length)
  const last = parts.at(-1)
  if (open && last?.type === 'text') parts[parts.length - 1] = { ...last, state: 'streaming' }
  return parts
}

/** The part last made of a call: while text streams beside it, a card need not be drawn again. */
const callParts = new WeakMap<ToolCall, { readonly answer: ToolMessage | undefined; readonly part: ToolCallPart }>()

function toolCallPart(call: ToolCall, answer: ToolMessage | undefined, origin: MessageOrigin): ToolCallPart {
  const made = callParts.get(call)
  if (made !== undefined && made.answer === answer && sameOrigin(made.part.origin as MessageOrigin, origin)) return made.part
  const part = makeToolCallPart(call, answer, origin)
  callParts.set(call, { answer, part })
  return part
}

function sameOrigin(a: MessageOrigin, b: MessageOrigin): boolean {
  const keys = Object.keys(b) as (keyof MessageOrigin)[]
  return keys.length === Object.keys(a).length && keys.every((key) => a[key] === b[key])
}

function makeToolCallPart(call: ToolCall, answer: ToolMessage | undefined, origin: MessageOrigin): ToolCallPart {
  const { id, encryptedValue, metadata } = call
  const part: ToolCallPart = {
    type: 'tool-call',
    id,
    name: call.function.name,
    arguments: call.function.arguments,
    state: callState(call, answer),
    ...(answer !== undefined && { output: outputOf(answer.content), result: outcomeOf(answer) }),
    ...present({ encryptedValue, metadata }),
    origin,
  }
  setCall(part, call)
  return part
}

function callState(call: ToolCall, answer: ToolMessage | undefined): ToolCallState {
  if (answer !== undefined) return answer.error === undefined ? 'complete' : 'error'
  if (!notesOf(call).open) return 'input-complete'
  return call.function.arguments === '' ? 'awaiting-input' : 'input-streaming'
}

function outcomeOf(answer: ToolMessage): ToolOutcome {
  const { id, subagentRunId, content, error, encryptedValue, metadata } = answer
  return {
    messageId: id,
    ...present({ subagentRunId }),
    content,
    ...present({ error, encryptedValue, metadata }),
  }
}

/** A result is text to the protocol; most of it is JSON, which a renderer wants parsed. */
function outputOf(content: string | ContentPart[]): unknown {
  if (typeof content !== 'string') return content
  try {
    const value: unknown = JSON.parse(content)
    return isObject(value) || Array.isArray(value) ? value : content
  } catch {
    return content
  }
}
