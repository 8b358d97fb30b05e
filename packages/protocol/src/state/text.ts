/** How TEXT_MESSAGE_* shows in messages. Reasoning messages are written the same way. */
import { present } from '../json-value.ts'
import type { Reporter } from '../diagnostics.ts'
import type { EventOf, Message, TextMessageRole } from '../events/event.ts'
import type { Draft } from './draft.ts'
import type { Slot } from './message-slots.ts'

type Start = EventOf<'TEXT_MESSAGE_START'> | EventOf<'REASONING_MESSAGE_START'>
type Content = EventOf<'TEXT_MESSAGE_CONTENT'> | EventOf<'REASONING_MESSAGE_CONTENT'>
type End = EventOf<'TEXT_MESSAGE_END'> | EventOf<'REASONING_MESSAGE_END'>

export function start(draft: Draft, event: Start, reporter: Reporter): void {
  const known = draft.messages.slot(event.messageId)
  if (known?.message.role === 'activity') {
    reporter.report('state.role-conflict', { message: `"${event.messageId}" is an activity; text for it is ignored`, pointer: '/messageId' })
    return
  }
  // A known message goes on: reopened, or made before by a tool call that named it. Role, name and owner stay.
  const slot = known ?? draft.messages.put(created(event))
  draft.messages.setOpen(slot, true)
  if (known !== undefined) draft.messages.merge(slot, event.metadata)
}

function created(event: Start): Message {
  return {
    id: event.messageId,
    role: event.role ?? 'assistant',
    content: '',
    ...present({ name: (event as { name?: string }).name, subagentRunId: event.subagentRunId, metadata: event.metadata }),
  } as Message & { role: TextMessageRole | 'reasoning' }
}

export function content(draft: Draft, event: Content, reporter: Reporter): void {
  const slot = target(draft, event, reporter)
  if (slot === undefined) return
  draft.messages.merge(slot, event.metadata)
  append(draft.messages.write(slot), event.delta)
}

export function end(draft: Draft, event: End, reporter: Reporter): void {
  const slot = target(draft, event, reporter)
  if (slot === undefined) return
  draft.messages.setOpen(slot, false)
  draft.messages.merge(slot, event.metadata)
}

/** The message an event writes to. A snapshot may have dropped it since it was opened. */
function target(draft: Draft, event: Content | End, reporter: Reporter): Slot | undefined {
  const slot = draft.messages.slot(event.messageId)
  if (slot === undefined) {
    reporter.report('state.no-target', { message: `No message "${event.messageId}" is in the thread`, pointer: '/messageId' })
  }
  return slot === undefined || slot.message.role === 'activity' ? undefined : slot
}

function append(message: Message, delta: string): void {
  if (message.role === 'activity') return
  const { content } = message
  if (Array.isArray(content)) {
    const last = content.at(-1)
    const parts =
      last?.type === 'text'
        ? [...content.slice(0, -1), { ...last, text: last.text + delta }]
        : [...content, { type: 'text' as const, text: delta }]
    ;(message as { content: unknown }).content = parts
  } else {
    message.content = content === undefined ? delta : content + delta
  }
}
