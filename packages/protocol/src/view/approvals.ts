/**
 * Calls that wait for the user's word, or have it, as a view shows them: whichever way the agent asked, it is `approval`
 * and the state of the call's part. Who decided what is given; nothing is asked or kept here.
 */
import type { Interrupt } from '../events/event.ts'
import { isObject } from '../json-value.ts'
import { callOf, setCall } from './tool-input.ts'
import type { ToolApproval, ToolCallPart, UIMessage } from './ui-message.ts'

/** What is known of a call's approval. */
export interface CallApproval {
  readonly state: 'approval-requested' | 'approval-responded'
  readonly approval: ToolApproval
}

/** Whether an interrupt asks the client to run a tool call and to answer with what it gave, as TanStack AI asks. */
export function isToolRequest({ toolCallId, reason }: Interrupt): boolean {
  return toolCallId !== undefined && reason === 'tanstack:client_tool_execution'
}

/**
 * Whether an interrupt asks for the approval of a tool call: it names one (AG-UI 1.0: `toolCallId` is there for that), and
 * is no {@link isToolRequest}.
 */
export function isToolApproval(interrupt: Interrupt): boolean {
  return interrupt.toolCallId !== undefined && !isToolRequest(interrupt)
}

const requests = new WeakMap<Interrupt, CallApproval>()

/**
 * The approvals that open interrupts ask for, by the id of the call: what `toUIMessages(messages, approvals)` shows.
 * @param interrupts the questions that are open: `Thread.interrupts`. The same interrupt gives the same object.
 */
export function approvalsOf(interrupts: readonly Interrupt[]): ReadonlyMap<string, CallApproval> {
  const asked = interrupts.filter(isToolApproval)
  return new Map(asked.map((interrupt) => [interrupt.toolCallId as string, requestOf(interrupt)]))
}

function requestOf(interrupt: Interrupt): CallApproval {
  let request = requests.get(interrupt)
  if (request === undefined) {
    request = { state: 'approval-requested', approval: { id: interrupt.id, needsApproval: true } }
    requests.set(interrupt, request)
  }
  return request
}

type Approvals = ReadonlyMap<string, CallApproval>

/** What was last made of a message. */
const shown = new WeakMap<UIMessage, { readonly approvals: Approvals; readonly ui: UIMessage }>()
const shownParts = new WeakMap<ToolCallPart, { readonly known: CallApproval; readonly part: ToolCallPart }>()

/** These messages with the approvals of their calls. What has none, or the same as before, is the same object. */
export function withApprovals(messages: readonly UIMessage[], approvals: Approvals): readonly UIMessage[] {
  return approvals.size === 0 ? messages : messages.map((message) => (message.role === 'assistant' ? approved(message, approvals) : message))
}

function approved(message: UIMessage, approvals: Approvals): UIMessage {
  const made = shown.get(message)
  if (made?.approvals === approvals) return made.ui
  const { parts } = message
  const before = made?.ui.parts ?? parts
  const next = parts.map((part) => {
    const known = part.type === 'tool-call' ? approvals.get(part.id) : undefined
    return known === undefined ? part : approvedPart(part as ToolCallPart, known)
  })
  const same = next.every((part, index) => part === before[index])
  const ui = same ? (made?.ui ?? message) : next.every((part, index) => part === parts[index]) ? message : { ...message, parts: next }
  shown.set(message, { approvals, ui })
  return ui
}

function approvedPart(part: ToolCallPart, known: CallApproval): ToolCallPart {
  const made = shownParts.get(part)
  if (made?.known === known) return made.part
  const { state, approval } = known
  const next: ToolCallPart = { ...part, ...(part.result === undefined && { state }), approval }
  const call = callOf(part)
  if (call !== undefined) setCall(next, call)
  shownParts.set(part, { known, part: next })
  return next
}

/** What a part that was stored says of its approval; undefined if nothing, or nothing that can be read. */
export function approvalIn({ approval, state: shownAs }: ToolCallPart): CallApproval | undefined {
  if (!isObject(approval) || typeof approval.id !== 'string') return undefined
  const { id, needsApproval = true, approved: yes } = approval
  const state = yes === undefined && shownAs === 'approval-requested' ? 'approval-requested' : 'approval-responded'
  return { state, approval: { id, needsApproval, ...(yes !== undefined && { approved: yes, ...('input' in approval && { input: approval.input }) }) } }
}
