/** What an encoder is given that is no event, and how open JSON is seen: as `JSON.stringify` sees it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UsageError, type Event } from '../index.ts'
import { decodeEvent, encodeEvent, encodeFrame, type UncheckedEvent } from '../proto.ts'
import { WireReader } from './wire-reader.ts'
import { WireWriter } from './wire-writer.ts'

const there = (event: object): UncheckedEvent => decodeEvent(encodeEvent(event as Event))

describe('refused, naming the place', () => {
  const message = (fields: object): object => ({ type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'a', role: 'user', content: 'c' }, fields] })
  it.each<[string, unknown, string]>([
    ['no object', null, 'expected an object'],
    ['a list', [], 'expected an object'],
    ['no type', {}, '/type'],
    ['an unknown type', { type: 'LATER' }, '/type'],
    ['a name from Object.prototype', { type: 'toString' }, '/type'],
    ['a missing string', { type: 'TEXT_MESSAGE_START' }, '/messageId'],
    ['a missing list', { type: 'STATE_DELTA' }, '/delta'],
    ['a missing value', { type: 'STATE_SNAPSHOT' }, '/snapshot'],
    ['missing content', { type: 'TOOL_CALL_RESULT', messageId: 'm', toolCallId: 'c' }, '/content'],
    ['null in a field', { type: 'TEXT_MESSAGE_START', messageId: 'm', name: null }, '/name'],
    ['null metadata', { type: 'TEXT_MESSAGE_END', messageId: 'm', metadata: null }, '/metadata'],
    ['a number for a string', { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 5 }, '/delta'],
    ['a string for a boolean', { type: 'ACTIVITY_SNAPSHOT', messageId: 'm', activityType: 't', content: {}, replace: 'no' }, '/replace'],
    ['a list for an object', { type: 'ACTIVITY_SNAPSHOT', messageId: 'm', activityType: 't', content: [] }, '/content'],
    ['an object for a list', { type: 'STATE_DELTA', delta: {} }, '/delta'],
    ['a fraction of a timestamp', { type: 'TEXT_MESSAGE_END', messageId: 'm', timestamp: 1.5 }, '/timestamp'],
    ['a timestamp that is no safe integer', { type: 'TEXT_MESSAGE_END', messageId: 'm', timestamp: 2 ** 53 }, '/timestamp'],
    ['an unknown operation', { type: 'STATE_DELTA', delta: [{ op: 'remove', path: '/a' }, { op: 'increment', path: '/a' }] }, '/delta/1/op'],
    ['an unknown kind of part', message({ id: 'b', role: 'user', content: [{ type: 'hologram' }] }), '/messages/1/content/0/type'],
    ['an unknown source', message({ id: 'b', role: 'user', content: [{ type: 'image', source: { type: 'magnet' } }] }), '/messages/1/content/0/source/type'],
    ['content of no type it may have', message({ id: 'b', role: 'user', content: 5 }), '/messages/1/content'],
    ['an outcome that is a string', { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: 'success' }, '/outcome'],
    ['an outcome without a type', { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: {} }, '/outcome/type'],
    ['null among ids', { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'success', pendingToolCallIds: [null] } }, '/outcome/pendingToolCallIds/0'],
    ['a bigint in open JSON', { type: 'RAW', event: { a: [1n] } }, '/event'],
  ])('%s', (_name, event, place) => {
    let error: unknown
    try {
      encodeEvent(event as Event)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(UsageError)
    expect(error).toMatchObject({ code: 'not-encodable' })
    expect((error as Error).message).toContain(place)
  })

  it('JSON that is nested too deep, or in itself', () => {
    const nested = (depth: number): unknown => Array.from({ length: depth }).reduce<unknown>((inner) => ({ inner }), 1)
    expect(there({ type: 'RAW', event: nested(200) })).toEqual({ type: 'RAW', event: nested(200) })
    const refused = expect.objectContaining({ code: 'not-encodable' })
    expect(() => encodeEvent({ type: 'RAW', event: nested(201) })).toThrow(refused)
    expect(() => encodeFrame({ type: 'RAW', event: nested(3) }, { jsonDepth: 2 })).toThrow(refused)
    const cycle: unknown[] = []
    cycle.push(cycle)
    expect(() => encodeEvent({ type: 'RAW', event: cycle })).toThrow(refused)
  })
})

describe('written', () => {
  it('open JSON as JSON.stringify sees it', () => {
    const event = {
      date: new Date(0),
      not: Number.NaN,
      infinite: -Infinity,
      gone: undefined,
      call: () => 1,
      list: [undefined, () => 1, Symbol('s'), Number.NaN],
      toJson: { toJSON: () => ({ seen: true }) },
      map: new Map([['a', 1]]),
      '': null,
    }
    expect(there({ type: 'RAW', event })).toEqual(JSON.parse(JSON.stringify({ type: 'RAW', event })))
  })

  it('undefined as absent, unknown fields not at all', () => {
    const event = { type: 'TEXT_MESSAGE_START', messageId: 'm', role: undefined, metadata: undefined, later: 1, base: 2 }
    expect(there(event)).toEqual({ type: 'TEXT_MESSAGE_START', messageId: 'm' })
    const operation = { op: 'remove', path: '/a', comment: 'x' }
    expect(there({ type: 'STATE_DELTA', delta: [operation] })).toEqual({ type: 'STATE_DELTA', delta: [{ op: 'remove', path: '/a' }] })
  })

  it('half a surrogate pair as U+FFFD: UTF-8 has no form for it, JSON has', () => {
    expect(there({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: '\ud83d' })).toMatchObject({ delta: '\uFFFD' })
  })

  it('the sign of zero, which JSON loses', () => {
    expect(Object.is(there({ type: 'RAW', event: -0 })['event'], -0)).toBe(true)
  })

  it('lengths around every size of varint', () => {
    for (const length of [0, 1, 99, 100, 101, 120, 121, 126, 127, 128, 129, 16_380, 16_383, 16_384, 16_400, 2_097_151, 2_097_152]) {
      for (const unit of ['x', 'é']) {
        const event = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: unit.repeat(length) }
        expect(there(event)).toEqual(event)
      }
    }
  })

  it('into bytes that are nobody else’s', () => {
    const bytes = encodeEvent({ type: 'TEXT_MESSAGE_END', messageId: 'm' })
    expect(bytes.byteOffset).toBe(0)
    expect(bytes.buffer.byteLength).toBe(bytes.length)
  })
})

describe('the wire', () => {
  const written = (write: (writer: WireWriter) => void): Uint8Array => {
    const writer = new WireWriter()
    write(writer)
    return writer.bytes()
  }
  const reader = (bytes: Uint8Array): WireReader => new WireReader(bytes, 1)

  it('strings are those of TextEncoder, short or long', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const bytes = written((writer) => writer.string(text))
        const plain = new TextEncoder().encode(text)
        expect([...bytes.subarray(bytes.length - plain.length)]).toEqual([...plain])
        expect(reader(bytes).string(bytes.length)).toBe(new TextDecoder('utf-8', { ignoreBOM: true }).decode(plain))
      }),
      { numRuns: 500 },
    )
  })

  it('integers come back, all that are safe', () => {
    fc.assert(
      fc.property(fc.oneof(fc.maxSafeInteger(), fc.integer(), fc.integer({ min: 0, max: 52 }).map((power) => 2 ** power)), (value) => {
        for (const number of [value, -value, Math.max(value - 1, Number.MIN_SAFE_INTEGER)]) {
          const bytes = written((writer) => writer.int64(number))
          expect(bytes.length).toBeLessThanOrEqual(10)
          expect(reader(bytes).int64(bytes.length)).toBe(number === 0 ? 0 : number)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  it('doubles come back, all of them', () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        const bytes = written((writer) => writer.double(value))
        expect(reader(bytes).double(bytes.length)).toBe(value)
      }),
    )
  })
})
