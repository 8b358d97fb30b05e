/** Which JSON pointers differ between two values. Shared branches are the same object and are skipped unread. */
import { isRecord } from '../json-text.ts'

const pathLimit = 500

export function changedPaths(before: unknown, after: unknown): ReadonlySet<string> {
  const paths = new Set<string>()
  compare(before, after, '', paths)
  return paths
}

function compare(before: unknown, after: unknown, path: string, paths: Set<string>): void {
  if (Object.is(before, after) || paths.size >= pathLimit) return
  const both = [before, after]
  if (both.every(Array.isArray) || both.every(isRecord)) {
    const [old, fresh] = both as [Record<string, unknown>, Record<string, unknown>]
    for (const key of Object.keys(fresh)) {
      const had = Object.hasOwn(old, key) ? old[key] : undefined
      compare(had, fresh[key], `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, paths)
    }
    return
  }
  mark(after, path, paths)
}

/** A value that is new is new in all its parts. */
function mark(value: unknown, path: string, paths: Set<string>): void {
  paths.add(path)
  if (typeof value !== 'object' || value === null) return
  for (const [key, part] of Object.entries(value)) {
    if (paths.size >= pathLimit) return
    mark(part, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, paths)
  }
}
