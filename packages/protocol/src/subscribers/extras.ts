/**
 * What some hooks are given beside their event, read from the messages before it. It calls no hook and changes nothing.
 */
import type { EventOf, Message, ToolCall, VerifiedEvent } from '../events/event.ts'
import { isObject } from '../json-value.ts'
import { readStreamed } from '../state/input-feed.ts'
import { PartialJson } from '../state/partial-json.ts'
import type { HookExtras } from './subscriber.ts'

/** The calls of the run in hand that were folded, and whether a result came: what a success leaves to the front end. */
export class CallTally {
  readonly #answered = new Map<string, boolean>()

  /** Notes an event that was folded. */
  see(event: VerifiedEvent): void {
    if (event.type === 'RUN_STARTED') this.#answered.clear()
    else if (event.type === 'TOOL_CALL_START' || event.type === 'TOOL_CALL_RESULT') {
      const { toolCallId: id } = event
      const known = this.#answered.has(id)
      if (event.type === 'TOOL_CALL_START' ? !known : known) this.#answered.set(id, known)
    }
  }

  /** Ids of the calls without a result, in the order in which they started. */
  pending(): string[] {
    return [...this.#answered].flatMap(([id, answered]) => (answered ? [] : [id]))
  }
}

/** What the hook of this event is given (see {@link HookExtras}); `messages` are those before it. */
export function extrasOf(event: VerifiedEvent, messages: readonly Message[], calls: CallTally): object {
  switch (event.type) {
    case 'TEXT_MESSAGE_CONTENT':
    case 'TEXT_MESSAGE_END':
      return { textMessageBuffer: textOf(messages, event.messageId) } satisfies HookExtras['TEXT_MESSAGE_END']
    case 'REASONING_MESSAGE_CONTENT':
    case 'REASONING_MESSAGE_END':
      return { reasoningMessageBuffer: textOf(messages, event.messageId) } satisfies HookExtras['REASONING_MESSAGE_END']
    case 'TOOL_CALL_ARGS': {
      const call = findCall(messages, event.toolCallId)
      return {
        toolCallBuffer: call?.function.arguments ?? '',
        toolCallName: call?.function.name ?? '',
        partialToolCallArgs: partial(call),
      } satisfies HookExtras['TOOL_CALL_ARGS']
    }
    case 'TOOL_CALL_END': {
      const call = findCall(messages, event.toolCallId)?.function
      return { toolCallName: call?.name ?? '', toolCallArgs: parsed(call?.arguments) } satisfies HookExtras['TOOL_CALL_END']
    }
    case 'ACTIVITY_SNAPSHOT': {
      const existingMessage = messages.find(({ id }) => id === event.messageId)
      return {
        ...(existingMessage !== undefined && { existingMessage }),
        ...(existingMessage?.role === 'activity' && { activityMessage: existingMessage }),
      } satisfies HookExtras['ACTIVITY_SNAPSHOT']
    }
    case 'ACTIVITY_DELTA': {
      const message = messages.find(({ id }) => id === event.messageId)
      return (message?.role === 'activity' ? { activityMessage: message } : {}) satisfies HookExtras['ACTIVITY_DELTA']
    }
    case 'RUN_FINISHED':
      return finished(event, calls)
    default:
      return {}
  }
}

/** The message that this event has completed; `messages` are those after it. */
export function completedMessage(event: VerifiedEvent, messages: readonly Message[]): Message | undefined {
  switch (event.type) {
    case 'TEXT_MESSAGE_END':
    case 'REASONING_MESSAGE_END':
    case 'ACTIVITY_SNAPSHOT':
      return messages.findLast(({ id }) => id === event.messageId)
    case 'TOOL_CALL_RESULT':
      return messages.findLast((message) => message.role === 'tool' && message.toolCallId === event.toolCallId)
    default:
      return undefined
  }
}

/** The call that this event has completed; `messages` are those after it. */
export function completedCall(event: VerifiedEvent, messages: readonly Message[]): ToolCall | undefined {
  return event.type === 'TOOL_CALL_END' ? findCall(messages, event.toolCallId) : undefined
}

function finished({ outcome, result }: EventOf<'RUN_FINISHED'>, calls: CallTally): HookExtras['RUN_FINISHED'] {
  switch (outcome?.type) {
    case 'interrupt':
      return { outcome: 'interrupt', interrupts: outcome.interrupts }
    case 'cancelled':
      return { outcome: 'cancelled' }
    default: {
      const listed = outcome?.pendingToolCallIds
      const pendingToolCallIds = listed?.length ? listed : calls.pending()
      return { outcome: 'success', ...(result !== undefined && { result }), pendingToolCallIds }
    }
  }
}

function textOf(messages: readonly Message[], id: string): string {
  const content = messages.findLast((message) => message.id === id)?.content
  return typeof content === 'string' ? content : ''
}

function findCall(messages: readonly Message[], id: string): ToolCall | undefined {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index] as Message
    const call = message.role === 'assistant' ? message.toolCalls?.find((one) => one.id === id) : undefined
    if (call !== undefined) return call
  }
  return undefined
}

/** Read as it grows, so that each delta costs what it brings. */
function partial(call: ToolCall | undefined): Record<string, unknown> {
  if (call === undefined) return {}
  const text = call.function.arguments
  let read = readStreamed(call, text)
  if (read === undefined) {
    const json = new PartialJson()
    json.append(text)
    read = json
  }
  return isObject(read.value) ? read.value : {}
}

/** Arguments as an object; text that is none gives no arguments. */
function parsed(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
