/**
 * Events → protobuf, by the tables of `messages.ts`, byte for byte as `@ag-ui/proto` 1.0.0 writes them. It writes what
 * it is given and checks only that there is a place for it: whether an event may be sent is for the verifier to say.
 */
import { UsageError } from '../errors.ts'
import type { Event } from '../events/event.ts'
import { encodeLengthPrefixed } from '../frames/length-prefixed.ts'
import { withDefaults, type Limits } from '../limits.ts'
import { isObject } from '../json-value.ts'
import { asJson, NotJson, writeStruct, writeValue, type Json } from './json.ts'
import { envelope } from './messages.ts'
import { fits, type MessageShape, type UnionShape, type WireField, type WireType } from './schema.ts'
import { WireWriter } from './wire-writer.ts'

/**
 * One event as the bytes of one frame, without the frame's length. Fields that AG-UI 1.0 does not define are left out:
 * the wire has no place for them.
 * @throws UsageError `not-encodable` for what is no event of AG-UI 1.0: an unknown type or union member, a required
 * field that is missing, a value of another type, null in a field that is not open JSON.
 */
export function encodeEvent(event: Event, limits?: Partial<Limits>): Uint8Array {
  return new Encoder(withDefaults(limits).jsonDepth).encode(event as unknown as Json)
}

/** As {@link encodeEvent}, with the frame's length before it. */
export function encodeFrame(event: Event, limits?: Partial<Limits>): Uint8Array {
  return encodeLengthPrefixed(encodeEvent(event, limits))
}

/** Fields are written from the last to the first, because the writer goes backwards. */
class Encoder {
  readonly #writer = new WireWriter()
  readonly #depth: number
  readonly #path: (string | number)[] = []
  #type = 'The event'

  constructor(depth: number) {
    this.#depth = depth
  }

  encode(event: Json): Uint8Array {
    const { type } = this.#object(event)
    if (typeof type === 'string') this.#type = type
    this.#union(envelope, event)
    return this.#writer.bytes()
  }

  #message(shape: MessageShape, object: Json): void {
    for (let index = shape.fields.length - 1; index >= 0; index--) this.#field(shape.fields[index] as WireField, object)
  }

  #field(field: WireField, object: Json): void {
    const { owner, type } = field
    if (type.kind === 'spread') {
      const before = this.#writer.length
      this.#message(type.shape, object)
      this.#writer.close(before, field.tag)
    } else if (owner === undefined) {
      this.#member(field, object)
    } else if (object[owner] !== undefined) {
      this.#path.push(owner)
      this.#member(field, this.#object(object[owner]))
      this.#path.pop()
    }
  }

  #member(field: WireField, object: Json): void {
    const { key, repeated, optional, alternatives, tag } = field
    const value = object[key]
    this.#path.push(key)
    if (value === undefined) {
      if (!optional) throw this.#refusal('a required field is missing')
    } else if (alternatives !== undefined && !fits(field, value)) {
      if (!alternatives.some((other) => fits(other, value))) throw this.#refusal('it is of no type it may have')
    } else if (!repeated) {
      this.#write(field.type, value, tag, optional)
    } else if (Array.isArray(value)) {
      for (let index = value.length - 1; index >= 0; index--) {
        this.#path.push(index)
        this.#write(field.type, value[index], tag, true)
        this.#path.pop()
      }
    } else {
      throw this.#refusal('expected a list')
    }
    this.#path.pop()
  }

  /** Writes a field; one that is not `explicit` is left out if it holds what its absence means. */
  #write(type: WireType, value: unknown, tag: number, explicit: boolean): void {
    const writer = this.#writer
    switch (type.kind) {
      case 'string':
        if (typeof value !== 'string') throw this.#refusal('expected a string')
        if (value === '' && !explicit) return
        writer.string(value)
        writer.varint(tag)
        return
      case 'bool':
        if (typeof value !== 'boolean') throw this.#refusal('expected a boolean')
        writer.varint(value ? 1 : 0)
        writer.varint(tag)
        return
      case 'int64':
        if (!Number.isSafeInteger(value)) throw this.#refusal('expected an integer within ±(2^53−1)')
        writer.int64(value as number)
        writer.varint(tag)
        return
      case 'enum': {
        const place = type.names.indexOf(value as string)
        if (place < 0) throw this.#refusal(`expected one of ${type.names.join(', ')}`)
        if (place === 0 && !explicit) return
        writer.varint(place)
        writer.varint(tag)
        return
      }
    }
    const before = writer.length
    switch (type.kind) {
      case 'value':
      case 'struct':
        if (!this.#json(type.kind, value)) return
        break
      case 'message':
      case 'spread':
        this.#message(type.shape, this.#object(value))
        break
      case 'union':
        this.#union(type.shape, this.#object(value))
    }
    writer.close(before, tag)
  }

  #union({ byName }: UnionShape, object: Json): void {
    const arm = byName.get(object['type'] as string)
    if (arm === undefined) {
      this.#path.push('type')
      throw this.#refusal('AG-UI 1.0 defines nothing of this kind')
    }
    const before = this.#writer.length
    this.#message(arm.shape, object)
    this.#writer.close(before, arm.tag)
  }

  /** Writes open JSON; false if JSON would have nothing there. */
  #json(kind: 'value' | 'struct', value: unknown): boolean {
    const json = asJson(value)
    if (json === undefined) return false
    try {
      if (kind === 'value') writeValue(this.#writer, json, this.#depth)
      else writeStruct(this.#writer, this.#object(json), this.#depth)
    } catch (error) {
      throw error instanceof NotJson ? this.#refusal(error.message) : error
    }
    return true
  }

  #object(value: unknown): Json {
    if (!isObject(value)) throw this.#refusal('expected an object')
    return value
  }

  #refusal(what: string): UsageError {
    const pointer = this.#path.map((key) => `/${key}`).join('')
    return new UsageError('not-encodable', `${this.#type} cannot be written as protobuf${pointer === '' ? '' : `, at ${pointer}`}: ${what}`)
  }
}
