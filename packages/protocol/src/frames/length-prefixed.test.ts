/** Binary framing: any split gives the same frames, and what is only announced costs nothing. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cut } from '../../test/arbitraries.ts'
import { ProtocolError } from '../errors.ts'
import type { Limits } from '../limits.ts'
import { encodeLengthPrefixed, LengthPrefixedDecoder, type BinaryFrame } from './length-prefixed.ts'

function read(pieces: readonly Uint8Array[], limits?: Partial<Limits>): { frames: BinaryFrame[]; error?: unknown } {
  const frames: BinaryFrame[] = []
  // Copied: a frame may be a view of the piece it came in.
  const decoder = new LengthPrefixedDecoder((frame) => frames.push({ ...frame, data: Uint8Array.from(frame.data) }), limits)
  try {
    for (const piece of pieces) decoder.feed(piece)
    decoder.finish()
    return { frames }
  } catch (error) {
    return { frames, error }
  }
}

const joined = (...parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]))
const frame = (...bytes: number[]): Uint8Array => encodeLengthPrefixed(Uint8Array.from(bytes))
const data = (frames: readonly BinaryFrame[]): number[][] => frames.map((one) => [...one.data])
const bytewise = (bytes: Uint8Array): Uint8Array[] => [...bytes].map((byte) => Uint8Array.of(byte))

describe('length-prefixed frames', () => {
  it('are a big-endian length and that many bytes', () => {
    expect([...frame(7, 8, 9)]).toEqual([0, 0, 0, 3, 7, 8, 9])
    expect([...encodeLengthPrefixed(new Uint8Array(0x10203)).subarray(0, 4)]).toEqual([0, 1, 2, 3])
    expect(data(read([joined(frame(1), frame(), frame(2, 3))]).frames)).toEqual([[1], [], [2, 3]])
  })

  it('are the same however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 }), fc.nat(), fc.array(fc.nat(), { maxLength: 20 }), (payloads, missing, places) => {
        const all = joined(...payloads.map(encodeLengthPrefixed))
        const bytes = all.subarray(0, Math.max(0, all.length - (missing % 5)))
        const whole = read([bytes])
        expect(whole.error).toBeUndefined()
        if (bytes.length === all.length) expect(whole.frames).toEqual(payloads.map((payload) => ({ data: payload })))
        expect(read(cut(bytes, places))).toEqual(whole)
        expect(read(bytewise(bytes))).toEqual(whole)
      }),
      { numRuns: 1_000 },
    )
  })

  it.each([
    ['in the payload', [0, 0, 0, 3, 1, 2], [1, 2]],
    ['before the payload', [0, 0, 0, 3], []],
    ['in the length', [0, 0], []],
  ])('a stream cut %s gives what came, marked', (_name, bytes, rest) => {
    for (const pieces of [[Uint8Array.from(bytes)], bytewise(Uint8Array.from(bytes))]) {
      expect(read([frame(9), ...pieces]).frames).toEqual([{ data: Uint8Array.of(9) }, { data: Uint8Array.from(rest), unterminated: true }])
    }
  })

  it('nothing follows the end of a frame, and ending twice gives nothing new', () => {
    const frames: BinaryFrame[] = []
    const decoder = new LengthPrefixedDecoder((one) => frames.push(one))
    decoder.finish()
    decoder.feed(Uint8Array.of(0))
    decoder.finish()
    decoder.finish()
    expect(frames).toEqual([{ data: new Uint8Array(0), unterminated: true }])
  })

  it('a length past the limit is refused before anything is kept for it; the frames before it stay', () => {
    const bytes = joined(frame(1, 2, 3, 4, 5), frame(1, 2, 3, 4, 5, 6))
    for (const pieces of [[bytes], bytewise(bytes)]) {
      const { frames, error } = read(pieces, { frameLength: 5 })
      expect(data(frames)).toEqual([[1, 2, 3, 4, 5]])
      expect(error).toBeInstanceOf(ProtocolError)
      expect(error).toMatchObject({ code: 'limit', rule: 'frame.too-long' })
      expect((error as Error).message).toContain('6 bytes')
    }
    // The first bytes of an error page, read as a length.
    expect(read([new TextEncoder().encode('<html>')]).error).toMatchObject({ rule: 'frame.too-long' })
  })

  it('a refused stream stays refused', () => {
    const decoder = new LengthPrefixedDecoder(() => {}, { frameLength: 1 })
    const refused = expect.objectContaining({ rule: 'frame.too-long' })
    expect(() => decoder.feed(Uint8Array.of(255, 255, 255, 255))).toThrow(refused)
    expect(() => decoder.feed(frame(1))).toThrow(refused)
    decoder.finish()
  })

  it('announced bytes take no memory until they come', () => {
    const before = process.memoryUsage().arrayBuffers
    const decoders = Array.from({ length: 500 }, () => new LengthPrefixedDecoder(() => {}))
    for (const decoder of decoders) decoder.feed(Uint8Array.of(0, 0xff, 0xff, 0xff, 1, 2, 3))
    // Kept for as announced, this would be 8 GB.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50 * 2 ** 20)
  })
})
