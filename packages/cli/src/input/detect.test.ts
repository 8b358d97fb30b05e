import { encodeFrame } from '@millrace/protocol/proto'
import { describe, expect, it } from 'vitest'
import { CommandError } from '../command-error.ts'
import { detectFormat } from './detect.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const event = '{"type":"RUN_STARTED","threadId":"t","runId":"r"}'

describe('what the content says', () => {
  it.each([
    ['sse', `data: ${event}\n\n`],
    ['sse', `: ping\n\ndata:${event}\n\n`],
    ['sse', `: ping\n\n`],
    ['sse', `\ufeffdata: ${event}\r\n\r\n`],
    ['sse', `event: message\rdata: ${event}\r\r`],
    ['sse', `## heading\nid: 1\ndata: ${event}\n\n`],
    ['sse', `${event}\n\ndata: ${event}\n\n`],
    ['ndjson', `${event}\n${event}\n`],
    ['ndjson', `\n  ${event}`],
    ['ndjson', `{"id":"1","chunk":${event}}\n`],
    ['ndjson', `oops\n${event}\n`],
    ['ndjson', `{"type":"RUN_ST\n${event}\n`],
    ['ndjson', event.slice(0, 20)],
    ['json', `[${event}]`],
    ['json', ` \n[\n${event}\n]`],
    ['json', `{"name":"x","stream":[${event}]}`],
    ['json', `{\n "events": [\n${event}\n]}`],
    ['json', JSON.stringify(JSON.parse(event), null, 2)],
    ['har', '{"log":{"version":"1.2","entries":[]}}'],
    ['har', '{\n  "log": {'],
  ])('%s: %s', (format, text) => {
    expect(detectFormat(bytes(text), true, '')).toBe(format)
    expect(detectFormat(bytes(text), true, '.json'), 'whatever the name says').toBe(format)
  })

  it('needs no more than a beginning where that is enough', () => {
    expect(detectFormat(bytes('data: {"type":"RUN'), false, '')).toBe('sse')
    expect(detectFormat(bytes('[{"ty'), false, '')).toBe('json')
    expect(detectFormat(bytes('{"log":{"ver'), false, '')).toBe('har')
    expect(detectFormat(bytes('{"type":"RUN'), false, '')).toBeUndefined()
    expect(detectFormat(bytes('da'), false, '')).toBeUndefined()
    expect(detectFormat(bytes(' \n'), false, '')).toBeUndefined()
  })
})

describe('protobuf', () => {
  const frame = encodeFrame({ type: 'RUN_STARTED', threadId: 't', runId: 'r' })

  it('is known by its first frame, however it is called', () => {
    for (const hint of ['', '.pb', '.json', 'text/event-stream']) expect(detectFormat(frame, true, hint)).toBe('protobuf')
    expect(detectFormat(frame, false, '')).toBe('protobuf')
  })

  it('needs the whole first frame, unless it is called that', () => {
    expect(detectFormat(frame.subarray(0, -1), false, '')).toBeUndefined()
    for (const hint of ['.pb', '.binpb', 'application/vnd.ag-ui.event+proto']) {
      expect(detectFormat(frame.subarray(0, 2), false, hint)).toBe('protobuf')
      expect(detectFormat(new Uint8Array(), true, hint)).toBe('protobuf')
      expect(detectFormat(bytes(`data: ${event}\n\n`), true, hint), 'text is text').toBe('sse')
    }
  })
})

it('takes the name or content type where there is nothing to see', () => {
  expect(detectFormat(bytes(''), true, '.ndjson')).toBe('ndjson')
  expect(detectFormat(bytes('\n'), true, 'text/event-stream')).toBe('sse')
  expect(detectFormat(bytes('oops'), true, '.sse')).toBe('sse')
})

it.each([
  ['a page', bytes('<!doctype html><title>502'), 'markup'],
  ['prose', bytes('Dear reader,\nthis is a letter.'), 'no stream of events'],
  ['gzip', new Uint8Array([0x1f, 0x8b, 8, 0]), 'gzip'],
  ['UTF-16', new Uint8Array([0xff, 0xfe, 0x64, 0]), 'UTF-16'],
  ['other binary data', new Uint8Array([0, 0, 0, 2, 255, 255]), 'is binary'],
  ['a cut frame', new Uint8Array([0, 0, 0, 12, 98, 10]), 'is binary'],
])('says what %s is', (_name, head, message) => {
  expect(() => detectFormat(head, true, '')).toThrow(CommandError)
  expect(() => detectFormat(head, true, '')).toThrow(message)
})
