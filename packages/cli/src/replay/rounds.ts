// Which ids an event has when its recording is served again. A thread that is led through the same runs twice would else get the same
// ids again, and AG-UI streams append to what has their id. It knows the places of ids in AG-UI 1.0, and nothing of serving.

type Fields = Record<string, unknown>

const IDS = ['runId', 'parentRunId', 'messageId', 'parentMessageId', 'toolCallId', 'parentToolCallId', 'subagentRunId', 'parentSubagentRunId', 'interruptId', 'entityId']
const ID_LISTS = ['pendingToolCallIds', 'interruptIds']
/** Lists of things that have an id of their own. */
const NAMED = ['messages', 'toolCalls', 'interrupts']
/** Custom events by which servers of before interrupts ask, in the spelling of TanStack AI. */
const ASKS = ['approval-requested', 'tool-input-available']
/** Where more ids are, without one of its own. */
const WITHIN = ['input', 'outcome', 'resume']

/**
 * An event as it is told in a round: from the second on, ids of runs, messages, calls, subagents and interrupts end in the number of the round,
 * wherever AG-UI 1.0 has them. The thread stays the same, as do state, arguments, results and all else that is the agent's own.
 * @param data The event, as JSON.
 * @param round From 1 on.
 */
export function inRound(data: string, round: number): string {
  if (round === 1) return data
  const event = JSON.parse(data) as Fields
  const told = renamed(event, round)
  if (event['type'] === 'CUSTOM' && ASKS.includes(String(event['name'])) && isFields(event['value'])) told['value'] = approvalAsked(event['value'], round)
  return JSON.stringify(told)
}

/** It names a call, and has an id that the answer names. */
function approvalAsked(value: Fields, round: number): Fields {
  const told = { ...value, ...('toolCallId' in value && { toolCallId: fresh(value['toolCallId'], round) }) }
  return isFields(value['approval']) ? { ...told, approval: { ...value['approval'], id: fresh(value['approval']['id'], round) } } : told
}

function renamed(fields: Fields, round: number): Fields {
  const told = { ...fields }
  for (const name of IDS) if (name in told) told[name] = fresh(told[name], round)
  for (const name of ID_LISTS) told[name] = each(told[name], (id) => fresh(id, round))
  for (const name of NAMED) told[name] = each(told[name], (item) => (isFields(item) ? { ...renamed(item, round), id: fresh(item['id'], round) } : item))
  for (const name of WITHIN) {
    const inner = told[name]
    told[name] = isFields(inner) ? renamed(inner, round) : each(inner, (item) => (isFields(item) ? renamed(item, round) : item))
  }
  return told
}

const fresh = (id: unknown, round: number): unknown => (typeof id === 'string' ? `${id}#${round}` : id)
const each = (value: unknown, rename: (item: unknown) => unknown): unknown => (Array.isArray(value) ? value.map(rename) : value)
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
