/**
 * The user's word on a tool call as the answer to the interrupt that asked for it, and back. How an agent wants to be
 * answered, its `responseSchema` says. It sends nothing and remembers nothing.
 */
import { UsageError } from '../errors.ts'
import type { Interrupt, ResumeEntry } from '../events/event.ts'
import { isObject } from '../json-value.ts'
import { checkPayload } from './payload-check.ts'
import type { InterruptReply, PayloadCheck } from './resume.ts'

/** What the user says of a call. */
export interface ApprovalDecision {
  readonly approved: boolean
  /** Arguments to run it with, in the place of those the model gave: all of them, nothing is merged. Only where it is approved. */
  readonly input?: unknown
  /** Why, for the agent. */
  readonly reason?: string
}

/**
 * A decision as the answer that this interrupt asks for: `{ approved, editedArgs?, reason? }` (AG-UI, tool-bound
 * interrupts; TanStack AI reads the same), or the boolean alone where the schema is one. A reason for which the schema has
 * no place goes along as `metadata`.
 * @param check what holds an answer against the schema.
 * @throws UsageError `malformed-answer` for a decision that is none, or if the interrupt takes no such answer or no edited
 * arguments.
 */
export function approvalReply(interrupt: Interrupt, decision: ApprovalDecision, check: PayloadCheck = checkPayload): InterruptReply {
  checkDecision(decision)
  const { approved, input, reason } = decision
  const schema = interrupt.responseSchema ?? (interrupt.reason === 'confirmation' ? { type: 'boolean' } : undefined)
  const edits = input !== undefined
  if (edits && !names(schema, 'editedArgs')) throw refused(interrupt, 'it takes no edited arguments')
  const said = { approved, ...(edits && { editedArgs: input }) }
  const metadata = reason === undefined ? {} : { metadata: { reason } }
  const replies: InterruptReply[] = [
    ...(reason === undefined || !names(schema, 'reason') ? [] : [{ status: 'resolved' as const, payload: { ...said, reason } }]),
    { status: 'resolved', payload: said, ...metadata },
    ...(edits ? [] : [{ status: 'resolved' as const, payload: approved, ...metadata }]),
  ]
  if (schema === undefined) return replies[0] as InterruptReply
  const faults = replies.map(({ payload }) => check(schema, payload, interrupt))
  const fits = replies.find((_, index) => faults[index] === undefined)
  if (fits === undefined) throw refused(interrupt, faults[0] ?? '')
  return fits
}

/** @throws UsageError `malformed-answer`. */
export function checkDecision(decision: unknown): void {
  const { approved, input, reason } = Object(decision) as Partial<ApprovalDecision>
  if (isObject(decision) && typeof approved === 'boolean' && (approved || input === undefined) && (reason === undefined || typeof reason === 'string')) return
  throw new UsageError('malformed-answer', 'A decision has `approved`, true or false; `input` only with true; and may have a `reason`, which is text.')
}

/** What an answer to an interrupt says of its call; undefined if it says it in words of its own. */
export function decisionIn({ status, payload }: Pick<ResumeEntry, 'status' | 'payload'>): ApprovalDecision | undefined {
  if (status === 'cancelled') return { approved: false }
  if (typeof payload === 'boolean') return { approved: payload }
  if (!isObject(payload) || typeof payload['approved'] !== 'boolean') return undefined
  const { approved, editedArgs } = payload
  return { approved, ...(approved && editedArgs !== undefined && { input: editedArgs }) }
}

/** Schemas within schemas that are looked into. */
const MAX_DEPTH = 16

/**
 * Whether an answer may have this member: a schema that names `editedArgs` says that the agent takes them (AG-UI, approve with
 * edits). What cannot be seen (no schema, a reference) is given the benefit of the doubt.
 */
function names(schema: unknown, member: string, depth = 0): boolean {
  if (schema === undefined) return true
  if (!isObject(schema) || depth > MAX_DEPTH) return false
  const { properties, $ref, allOf, anyOf, oneOf } = schema
  if ($ref !== undefined || (isObject(properties) && Object.hasOwn(properties, member))) return true
  return [allOf, anyOf, oneOf].some((branches) => Array.isArray(branches) && branches.some((branch) => branch !== undefined && names(branch, member, depth + 1)))
}

function refused({ id }: Interrupt, why: string): UsageError {
  return new UsageError('malformed-answer', `Interrupt "${id}" takes no such decision: ${why}. What else it asks for is answered by its payload.`)
}
