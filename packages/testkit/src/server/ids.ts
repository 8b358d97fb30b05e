/** The cursors of a run's events: which events have one, how it looks, and which event a cursor names. */

export interface IdStyle {
  /** Every nth event has an id (the nth, the 2nth …), counted from 1. 0: none has. Default 1. */
  readonly every?: number
  /** `numeric`: `1`, `2` … `opaque`: text without order, with characters that a careless reader trims or splits at. */
  readonly look?: 'numeric' | 'opaque'
  /** Events (counted from 1) whose id is empty, which makes a client forget its cursor. */
  readonly emptyAt?: readonly number[]
}

export interface Ids {
  /** The id sent with the nth event, counted from 1; undefined for none. */
  idOf(runId: string, n: number): string | undefined
  /** The n behind which a cursor says to go on: 0 for `-1`; undefined if the run (of `length` events) has no such cursor. */
  find(runId: string, cursor: string, length: number): number | undefined
}

export function makeIds(style: 'none' | IdStyle = {}): Ids {
  const { every = 1, look = 'numeric', emptyAt = [] } = style === 'none' ? { every: 0 } : style
  const idOf = (runId: string, n: number): string | undefined => {
    if (emptyAt.includes(n)) return ''
    if (every === 0 || n % every !== 0) return undefined
    return look === 'numeric' ? String(n) : opaque(runId, n)
  }
  return {
    idOf,
    find(runId, cursor, length) {
      if (cursor === '-1') return 0
      if (cursor === '') return undefined
      for (let n = 1; n <= length; n++) if (idOf(runId, n) === cursor) return n
      return undefined
    },
  }
}

/** A header can carry it (RFC 9110 §5.5), a query only when it is encoded. */
function opaque(runId: string, n: number): string {
  let hash = 0x811c9dc5
  for (const character of `${runId}/${n}`) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return `${hash.toString(36)}: ${n % 7}/${n}+&=`
}
