/**
 * The checks: whether an event may come now, given what the ledger says is open. Pure: they read the ledger and change
 * nothing, so that an event is held against all of them before any of it is committed.
 */
import type { EventOf, VerifiedEvent } from '../events/event.ts'
import type { Limits } from '../limits.ts'
import { BRACKETS, FINISH_ORDER, keyOf, type Bracket } from './brackets.ts'
import { stepKey, type Item, type Ledger } from './ledger.ts'
import { checkContinuation, checkEncrypted, checkOpening, tagOf } from './ownership.ts'
import { violation, type Violation } from './violation.ts'

/** The rule an event breaks, if any. `closing` are pending chunk streams that it closes on its way in. */
export function checkEvent(event: VerifiedEvent, ledger: Ledger, limits: Limits, closing: readonly Item[]): Violation | undefined {
  const bracket = BRACKETS[event.type]
  if (bracket !== undefined) {
    return bracket.does === 'open'
      ? checkOpen(event, bracket, ledger, limits, closing)
      : checkOngoing(event, bracket, ledger, closing)
  }
  switch (event.type) {
    case 'RUN_FINISHED':
      return checkAllClosed(ledger, closing)
    case 'ACTIVITY_DELTA':
      return checkActivity(event, ledger)
    case 'REASONING_ENCRYPTED_VALUE':
      return checkEncrypted(event, ledger)
    default:
      return undefined
  }
}

function find(event: VerifiedEvent, bracket: Bracket, id: string, ledger: Ledger): Item | undefined {
  return ledger.get(bracket.kind, bracket.kind === 'step' ? stepKey(tagOf(event), id) : id)
}

/** The item, if it is open and stays so. */
function stillOpen(item: Item | undefined, closing: readonly Item[]): Item | undefined {
  return item !== undefined && item.open && !closing.includes(item) ? item : undefined
}

/** An event that continues or closes an item: the item is open, and the event is of its owner. */
function checkOngoing(event: VerifiedEvent, bracket: Bracket, ledger: Ledger, closing: readonly Item[]): Violation | undefined {
  const id = keyOf(event, bracket)
  const known = find(event, bracket, id, ledger)
  const item = stillOpen(known, closing)
  if (item === undefined) {
    return violation(bracket.rule, `${event.type} names "${id}", which is not open`, `/${bracket.key}`, known?.openedAt)
  }
  if (bracket.kind === 'step' || bracket.kind === 'subagent') return undefined
  return checkContinuation(event, item, bracket.kind === 'span' ? ledger.get('reasoning', id)?.owner : item.owner)
}

/** An event that opens an item: it is not open, it is its owner who opens it, and there is room. */
function checkOpen(event: VerifiedEvent, bracket: Bracket, ledger: Ledger, limits: Limits, closing: readonly Item[]): Violation | undefined {
  const id = keyOf(event, bracket)
  const item = find(event, bracket, id, ledger)
  const open = stillOpen(item, closing)
  if (open !== undefined) {
    return violation(bracket.rule, `${event.type} names "${id}", which is open already`, `/${bracket.key}`, open.openedAt)
  }
  if (item === undefined && ledger.size >= limits.ledgerItems) {
    return violation('run.ledger-full', `The run opens more than limits.ledgerItems (${limits.ledgerItems}) items`)
  }
  return event.type === 'SUBAGENT_STARTED' ? checkSubagent(event, item, ledger) : checkOpening(event, bracket, id, ledger)
}

function checkSubagent(event: EventOf<'SUBAGENT_STARTED'>, before: Item | undefined, ledger: Ledger): Violation | undefined {
  const { subagentRunId, parentSubagentRunId: parent } = event
  if (before !== undefined) {
    return violation('sub.start', `Subagent "${subagentRunId}" ended before in this run`, '/subagentRunId', before.openedAt)
  }
  return parent === undefined || ledger.get('subagent', parent) !== undefined
    ? undefined
    : violation('sub.parent', `Parent subagent "${parent}" was not announced in this run`, '/parentSubagentRunId')
}

/** How many open items a message names before it only counts. */
const NAMED = 10

function checkAllClosed({ openItems }: Ledger, closing: readonly Item[]): Violation | undefined {
  if (openItems.size <= closing.length) return undefined
  const closed = new Set(closing)
  const open = [...openItems].filter((item) => !closed.has(item))
  const names = FINISH_ORDER.flatMap(({ kind, label }) =>
    open.filter((item) => item.kind === kind).map((item) => `${label} "${item.id}"`),
  )
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : ''
  return violation('finish.all-closed', `RUN_FINISHED comes while these are open: ${names.slice(0, NAMED).join(', ')}${more}`, undefined, open[0]?.openedAt)
}

function checkActivity(event: EventOf<'ACTIVITY_DELTA'>, ledger: Ledger): Violation | undefined {
  const item = ledger.get('activity', event.messageId)
  return item === undefined ? undefined : checkContinuation(event, item, item.owner)
}
