/**
 * UI messages → AG-UI messages, as a run input carries them. The inverse of `view`: parts that came from AG-UI
 * messages go back to the messages they came from; parts made here fan out as the seed of this design says.
 */
import type { AssistantMessage, ContentPart, Message, Metadata, ToolCall, ToolMessage } from '../events/event.ts'
import { setNotes } from '../state/notes.ts'
import type { MessageOrigin, StructuredOutputPart, ToolApproval, ToolCallPart, ToolOutcome, ToolResultPart, UIMessage, UIPart } from '../view/ui-message.ts'

/** How messages are written for the agent. */
export interface WireOptions {
  /**
   * `spec`: AG-UI fields only. `parts`: anchors carry their UI `parts` beside the AG-UI fields, for servers that read
   * them. Default `spec`.
   */
  readonly wire?: 'spec' | 'parts'
}

/** An AG-UI message that may carry the UI parts it was made from. */
export type WireMessage = Message & { parts?: readonly UIPart[] }

/**
 * The messages of a run input.
 * @param messages UI messages in order; activities are the client's own and are left out (AG-UI 1.0, outgoing).
 */
export function uiMessagesToWire(messages: readonly UIMessage[], options: WireOptions = {}): WireMessage[] {
  return messages.flatMap((message) => toWire(asApproved(message), options.wire === 'parts'))
}

/** Arguments that the user changed are those that are run: the model is to see them, and so is a server that runs what it is sent. */
function asApproved(message: UIMessage): UIMessage {
  if (!message.parts.some(isEdited)) return message
  const parts = message.parts.map((part) => (isEdited(part) ? { ...part, arguments: JSON.stringify(part.approval.input) } : part))
  return { ...message, parts }
}

function isEdited(part: UIPart): part is ToolCallPart & { readonly approval: ToolApproval } {
  return part.type === 'tool-call' && part.approval?.approved === true && part.approval.input !== undefined
}

/** The AG-UI messages of UI messages, activities included: what a thread holds. */
export function toMessages(messages: readonly UIMessage[]): Message[] {
  return messages.flatMap((message) => (message.role === 'assistant' ? assistantMessages(message, true) : [plainMessage(message)]))
}

function toWire(message: UIMessage, withParts: boolean): WireMessage[] {
  const plain: WireMessage[] = message.role === 'assistant' ? assistantMessages(message, false) : [plainMessage(message)]
  if (!withParts) return plain
  const anchor = plain.find((made) => made.role === message.role) ?? plain[0]
  return anchor === undefined ? plain : plain.map((made) => (made === anchor ? { ...made, parts: message.parts } : made))
}

/** What an AG-UI message has beside its content: from where its parts were read, else from the UI message. */
function envelope(message: UIMessage, { origin }: { readonly origin?: MessageOrigin } = {}): Envelope {
  const { name, metadata } = origin ?? message
  const { subagentRunId, encryptedValue } = origin ?? {}
  return {
    ...(subagentRunId !== undefined && { subagentRunId }),
    ...(name !== undefined && { name }),
    ...(encryptedValue !== undefined && { encryptedValue }),
    ...(metadata !== undefined && { metadata }),
  }
}

interface Envelope {
  subagentRunId?: string
  name?: string
  encryptedValue?: string
  metadata?: Metadata
}

function plainMessage(message: UIMessage): Message {
  const { id, role, parts } = message
  if (role === 'user') return { id, role, content: userContent(parts), ...envelope(message, parts[0]) }
  return { id, role: role as 'system' | 'developer', content: textOf(parts), ...envelope(message, parts[0]) }
}

function owner({ origin }: UIPart): { subagentRunId?: string } {
  return origin?.subagentRunId === undefined ? {} : { subagentRunId: origin.subagentRunId }
}

/** A string where the parts are text; a list where there is media, or where text carries data of its own. */
function userContent(parts: readonly UIPart[]): string | ContentPart[] {
  const [only] = parts
  // Almost all there is, and a long history is written at every send.
  if (parts.length === 1 && only?.type === 'text' && only.metadata === undefined && !('id' in only)) return only.content
  const content = parts.flatMap((part): ContentPart[] => {
    if (part.type !== 'text' && !isMedia(part)) return []
    const { metadata } = part
    const id = 'id' in part ? (part.id as string | undefined) : undefined
    const extra = { ...(id !== undefined && { id }), ...(metadata !== undefined && { metadata }) }
    return [part.type === 'text' ? { type: 'text', text: part.content, ...extra } : { type: part.type, source: part.source, ...extra }]
  })
  const bare = content.every((part) => part.type === 'text' && part.id === undefined && part.metadata === undefined)
  return bare && content.length <= 1 ? textOf(parts) : content
}

function isMedia(part: UIPart): part is Extract<UIPart, { source: unknown }> {
  return part.type === 'image' || part.type === 'audio' || part.type === 'video' || part.type === 'document'
}

/**
 * The text of a message. A finished structured output is said again as text, so that the model sees what it answered;
 * one that is unfinished or could not be serialised would only confuse it.
 */
function textOf(parts: readonly UIPart[]): string {
  let text = ''
  for (const part of parts) text += textOfPart(part)
  return text
}

