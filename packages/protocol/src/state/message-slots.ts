/**
 * Messages while they are being written: in slots, found by id in O(1), copied on the first write after a snapshot and
 * edited in place until the next. It knows no events.
 */
import type { AssistantMessage, Message, Metadata, ToolCall } from '../events/event.ts'
import { define, present } from '../json-value.ts'
import { notesOf, setNotes, type Notes } from './notes.ts'

export interface Slot {
  /** The message as it stands. */
  message: Message
  index: number
  /** Differs from what the last snapshot showed. */
  dirty: boolean
  /** Deltas may still come. */
  open: boolean
}

export interface CallSlot {
  call: ToolCall
  host: Slot
  position: number
  open: boolean
  textOffset: number | undefined
  input: Notes['input']
}

export class MessageSlots {
  #slots: Slot[] = []
  readonly #byId = new Map<string, Slot>()
  readonly #calls = new Map<string, CallSlot>()
  #dirty: Slot[] = []
  /** Calls that were written to since the last snapshot. */
  #dirtyCalls: CallSlot[] = []
  readonly #open = new Set<Slot | CallSlot>()
  /** Messages, calls, lists of calls and metadata made since the last snapshot: nobody else holds them, so they may be edited in place. */
  readonly #made = new Set<object>()
  /** The order or number of messages changed since the last snapshot. */
  #reshaped = false
  #last: readonly Message[] = []

  constructor(messages: readonly Message[]) {
    for (const message of messages) this.put(message)
  }

  /** All slots, in order. */
  get slots(): readonly Slot[] {
    return this.#slots
  }

  slot(id: string): Slot | undefined {
    return this.#byId.get(id)
  }

  call(toolCallId: string): CallSlot | undefined {
    return this.#calls.get(toolCallId)
  }

  /** Replaces the message with this id in place, or adds it: at the end, or at `index`. */
  put(message: Message, index: number = this.#slots.length): Slot {
    const known = this.#byId.get(message.id)
    if (known !== undefined) {
      const calls = this.#forgetCalls(known)
      known.message = message
      this.#mark(known)
      this.#indexCalls(known, calls)
      return known
    }
    const slot = newSlot(message, index)
    if (index === this.#slots.length) {
      this.#slots.push(slot)
    } else {
      this.#slots.splice(index, 0, slot)
      for (let after = index + 1; after < this.#slots.length; after++) (this.#slots[after] as Slot).index = after
    }
    this.#byId.set(message.id, slot)
    this.#indexCalls(slot)
    this.#reshaped = true
    return slot
  }

  /** Makes these the messages. Slots that stay keep their identity, and what is open stays open. */
  rearrange(messages: readonly Message[]): void {
    const kept = new Set(messages.map((message) => message.id))
    for (const slot of this.#slots) {
      if (kept.has(slot.message.id)) continue
      this.#byId.delete(slot.message.id)
      this.#forgetCalls(slot)
      this.#open.delete(slot)
    }
    const slots: Slot[] = []
    const placed = new Set<Slot>()
    for (const message of messages) {
      const known = this.#byId.get(message.id)
      if (known === undefined) {
        const slot = newSlot(message, slots.length)
        this.#byId.set(message.id, slot)
        slots.push(slot)
        placed.add(slot)
        this.#indexCalls(slot)
      } else {
        if (known.message !== message) this.put(message)
        // A second message of one id restates the first; it gets no place of its own.
        if (placed.has(known)) continue
        placed.add(known)
        known.index = slots.length
        slots.push(known)
      }
    }
    this.#slots = slots
    this.#dirty = this.#dirty.filter((slot) => this.#byId.get(slot.message.id) === slot)
    this.#reshaped = true
  }

  /** The message of a slot, to be edited in place until the next snapshot. */
  write(slot: Slot): Message {
    if (!this.#made.has(slot.message)) {
      slot.message = this.#make({ ...slot.message })
      this.#mark(slot)
    }
    return slot.message
  }

  #make<Made extends object>(made: Made): Made {
    this.#made.add(made)
    return made
  }

