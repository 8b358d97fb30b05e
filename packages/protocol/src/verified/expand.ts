/**
 * Chunk expansion (AG-UI 1.0, chunks): says what a *_CHUNK event stands for, by asking the ledger. One lane for each
 * owner, one pending stream in a lane. Changes nothing: the verifier commits the plan when all of it is legal.
 */
import { present } from '../json-value.ts'
import type { ChunkEvent, VerifiedEvent } from '../events/event.ts'
import type { Item, ItemKind, Ledger, Opener, Owner } from './ledger.ts'
import { tagOf } from './ownership.ts'
import { violation, type Violation } from './violation.ts'

export interface Expansion {
  readonly lane: Owner
  /** Absent if the lane's pending stream goes on. */
  readonly start?: VerifiedEvent
  readonly opener?: Opener
  readonly content?: VerifiedEvent
}

const KIND: Readonly<Record<ChunkEvent['type'], ItemKind>> = {
  TEXT_MESSAGE_CHUNK: 'text',
  TOOL_CALL_CHUNK: 'tool',
  REASONING_MESSAGE_CHUNK: 'reasoning',
}

export function isChunk(event: { type: string }): event is ChunkEvent {
  return event.type === 'TEXT_MESSAGE_CHUNK' || event.type === 'TOOL_CALL_CHUNK' || event.type === 'REASONING_MESSAGE_CHUNK'
}

function idOf(chunk: ChunkEvent): string | undefined {
  return chunk.type === 'TOOL_CALL_CHUNK' ? chunk.toolCallId : chunk.messageId
}

/** Which lane a chunk goes to, and the stream it continues there if any. */
function findLane(chunk: ChunkEvent, kind: ItemKind, ledger: Ledger): { lane: Owner; pending?: Item } | Violation {
  const id = idOf(chunk)
  const tag = tagOf(chunk)
  if (id !== undefined) {
    const item = ledger.get(kind, id)
    if (item?.pending === undefined) return { lane: tag }
    const { lane } = item.pending
    return tag === undefined || tag === lane
      ? { lane, pending: item }
      : violation('attr.continuation', `"${id}" is being streamed by another owner than "${tag}"`, '/subagentRunId', item.openedAt)
  }
  if (tag !== undefined) return at(tag, kind, ledger)
  if (ledger.lanes.get(undefined)?.kind === kind) return at(undefined, kind, ledger)
  const holders = [...ledger.lanes].filter(([, item]) => item.kind === kind)
  const [first, second] = holders
  if (second !== undefined) return violation('chunk.ambiguous', `Several owners have an open ${kind} stream; the chunk names none`)
  return first === undefined ? { lane: undefined } : { lane: first[0], pending: first[1] }
}

function at(lane: Owner, kind: ItemKind, ledger: Ledger): { lane: Owner; pending?: Item } {
  const item = ledger.lanes.get(lane)
  return item?.kind === kind ? { lane, pending: item } : { lane }
}

/** The fields of a chunk that only its opener decides. An absent role is a role. */
function openerOf(chunk: ChunkEvent): Opener {
  switch (chunk.type) {
    case 'TEXT_MESSAGE_CHUNK':
      return { role: chunk.role ?? 'assistant', ...present({ name: chunk.name }) }
    case 'TOOL_CALL_CHUNK':
      return {
        ...present({ toolCallName: chunk.toolCallName, parentMessageId: chunk.parentMessageId }),
      }
    case 'REASONING_MESSAGE_CHUNK':
      return {}
  }
}

const OPENER_FIELDS = ['role', 'name', 'toolCallName', 'parentMessageId'] as const

function conflict(chunk: ChunkEvent, pending: Item): Violation | undefined {
  for (const field of OPENER_FIELDS) {
    const said = (chunk as { [key in typeof field]?: string })[field]
    if (said !== undefined && said !== pending.pending?.opener[field]) {
      return violation('chunk.conflict', `\`${field}\` of "${pending.id}" changes in mid-stream`, `/${field}`, pending.openedAt)
    }
  }
  return undefined
}

function startOf(chunk: ChunkEvent, opener: Opener): VerifiedEvent | Violation {
  const shared = {
    ...(tagOf(chunk) !== undefined && { subagentRunId: tagOf(chunk) as string }),
    ...present({ metadata: chunk.metadata }),
  }
  if (chunk.type === 'TOOL_CALL_CHUNK') {
    const { toolCallId, toolCallName, parentMessageId } = chunk
    if (toolCallId === undefined) return violation('chunk.opener', 'The first chunk of a tool call has no toolCallId', '/toolCallId')
    if (toolCallName === undefined) return violation('chunk.opener', `The first chunk of call "${toolCallId}" has no toolCallName`, '/toolCallName')
    return { type: 'TOOL_CALL_START', toolCallId, toolCallName, ...present({ parentMessageId }), ...shared }
  }
  const { messageId } = chunk
  if (messageId === undefined) return violation('chunk.opener', 'The first chunk of a message has no messageId', '/messageId')
  return chunk.type === 'REASONING_MESSAGE_CHUNK'
    ? { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning', ...shared }
    : { type: 'TEXT_MESSAGE_START', messageId, ...(opener as { role: 'assistant' }), ...shared }
}

function contentOf(chunk: ChunkEvent, id: string, tag: Owner, continues: boolean): VerifiedEvent | undefined {
  if (chunk.delta === undefined && chunk.rawEvent === undefined && !(continues && chunk.metadata !== undefined)) return undefined
  const fields = {
    delta: chunk.delta ?? '',
    ...present({ metadata: chunk.metadata, rawEvent: chunk.rawEvent, subagentRunId: tag }),
  }
  switch (chunk.type) {
    case 'TEXT_MESSAGE_CHUNK':
      return { type: 'TEXT_MESSAGE_CONTENT', messageId: id, ...fields }
    case 'TOOL_CALL_CHUNK':
      return { type: 'TOOL_CALL_ARGS', toolCallId: id, ...fields }
    case 'REASONING_MESSAGE_CHUNK':
      return { type: 'REASONING_MESSAGE_CONTENT', messageId: id, ...fields }
  }
}

/** What a chunk stands for, or the rule it breaks. */
export function expandChunk(chunk: ChunkEvent, ledger: Ledger): Expansion | Violation {
  const kind = KIND[chunk.type]
  const place = findLane(chunk, kind, ledger)
  if ('rule' in place) return place
  const id = idOf(chunk)
  const { lane, pending } = place
  if (pending !== undefined && (id === undefined || id === pending.id)) {
    const content = contentOf(chunk, pending.id, tagOf(chunk) ?? pending.owner, true)
    return conflict(chunk, pending) ?? { lane, ...present({ content }) }
  }
  const opener = openerOf(chunk)
  const start = startOf(chunk, opener)
  if ('rule' in start) return start
  const content = contentOf(chunk, id as string, tagOf(chunk), false)
  return { lane, start, opener, ...present({ content }) }
}
