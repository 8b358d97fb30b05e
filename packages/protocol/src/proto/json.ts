/**
 * google.protobuf.Value and Struct ⇄ JSON: what an application may put anything into. A value is what `JSON.parse`
 * would have made of it (own members only, `__proto__` among them), and is written as `JSON.stringify` sees it.
 */
import { isObject } from '../json-value.ts'
import type { WireReader } from './wire-reader.ts'
import type { WireWriter } from './wire-writer.ts'

export type Json = Record<string, unknown>

/** Tags of Value's arms. */
const NULL = 0x08
const NUMBER = 0x11
const STRING = 0x1a
const BOOL = 0x20
const STRUCT = 0x2a
const LIST = 0x32
/** The one field of Struct and of ListValue, and the two of an entry of Struct. */
const ELEMENT = 0x0a
const KEY = 0x0a
const VALUE = 0x12

/**
 * Reads a Value that ends at `end`; undefined if it holds none of its arms. `current` is what came before for the same
 * field: protobuf says that the last arm counts, and that a struct or list sent in pieces is one.
 */
export function readValue(reader: WireReader, end: number, current: unknown, depth: number): unknown {
  let value = current
  while (reader.at < end) {
    const tag = reader.tag(end)
    switch (tag) {
      case NULL:
        reader.int32(end)
        value = null
        break
      case NUMBER:
        value = reader.double(end)
        // JSON has no such numbers, so no event in JSON can hold them.
        if (!Number.isFinite(value)) throw reader.malformed(`expected a finite number, got ${value as number}`)
        break
      case STRING:
        value = reader.string(end)
        break
      case BOOL:
        value = reader.bool(end)
        break
      case STRUCT:
        value = readStruct(reader, reader.sub(end), isObject(value) ? value : {}, depth)
        break
      case LIST:
        value = readList(reader, reader.sub(end), Array.isArray(value) ? value : [], depth)
        break
      default:
        reader.skip(tag, end)
    }
  }
  return value
}

/** Reads a Struct that ends at `end` into `object`, which stands `depth` objects or lists deep. */
export function readStruct(reader: WireReader, end: number, object: Json, depth: number): Json {
  if (depth >= reader.depth) throw reader.tooDeep()
  while (reader.at < end) {
    const tag = reader.tag(end)
    if (tag === ELEMENT) readEntry(reader, reader.sub(end), object, depth)
    else reader.skip(tag, end)
  }
  return object
}

function readEntry(reader: WireReader, end: number, object: Json, depth: number): void {
  let key = ''
  let value: unknown
  while (reader.at < end) {
    const tag = reader.tag(end)
    if (tag === KEY) key = reader.string(end)
    else if (tag === VALUE) value = readValue(reader, reader.sub(end), value, depth + 1)
    else reader.skip(tag, end)
  }
  if (value === undefined) return
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  else object[key] = value
}

function readList(reader: WireReader, end: number, list: unknown[], depth: number): unknown[] {
  if (depth >= reader.depth) throw reader.tooDeep()
  while (reader.at < end) {
    const tag = reader.tag(end)
    if (tag === ELEMENT) list.push(readValue(reader, reader.sub(end), undefined, depth + 1) ?? null)
    else reader.skip(tag, end)
  }
  return list
}

/** What `JSON.stringify` would write in place of `value`; undefined if nothing. */
export function asJson(value: unknown): unknown {
  const { toJSON } = (value ?? {}) as { toJSON?: unknown }
  const json: unknown = typeof toJSON === 'function' ? toJSON.call(value) : value
  switch (typeof json) {
    case 'function':
    case 'symbol':
      return undefined
    case 'number':
      return Number.isFinite(json) ? json : null
    default:
      return json
  }
}

/** Why a value could not be written. */
export class NotJson extends Error {}

/**
 * Writes the contents of a Value; `value` has gone through {@link asJson} and is not undefined.
 * @throws NotJson if it is nested deeper than `limit`, or holds a bigint.
 */
export function writeValue(writer: WireWriter, value: unknown, limit: number): void {
  switch (typeof value) {
    case 'string':
      writer.string(value)
      writer.varint(STRING)
      return
    case 'number':
      writer.double(value)
      writer.varint(NUMBER)
      return
    case 'boolean':
      writer.varint(value ? 1 : 0)
      writer.varint(BOOL)
      return
    case 'object':
      break
    default:
      throw new NotJson(`a ${typeof value} is no JSON`)
  }
  if (value === null) {
    writer.varint(0)
    writer.varint(NULL)
    return
  }
  const before = writer.length
  if (Array.isArray(value)) {
    writeList(writer, value, limit)
    writer.close(before, LIST)
  } else {
    writeStruct(writer, value as Json, limit)
    writer.close(before, STRUCT)
  }
}

/** Writes the contents of a Struct. */
export function writeStruct(writer: WireWriter, object: Json, limit: number): void {
  if (limit <= 0) throw new NotJson('it is nested deeper than limits.jsonDepth')
  for (const key of Object.keys(object).reverse()) {
    const value = asJson(object[key])
    if (value === undefined) continue
    const entry = writer.length
    writeValue(writer, value, limit - 1)
    writer.close(entry, VALUE)
    if (key !== '') {
      writer.string(key)
      writer.varint(KEY)
    }
    writer.close(entry, ELEMENT)
  }
}

function writeList(writer: WireWriter, list: readonly unknown[], limit: number): void {
  if (limit <= 0) throw new NotJson('it is nested deeper than limits.jsonDepth')
  for (let index = list.length - 1; index >= 0; index--) {
    const value = asJson(list[index])
    const before = writer.length
    writeValue(writer, value === undefined ? null : value, limit - 1)
    writer.close(before, ELEMENT)
  }
}
