/**
 * The checks: whether an event may come now, given what the ledger says is open and whose it is. Pure: they read the ledger
 * and change nothing, so that an event is held against all of them before any of it is committed.
 */
import type { EventOf, VerifiedEvent } from '../events/event.ts'
import type { Limits } from '../limits.ts'
import type { RuleId } from '../severities.ts'
import { ITEMS } from './brackets.ts'
import type { Item, Ledger, Owner } from './ledger.ts'
import { tagOf, type Subject } from './subject.ts'
import type { Violation } from './violation.ts'

/** The rule an event breaks, if any. `closing` are pending chunk streams that it closes on its way in. */
export function checkEvent(
  event: VerifiedEvent,
  subject: Subject | undefined,
  ledger: Ledger,
  limits: Limits,
  closing: readonly Item[],
): Violation | undefined {
  if (subject !== undefined) return checkItem(event, subject, ledger, limits, closing)
  switch (event.type) {
    case 'RUN_FINISHED':
      return checkAllClosed(ledger, closing)
    case 'ACTIVITY_DELTA':
      return checkOwner('attr.continuation', event, ledger.get('activity', event.messageId))
    case 'REASONING_ENCRYPTED_VALUE':
      return checkOwner('attr.encrypted', event, encrypted(event, ledger))
    default:
      return undefined
  }
}

/** What opens an item finds it closed, and room for it; what goes on with one finds it open; both are of its owner. */
function checkItem(event: VerifiedEvent, subject: Subject, ledger: Ledger, limits: Limits, closing: readonly Item[]): Violation | undefined {
  const { row, id, item, owned } = subject
  const opens = subject.does === 'open'
  const open = item !== undefined && item.open && !closing.includes(item)
  if (open === opens) {
    const message = `${event.type} names "${id}", which is ${open ? 'open already' : 'not open'}`
    return { rule: row.rules[opens ? 0 : 1], message, pointer: `/${row.key}`, related: item?.openedAt }
  }
  if (!opens) return checkOwner('attr.continuation', event, owned, item)
  if (item === undefined && ledger.size >= limits.ledgerItems) {
    return { rule: 'run.ledger-full', message: `The run opens more than limits.ledgerItems (${limits.ledgerItems}) items` }
  }
  return event.type === 'SUBAGENT_STARTED'
    ? checkSubagent(event, item, ledger)
    : (checkOwner('attr.reopen', event, owned) ?? checkParent(subject))
}

/** Whether an event's tag agrees with the owner of the item it is about, and `found` with it. */
function checkOwner(rule: RuleId, event: VerifiedEvent, owned: Item | undefined, found: Item | undefined = owned): Violation | undefined {
  const tag = tagOf(event)
  return owned === undefined || tag === undefined || tag === owned.owner
    ? undefined
    : { rule, message: `"${owned.id}" belongs to ${named(owned.owner)}, and ${event.type} comes from ${named(tag)}`, pointer: '/subagentRunId', related: found?.openedAt }
}

function checkParent({ id, parent, owner }: Subject): Violation | undefined {
  if (parent === undefined || owner === parent.owner) return undefined
  const message = `Call "${id}" is of ${named(owner)}, its parent message "${parent.id}" of ${named(parent.owner)}`
  return { rule: 'attr.tool-parent', message, pointer: '/subagentRunId', related: parent.openedAt }
}

function named(owner: Owner): string {
  return owner === undefined ? 'the parent agent' : `subagent "${owner}"`
}

/** The item an encrypted value is about: a call, or a text message, or a reasoning message. */
function encrypted({ subtype, entityId }: EventOf<'REASONING_ENCRYPTED_VALUE'>, ledger: Ledger): Item | undefined {
  return subtype === 'tool-call' ? ledger.get('tool', entityId) : (ledger.get('text', entityId) ?? ledger.get('reasoning', entityId))
}

function checkSubagent(event: EventOf<'SUBAGENT_STARTED'>, before: Item | undefined, ledger: Ledger): Violation | undefined {
  const { subagentRunId, parentSubagentRunId: parent } = event
  if (before !== undefined) {
    return { rule: 'sub.start', message: `Subagent "${subagentRunId}" ended before in this run`, pointer: '/subagentRunId', related: before.openedAt }
  }
  return parent === undefined || ledger.get('subagent', parent) !== undefined
    ? undefined
    : { rule: 'sub.parent', message: `Parent subagent "${parent}" was not announced in this run`, pointer: '/parentSubagentRunId' }
}

/** How many open items a message names before it only counts. */
const NAMED = 10

function checkAllClosed({ openItems }: Ledger, closing: readonly Item[]): Violation | undefined {
  if (openItems.size <= closing.length) return undefined
  const closed = new Set(closing)
  const open = [...openItems].filter((item) => !closed.has(item))
  const names = ITEMS.flatMap(({ kind, label }) => open.filter((item) => item.kind === kind).map((item) => `${label} "${item.id}"`))
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : ''
  return { rule: 'finish.all-closed', message: `RUN_FINISHED comes while these are open: ${names.slice(0, NAMED).join(', ')}${more}`, related: open[0]?.openedAt }
}
