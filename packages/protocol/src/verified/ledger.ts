/**
 * The ledger: what is open in the current run, and who owns it. It is the only record of either; expansion,
 * verification and the end of a run all ask it. It knows no rules.
 */
import type { EventOf, VerifiedEvent } from '../events/event.ts'

export type ItemKind = 'text' | 'tool' | 'reasoning' | 'span' | 'step' | 'subagent' | 'activity'

/** A subagentRunId, or undefined for the parent agent, which is an owner like any other. */
export type Owner = string | undefined

export interface Item {
  readonly kind: ItemKind
  readonly id: string
  owner: Owner
  open: boolean
  /** Index of the event that opened it last. */
  openedAt: number | undefined
  /** While it is a lane's pending stream: whose lane, and the START that the first chunk stood for. */
  pending: { readonly lane: Owner; readonly start: VerifiedEvent } | undefined
}

export interface RunIds {
  readonly threadId: string
  readonly runId: string
}

export class Ledger {
  readonly #items = new Map<ItemKind, Map<string, Item>>()
  readonly #open = new Set<Item>()
  /** The pending stream of each owner: chunks open at most one. */
  readonly lanes: Map<Owner, Item> = new Map()
  /** The run in hand, or the last one. */
  run: RunIds | undefined
  /** What ended the last run, and its index. */
  ended: EventOf<'RUN_FINISHED'> | EventOf<'RUN_ERROR'> | undefined
  endedAt: number | undefined
  /** The run in hand went on after its end. */
  reopened = false
  size = 0

  /** Forgets everything: a new run begins. */
  reset(run: RunIds | undefined): void {
    this.#items.clear()
    this.#open.clear()
    this.lanes.clear()
    this.size = 0
    this.run = run
    this.ended = undefined
    this.reopened = false
  }

  get(kind: ItemKind, key: string): Item | undefined {
    return this.#items.get(kind)?.get(key)
  }

  /** What is open, in opening order. */
  get openItems(): ReadonlySet<Item> {
    return this.#open
  }

  /** Opens an item; `key` tells it from others of its kind where its id alone does not. */
  open(kind: ItemKind, id: string, owner: Owner, at: number | undefined, key: string = id): Item {
    const item = this.claim(kind, id, owner, key)
    item.open = true
    item.openedAt = at
    this.#open.add(item)
    return item
  }

  close(item: Item): void {
    item.open = false
    this.#open.delete(item)
    if (item.pending === undefined) return
    this.lanes.delete(item.pending.lane)
    item.pending = undefined
  }

  /** Makes an open item the pending stream of a lane. */
  setPending(item: Item, lane: Owner, start: VerifiedEvent): void {
    item.pending = { lane, start }
    this.lanes.set(lane, item)
  }

  closeAll(): void {
    for (const item of [...this.#open]) this.close(item)
  }

  /** Sets the owner of an item, known or not, open or not. */
  claim(kind: ItemKind, id: string, owner: Owner, key: string = id): Item {
    let items = this.#items.get(kind)
    if (items === undefined) this.#items.set(kind, (items = new Map()))
    let item = items.get(key)
    if (item === undefined) {
      item = { kind, id, owner, open: false, openedAt: undefined, pending: undefined }
      items.set(key, item)
      this.size++
    } else {
      item.owner = owner
    }
    return item
  }
}
