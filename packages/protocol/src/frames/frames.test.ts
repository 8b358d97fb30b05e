/** Framing: what the standard leaves to us, limits, and the way out again. */
import { describe, expect, it } from 'vitest'
import { encodeSse, encodeSseComment, NdjsonDecoder, ProtocolError, SseDecoder, type Frame } from '../index.ts'

function sse(...pieces: (string | Uint8Array)[]): Frame[] {
  const frames: Frame[] = []
  const decoder = new SseDecoder((frame) => frames.push(frame))
  for (const piece of pieces) decoder.feed(piece)
  decoder.finish()
  return frames
}

describe('SSE', () => {
  it('ids persist until another is sent; an empty one clears them', () => {
    expect(sse('id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n').map(({ data, id }) => [data, id])).toEqual([['a', '1'], ['b', '1'], ['c', undefined]])
  })

  it('an id with NUL is ignored, a retry must be digits', () => {
    const frames: Frame[] = []
    const decoder = new SseDecoder((frame) => frames.push(frame))
    decoder.feed('id: 1\nid: x\0y\nretry: 12\nretry: 1x\ndata: a\n\n')
    expect(frames).toEqual([{ data: 'a', id: '1', ownId: true, line: 5 }])
    expect(decoder.retry).toBe(12)
  })

  it('a block without data gives no frame, but its id counts', () => {
    expect(sse('id: 7\n\ndata: a\n\n')).toEqual([{ data: 'a', id: '7', line: 3 }])
  })

  it('tells an id of its own from one that persists', () => {
    const own = (text: string) => sse(text).map(({ data, id, ownId }) => [data, id, ownId])
    expect(own('id: 1\ndata: a\n\ndata: b\n\nid: 1\ndata: c\n\nid\ndata: d\n\ndata: e\n\n')).toEqual([
      ['a', '1', true],
      ['b', '1', undefined],
      ['c', '1', true],
      ['d', undefined, true],
      ['e', undefined, undefined],
    ])
    expect(own('id: 7\n\ndata: a\n\n')).toEqual([['a', '7', undefined]])
    expect(own('id: x\0\ndata: a\n\n')).toEqual([['a', undefined, undefined]])
    expect(own('id: 1\n{"a":1}\n{"b":2}\n')).toEqual([['{"a":1}', '1', true], ['{"b":2}', '1', undefined]])
    expect(own('id: 1\ndata: a\n{"b":2}\n')).toEqual([['a', '1', true], ['{"b":2}', '1', undefined]])
  })

  it('bare JSON lines are frames of their own', () => {
    expect(sse('{"a":1}\n{"b":2}\n').map(({ data }) => data)).toEqual(['{"a":1}', '{"b":2}'])
  })

  it('an unterminated last event is given and marked; a cut id is not taken', () => {
    expect(sse('data: a')).toEqual([{ data: 'a', line: 1, unterminated: true }])
    expect(sse('data: a\n')).toEqual([{ data: 'a', line: 1, unterminated: true }])
    expect(sse('id: 1\ndata: a\n\nid: 2\ndata: b\nid: 3').at(-1)).toMatchObject({ data: 'b', id: '2', unterminated: true })
    expect(sse('data: a\n\n: ping')).toEqual([{ data: 'a', line: 1 }])
  })

  it('a cut UTF-8 sequence becomes the replacement character, nothing else', () => {
    expect(sse(Uint8Array.of(...new TextEncoder().encode('data: '), 0xe2, 0x82))).toEqual([{ data: '\uFFFD', line: 1, unterminated: true }])
  })

  it.each([
    ['one long line', 'data: ' + 'x'.repeat(100)],
    ['one long line that ends', `data: ${'x'.repeat(100)}\n`],
    ['one long bare line that ends', `{"a":"${'x'.repeat(100)}"}\n`],
    ['many short lines', 'data: x\n'.repeat(50)],
  ])('%s past the limit is refused', (_name, text) => {
    for (const size of [text.length, 7]) {
      const decoder = new SseDecoder(() => {}, { frameLength: 40 })
      let error: unknown
      try {
        for (let at = 0; at < text.length; at += size) decoder.feed(text.slice(at, at + size))
      } catch (caught) {
        error = caught
      }
      expect(error).toBeInstanceOf(ProtocolError)
      expect(error).toMatchObject({ code: 'limit', rule: 'frame.too-long' })
    }
  })
})

describe('encoding', () => {
  it('splits a payload of several lines, whatever ends them', () => {
    expect(sse(encodeSse({ data: 'a\r\nb\rc\nd', id: '1', event: 'e', retry: 5 }))).toEqual([{ data: 'a\nb\nc\nd', id: '1', ownId: true, event: 'e', line: 4 }])
  })

  it('refuses ids and names that would break the stream', () => {
    expect(() => encodeSse({ data: '', id: 'a\nb' })).toThrow(RangeError)
    expect(() => encodeSse({ data: '', event: 'a\0' })).toThrow(RangeError)
  })

  it('comments stay on one line', () => {
    expect(sse(encodeSseComment('a\n\ndata: b'))).toEqual([])
  })
})

it('NDJSON skips blank lines and counts them', () => {
  const frames: Frame[] = []
  const decoder = new NdjsonDecoder((frame) => frames.push(frame))
  decoder.feed('\n{"a":1}\r\n  \n{"b"')
  decoder.finish()
  expect(frames).toEqual([{ data: '{"a":1}', line: 2 }, { data: '{"b"', line: 4, unterminated: true }])
})
