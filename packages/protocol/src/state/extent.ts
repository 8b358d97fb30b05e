/**
 * How far a JSON value goes: how many values it holds, each counted wherever it stands, and how deep they nest. It knows
 * nothing of patches.
 */

export interface Extent {
  /** Members at every level, and the value itself. */
  readonly values: number
  /** Levels of lists and objects: 0 for a string, 1 for `[]`. */
  readonly depth: number
}

const LEAF: Extent = { values: 1, depth: 0 }
const TOO_DEEP: Extent = { values: Number.POSITIVE_INFINITY, depth: Number.POSITIVE_INFINITY }

/** What was measured before, so that a value that stands in many places is walked once. */
export interface Extents {
  readonly known: WeakMap<object, Extent>
  /** Containers that may still change: they are measured anew each time. */
  readonly changing: ReadonlySet<object>
}

/**
 * @param levels how deep to look; what goes deeper has infinite extent.
 * @param before where to look up containers first, and to enter what is found.
 */
export function extentOf(value: unknown, levels: number, before?: Extents): Extent {
  if (typeof value !== 'object' || value === null) return LEAF
  const known = before?.known.get(value)
  if (known !== undefined) return known
  if (levels === 0) return TOO_DEEP
  let values = 1
  let depth = 0
  for (const member of Array.isArray(value) ? (value as unknown[]) : Object.values(value)) {
    const inner = extentOf(member, levels - 1, before)
    if (inner === TOO_DEEP) return TOO_DEEP
    values += inner.values
    if (inner.depth > depth) depth = inner.depth
  }
  const extent = { values, depth: depth + 1 }
  if (before?.changing.has(value) === false) before.known.set(value, extent)
  return extent
}
