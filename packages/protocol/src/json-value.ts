/** JSON values as such: containers, equality, and members that are own members whatever their name. */

export type Container = Record<string, unknown> | unknown[]

export function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

/** An object that is no list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return isContainer(value) && !Array.isArray(value)
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

/** Puts the members of an object in this order; those it does not name come first. */
export function reorder(parent: Record<string, unknown>, order: readonly string[]): void {
  for (const key of order) {
    if (!Object.hasOwn(parent, key)) continue
    const member = parent[key]
    delete parent[key]
    define(parent, key, member)
  }
}

/** What {@link present} gives: a field that may be undefined may be absent instead. */
export type Present<Fields extends object> = {
  [Key in keyof Fields as undefined extends Fields[Key] ? never : Key]: Fields[Key]
} & { [Key in keyof Fields as undefined extends Fields[Key] ? Key : never]?: Exclude<Fields[Key], undefined> }

/** These fields, without those that are undefined: an absent field of AG-UI has no key. */
export function present<Fields extends object>(fields: Fields): Present<Fields> {
  const kept: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) define(kept, key, value)
  return kept as Present<Fields>
}
