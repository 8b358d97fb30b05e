/**
 * Chunk expansion (AG-UI 1.0, chunks): says what a *_CHUNK event stands for, by asking the ledger. One lane for each
 * owner, one pending stream in a lane. Changes nothing: the verifier commits the plan when all of it is legal.
 */
import { present } from '../json-value.ts'
import type { ChunkEvent, VerifiedEvent } from '../events/event.ts'
import type { ItemRow } from './brackets.ts'
import type { Item, ItemKind, Ledger, Owner } from './ledger.ts'
import { tagOf } from './subject.ts'
import type { Violation } from './violation.ts'

export interface Expansion {
  readonly lane: Owner
  /** Absent if the lane's pending stream goes on. */
  readonly start?: VerifiedEvent
  readonly content?: VerifiedEvent
}

/** What any chunk may say. */
type AnyChunk = Partial<Record<'messageId' | 'toolCallId' | 'role' | 'name' | 'toolCallName' | 'parentMessageId' | 'delta', string>>

/** The fields of a chunk that only its opener decides: a chunk that goes on must agree with the START of the first. */
const OPENING = ['role', 'name', 'toolCallName', 'parentMessageId'] as const

/** What a chunk stands for, or the rule it breaks. */
export function expandChunk(chunk: ChunkEvent, row: ItemRow, ledger: Ledger): Expansion | Violation {
  const said = chunk as AnyChunk
  const tag = tagOf(chunk)
  const id = said[row.key as 'messageId' | 'toolCallId']
  const item = findPending(id, tag, row.kind, ledger)
  if (item !== undefined && 'rule' in item) return item
  const pending = item?.pending
  if (item !== undefined && pending !== undefined) {
    for (const field of OPENING) {
      if (said[field] !== undefined && said[field] !== (pending.start as AnyChunk)[field]) {
        return { rule: 'chunk.conflict', message: `\`${field}\` of "${item.id}" changes in mid-stream`, pointer: `/${field}`, related: item.openedAt }
      }
    }
    return { lane: pending.lane, ...present({ content: contentOf(chunk, row, item.id, tag ?? item.owner, chunk.metadata) }) }
  }
  const missing = id === undefined ? row.key : row.kind === 'tool' && said.toolCallName === undefined ? 'toolCallName' : undefined
  if (missing !== undefined) return { rule: 'chunk.opener', message: `The first chunk of ${id === undefined ? `a ${row.label}` : `${row.label} "${id}"`} has no ${missing}`, pointer: `/${missing}` }
  const { name, toolCallName, parentMessageId } = said
  // An absent role is a role.
  const role = row.kind === 'text' ? (said.role ?? 'assistant') : row.kind === 'reasoning' ? 'reasoning' : undefined
  const fields = present({ role, name, toolCallName, parentMessageId, subagentRunId: tag, metadata: chunk.metadata })
  const start = { type: row.open, [row.key]: id, ...fields } as VerifiedEvent
  return { lane: tag, start, ...present({ content: contentOf(chunk, row, id as string, tag) }) }
}

/** The pending stream that a chunk continues: the one it names, else that of its owner, else the only one of its kind. */
function findPending(id: string | undefined, tag: Owner, kind: ItemKind, ledger: Ledger): Item | Violation | undefined {
  if (id !== undefined) {
    const item = ledger.get(kind, id)
    return item?.pending === undefined || tag === undefined || tag === item.pending.lane
      ? item
      : { rule: 'attr.continuation', message: `"${id}" is being streamed by another owner than "${tag}"`, pointer: '/subagentRunId', related: item.openedAt }
  }
  const own = ledger.lanes.get(tag)
  if (own?.kind === kind) return own
  if (tag !== undefined) return undefined
  const [only, other] = [...ledger.lanes.values()].filter((item) => item.kind === kind)
  return other === undefined ? only : { rule: 'chunk.ambiguous', message: `Several owners have an open ${kind} stream; the chunk names none` }
}

/** The part of a chunk that adds to its item; `metadata` alone does so if the item was there before. */
function contentOf(chunk: ChunkEvent, row: ItemRow, id: string, subagentRunId: Owner, added?: unknown): VerifiedEvent | undefined {
  const { delta, metadata, rawEvent } = chunk
  if (delta === undefined && rawEvent === undefined && added === undefined) return undefined
  return { type: row.continue, [row.key]: id, delta: delta ?? '', ...present({ metadata, rawEvent, subagentRunId }) } as VerifiedEvent
}
