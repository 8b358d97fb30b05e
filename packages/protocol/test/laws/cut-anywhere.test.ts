/** Law 1: however bytes are split, the frames are the same. */
import fc from 'fast-check'
import { createParser } from 'eventsource-parser'
import { describe, expect, it } from 'vitest'
import { encodeNdjson, encodeSse, NdjsonDecoder, SseDecoder, type Frame, type FrameDecoder, type FrameSink } from '../../src/index.ts'
import { anyEvents, cut } from '../arbitraries.ts'

function framesOf(Decoder: new (sink: FrameSink) => FrameDecoder, pieces: readonly (Uint8Array | string)[]): Frame[] {
  const frames: Frame[] = []
  const decoder = new Decoder((frame) => frames.push(frame))
  for (const piece of pieces) decoder.feed(piece)
  decoder.finish()
  return frames
}

/** Any bytes that look like SSE: fields, comments, every line end, bare JSON, BOM, broken UTF-8. */
const sseText = fc
  .array(
    fc.tuple(
      fc.constantFrom('data: ', 'data:', 'data', 'id: ', 'id', 'event: ', 'retry: ', ':', '', '{"a":1}', 'x: ', '﻿'),
      fc.oneof(fc.string({ maxLength: 5 }), fc.constantFrom('é€👋', '1', '\0', '{"type":"RAW"}')),
      fc.constantFrom('\n', '\r', '\r\n', '\n\n', '\r\n\r\n', '\r\r'),
    ),
    { maxLength: 12 },
  )
  .map((lines) => lines.flat().join(''))

const places = fc.array(fc.nat(), { maxLength: 20 })
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('law 1, cut anywhere', () => {
  for (const [name, Decoder] of [['SSE', SseDecoder], ['NDJSON', NdjsonDecoder]] as const) {
    it(`${name}: any split of any bytes gives the same frames`, () => {
      fc.assert(
        fc.property(fc.oneof(sseText.map(encode), fc.uint8Array({ maxLength: 60 })), places, (bytes, at) => {
          const whole = framesOf(Decoder, [bytes])
          expect(framesOf(Decoder, cut(bytes, at))).toEqual(whole)
          expect(framesOf(Decoder, [...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(whole)
        }),
        { numRuns: 1_000 },
      )
    })

    it(`${name}: text in pieces gives the frames of its bytes`, () => {
      fc.assert(
        fc.property(sseText, fc.nat(), (text, at) => {
          const place = text.length === 0 ? 0 : at % text.length
          expect(framesOf(Decoder, [text.slice(0, place), text.slice(place)])).toEqual(framesOf(Decoder, [encode(text)]))
        }),
        { numRuns: 500 },
      )
    })
  }

  it('events come back from SSE and NDJSON as they went in', () => {
    fc.assert(
      fc.property(anyEvents, places, (events, at) => {
        const sse = encode(events.map((event, index) => encodeSse({ data: JSON.stringify(event), id: String(index) })).join(''))
        const lines = encode(events.map(encodeNdjson).join(''))
        const wanted = events.map((event) => JSON.stringify(event))
        expect(framesOf(SseDecoder, cut(sse, at)).map(({ data }) => data)).toEqual(wanted)
        expect(framesOf(SseDecoder, cut(sse, at)).map(({ id }) => id)).toEqual(events.map((_, index) => String(index)))
        expect(framesOf(NdjsonDecoder, cut(lines, at)).map(({ data }) => data)).toEqual(wanted)
      }),
    )
  })

  it('agrees with eventsource-parser on what the standard defines', () => {
    // Bare JSON lines and an unterminated end are ours alone.
    const standard = sseText.filter((text) => !/(?:^|[\r\n])\{/.test(text.replace(/^\uFEFF/, ''))).map((text) => `${text}\n\n`)
    fc.assert(
      fc.property(standard, (text) => {
        const theirs: { data: string; id: string | undefined; event: string | undefined }[] = []
        const parser = createParser({ onEvent: ({ data, id, event }) => theirs.push({ data, id, event }) })
        parser.feed(text)
        const ours = framesOf(SseDecoder, [text]).map(({ data, event }) => ({ data, event }))
        expect(ours).toEqual(theirs.filter(({ data }) => data !== '').map(({ data, event }) => ({ data, event: event || undefined })))
      }),
      { numRuns: 1_000 },
    )
  })
})
