/**
 * The vocabulary in which protobuf messages are written down (`messages.ts`): numbers and types of the wire, and the
 * member of AG-UI's JSON that each stands for. Shapes are data and know nothing of bytes.
 */

export type WireType =
  /** `value` and `struct` are google.protobuf.Value and Struct: any JSON, and a JSON object. */
  | { readonly kind: 'string' | 'bool' | 'int64' | 'value' | 'struct' }
  /** In JSON the name; on the wire its place in the list. */
  | { readonly kind: 'enum'; readonly names: readonly string[] }
  | { readonly kind: 'message'; readonly shape: MessageShape }
  /** A message whose fields are members of the JSON object around it. */
  | { readonly kind: 'spread'; readonly shape: MessageShape }
  /** A message that holds one of several others; in JSON a member says which. */
  | { readonly kind: 'union'; readonly shape: UnionShape }

export interface WireField {
  /** The field number and the wire type, as they stand on the wire. */
  readonly tag: number
  /** The member of the JSON object. */
  readonly key: string
  /** The member is one level down, in the object of this name, which the wire does not have. */
  readonly owner: string | undefined
  readonly type: WireType
  readonly repeated: boolean
  /** Absent means absent. Otherwise it means '' or [] or the first name, which are not sent. */
  readonly optional: boolean
  /** Several fields stand for this member, one for each JSON type it may have. */
  readonly alternatives: readonly WireField[] | undefined
  /** Where absent means [] although the member is optional; undefined: nowhere. */
  readonly emptyFor: EmptyFor | undefined
}

export interface MessageShape {
  /** By number, ascending: the order of the wire. */
  readonly fields: readonly WireField[]
  /** By tag. */
  readonly byTag: readonly (WireField | undefined)[]
  /** Those whose absence means something. */
  readonly defaults: readonly WireField[]
  readonly owners: readonly string[]
}

export interface Arm {
  readonly tag: number
  readonly name: string
  readonly shape: MessageShape
}

export interface UnionShape {
  readonly byTag: readonly (Arm | undefined)[]
  readonly byName: ReadonlyMap<string, Arm>
}

/** In objects whose members have one of these values; `{}` in all of them. */
export type EmptyFor = Readonly<Record<string, readonly string[]>>

export interface ListType {
  readonly kind: 'list'
  readonly of: WireType
}

/** A string field is its key alone. A key that ends in `?` is optional; `owner.key` is a member one level down. */
export type FieldRow = string | readonly [key: string, type: WireType | ListType, emptyFor?: EmptyFor]

/** Fields by number. */
export type FieldRows = Readonly<Record<number, FieldRow>>

/** Wire types: how long a field is, for those who do not know it. */
export const VARINT = 0
export const FIXED64 = 1
export const BYTES = 2
export const GROUP = 3
export const GROUP_END = 4
export const FIXED32 = 5

export const string: WireType = { kind: 'string' }
export const bool: WireType = { kind: 'bool' }
export const int64: WireType = { kind: 'int64' }
export const value: WireType = { kind: 'value' }
export const struct: WireType = { kind: 'struct' }

export function enumeration(...names: readonly string[]): WireType {
  return { kind: 'enum', names }
}

export function list(of: WireType): ListType {
  return { kind: 'list', of }
}

export function message(rows: FieldRows): WireType {
  return { kind: 'message', shape: shapeOf(rows) }
}

export function spread(rows: FieldRows): WireType {
  return { kind: 'spread', shape: shapeOf(rows) }
}

/** Arms by number. */
export function union(arms: Readonly<Record<number, readonly [name: string, fields: FieldRows]>>): UnionShape {
  const all = Object.entries(arms).map(([no, [name, rows]]) => ({ tag: (Number(no) << 3) | BYTES, name, shape: shapeOf(rows) }))
  return { byTag: indexed(all), byName: new Map(all.map((arm) => [arm.name, arm])) }
}

/** Whether a JSON value is of the type that a field with {@link WireField.alternatives} stands for. */
export function fits({ type, repeated }: WireField, value: unknown): boolean {
  if (repeated) return Array.isArray(value)
  return type.kind === 'string' ? typeof value === 'string' : typeof value === 'object' && value !== null && !Array.isArray(value)
}

const SCALARS: ReadonlySet<string> = new Set(['bool', 'int64', 'enum'])

function shapeOf(rows: FieldRows): MessageShape {
  // Keys that are numbers come in ascending order.
  const fields = Object.entries(rows).map(([no, row]) => fieldOf(Number(no), row))
  for (const field of fields) {
    const same = fields.filter(({ key, owner }) => key === field.key && owner === field.owner)
    if (same.length > 1) Object.assign(field, { alternatives: same })
  }
  return {
    fields,
    byTag: indexed(fields),
    defaults: fields.filter(
      ({ owner, optional, type, repeated, emptyFor }) =>
        emptyFor !== undefined || (owner === undefined && !optional && (repeated || type.kind === 'string' || type.kind === 'enum')),
    ),
    owners: [...new Set(fields.flatMap(({ owner }) => owner ?? []))],
  }
}

function fieldOf(no: number, row: FieldRow): WireField {
  const [name, type, emptyFor] = typeof row === 'string' ? ([row, string] as const) : row
  const optional = name.endsWith('?')
  const path = (optional ? name.slice(0, -1) : name).split('.')
  const element = type.kind === 'list' ? type.of : type
  return {
    tag: (no << 3) | (SCALARS.has(element.kind) ? VARINT : BYTES),
    key: path.at(-1) as string,
    owner: path.length > 1 ? path[0] : undefined,
    type: element,
    repeated: type.kind === 'list',
    optional,
    alternatives: undefined,
    emptyFor,
  }
}

function indexed<Row extends { readonly tag: number }>(rows: readonly Row[]): (Row | undefined)[] {
  const byTag: (Row | undefined)[] = []
  for (const row of rows) byTag[row.tag] = row
  return byTag
}
