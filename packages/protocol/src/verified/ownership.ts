/**
 * Attribution (AG-UI 1.0, rules 17–26): who owns an item, and whether an event's `subagentRunId` agrees. Reads the
 * ledger and changes nothing.
 */
import type { Event, EventOf, Message } from '../events/event.ts'
import type { Violation } from './violation.ts'
import { violation } from './violation.ts'
import type { Bracket } from './brackets.ts'
import type { Item, ItemKind, Ledger, Owner } from './ledger.ts'

/** A span and a reasoning message of one id share an owner, recorded with the message. */
export function ownerKind(kind: ItemKind): ItemKind {
  return kind === 'span' ? 'reasoning' : kind
}

export function tagOf(event: Event): Owner {
  return (event as { subagentRunId?: string }).subagentRunId
}

function named(owner: Owner): string {
  return owner === undefined ? 'the parent agent' : `subagent "${owner}"`
}

/** The owner an opening event gives its item: its tag, else the owner it had, else that of a call's parent message. */
export function openingOwner(event: Event, bracket: Bracket, id: string, ledger: Ledger): Owner {
  const tag = tagOf(event)
  if (tag !== undefined || bracket.kind === 'step' || bracket.kind === 'subagent') return tag
  const known = ledger.get(ownerKind(bracket.kind), id)
  if (known !== undefined) return known.owner
  return event.type === 'TOOL_CALL_START' ? parentOf(event, ledger)?.owner : undefined
}

function parentOf(event: EventOf<'TOOL_CALL_START'>, ledger: Ledger): Item | undefined {
  return event.parentMessageId === undefined ? undefined : ledger.get('text', event.parentMessageId)
}

/** Whether an opening event may open: rules attr.reopen and attr.tool-parent. */
export function checkOpening(event: Event, bracket: Bracket, id: string, ledger: Ledger): Violation | undefined {
  if (bracket.kind === 'step' || bracket.kind === 'subagent') return undefined
  const tag = tagOf(event)
  const known = ledger.get(ownerKind(bracket.kind), id)
  if (known !== undefined && tag !== undefined && tag !== known.owner) {
    return violation('attr.reopen', `"${id}" belongs to ${named(known.owner)} and is reopened by ${named(tag)}`, '/subagentRunId', known.openedAt)
  }
  if (event.type !== 'TOOL_CALL_START') return undefined
  const parent = parentOf(event, ledger)
  if (parent === undefined) return undefined
  const owner = tag ?? (known === undefined ? parent.owner : known.owner)
  return owner === parent.owner
    ? undefined
    : violation('attr.tool-parent', `Call "${id}" is of ${named(owner)}, its parent message "${parent.id}" of ${named(parent.owner)}`, '/subagentRunId', parent.openedAt)
}

/** Whether a continuing event's tag agrees with the owner of its item. */
export function checkContinuation(event: Event, item: Item, owner: Owner): Violation | undefined {
  const tag = tagOf(event)
  return tag === undefined || tag === owner
    ? undefined
    : violation('attr.continuation', `"${item.id}" belongs to ${named(owner)}, the event to ${named(tag)}`, '/subagentRunId', item.openedAt)
}

/** The item an encrypted value is about: a call, or a text message, or a reasoning message. */
export function encryptedTarget(event: EventOf<'REASONING_ENCRYPTED_VALUE'>, ledger: Ledger): Item | undefined {
  return event.subtype === 'tool-call'
    ? ledger.get('tool', event.entityId)
    : (ledger.get('text', event.entityId) ?? ledger.get('reasoning', event.entityId))
}

export function checkEncrypted(event: EventOf<'REASONING_ENCRYPTED_VALUE'>, ledger: Ledger): Violation | undefined {
  const target = encryptedTarget(event, ledger)
  const tag = tagOf(event)
  return target === undefined || tag === undefined || tag === target.owner
    ? undefined
    : violation('attr.encrypted', `"${target.id}" belongs to ${named(target.owner)}, the value to ${named(tag)}`, '/subagentRunId', target.openedAt)
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
