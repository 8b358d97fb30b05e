/**
 * The table of items: which events open, continue and close each kind, keyed by which field, and the chunks that do all
 * three (AG-UI 1.0, event order rules 8–16 and chunks); and which pending chunk streams an event closes.
 */
import { present } from '../json-value.ts'
import type { ChunkEvent, EventType, VerifiedEvent } from '../events/event.ts'
import type { RuleId } from '../severities.ts'
import type { Item, ItemKind } from './ledger.ts'

type Plain = VerifiedEvent['type']

/** A kind of item: how its events are named and what they break. */
export interface ItemRow {
  readonly kind: ItemKind
  /** What people call it. */
  readonly label: string
  /** The field by which an event names its item. */
  readonly key: 'messageId' | 'toolCallId' | 'stepName' | 'subagentRunId'
  readonly open: Plain
  readonly continue?: Plain
  readonly close: readonly [Plain, ...Plain[]]
  readonly chunk?: ChunkEvent['type']
  /** The rule that is broken when the item is open and should not be, and when it is not and should. */
  readonly rules: readonly [open: RuleId, other: RuleId]
}

function row(kind: ItemKind, label: string, key: ItemRow['key'], events: Omit<ItemRow, 'kind' | 'label' | 'key'>): ItemRow {
  return { kind, label, key, ...events }
}

/** In the order in which what is still open is named when a run finishes. */
export const ITEMS: readonly ItemRow[] = [
  row('step', 'step', 'stepName', { open: 'STEP_STARTED', close: ['STEP_FINISHED'], rules: ['step.open', 'step.close'] }),
  row('text', 'message', 'messageId', {
    open: 'TEXT_MESSAGE_START',
    continue: 'TEXT_MESSAGE_CONTENT',
    close: ['TEXT_MESSAGE_END'],
    chunk: 'TEXT_MESSAGE_CHUNK',
    rules: ['text.open', 'text.continue'],
  }),
  row('reasoning', 'reasoning message', 'messageId', {
    open: 'REASONING_MESSAGE_START',
    continue: 'REASONING_MESSAGE_CONTENT',
    close: ['REASONING_MESSAGE_END'],
    chunk: 'REASONING_MESSAGE_CHUNK',
    rules: ['reasoning.open', 'reasoning.continue'],
  }),
  row('span', 'reasoning span', 'messageId', { open: 'REASONING_START', close: ['REASONING_END'], rules: ['span.open', 'span.close'] }),
  row('tool', 'tool call', 'toolCallId', {
    open: 'TOOL_CALL_START',
    continue: 'TOOL_CALL_ARGS',
    close: ['TOOL_CALL_END'],
    chunk: 'TOOL_CALL_CHUNK',
    rules: ['tool.open', 'tool.continue'],
  }),
  row('subagent', 'subagent', 'subagentRunId', {
    open: 'SUBAGENT_STARTED',
    close: ['SUBAGENT_FINISHED', 'SUBAGENT_ERROR'],
    rules: ['sub.start', 'sub.end'],
  }),
]

/** What an event does to an item. */
export interface Bracket {
  readonly does: 'open' | 'continue' | 'close' | 'chunk'
  readonly row: ItemRow
}

/** The same by the type of the event; what is not in it is about no item. */
export const BRACKETS: ReadonlyMap<EventType, Bracket> = new Map(
  ITEMS.flatMap((row) =>
    (['open', 'continue', 'close', 'chunk'] as const).flatMap((does) => [row[does] ?? []].flat().map((type) => [type, { does, row }] as const)),
  ),
)

/** The event that closes an open item, as its owner would send it: what ends a chunk stream, and what a producer sends for what it left. */
export function closerOf({ kind, id, owner }: Item): VerifiedEvent {
  const { close, key } = ITEMS.find((row) => row.kind === kind) as ItemRow
  return { type: close[0], [key]: id, ...present({ subagentRunId: owner }) } as VerifiedEvent
}

/** Which pending chunk streams an event closes, if not that of its own item's owner. */
export const CLOSES: ReadonlyMap<EventType, 'none' | 'all'> = new Map<EventType, 'none' | 'all'>([
  ['RAW', 'none'],
  ['ACTIVITY_SNAPSHOT', 'none'],
  ['ACTIVITY_DELTA', 'none'],
  ['REASONING_ENCRYPTED_VALUE', 'none'],
  ['SUBAGENT_STARTED', 'none'],
  ['RUN_STARTED', 'all'],
  ['RUN_FINISHED', 'all'],
  ['RUN_ERROR', 'all'],
  ['MESSAGES_SNAPSHOT', 'all'],
])