function textOfPart(part: UIPart): string {
  if (part.type === 'text') return part.content
  return part.type === 'structured-output' ? saidAgain(part) : ''
}

function saidAgain({ status, raw }: StructuredOutputPart): string {
  return status === 'complete' ? raw : ''
}

/** Of a message there is nothing but structured outputs that are not said again: a model takes no turn in which it said nothing. */
function isUnsaid(parts: readonly UIPart[]): boolean {
  return parts.every((part) => part.type === 'structured-output' && saidAgain(part) === '')
}

/** Parts of one AG-UI message stand together; a part without origin belongs to the message in hand. `keepAll`: also what the agent never gets. */
function assistantMessages(message: UIMessage, keepAll: boolean): Message[] {
  const made: Message[] = []
  /** The assistant message in hand, by the id its parts name. */
  let anchor: { id: string; parts: UIPart[] } | undefined
  const results: ToolMessage[] = []
  const close = (): void => {
    if (anchor !== undefined && (keepAll || !isUnsaid(anchor.parts))) made.push(anchorMessage(anchor.id, anchor.parts, message))
    made.push(...results.splice(0))
    anchor = undefined
  }
  for (const part of message.parts) {
    switch (part.type) {
      case 'thinking':
        // A thought with an origin keeps its place; one made here goes before the answer it led to.
        if (part.origin !== undefined) close()
        made.push(reasoningMessage(message.id, part))
        break
      case 'activity':
        if (!keepAll) break
        close()
        made.push(activityMessage(message.id, part))
        break
      case 'tool-result':
        results.push(resultMessage(part))
        break
      default: {
        const id = part.origin?.messageId ?? anchor?.id ?? message.id
        if (anchor !== undefined && anchor.id !== id) close()
        anchor ??= { id, parts: [] }
        anchor.parts.push(part)
        if (part.type === 'tool-call' && part.result !== undefined) results.push(answerMessage(part, part.result))
      }
    }
  }
  close()
  return made
}

function anchorMessage(id: string, parts: readonly UIPart[], message: UIMessage): AssistantMessage {
  let content = ''
  const toolCalls: ToolCall[] = []
  for (const part of parts) {
    if (part.type !== 'tool-call') {
      content += textOfPart(part)
      continue
    }
    const call = toolCall(part)
    // AG-UI has no field for it, and who shows these messages again shows them in their order.
    setNotes(call, { textOffset: content.length })
    toolCalls.push(call)
  }
  return {
    id,
    role: 'assistant',
    ...(content !== '' && { content }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...envelope(message, parts[0]),
  }
}

function activityMessage(id: string, part: Extract<UIPart, { type: 'activity' }>): Message {
  const { activityType, content, metadata, origin } = part
  return {
    id: origin?.messageId ?? id,
    role: 'activity',
    activityType,
    content,
    ...owner(part),
    ...(metadata !== undefined && { metadata }),
  }
}

function toolCall({ id, name, arguments: text, encryptedValue, metadata }: ToolCallPart): ToolCall {
  return {
    id,
    type: 'function',
    function: { name, arguments: text },
    ...(encryptedValue !== undefined && { encryptedValue }),
    ...(metadata !== undefined && { metadata }),
  }
}

function answerMessage(part: ToolCallPart, result: NonNullable<ToolCallPart['result']>): ToolMessage {
  return toolMessage(result.messageId, part.id, result)
}

function resultMessage(part: ToolResultPart): ToolMessage {
  const id = part.origin?.messageId ?? deriveToolMessageId(part.toolCallId)
  return toolMessage(id, part.toolCallId, { ...part, ...owner(part) })
}

function toolMessage(id: string, toolCallId: string, answer: Omit<ToolOutcome, 'messageId'>): ToolMessage {
  const { content, error, encryptedValue, metadata, subagentRunId } = answer
  return {
    id,
    role: 'tool',
    toolCallId,
    content,
    ...(error !== undefined && { error }),
    ...(encryptedValue !== undefined && { encryptedValue }),
    ...(metadata !== undefined && { metadata }),
    ...(subagentRunId !== undefined && { subagentRunId }),
  }
}

function reasoningMessage(messageId: string, part: Extract<UIPart, { type: 'thinking' }>): Message {
  return {
    id: part.origin?.messageId ?? deriveReasoningId(messageId, part.content),
    role: 'reasoning',
    content: part.content,
    ...(part.encryptedValue !== undefined && { encryptedValue: part.encryptedValue }),
    ...owner(part),
    ...(part.origin?.metadata !== undefined && { metadata: part.origin.metadata }),
  }
}

/** The id of the tool message that a bare result part becomes. */
export function deriveToolMessageId(toolCallId: string): string {
  return `tool-${toolCallId}`
}

/** The id of the reasoning message that a bare thinking part becomes: stable, and told apart by content. */
export function deriveReasoningId(messageId: string, content: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < content.length; index++) hash = Math.imul(hash ^ content.charCodeAt(index), 0x01000193)
  return `${messageId}-reasoning-${(hash >>> 0).toString(36)}`
}
