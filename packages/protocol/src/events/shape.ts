/**
 * The vocabulary in which the shapes of AG-UI 1.0 are written down: one description, from which events are checked
 * (`enforce.ts`). Shapes are data and know nothing of checking.
 */
import type { EventType } from './event.ts'

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

type Fields = Readonly<Record<string, Shape>>

/**
 * @param strings names of the fields that are strings, between spaces. Here as in `others`, a name that ends in `?` is optional.
 */
export function object(strings: string, others: Fields = {}, open = false): ObjectShape {
  const fields = new Map<string, Field>()
  const add = (name: string, shape: Shape): unknown => fields.set(name.replace('?', ''), { shape, optional: name.endsWith('?') })
  for (const name of strings.match(/\S+/g) ?? []) add(name, string)
  for (const name in others) add(name, others[name] as Shape)
  const required = [...fields.keys()].filter((name) => fields.get(name)?.optional === false)
  return { kind: 'object', fields, required, open }
}

export function union(tag: string, members: Readonly<Record<string, ObjectShape>>): UnionShape {
  return { kind: 'union', tag, members: new Map(Object.entries(members)) }
}

/** Shapes of all events whose type is one of these. */
export type Shapes<Types extends string> = Readonly<Record<Extract<EventType, Types>, ObjectShape>>

/** The shape of an event that nobody owns: the fields that all events share, and its own. */
export function event(strings: string, others: Fields = {}): ObjectShape {
  return object(`type ${strings}`, { 'timestamp?': integer, 'rawEvent?': value, 'metadata?': record, ...others })
}

/** The shape of an event that may say whose it is. */
export function owned(strings: string, others?: Fields): ObjectShape {
  return event(`subagentRunId? ${strings}`, others)
}
