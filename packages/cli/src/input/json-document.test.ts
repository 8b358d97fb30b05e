import { describe, expect, it } from 'vitest'
import { CommandError } from '../command-error.ts'
import { findEvents, readHar } from './json-document.ts'

describe('findEvents', () => {
  it('finds the array by its key at the top, with its line', () => {
    const text = '{\n "name": "stream",\n "deep": {"events": [9]},\n "list": ["stream", [8]],\n "stream" : [1, [2]],\n "x": [3]}'
    const place = findEvents(text)
    expect(text.slice(place?.offset, place?.end)).toBe('[1, [2]]')
    expect(place?.line).toBe(5)
  })

  it('is not misled by brackets and quotes in strings', () => {
    const text = '{"a":"]}\\"events\\": [","events":["]"]}'
    const place = findEvents(text)
    expect(text.slice(place?.offset, place?.end)).toBe('["]"]')
  })

  it('takes an array without end to the end of the text', () => {
    const text = '{"events":[{"a":'
    expect(findEvents(text)).toEqual({ offset: 10, end: text.length, line: 1 })
  })

  it('finds nothing where there is none', () => {
    expect(findEvents('{"type":"RAW","event":{"events":[1]}}')).toBeUndefined()
    expect(findEvents('{"events":{}}')).toBeUndefined()
  })
})

describe('readHar', () => {
  const entry = (content: object, more: object = {}): object => ({
    request: { method: 'POST', url: 'https://example.com/agent' },
    response: { content },
    ...more,
  })
  const har = (...entries: object[]): string => JSON.stringify({ log: { entries } })
  const text = (body: Uint8Array): string => new TextDecoder().decode(body)

  it('gives the bodies of event streams, plain and base64, and leaves the rest', () => {
    const found = readHar(
      har(
        entry({ mimeType: 'text/html', text: '<p>' }),
        entry({ mimeType: 'text/event-stream; charset=utf-8', text: 'data: ü\n\n' }),
        entry({ mimeType: 'application/x-ndjson', encoding: 'base64', text: Buffer.from('{"ü":1}\n').toString('base64') }),
      ),
    )
    expect(found.map(({ type, label, body }) => [type, label, text(body)])).toEqual([
      ['text/event-stream', 'POST https://example.com/agent', 'data: ü\n\n'],
      ['application/x-ndjson', 'POST https://example.com/agent', '{"ü":1}\n'],
    ])
  })

  it('takes what Chromium keeps of an EventSource', () => {
    const [found] = readHar(har(entry({ mimeType: 'text/event-stream' }, { _eventSourceMessages: [{ data: 'a\nb' }, { data: 'c' }] })))
    expect(text(found?.body ?? new Uint8Array())).toBe('data: a\ndata: b\n\ndata: c\n\n')
  })

  it.each([
    ['nothing', har(), 'None of the 0 entries'],
    ['no stream', har(entry({ mimeType: 'text/html', text: '<p>' })), 'None of the 1 entries'],
    ['no bodies', har(entry({ mimeType: 'text/event-stream' })), 'None of the 1 entries'],
    ['no entries', '{"log":{}}', 'no HAR capture'],
    ['a cut file', '{"log":{"entries":[', 'not valid JSON'],
    ['null', 'null', 'no HAR capture'],
    ['odd entries', '{"log":{"entries":[null,1,"x",{"response":null}]}}', 'None of the 4 entries'],
  ])('says so if there is %s', (_name, capture, message) => {
    expect(() => readHar(capture)).toThrow(CommandError)
    expect(() => readHar(capture)).toThrow(message)
  })
})
