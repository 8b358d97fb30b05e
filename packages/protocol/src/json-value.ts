/** JSON values as such: containers, equality, and members that are own members whatever their name. */

export type Container = Record<string, unknown> | unknown[]

export function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

/** An object that is no list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Equality of JSON values (RFC 6902 §4.6). */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) return false
  if (Array.isArray(a)) {
    const other = b as unknown[]
    return a.length === other.length && a.every((element, index) => jsonEqual(element, other[index]))
  }
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && jsonEqual(a[key], (b as Record<string, unknown>)[key]))
  )
}

/** Sets an own member, whatever its name. */
export function define(parent: Container, token: string, value: unknown): void {
  if (token === '__proto__') Object.defineProperty(parent, token, { value, enumerable: true, configurable: true, writable: true })
  else (parent as Record<string, unknown>)[token] = value
}

/** Puts a removed member back where it stood. */
export function restore(parent: Record<string, unknown>, order: readonly string[], token: string, value: unknown): void {
  const members = order.map((key) => [key, key === token ? value : parent[key]] as const)
  for (const key of order) delete parent[key]
  for (const [key, member] of members) define(parent, key, member)
}
