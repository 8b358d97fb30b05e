import type { Frame } from '@millrace/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { JsonArrayDecoder } from './json-array.ts'

function framesOf(pieces: Iterable<string | Uint8Array>, line?: number): Frame[] {
  const frames: Frame[] = []
  const decoder = new JsonArrayDecoder((frame) => frames.push(frame), line)
  for (const piece of pieces) decoder.feed(piece)
  decoder.finish()
  return frames
}

it('gives each element with its line', () => {
  expect(framesOf(['[{"a":1},\n {"b":"x]}\\""}\n,[2],3 ]\n'])).toEqual([
    { data: '{"a":1}', line: 1 },
    { data: '{"b":"x]}\\""}', line: 2 },
    { data: '[2]', line: 3 },
    { data: '3', line: 3 },
  ])
})

it('counts lines inside of elements, from the line it is told', () => {
  expect(framesOf(['[\n{\n"a":\n1},\n{}]'], 10).map(({ line }) => line)).toEqual([11, 14])
})

it('cuts a broken element out and goes on', () => {
  expect(framesOf(['[{"a":oops}, nonsense, {"b":2}]']).map(({ data }) => data)).toEqual(['{"a":oops}', 'nonsense', '{"b":2}'])
})

it.each([
  ['[', ''],
  ['[{"a":1}', ''],
  ['[{"a":1},{"b"', '{"b"'],
  ['[{"a":"x\\', '{"a":"x\\'],
])('marks %s as unterminated', (text, data) => {
  expect(framesOf([text]).at(-1)).toMatchObject({ data, unterminated: true })
})

it('gives nothing for an empty array or no text', () => {
  expect(framesOf(['\ufeff [ ] '])).toEqual([])
  expect(framesOf(['  \n'])).toEqual([])
})

it('gives what JSON.parse gives, for any array, however cut', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.constantFrom(0, 2), fc.array(fc.nat()), (values, indent, places) => {
      const bytes = new TextEncoder().encode(JSON.stringify(values, null, indent))
      const cuts = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
      const pieces = cuts.slice(1).map((cut, index) => bytes.subarray(cuts[index], cut))
      const frames = framesOf(pieces)
      expect(frames.map(({ data }) => JSON.parse(data) as unknown)).toEqual(JSON.parse(JSON.stringify(values)))
      expect(frames).toEqual(framesOf([bytes]))
    }),
  )
})

it('never throws, and loses no character but commas and white space between elements', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom(...'[]{}",\\:\na1 ') })), (pieces) => {
      const solid = (text: string): string => text.replace(/[\s,\ufeff[\]]/g, '')
      expect(solid(framesOf(pieces).map(({ data }) => data).join(''))).toBe(solid(pieces.join('')))
    }),
  )
})
