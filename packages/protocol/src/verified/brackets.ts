/**
 * The bracket table: which event opens, continues or closes which kind of item, keyed by which field, and which
 * pending chunk streams it closes (AG-UI 1.0, event order rules 8–16 and chunks).
 */
import type { EventType, VerifiedEvent } from '../events/event.ts'
import type { RuleId } from '../severities.ts'
import type { ItemKind } from './ledger.ts'

export interface Bracket {
  readonly does: 'open' | 'continue' | 'close'
  readonly kind: ItemKind
  readonly key: 'messageId' | 'toolCallId' | 'stepName' | 'subagentRunId'
  /** The rule that is broken when the item is open and should not be, or is not and should. */
  readonly rule: RuleId
}

function bracket(does: Bracket['does'], kind: ItemKind, key: Bracket['key'], rule: RuleId): Bracket {
  return { does, kind, key, rule }
}

export const BRACKETS: Readonly<Partial<Record<EventType, Bracket>>> = {
  TEXT_MESSAGE_START: bracket('open', 'text', 'messageId', 'text.open'),
  TEXT_MESSAGE_CONTENT: bracket('continue', 'text', 'messageId', 'text.continue'),
  TEXT_MESSAGE_END: bracket('close', 'text', 'messageId', 'text.continue'),
  TOOL_CALL_START: bracket('open', 'tool', 'toolCallId', 'tool.open'),
  TOOL_CALL_ARGS: bracket('continue', 'tool', 'toolCallId', 'tool.continue'),
  TOOL_CALL_END: bracket('close', 'tool', 'toolCallId', 'tool.continue'),
  REASONING_START: bracket('open', 'span', 'messageId', 'span.open'),
  REASONING_END: bracket('close', 'span', 'messageId', 'span.close'),
  REASONING_MESSAGE_START: bracket('open', 'reasoning', 'messageId', 'reasoning.open'),
  REASONING_MESSAGE_CONTENT: bracket('continue', 'reasoning', 'messageId', 'reasoning.continue'),
  REASONING_MESSAGE_END: bracket('close', 'reasoning', 'messageId', 'reasoning.continue'),
  STEP_STARTED: bracket('open', 'step', 'stepName', 'step.open'),
  STEP_FINISHED: bracket('close', 'step', 'stepName', 'step.close'),
  SUBAGENT_STARTED: bracket('open', 'subagent', 'subagentRunId', 'sub.start'),
  SUBAGENT_FINISHED: bracket('close', 'subagent', 'subagentRunId', 'sub.end'),
  SUBAGENT_ERROR: bracket('close', 'subagent', 'subagentRunId', 'sub.end'),
}

/** The id by which an event names its item. */
export function keyOf(event: VerifiedEvent, { key }: Bracket): string {
  return (event as unknown as Record<Bracket['key'], string>)[key]
}

/** Events that leave pending chunk streams alone. */
const CLOSES_NOTHING: ReadonlySet<EventType> = new Set<EventType>([
  'RAW',
  'ACTIVITY_SNAPSHOT',
  'ACTIVITY_DELTA',
  'REASONING_ENCRYPTED_VALUE',
  'SUBAGENT_STARTED',
])

/** Events that close those of every owner. All others close that of their own item's owner. */
const CLOSES_ALL: ReadonlySet<EventType> = new Set<EventType>([
  'RUN_STARTED',
  'RUN_FINISHED',
  'RUN_ERROR',
  'MESSAGES_SNAPSHOT',
])

export function laneScope(type: EventType): 'none' | 'all' | 'own' {
  return CLOSES_NOTHING.has(type) ? 'none' : CLOSES_ALL.has(type) ? 'all' : 'own'
}

/** What is still open of these kinds keeps a run from finishing; in the order in which it is named. */
export const FINISH_ORDER: readonly { readonly kind: ItemKind; readonly label: string }[] = [
  { kind: 'step', label: 'step' },
  { kind: 'text', label: 'message' },
  { kind: 'reasoning', label: 'reasoning message' },
  { kind: 'span', label: 'reasoning span' },
  { kind: 'tool', label: 'tool call' },
  { kind: 'subagent', label: 'subagent' },
]
