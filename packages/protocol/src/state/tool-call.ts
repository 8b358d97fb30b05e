/** How TOOL_CALL_* shows in messages: calls on an assistant message, results right behind it. */
import { present } from '../json-value.ts'
import type { Reporter } from '../diagnostics.ts'
import type { EventOf, Message, ToolMessage } from '../events/event.ts'
import type { Draft } from './draft.ts'
import type { CallSlot, Slot } from './message-slots.ts'

export function start(draft: Draft, event: EventOf<'TOOL_CALL_START'>, reporter: Reporter): void {
  if (!draft.runCalls.has(event.toolCallId)) draft.runCalls.set(event.toolCallId, false)
  let slot = draft.messages.call(event.toolCallId)
  if (slot === undefined) {
    const host = hostOf(draft, event, reporter)
    const { content } = host.message as { content?: string }
    slot = draft.messages.addCall(
      host,
      { id: event.toolCallId, type: 'function', function: { name: event.toolCallName, arguments: '' } },
      content?.length ?? 0,
    )
  } else if (slot.call.function.name !== event.toolCallName) {
    reporter.report('state.role-conflict', {
      message: `Call "${event.toolCallId}" was named "${slot.call.function.name}"; it is renamed`,
      pointer: '/toolCallName',
    })
    draft.messages.writeCall(slot).function.name = event.toolCallName
  }
  draft.messages.setOpen(slot, true)
  draft.messages.merge(slot, event.metadata)
}

/** The assistant message a new call goes on: its parent, or a new one. */
function hostOf(draft: Draft, event: EventOf<'TOOL_CALL_START'>, reporter: Reporter): Slot {
  const { parentMessageId, toolCallId, subagentRunId } = event
  const parent = parentMessageId === undefined ? undefined : draft.messages.slot(parentMessageId)
  if (parent?.message.role === 'assistant') return parent
  if (parent !== undefined) {
    reporter.report('state.role-conflict', {
      message: `The parent of call "${toolCallId}" has role ${parent.message.role}; the call gets a message of its own`,
      pointer: '/parentMessageId',
    })
  }
  const wanted = parent === undefined ? (parentMessageId ?? toolCallId) : toolCallId
  const taken = draft.messages.slot(wanted)
  if (taken?.message.role === 'assistant') return taken
  return draft.messages.put({
    id: taken === undefined ? wanted : freeId(draft, `assistant-${toolCallId}`),
    role: 'assistant',
    ...present({ subagentRunId }),
  })
}

export function args(draft: Draft, event: EventOf<'TOOL_CALL_ARGS'>, reporter: Reporter): void {
  const slot = target(draft, event.toolCallId, reporter)
  if (slot === undefined) return
  const call = draft.messages.writeCall(slot)
  ;(slot.input ??= {}).feed?.grow(event.delta, call.function.arguments.length)
  call.function.arguments += event.delta
  draft.messages.merge(slot, event.metadata)
}

export function end(draft: Draft, event: EventOf<'TOOL_CALL_END'>, reporter: Reporter): void {
  const slot = target(draft, event.toolCallId, reporter)
  if (slot === undefined) return
  draft.messages.setOpen(slot, false)
  draft.messages.merge(slot, event.metadata)
}

function target(draft: Draft, toolCallId: string, reporter: Reporter): CallSlot | undefined {
  const slot = draft.messages.call(toolCallId)
  if (slot === undefined) {
    reporter.report('state.no-target', { message: `No call "${toolCallId}" is in the thread`, pointer: '/toolCallId' })
  }
  return slot
}

/**
 * A result stands behind the message that called and the results already there, however late it comes: providers
 * refuse a history in which other text stands between. Delivered twice, it is stored once.
 */
export function result(draft: Draft, event: EventOf<'TOOL_CALL_RESULT'>, reporter: Reporter): void {
  const { toolCallId, content, metadata, subagentRunId } = event
  if (draft.runCalls.has(toolCallId)) draft.runCalls.set(toolCallId, true)
  const id = resultId(draft, event, reporter)
  const known = draft.messages.slot(id)
  const message: ToolMessage = {
    id,
    role: 'tool',
    toolCallId,
    content,
    ...present({ subagentRunId, metadata }),
  }
  const before = known?.message.metadata
  if (before !== undefined) message.metadata = { ...before, ...metadata }
  answer(draft, message)
}

/** Puts a result behind its call, or in the place of the message with its id. */
export function answer(draft: Draft, message: ToolMessage): void {
  if (draft.messages.slot(message.id) === undefined) draft.messages.put(message, behindCall(draft, message.toolCallId))
  else draft.messages.put(message)
}

/** The result's own id, or one made from its call if that id is another message's. */
function resultId(draft: Draft, event: EventOf<'TOOL_CALL_RESULT'>, reporter: Reporter): string {
  const { messageId, toolCallId } = event
  const known = draft.messages.slot(messageId)?.message
  if (known === undefined || isResultOf(known, toolCallId)) return messageId
  const made = `tool-${toolCallId}`
  const other = draft.messages.slot(made)?.message
  const id = other === undefined || isResultOf(other, toolCallId) ? made : freeId(draft, made)
  reporter.report('state.result-id-taken', {
    message: `Message id "${messageId}" of a result is taken (role ${known.role}); the result is stored as "${id}"`,
    pointer: '/messageId',
  })
  return id
}

function isResultOf(message: Message, toolCallId: string): boolean {
  return message.role === 'tool' && message.toolCallId === toolCallId
}

function behindCall(draft: Draft, toolCallId: string): number {
  const { slots } = draft.messages
  const host = draft.messages.call(toolCallId)?.host
  if (host === undefined) return slots.length
  let index = host.index + 1
  while (slots[index]?.message.role === 'tool') index++
  return index
}

function freeId(draft: Draft, wanted: string): string {
  let id = wanted
  for (let n = 2; draft.messages.slot(id) !== undefined; n++) id = `${wanted}-${n}`
  return id
}
