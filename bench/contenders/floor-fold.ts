/**
 * The least JavaScript that arrives at the same messages and state: find, append, patch in place. It checks nothing, and
 * is wrong about any stream that is not well formed.
 */
import type { Event, Message } from '@millrace/protocol'
import { patchInPlace } from '../workloads/state.ts'

interface Call {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; arguments: string }
}

interface Slot {
  readonly id: string
  readonly role: string
  content: string
  toolCalls?: Call[]
  readonly toolCallId?: string
}

export class FloorFold {
  readonly #slots: Slot[]
  readonly #byId: Map<string, Slot>
  readonly #calls = new Map<string, Call>()
  state: unknown

  constructor(history: readonly Message[], state: unknown) {
    this.#slots = history.slice() as Slot[]
    this.#byId = new Map(this.#slots.map((slot) => [slot.id, slot]))
    this.state = state
  }

  get messages(): readonly Message[] {
    return this.#slots as unknown as Message[]
  }

  apply(event: Event): void {
    switch (event.type) {
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
        ;(this.#byId.get(event.messageId) as Slot).content += event.delta
        break
      case 'TOOL_CALL_ARGS':
        ;(this.#calls.get(event.toolCallId) as Call).function.arguments += event.delta
        break
      case 'TEXT_MESSAGE_START':
        this.#slot(event.messageId, event.role ?? 'assistant')
        break
      case 'REASONING_MESSAGE_START':
        this.#slot(event.messageId, 'reasoning')
        break
      case 'TOOL_CALL_START':
        this.#call(event.toolCallId, event.toolCallName, event.parentMessageId ?? event.toolCallId)
        break
      case 'TOOL_CALL_RESULT':
        this.#slots.push({ id: event.messageId, role: 'tool', content: event.content as string, toolCallId: event.toolCallId })
        break
      case 'STATE_SNAPSHOT':
        this.state = event.snapshot
        break
      case 'STATE_DELTA':
        patchInPlace(this.state, event.delta)
        break
      default:
    }
  }

  /** Messages that later events do not change: a new list, and the last message anew. */
  snapshot(): readonly Message[] {
    const copy = this.#slots.slice()
    const last = copy.pop()
    if (last !== undefined) copy.push({ ...last })
    return copy as unknown as Message[]
  }

  textOf(messageId: string): string {
    return this.#byId.get(messageId)?.content ?? ''
  }

  argumentsOf(toolCallId: string): string {
    return this.#calls.get(toolCallId)?.function.arguments ?? ''
  }

  #slot(id: string, role: string): Slot {
    const slot: Slot = { id, role, content: '' }
    this.#slots.push(slot)
    this.#byId.set(id, slot)
    return slot
  }

  #call(id: string, name: string, messageId: string): void {
    const slot = this.#byId.get(messageId) ?? this.#slot(messageId, 'assistant')
    const call: Call = { id, type: 'function', function: { name, arguments: '' } }
    ;(slot.toolCalls ??= []).push(call)
    this.#calls.set(id, call)
  }
}
