/**
 * Protobuf → raw events, by the tables of `messages.ts`. What comes out is what JSON text of the same event would have
 * given, right or wrong: which values an event may have is said once, by enforcement, for every transport alike.
 */
import { ProtocolError } from '../errors.ts'
import { LengthPrefixedDecoder, type BinaryFrame } from '../frames/length-prefixed.ts'
import { withDefaults, type Limits } from '../limits.ts'
import { readStruct, readValue, type Json } from './json.ts'
import { envelope } from './messages.ts'
import { BYTES, fits, type Arm, type MessageShape, type UnionShape, type WireField, type WireType } from './schema.ts'
import { WireReader } from './wire-reader.ts'

/** A JSON object with a `type`: an event that enforcement has not seen. */
export interface UncheckedEvent {
  readonly type: string
  readonly [member: string]: unknown
}

/**
 * One event, from the bytes of one frame. An event or content part of a kind that AG-UI 1.0 does not define gets the
 * name `protobuf field N`, so that enforcement drops and reports it, as it does an unknown `type` in JSON.
 * @throws ProtocolError `malformed` if the bytes are no event, `limit` if it nests deeper than `limits.jsonDepth`.
 */
export function decodeEvent(bytes: Uint8Array, limits?: Partial<Limits>): UncheckedEvent {
  const reader = new WireReader(bytes, withDefaults(limits).jsonDepth)
  const end = bytes.length
  let arm: Arm | undefined
  let unknown: { readonly no: number; readonly from: number; readonly end: number } | undefined
  let event: Json = {}
  while (reader.at < end) {
    const tag = reader.tag(end)
    const known = envelope.byTag[(tag & ~7) | BYTES]
    if (known === undefined) {
      const from = reader.at
      reader.skip(tag, end)
      if ((tag & 7) === BYTES) unknown ??= { no: tag >>> 3, from, end: reader.at }
      continue
    }
    if (arm !== undefined && arm !== known) throw reader.broken(`it holds both ${arm.name} and ${known.name}`)
    arm = known
    reader.type = known.name
    if ((tag & 7) === BYTES) event = readMessage(reader, known.shape, reader.sub(end), event)
    else reader.skip(tag, end)
  }
  if (arm === undefined) {
    if (unknown === undefined) throw reader.broken('it holds none')
    // An event of a later protocol is a message all the same; text or JSON that strayed in here hardly ever is.
    reader.at = unknown.from
    reader.sub(unknown.end)
    while (reader.at < unknown.end) reader.skip(reader.tag(unknown.end), unknown.end)
    return { type: unnamed(unknown.no) }
  }
  if (event['type'] === undefined) throw reader.broken(`${arm.name} comes without its base`)
  if (event['type'] !== arm.name) throw reader.broken(`it holds ${arm.name} and says that it is ${event['type'] as string}`)
  return event as unknown as UncheckedEvent
}

/**
 * As {@link decodeEvent}, for a frame.
 * @throws ProtocolError also `truncated` if the frame was cut.
 */
export function parseBinaryFrame(frame: BinaryFrame, limits?: Partial<Limits>): UncheckedEvent {
  if (frame.unterminated) {
    throw new ProtocolError('The stream ended in the middle of a frame', { code: 'truncated', rule: 'frame.truncated' })
  }
  return decodeEvent(frame.data, limits)
}

/** Bytes of a protobuf stream in, however cut; raw events out through the sink given at construction. */
export class ProtoDecoder {
  readonly #frames: LengthPrefixedDecoder
  #failure: { readonly error: unknown } | undefined

  constructor(sink: (event: UncheckedEvent) => void, limits?: Partial<Limits>) {
    this.#frames = new LengthPrefixedDecoder((frame) => sink(parseBinaryFrame(frame, limits)), limits)
  }

