/**
 * The vocabulary in which the shapes of AG-UI 1.0 are written down: one description, from which events are checked
 * (`enforce.ts`). Shapes are data and know nothing of checking.
 */

export interface Field {
  readonly shape: Shape
  readonly optional: boolean
}

/** A closed object: what is not a field is removed. With `open`, extra members are kept. */
export interface ObjectShape {
  readonly kind: 'object'
  readonly fields: ReadonlyMap<string, Field>
  readonly required: readonly string[]
  readonly open: boolean
}

export interface UnionShape {
  readonly kind: 'union'
  /** The field whose value names the member. */
  readonly tag: string
  readonly members: ReadonlyMap<string, ObjectShape>
}

export type Shape =
  | { readonly kind: 'string' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'integer'; readonly min: number }
  /** RFC 6901. */
  | { readonly kind: 'pointer' }
  /** Any JSON value, null included; its contents are the application's. */
  | { readonly kind: 'json' }
  /** Any JSON value but null. */
  | { readonly kind: 'value' }
  /** An object whose contents are the application's. */
  | { readonly kind: 'record' }
  /** A fixed string: anything else is malformed. */
  | { readonly kind: 'literal'; readonly value: string }
  /** A closed set of strings: an unknown one is treated as an unknown union member. */
  | { readonly kind: 'oneOf'; readonly values: ReadonlySet<string> }
  | { readonly kind: 'list'; readonly of: Shape; readonly min: number }
  | { readonly kind: 'stringOr'; readonly list: Shape }
  | ObjectShape
  | UnionShape

export const string: Shape = { kind: 'string' }
export const boolean: Shape = { kind: 'boolean' }
export const pointer: Shape = { kind: 'pointer' }
export const json: Shape = { kind: 'json' }
export const value: Shape = { kind: 'value' }
export const record: Shape = { kind: 'record' }
/** An integer that survives a round trip through JSON. */
export const integer: Shape = { kind: 'integer', min: Number.MIN_SAFE_INTEGER }
/** A count: an integer from 0. */
export const count: Shape = { kind: 'integer', min: 0 }

export function literal(text: string): Shape {
  return { kind: 'literal', value: text }
}

export function oneOf(...values: string[]): Shape {
  return { kind: 'oneOf', values: new Set(values) }
}

export function list(of: Shape, min = 0): Shape {
  return { kind: 'list', of, min }
}

/** A string, or a list of content parts. */
export function stringOr(parts: Shape): Shape {
  return { kind: 'stringOr', list: parts }
}

/** Fields by name; a name that ends in `?` is optional. */
export function object(fields: Readonly<Record<string, Shape>>, open = false): ObjectShape {
  const map = new Map<string, Field>()
  for (const [key, shape] of Object.entries(fields)) {
    const optional = key.endsWith('?')
    map.set(optional ? key.slice(0, -1) : key, { shape, optional })
  }
  const required = [...map].filter(([, field]) => !field.optional).map(([name]) => name)
  return { kind: 'object', fields: map, required, open }
}

export function union(tag: string, members: Readonly<Record<string, ObjectShape>>): UnionShape {
  return { kind: 'union', tag, members: new Map(Object.entries(members)) }
}

/** The shape of an event: the fields that all events share, and its own. `owned` events may carry `subagentRunId`. */
export function event(fields: Readonly<Record<string, Shape>>, owned: 'owned' | 'run' = 'owned'): ObjectShape {
  return object({
    type: string,
    'timestamp?': integer,
    'rawEvent?': value,
    'metadata?': record,
    ...(owned === 'owned' && { 'subagentRunId?': string }),
    ...fields,
  })
}
