/** What a decoder meets that no encoder of 1.0 writes: each case by hand, with what the official decoder says to it. */
import * as official from '@ag-ui/proto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { base, bytesOf, double, entry, fixed32, group, int, len, oneMessage, snapshot, str, type Bytes } from '../../test/wire-bytes.ts'
import { ProtocolError, reportMode, ThreadReader, type Diagnostic } from '../index.ts'
import { decodeEvent, encodeFrame, parseBinaryFrame, ProtoDecoder } from '../proto.ts'
import { WireWriter } from './wire-writer.ts'

// The official decoder warns of parts it drops.
beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}))
afterEach(() => vi.restoreAllMocks())

function thrownBy(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

/** `same`: the official decoder gives this too. Otherwise why it does not. */
type Official = 'same' | { readonly differs: string }

type Reads = readonly [name: string, bytes: readonly Bytes[], value: unknown, official?: Official]
type Refuses = readonly [name: string, bytes: readonly Bytes[], official?: Official]

function reads(cases: readonly Reads[]): void {
  it.each(cases.map((row) => [row[0], row] as const))('%s', (_name, [, fields, value, other = 'same']) => {
    const bytes = bytesOf(...fields)
    expect(decodeEvent(bytes)).toEqual(value)
    if (other === 'same') expect(official.decode(bytes)).toEqual(value)
    else expect(() => expect(official.decode(bytes)).toEqual(value)).toThrow()
  })
}

function refuses(rule: string, cases: readonly Refuses[]): void {
  it.each(cases.map((row) => [row[0], row] as const))('%s', (_name, [, fields, other = 'same']) => {
    const bytes = bytesOf(...fields)
    const error = thrownBy(() => decodeEvent(bytes))
    expect(error).toBeInstanceOf(ProtocolError)
    expect(error).toMatchObject({ code: 'malformed', rule })
    if (other === 'same') expect(() => official.decode(bytes)).toThrow()
    else official.decode(bytes)
  })
}

const start = (...fields: readonly Bytes[]): Bytes => len(1, base(0), str(2, 'm'), ...fields)
const START = { type: 'TEXT_MESSAGE_START', messageId: 'm' }
const state = (value: unknown): unknown => ({ type: 'STATE_SNAPSHOT', ...(value !== undefined && { snapshot: value }) })
const message = (fields: object): unknown => ({ type: 'MESSAGES_SNAPSHOT', messages: [fields] })
const user = (...fields: readonly Bytes[]): Bytes => oneMessage(str(1, 'u'), str(2, 'user'), ...fields)

describe('fields', () => {
  reads([
    ['unknown ones are skipped, of any wire type', [start(int(50, 1), str(51, 'x'), fixed32(52), double(53, 1), group(54, group(55, int(1, 1))))], START],
    ['a known number of another wire type is an unknown field', [len(1, base(0), int(2, 5))], { ...START, messageId: '' }],
    ['the last string counts', [start(str(2, 'n'))], { ...START, messageId: 'n' }],
    ['a message in pieces is one', [len(1, base(0), str(2, 'm')), len(1, str(4, 'n'))], { ...START, name: 'n' }],
    ['absent strings and lists are empty', [len(5, base(4))], { type: 'TOOL_CALL_ARGS', toolCallId: '', delta: '' }],
    ['absent lists too', [len(24, base(23))], { type: 'ACTIVITY_DELTA', messageId: '', activityType: '', patch: [] }],
    ['absent optional fields are absent', [len(17, base(19))], { type: 'TEXT_MESSAGE_CHUNK' }],
    ['present ones may be empty', [len(17, base(19), str(2, ''), str(4, ''))], { type: 'TEXT_MESSAGE_CHUNK', messageId: '', delta: '' }],
    ['an absent Value is absent', [len(7, base(6))], state(undefined)],
    ['an absent list of parts is an empty one', [len(22, base(21))], { type: 'TOOL_CALL_RESULT', messageId: '', toolCallId: '', content: [] }],
    ['what is not UTF-8 becomes U+FFFD', [len(1, base(0), len(2, [0x61, 0xff]))], { ...START, messageId: 'a\uFFFD' }],
    [
      'however long it is',
      [len(1, base(0), len(2, [...new TextEncoder().encode('x'.repeat(200)), 0xff]))],
      { ...START, messageId: `${'x'.repeat(200)}\uFFFD` },
    ],
    ['a byte order mark is text', [len(1, base(0), len(2, [0xef, 0xbb, 0xbf, 0x61]))], { ...START, messageId: '\uFEFFa' }],
    ['a varint may be longer than need be', [len(1, base(0), [0x92, 0x80, 0x00, 0x81, 0x80, 0x00], [0x6d])], START],
    ['the smallest timestamp', [len(1, base(0, int(2, -(2 ** 53) + 1)), str(2, 'm'))], { ...START, timestamp: -(2 ** 53) + 1 }],
    ['one past it, which enforcement refuses', [len(1, base(0, int(2, -(2 ** 53))), str(2, 'm'))], { ...START, timestamp: -(2 ** 53) }, { differs: 'refuses it here' }],
    ['one far past it', [len(1, base(0, int(2, (1n << 63n) - 1n)), str(2, 'm'))], { ...START, timestamp: 2 ** 63 }, { differs: 'refuses it here' }],
  ])
})

describe('unions', () => {
  const outcome = (...fields: readonly Bytes[]): Bytes => len(13, base(12), ...fields)
  const finished = (fields: object): unknown => ({ type: 'RUN_FINISHED', threadId: '', runId: '', ...fields })
  reads([
    ['an empty outcome is none', [outcome(str(5, ''))], finished({})],
    ['what belongs to an outcome without one stands outside, where no event has it', [outcome(len(6, str(1, 'i')), str(8, 'c'))], finished({ interrupts: [{ id: 'i', reason: '' }], pendingToolCallIds: ['c'] })],
    ['an unknown outcome keeps its name', [outcome(str(5, 'later'))], finished({ outcome: { type: 'later' } })],
    ['an interrupt without interrupts has an empty list', [outcome(str(5, 'interrupt'))], finished({ outcome: { type: 'interrupt', interrupts: [] } })],
    ['members of another outcome stay', [outcome(str(5, 'success'), len(6, str(1, 'i')))], finished({ outcome: { type: 'success', interrupts: [{ id: 'i', reason: '' }] } })],
    ['an unknown operation has its number for a name', [len(8, base(7), len(2, int(1, 9), str(2, '/a')))], { type: 'STATE_DELTA', delta: [{ op: '9', path: '/a' }] }],
    ['of which 32 bits count', [len(8, base(7), len(2, int(1, (1n << 32n) + 1n)))], { type: 'STATE_DELTA', delta: [{ op: 'remove', path: '' }] }],
    ['an unknown role keeps its content', [oneMessage(str(1, 'u'), str(2, 'later'), len(8, len(1, str(1, 'p'))))], message({ id: 'u', role: 'later', content: [{ type: 'text', text: 'p' }] })],
    ['only user and tool have a list where there is nothing', [oneMessage(str(1, 'u'), str(2, 'system'))], message({ id: 'u', role: 'system' })],
    ['an unknown kind of part has its number for a name', [user(len(8, len(9, str(1, 'x'))))], message({ id: 'u', role: 'user', content: [{ type: 'protobuf field 9' }] }), { differs: 'drops it here' }],
    ['a part of no kind', [user(len(8))], message({ id: 'u', role: 'user', content: [{ type: 'protobuf field 0' }] }), { differs: 'drops it here' }],
    ['an unknown source', [user(len(8, len(2, len(1, len(9)))))], message({ id: 'u', role: 'user', content: [{ type: 'image', source: { type: 'protobuf field 9' } }] }), { differs: 'drops the part here' }],
    ['a known kind beside an unknown one', [user(len(8, len(9), len(1, str(1, 'p'))))], message({ id: 'u', role: 'user', content: [{ type: 'text', text: 'p' }] })],
  ])
  refuses('event.malformed', [
    ['a part of two kinds', [user(len(8, len(1, str(1, 'p')), len(2)))]],
    ['a source of two kinds', [user(len(8, len(2, len(1, len(1), len(2)))))]],
    ['content as text and as parts', [user(str(3, 'c'), len(8, len(1, str(1, 'p'))))]],
    ['content as text and as an object', [oneMessage(str(1, 'a'), str(2, 'activity'), str(3, 'c'), len(13))]],
    ['a result as text and as parts', [len(22, base(21), str(5, 'c'), len(7, len(1, str(1, 'p'))))]],
  ])
})

describe('open JSON', () => {
  const yes = int(4, 1)
  reads([
    ['null', [snapshot(int(1, 0))], state(null)],
    ['no kind at all', [snapshot()], state(undefined)],
    ['the last kind counts', [snapshot(str(3, 'x'), double(2, 1), yes)], state(true)],
    ['an object in pieces is one', [snapshot(len(5, entry('a', yes)), len(5, entry('b', yes)))], state({ a: true, b: true })],
    ['unless something else came between', [snapshot(len(5, entry('a', yes)), yes, len(5, entry('b', yes)))], state({ b: true })],
    ['a list in pieces is one', [snapshot(len(6, len(1, yes)), len(6, len(1, int(4, 0))))], state([true, false])],
    ['a Value in pieces is one', [len(7, base(6), len(2, len(5, entry('a', yes))), len(2, len(5, entry('b', yes))))], state({ a: true, b: true })],
    ['the last entry of a key counts', [snapshot(len(5, entry('a', yes), entry('a', int(1, 0))))], state({ a: null })],
    ['an entry without a value is none', [snapshot(len(5, len(1, str(1, 'a')), entry('b')))], state({})],
    ['an entry without a key has the empty one', [snapshot(len(5, len(1, len(2, yes))))], state({ '': true })],
    ['an element of no kind is null', [snapshot(len(6, len(1), len(1, yes)))], state([null, true]), { differs: 'makes it undefined' }],
    ['any bit makes true', [snapshot(int(4, 1n << 63n))], state(true)],
    ['a key __proto__ is an own member', [snapshot(len(5, entry('__proto__', len(5, entry('polluted', yes)))))], state(JSON.parse('{"__proto__":{"polluted":true}}')), { differs: 'loses it' }],
    ['rawEvent may be null, which enforcement takes for absent', [len(3, base(2, len(3, int(1, 0))), str(2, 'm'))], { type: 'TEXT_MESSAGE_END', messageId: 'm', rawEvent: null }],
  ])
  refuses('event.malformed', [
    ['not a number', [snapshot(double(2, Number.NaN))], { differs: 'takes it' }],
    ['infinity', [snapshot(len(6, len(1, double(2, Infinity))))], { differs: 'takes it' }],
  ])

  it('says where', () => {
    expect(thrownBy(() => decodeEvent(bytesOf(snapshot(len(6, len(1, double(2, Infinity)))))))).toMatchObject({ type: 'STATE_SNAPSHOT', pointer: '/snapshot' })
    const part = len(8, len(1, str(1, 'p'), len(3, double(2, Number.NaN))))
    expect(thrownBy(() => decodeEvent(bytesOf(user(len(8, len(1)), part))))).toMatchObject({ pointer: '/messages/0/content/1/metadata' })
  })

  it('touches no prototype', () => {
    const value = decodeEvent(bytesOf(snapshot(len(5, entry('__proto__', len(5, entry('polluted', yes)))))))['snapshot'] as object
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

describe('the envelope', () => {
  const later = { type: 'protobuf field 99' }
  const drops: Official = { differs: 'has an error of its own for it' }
  reads([
    ['an event of a later protocol', [len(99, base(50), str(2, 'x'))], later, drops],
    ['an empty one', [len(99)], later, drops],
    ['beside a field that is no event', [int(98, 1), len(99)], later, drops],
    ['a known event beside an unknown one', [len(99, [0xff]), start()], START],
    ['type 0 may be written', [len(1, len(1, int(1, 0)), str(2, 'm'))], START],
  ])
  refuses('frame.not-protobuf', [
    ['no bytes', []],
    ['two events', [start(), len(3, base(2))]],
    ['no base', [len(1, str(2, 'm'))]],
    ['an empty event', [len(1)]],
    ['a base that says another type', [len(1, base(3), str(2, 'm'))]],
    ['a base that says an unknown type', [len(1, base(77), str(2, 'm'))]],
    ['an event that is a number', [int(1, 1)]],
    ['an event, and another that is a number', [start(), int(15, 1)]],
    ['only a number', [int(99, 1)]],
    ['a later event that is no message', [len(99, [1, 2, 3])]],
    ['text', [[...new TextEncoder().encode('data: {"type":"RUN_STARTED"}\n\n')]]],
    ['a field number 0', [start([0x02, 0x00])]],
    ['a zero after the event', [start(), [0]]],
    ['wire type 6', [start([0x96, 0x03])]],
    ['the end of a group', [start([0x9c, 0x03])]],
    ['a group without end', [start([0x9b, 0x03, 8, 1])]],
    ['a group that ends as another', [start([0x9b, 0x03, 0xa4, 0x03])]],
    ['a string past its end', [start([0x1a, 5, 0x61])]],
    ['a string past the end of what holds it', [[0x0a, 4, 0x0a, 0, 0x12, 9], [...'abcdefghij'].map(() => 0x61)]],
    ['a varint that ends early', [len(1, len(1, [0x10, 0x80]))]],
    ['a varint of eleven bytes', [len(1, len(1, [0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]))]],
    ['a double that ends early', [snapshot([0x11, 0, 0])]],
    ['a length of 4 GB', [[0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]]],
    ['a length of 2^63', [[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]]],
    ['a length beyond 32 bits', [[0x0a, 0x85, 0x80, 0x80, 0x80, 0x10], [0x0a, 0, 0x12, 1, 0x61]], { differs: 'cuts it to 32 bits' }],
  ])
})

describe('bounds', () => {
  const nested = (depth: number): Bytes => Array.from({ length: depth }).reduce<Bytes>((inner) => len(6, len(1, inner)), int(4, 1))
  const objects = (depth: number): Bytes => Array.from({ length: depth }).reduce<Bytes>((inner) => len(5, entry('k', inner)), int(4, 1))

  it.each([['lists', nested], ['objects', objects]])('%s nest as deep in protobuf as in JSON', (_name, build) => {
    for (const jsonDepth of [1, 3, 200]) {
      const reader = (): ThreadReader => new ThreadReader({ mode: reportMode, limits: { jsonDepth } })
      const deepest = decodeEvent(bytesOf(snapshot(build(jsonDepth))), { jsonDepth })
      reader().accept(deepest)
      const error = thrownBy(() => decodeEvent(bytesOf(snapshot(build(jsonDepth + 1))), { jsonDepth }))
      expect(error).toMatchObject({ code: 'limit', rule: 'event.too-deep', type: 'STATE_SNAPSHOT', pointer: '/snapshot' })
      const tooDeep = { type: 'STATE_SNAPSHOT', snapshot: [(deepest as unknown as { snapshot: unknown }).snapshot] }
      expect(thrownBy(() => new ThreadReader({ limits: { jsonDepth } }).accept(tooDeep))).toMatchObject({ ...(error as object), message: (error as Error).message })
    }
  })

  it('of metadata and rawEvent as well', () => {
    const metadata = len(4, entry('k', nested(200)))
    expect(thrownBy(() => decodeEvent(bytesOf(len(3, base(2, metadata)))))).toMatchObject({ rule: 'event.too-deep', pointer: '/metadata' })
    expect(thrownBy(() => decodeEvent(bytesOf(len(3, base(2, len(3, nested(201)))))))).toMatchObject({ rule: 'event.too-deep', pointer: '/rawEvent' })
  })

  it('however deep the bytes go', () => {
    const groups = Uint8Array.from({ length: 1_000_000 }, (_, index) => (index % 2 === 0 ? 0x9b : 0x03))
    expect(thrownBy(() => decodeEvent(groups))).toMatchObject({ code: 'limit', rule: 'event.too-deep' })
    const writer = new WireWriter()
    for (let depth = 0; depth < 500_000; depth++) {
      writer.close(0, 0x0a)
      writer.close(0, 0x32)
    }
    writer.close(0, 0x12)
    writer.close(0, 0x3a)
    expect(thrownBy(() => decodeEvent(writer.bytes()))).toMatchObject({ code: 'limit', rule: 'event.too-deep' })
  })
})

describe('into the reader', () => {
  const run = { type: 'RUN_STARTED', threadId: 't', runId: 'r' } as const
  const bad = Uint8Array.of(0, 0, 0, 0)

  it('ProtoDecoder gives events, and ends at a frame that holds none', () => {
    const seen: string[] = []
    const decoder = new ProtoDecoder(({ type }) => seen.push(type))
    const refused = expect.objectContaining({ code: 'malformed', rule: 'frame.not-protobuf' })
    expect(() => decoder.feed(Uint8Array.from([...encodeFrame(run), ...bad, ...encodeFrame(run)]))).toThrow(refused)
    expect(() => decoder.feed(encodeFrame(run))).toThrow(refused)
    decoder.finish()
    expect(seen).toEqual(['RUN_STARTED'])
  })

  it('ProtoDecoder says when the end was cut off', () => {
    const decoder = new ProtoDecoder(() => {})
    decoder.feed(encodeFrame(run).subarray(0, 9))
    expect(thrownBy(() => decoder.finish())).toMatchObject({ code: 'truncated', rule: 'frame.truncated' })
  })

  it('a frame that holds no event is the verdict on an event', () => {
    const reader = new ThreadReader()
    reader.accept(run)
    const error = thrownBy(() => reader.acceptFrame({ data: bad.subarray(4) }, parseBinaryFrame))
    expect(error).toMatchObject({ code: 'malformed', rule: 'frame.not-protobuf', event: 1 })
    expect(reader.error).toBe(error)
    expect(reader.finish()).toBe('malformed')
  })

  it('a cut one is truncated', () => {
    const reader = new ThreadReader()
    reader.accept(run)
    expect(thrownBy(() => reader.acceptFrame({ data: encodeFrame(run).subarray(4, 9), unterminated: true }, parseBinaryFrame))).toMatchObject({ code: 'truncated', event: 1 })
    expect(reader.finish()).toBe('truncated')
  })

  it('in report mode it is reported and reading goes on', () => {
    const found: Diagnostic[] = []
    const reader = new ThreadReader({ mode: reportMode, onDiagnostic: (diagnostic) => found.push(diagnostic) })
    reader.accept(run)
    reader.acceptFrame({ data: new Uint8Array(0) }, parseBinaryFrame)
    reader.acceptFrame({ data: bytesOf(snapshot(double(2, Number.NaN))) }, parseBinaryFrame)
    reader.acceptFrame({ data: bytesOf(len(99)) }, parseBinaryFrame)
    reader.accept({ type: 'RUN_FINISHED', threadId: 't', runId: 'r' })
    expect(found.map(({ rule, event, type, pointer }) => [rule, event, type, pointer])).toEqual([
      ['frame.not-protobuf', 1, undefined, undefined],
      ['event.malformed', 2, 'STATE_SNAPSHOT', '/snapshot'],
      ['event.unknown-type', 3, 'protobuf field 99', '/type'],
    ])
    expect(reader.finish()).toBe('finished')
  })
})