  /**
   * Takes the next piece.
   * @throws ProtocolError `malformed` or `limit`, and what the sink throws. The events before it have been given; the
   * stream is over, and every later call throws the same.
   */
  feed(chunk: Uint8Array): void {
    if (this.#failure !== undefined) throw this.#failure.error
    try {
      this.#frames.feed(chunk)
    } catch (error) {
      this.#failure = { error }
      throw error
    }
  }

  /** @throws ProtocolError `truncated` if the input ended within a frame. */
  finish(): void {
    if (this.#failure === undefined) this.#frames.finish()
  }
}

function unnamed(no: number): string {
  return `protobuf field ${no}`
}

function readMessage(reader: WireReader, shape: MessageShape, end: number, object: Json): Json {
  while (reader.at < end) {
    const tag = reader.tag(end)
    const field = shape.byTag[tag]
    if (field === undefined) {
      // Of a later protocol, or with another wire type than it should have: protobuf passes over both.
      reader.skip(tag, end)
    } else if (field.type.kind === 'spread') {
      readMessage(reader, field.type.shape, reader.sub(end), object)
    } else if (field.owner === undefined) {
      readField(reader, field, end, object)
    } else {
      const owner = (object[field.owner] ??= {}) as Json
      reader.path.push(field.owner)
      readField(reader, field, end, owner)
      reader.path.pop()
    }
  }
  for (const field of shape.defaults) {
    const holder = field.owner === undefined ? object : (object[field.owner] as Json | undefined)
    if (holder !== undefined && holder[field.key] === undefined && isEmpty(field, holder)) holder[field.key] = emptyOf(field)
  }
  for (const owner of shape.owners) settle(object, owner)
  return object
}

function readField(reader: WireReader, field: WireField, end: number, object: Json): void {
  const { key, type } = field
  const current = object[key]
  if (type.kind === 'string' && !field.repeated && field.alternatives === undefined) {
    object[key] = reader.string(end)
    return
  }
  reader.path.push(key)
  if (current !== undefined && field.alternatives !== undefined && !fits(field, current)) {
    throw reader.malformed('it comes in two forms at once')
  }
  if (field.repeated) {
    const list = (object[key] ??= []) as unknown[]
    reader.path.push(list.length)
    list.push(read(reader, type, end, undefined))
    reader.path.pop()
  } else {
    const value = read(reader, type, end, current)
    if (value !== undefined) object[key] = value
  }
  reader.path.pop()
}

function read(reader: WireReader, type: WireType, end: number, current: unknown): unknown {
  switch (type.kind) {
    case 'string':
      return reader.string(end)
    case 'bool':
      return reader.bool(end)
    case 'int64':
      return reader.int64(end)
    case 'enum': {
      // A number without a name is no name, so enforcement finds it unknown.
      const place = reader.int32(end)
      return type.names[place] ?? String(place)
    }
    case 'value':
      return readValue(reader, reader.sub(end), current, 0)
    case 'struct':
      return readStruct(reader, reader.sub(end), (current ?? {}) as Json, 0)
    case 'message':
    case 'spread':
      return readMessage(reader, type.shape, reader.sub(end), (current ?? {}) as Json)
    case 'union':
      return readUnion(reader, type.shape, reader.sub(end), current as Json | undefined)
  }
}

function readUnion(reader: WireReader, shape: UnionShape, end: number, current: Json | undefined): Json {
  let object = current
  let unknown = 0
  while (reader.at < end) {
    const tag = reader.tag(end)
    const arm = shape.byTag[tag]
    if (arm === undefined) {
      if ((tag & 7) === BYTES) unknown = tag >>> 3
      reader.skip(tag, end)
      continue
    }
    object ??= { type: arm.name }
    if (object['type'] !== arm.name) throw reader.malformed(`it is both ${object['type'] as string} and ${arm.name}`)
    readMessage(reader, arm.shape, reader.sub(end), object)
  }
  return object ?? { type: unnamed(unknown) }
}

/** Whether the absence of a field means that it is empty. */
function isEmpty({ emptyFor }: WireField, object: Json): boolean {
  return emptyFor === undefined || Object.entries(emptyFor).every(([member, values]) => values.includes(object[member] as string))
}

function emptyOf({ repeated, type }: WireField): unknown {
  return repeated ? [] : type.kind === 'enum' ? type.names[0] : ''
}

/** An object that the wire does not have is there if its `type` is; if not, its members stand where no event has them. */
function settle(object: Json, key: string): void {
  const owner = object[key] as Json | undefined
  if (owner === undefined) return
  const { type, ...rest } = owner
  if (typeof type === 'string' && type !== '') return
  delete object[key]
  Object.assign(object, rest)
}