  #mark(slot: Slot): void {
    if (slot.dirty) return
    slot.dirty = true
    this.#dirty.push(slot)
  }

  /** A call, to be edited in place until the next snapshot. */
  writeCall(slot: CallSlot): ToolCall {
    if (!this.#made.has(slot.call)) {
      slot.call = this.#make({ ...slot.call, function: { ...slot.call.function } })
      this.#writeCalls(slot.host)[slot.position] = slot.call
      this.#dirtyCalls.push(slot)
    }
    return slot.call
  }

  #edit(slot: Slot | CallSlot): { metadata?: Metadata } {
    return 'host' in slot ? this.writeCall(slot) : this.write(slot)
  }

  /** Metadata merges key by key into what an event builds; the last write wins (AG-UI 1.0, fold). */
  merge(slot: Slot | CallSlot, metadata: Metadata | undefined): void {
    if (metadata === undefined) return
    const target = this.#edit(slot)
    if (target.metadata === undefined) {
      target.metadata = metadata
      return
    }
    if (!this.#made.has(target.metadata)) target.metadata = this.#make({ ...target.metadata })
    for (const key of Object.keys(metadata)) define(target.metadata, key, metadata[key])
  }

  addCall(host: Slot, call: ToolCall, textOffset: number): CallSlot {
    const calls = this.#writeCalls(host)
    const slot: CallSlot = { call: this.#make(call), host, position: calls.length, open: false, textOffset, input: undefined }
    calls.push(call)
    this.#dirtyCalls.push(slot)
    this.#calls.set(call.id, slot)
    return slot
  }

  #writeCalls(host: Slot): ToolCall[] {
    const message = this.write(host) as AssistantMessage
    const { toolCalls = [] } = message
    return this.#made.has(toolCalls) ? toolCalls : (message.toolCalls = this.#make(toolCalls.slice()))
  }

  setOpen(slot: Slot | CallSlot, open: boolean): void {
    if (slot.open === open) return
    slot.open = open
    if (open) this.#open.add(slot)
    else this.#open.delete(slot)
    this.#edit(slot)
  }

  /** Nothing more will come for what is open. */
  closeAll(): void {
    for (const slot of this.#open) this.setOpen(slot, false)
  }

  /**
   * Enters the calls of a message; what was known of them (`before`) carries over. Of two calls with one id the first is
   * the call.
   */
  #indexCalls(slot: Slot, before?: ReadonlyMap<string, CallSlot>): void {
    const { message } = slot
    if (message.role !== 'assistant' || message.toolCalls === undefined) return
    message.toolCalls.forEach((call, position) => {
      if (this.#calls.has(call.id)) return
      const known = before?.get(call.id)
      const textOffset = notesOf(call).textOffset ?? known?.textOffset
      const open = known?.open ?? false
      // What was read of the arguments holds as long as they are the same.
      const input = known?.call.function.arguments === call.function.arguments ? known.input : undefined
      const next: CallSlot = { call, host: slot, position, open, textOffset, input }
      if (open) this.#open.add(next)
      if (open || textOffset !== undefined || input !== undefined) note(next)
      this.#calls.set(call.id, next)
    })
  }

  #forgetCalls(slot: Slot): ReadonlyMap<string, CallSlot> {
    const forgotten = new Map<string, CallSlot>()
    if (slot.message.role !== 'assistant') return forgotten
    for (const call of slot.message.toolCalls ?? []) {
      const known = this.#calls.get(call.id)
      if (known?.host !== slot) continue
      forgotten.set(call.id, known)
      this.#calls.delete(call.id)
      this.#open.delete(known)
    }
    return forgotten
  }

  /** The messages as they stand: an immutable list, the same one as before if nothing changed. */
  snapshot(): readonly Message[] {
    if (this.#dirty.length === 0 && !this.#reshaped) return this.#last
    this.#dirtyCalls.forEach(note)
    for (const slot of this.#dirty) {
      slot.dirty = false
      if (slot.open) setNotes(slot.message, { open: true })
    }
    let messages: Message[]
    if (this.#reshaped) {
      messages = this.#slots.map((slot) => slot.message)
    } else {
      messages = this.#last.slice()
      for (const slot of this.#dirty) messages[slot.index] = slot.message
    }
    this.#dirty = []
    this.#dirtyCalls = []
    this.#made.clear()
    this.#reshaped = false
    this.#last = messages
    return messages
  }
}

function newSlot(message: Message, index: number): Slot {
  return { message, index, dirty: false, open: false }
}

function note({ call, open, textOffset, ...slot }: CallSlot): void {
  // The same object may have been streamed into another thread before.
  const input = slot.input ?? notesOf(call).input
  setNotes(call, { open, ...present({ textOffset, input }) })
}
