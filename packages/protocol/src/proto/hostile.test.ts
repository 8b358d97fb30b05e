/** Law 8 for protobuf: any bytes give an event or a ProtocolError. And what the official decoder makes of the same bytes. */
import * as official from '@ag-ui/proto'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { shapedEvent } from '../../test/shaped-arbitraries.ts'
import { bytesOf, double, fixed32, group, int, len, str, type Bytes } from '../../test/wire-bytes.ts'
import { Reporter } from '../diagnostics.ts'
import { EventParser } from '../events/parse.ts'
import { DEFAULT_LIMITS, oldSpellings, ProtocolError, reportMode, RULES, ThreadReader } from '../index.ts'
import { decodeEvent, encodeEvent, parseBinaryFrame, ProtoDecoder } from '../proto.ts'

beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}))
afterEach(() => vi.restoreAllMocks())

/** Well-formed fields of any number and type: what random bytes seldom are. */
const fields: fc.Arbitrary<Bytes> = fc.letrec<{ fields: Bytes; one: Bytes }>((tie) => {
  const no = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 13 }) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 ** 29 - 1 }) })
  return {
    one: fc.oneof(
      { maxDepth: 6, depthSize: 'large' },
      fc.tuple(no, fc.oneof(fc.integer({ min: 0, max: 40 }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }))).map(([n, value]) => int(n, value)),
      fc.tuple(no, fc.constantFrom('', 'a', 'user', 'activity', 'interrupt', '__proto__', '/a')).map(([n, text]) => str(n, text)),
      fc.tuple(no, fc.double()).map(([n, value]) => double(n, value)),
      no.map(fixed32),
      fc.tuple(no, tie('fields')).map(([n, inner]) => group(n, inner)),
      fc.tuple(no, tie('fields')).map(([n, inner]) => len(n, inner)),
      fc.tuple(no, tie('fields')).map(([n, inner]) => len(n, inner)),
    ),
    fields: fc.array(tie('one'), { maxLength: 4 }).map((list) => list.flat()),
  }
}).fields

/** An event of which the envelope and the type are right, and nothing else need be. */
const almost = fc.tuple(fc.integer({ min: 1, max: 31 }), fields).map(([arm, rest]) => {
  const type = arm < 17 || arm > 21 ? arm - 1 : [19, 20, 16, 17, 18][arm - 17]
  return bytesOf(len(arm, len(1, int(1, type as number)), rest))
})

/** A few bytes of a good frame changed, gone, added or doubled. */
const mutated = fc
  .tuple(shapedEvent, fc.array(fc.tuple(fc.nat(), fc.constantFrom('set', 'cut', 'add', 'double'), fc.nat(255), fc.nat(30)), { minLength: 1, maxLength: 3 }))
  .map(([event, edits]) => {
    const bytes = [...encodeEvent(event)]
    for (const [place, edit, byte, length] of edits) {
      const at = place % bytes.length
      if (edit === 'set') bytes[at] = byte
      else if (edit === 'cut') bytes.splice(at, 1 + (length % 3), bytes[at] as number)
      else if (edit === 'add') bytes.splice(at, 0, byte)
      else bytes.splice(at, 0, ...bytes.slice(at, at + length))
    }
    return Uint8Array.from(bytes)
  })

/** Whether JSON text could have given this. */
function isJson(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value)
  if (Array.isArray(value)) return value.every(isJson)
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isJson)
}

type Verdict = { readonly event: unknown } | { readonly error: Error }

/** What enforcement leaves of the event, as JSON. */
function verdict(decode: () => unknown): Verdict {
  try {
    const event = new EventParser(new Reporter(), DEFAULT_LIMITS, oldSpellings).parse(decode())
    return { event: event === undefined ? undefined : JSON.parse(JSON.stringify(event)) }
  } catch (error) {
    return { error: error as Error }
  }
}

describe('hostile bytes', () => {
  it('give an event or a ProtocolError, nothing else', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 80 }), almost, mutated), (bytes) => {
        try {
          const event = decodeEvent(bytes)
          expect(event.type).toBeTypeOf('string')
          expect(isJson(event)).toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError)
          expect(['malformed', 'limit']).toContain((error as ProtocolError).code)
          expect(Object.keys(RULES)).toContain((error as ProtocolError).rule)
        }
        expect(Object.keys(Object.prototype)).toEqual([])
      }),
      { numRuns: 2_000 },
    )
  })

  it('go through decoder and reader as any others, however cut', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.boolean(), (bytes, small) => {
        const stream = small ? Uint8Array.from([0, 0, 0, bytes.length, ...bytes]) : bytes
        const read = (pieces: Iterable<Uint8Array>): string => {
          const reader = new ThreadReader()
          const decoder = new ProtoDecoder((event) => reader.accept(event))
          try {
            for (const piece of pieces) decoder.feed(piece)
            decoder.finish()
          } catch (error) {
            expect(error).toBeInstanceOf(ProtocolError)
            return (error as ProtocolError).rule
          }
          return reader.finish()
        }
        expect(read([...stream].map((byte) => Uint8Array.of(byte)))).toBe(read([stream]))
      }),
      { numRuns: 1_000 },
    )
  })

  it('get the verdict of the official decoder, but where it is said here', () => {
    fc.assert(
      fc.property(fc.oneof(almost, mutated), (bytes) => {
        const ours = verdict(() => decodeEvent(bytes))
        const theirs = verdict(() => official.decode(bytes))
        if ('event' in ours && 'event' in theirs) {
          if (!JSON.stringify(ours.event ?? null).includes('"__proto__":')) expect(ours.event).toEqual(theirs.event)
        } else if ('event' in ours) {
          // A later event: dropped here, an error of its own there. Or a number too large, which a later one replaced.
          const { error } = theirs as { error: Error }
          if (error instanceof official.AGUIUnknownEventTypeError) expect(ours.event).toBeUndefined()
          else expect(error.message).toMatch(/M(?:AX|IN)_SAFE_INTEGER/)
        } else if ('event' in theirs) {
          // It takes numbers that JSON does not have, cuts tags and lengths to 32 bits, and minds the end of the frame
          // but hardly the messages in it: broken fields there hide the rest of their message, or run past its end.
          expect(ours.error.message).toMatch(/finite number|no valid number|no valid wire type|a length passes|a group ends|a varint is longer|ends within a field/)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('change nothing in the thread when they are refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (data) => {
        const reader = new ThreadReader({ mode: reportMode })
        reader.accept({ type: 'RUN_STARTED', threadId: 't', runId: 'r' })
        const before = reader.snapshot()
        let refused = false
        try {
          decodeEvent(data)
        } catch {
          refused = true
        }
        reader.acceptFrame({ data }, parseBinaryFrame)
        if (refused) expect(reader.snapshot()).toBe(before)
        expect(reader.count).toBe(2)
      }),
      { numRuns: 300 },
    )
  })
})
