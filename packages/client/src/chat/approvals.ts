/**
 * What is known of the approval of each call, by whichever way it was asked for: what is asked now, and what the user said
 * before. It sends nothing and decides nothing.
 */
import {
  approvalIn,
  approvalsOf,
  decisionIn,
  isToolApproval,
  type ApprovalDecision,
  type CallApproval,
  type Interrupt,
  type ResumeEntry,
  type Thread,
  type ToolCallPart,
} from '@millrace/protocol'
import type { InterruptDesk } from './interrupts.ts'
import { openCallIds } from './open-calls.ts'
import type { StoredMessage } from './options.ts'

type ByCall = ReadonlyMap<string, CallApproval>

const NONE: ByCall = new Map()

export class Approvals {
  readonly #desk: InterruptDesk
  /** By call: what was decided, and what is asked by CUSTOM events. What open interrupts ask goes over it. */
  #known: ByCall = NONE
  #byCustom = false
  /** Calls that the turn in hand asked about by CUSTOM events. */
  readonly #inHand = new Set<string>()
  readonly #replies = new WeakMap<ResumeEntry, CallApproval>()
  #last: { readonly known: ByCall; readonly interrupts: readonly Interrupt[]; readonly replies: unknown; readonly all: ByCall } | undefined

  constructor(desk: InterruptDesk) {
    this.#desk = desk
  }

  /** The server asks for approvals by CUSTOM events: it reads the answers in the parts of messages, where AG-UI has no field for them. */
  get byCustom(): boolean {
    return this.#byCustom
  }

  /** All of it, for the view; the same map if nothing changed. */
  of(interrupts: readonly Interrupt[]): ByCall {
    const { replies } = this.#desk
    const last = this.#last
    if (last?.known === this.#known && last.interrupts === interrupts && last.replies === replies) return last.all
    const all = new Map([...this.#known, ...approvalsOf(interrupts)])
    for (const interrupt of interrupts) {
      const entry = replies.get(interrupt.id)
      if (entry !== undefined) this.#put(all, interrupt, entry)
    }
    const unchanged = last !== undefined && last.all.size === all.size && [...all].every(([call, known]) => last.all.get(call) === known)
    this.#last = { known: this.#known, interrupts, replies, all: unchanged ? last.all : all }
    return this.#last.all
  }

  /** Answers to interrupts go out: what they say of calls stays when the interrupts are gone. */
  sent(interrupts: readonly Interrupt[], entries: readonly ResumeEntry[]): void {
    const known = new Map(this.#known)
    for (const entry of entries) {
      const interrupt = interrupts.find(({ id }) => id === entry.interruptId)
      if (interrupt !== undefined) this.#put(known, interrupt, entry)
    }
    if (known.size > 0) this.#known = known
  }

  #put(known: Map<string, CallApproval>, interrupt: Interrupt, entry: ResumeEntry): void {
    if (!isToolApproval(interrupt)) return
    let reply = this.#replies.get(entry)
    if (reply === undefined) {
      reply = responded(interrupt.id, decisionIn(entry))
      this.#replies.set(entry, reply)
    }
    known.set(interrupt.toolCallId as string, reply)
  }

  /** A CUSTOM event asks for the approval of a call. `again`: it was shown before, and may have its answer. */
  asked(toolCallId: string, id: string, again: boolean): void {
    this.#byCustom = true
    this.#inHand.add(toolCallId)
    if (again && this.#known.get(toolCallId)?.approval.id === id) return
    this.#set(toolCallId, { state: 'approval-requested', approval: { id, needsApproval: true } })
  }

  /** The user's word on what a CUSTOM event asked. */
  decide(toolCallId: string, id: string, decision: ApprovalDecision): void {
    this.#byCustom = true
    this.#inHand.add(toolCallId)
    this.#set(toolCallId, responded(id, decision))
  }

  /** The run that asked by CUSTOM events did not come to its end: what it asked is not asked any more. */
  withdraw(): void {
    this.#known = new Map([...this.#known].filter(([, { state }]) => state === 'approval-responded'))
  }

  /** A turn begins: what is asked in it is new. */
  begin(): void {
    this.#inHand.clear()
  }

  /** A call begins: what is known of its id is of another one. */
  forget(toolCallId: string): void {
    if (!this.#known.has(toolCallId)) return
    this.#known = new Map([...this.#known].filter(([id]) => id !== toolCallId))
  }

  /**
   * Why a call that was left for the client is not to be run here: its approval is `asked` for, or the agent is to hear first
   * what the user `said`. Undefined: it may be run.
   */
  holds(toolCallId: string): 'asked' | 'said' | undefined {
    const known = this.#known.get(toolCallId)
    if (known === undefined) return undefined
    if (known.state === 'approval-requested') return 'asked'
    return known.approval.approved === false || this.#inHand.has(toolCallId) ? 'said' : undefined
  }

  /** The user's word on the call is in its message: the next run reads it there, and acts on it. */
  goesAlong(toolCallId: string): boolean {
    return this.#byCustom && this.#known.has(toolCallId)
  }

  /** Arguments that the user gave the call when approving it. */
  inputOf(toolCallId: string): unknown {
    return this.#known.get(toolCallId)?.approval.input
  }

  /** Approvals that CUSTOM events ask for in the last turn, by call: those that wait. */
  open(thread: Thread): ByCall {
    return this.#unanswered(thread, ([, { state }]) => state === 'approval-requested')
  }

  /** Those, and those that have the user's word and were not sent yet. */
  inHand(thread: Thread): ByCall {
    return this.#unanswered(thread, ([toolCallId, { state }]) => state === 'approval-requested' || this.#inHand.has(toolCallId))
  }

  #unanswered({ messages, interrupts }: Thread, which: (known: [string, CallApproval]) => boolean): ByCall {
    if (this.#known.size === 0) return NONE
    const asked = new Map([...this.#known].filter(which))
    for (const { toolCallId } of interrupts) if (toolCallId !== undefined) asked.delete(toolCallId)
    if (asked.size === 0) return NONE
    const open = openCallIds(messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1))
    return new Map([...open].flatMap((id) => (asked.has(id) ? [[id, asked.get(id) as CallApproval]] : [])))
  }

  /** Takes over what stored messages say. */
  read(messages: readonly StoredMessage[]): void {
    const parts = messages.flatMap((message) => message.parts.filter((part): part is ToolCallPart => part.type === 'tool-call'))
    if (parts.length === 0) return
    const known = new Map(this.#known)
    for (const part of parts) {
      const told = approvalIn(part)
      if (told !== undefined) known.set(part.id, told)
    }
    if (known.size > 0) this.#known = known
  }

  clear(): void {
    this.#known = NONE
    this.#byCustom = false
    this.#inHand.clear()
  }

  #set(toolCallId: string, approval: CallApproval): void {
    this.#known = new Map(this.#known).set(toolCallId, approval)
  }
}

/** An answer in the agent's own words says neither yes nor no. */
function responded(id: string, decision: ApprovalDecision | undefined): CallApproval {
  const { approved, input } = decision ?? {}
  return {
    state: 'approval-responded',
    approval: { id, needsApproval: true, ...(approved !== undefined && { approved }), ...(input !== undefined && { input }) },
  }
}
