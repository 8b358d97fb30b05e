/**
 * What an event is about: the item it opens, continues or closes, and who owns that (AG-UI 1.0, attribution, rules 17–26).
 * Found once for each event, from the ledger; checking and committing both go by it.
 */
import type { Event, Message } from '../events/event.ts'
import { BRACKETS, type Bracket, type ItemRow } from './brackets.ts'
import type { Item, ItemKind, Ledger, Owner } from './ledger.ts'

export interface Subject {
  readonly does: Bracket['does']
  readonly row: ItemRow
  readonly id: string
  /** By which the ledger knows it. */
  readonly key: string
  /** As the ledger has it. */
  readonly item: Item | undefined
  /** The item with which its owner is recorded: a span and a reasoning message of one id share theirs. */
  readonly owned: Item | undefined
  /** The message that a call names as its parent, if it is known. */
  readonly parent: Item | undefined
  /** Who owns it once the event has passed. */
  readonly owner: Owner
}

export function tagOf(event: Event): Owner {
  return (event as { subagentRunId?: string }).subagentRunId
}

/** What an event is about; undefined for those that are about no item. */
export function subjectOf(event: Event, ledger: Ledger): Subject | undefined {
  const bracket = BRACKETS.get(event.type)
  if (bracket === undefined) return undefined
  const { does, row } = bracket
  const { kind } = row
  const id = (event as unknown as Record<string, string>)[row.key] as string
  const tag = tagOf(event)
  // Steps are free for each owner, so the owner is part of the key.
  const key = kind === 'step' ? stepKey(tag, id) : id
  const item = ledger.get(kind, key)
  // A step is of whom its tag says, and a subagent its own.
  const owned = kind === 'step' || kind === 'subagent' ? undefined : kind === 'span' ? ledger.get('reasoning', id) : item
  const parent = event.type === 'TOOL_CALL_START' && event.parentMessageId !== undefined ? ledger.get('text', event.parentMessageId) : undefined
  const known = owned ?? parent
  return { does, row, id, key, item, owned, parent, owner: does === 'open' ? (tag ?? known?.owner) : (known?.owner ?? tag) }
}

export function stepKey(owner: Owner, stepName: string): string {
  return owner === undefined ? `/${stepName}` : `${JSON.stringify(owner)}/${stepName}`
}

/**
 * Takes over the owners that a list of messages states: a snapshot overwrites what was known (rule 24), an echoed input
 * claims only what nobody has (rule 25).
 */
export function seedOwners(messages: readonly Message[], ledger: Ledger, how: 'overwrite' | 'unclaimed'): void {
  const claim = (kind: ItemKind, id: string, owner: Owner): void => {
    if (how === 'overwrite' || ledger.get(kind, id) === undefined) ledger.claim(kind, id, owner)
  }
  for (const message of messages) {
    const kind = message.role === 'activity' || message.role === 'reasoning' ? message.role : 'text'
    claim(kind, message.id, message.subagentRunId)
    if (message.role === 'assistant') {
      for (const call of message.toolCalls ?? []) claim('tool', call.id, message.subagentRunId)
    }
  }
}
