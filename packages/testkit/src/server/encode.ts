/** Events → the bytes of a body or of WebSocket frames, one piece for each event. It knows nothing of faults but what a server may say. */
import { encodeSse, encodeSseComment } from '@millrace/protocol'
import type { ScriptItem } from './runs.ts'

export type Format = 'sse' | 'ndjson' | 'websocket'

export const CONTENT_TYPES: Readonly<Record<Exclude<Format, 'websocket'>, string>> = {
  sse: 'text/event-stream',
  ndjson: 'application/x-ndjson',
}

export interface Encoding {
  event(item: ScriptItem, id: string | undefined): Uint8Array
  heartbeat(as: 'comment' | 'blank'): Uint8Array
  /** Nothing, where the format has no such field. */
  retry(ms: number): Uint8Array | undefined
}

const utf8 = new TextEncoder()

const json = (item: ScriptItem): string => (typeof item === 'string' ? item : JSON.stringify(item))

/** An event alone, or in an envelope if it has an id. */
const enveloped = (item: ScriptItem, id: string | undefined): string =>
  id === undefined ? json(item) : `{"id":${JSON.stringify(id)},"chunk":${json(item)}}`

export const ENCODINGS: Readonly<Record<Format, Encoding>> = {
  sse: {
    event: (item, id) => utf8.encode(encodeSse({ data: json(item), ...(id !== undefined && { id }) })),
    heartbeat: (as) => utf8.encode(as === 'comment' ? encodeSseComment('heartbeat') : '\n'),
    retry: (ms) => utf8.encode(`retry: ${ms}\n\n`),
  },
  ndjson: {
    event: (item, id) => utf8.encode(`${enveloped(item, id)}\n`),
    heartbeat: () => utf8.encode('\n'),
    retry: () => undefined,
  },
  websocket: {
    event: (item, id) => textFrame(enveloped(item, id)),
    heartbeat: () => textFrame('{"type":"ping"}'),
    retry: () => undefined,
  },
}

const TEXT = 0x1
const PONG = 0xa

/** One whole message as a WebSocket frame of a server (RFC 6455 §5.2): final, not masked. */
export const textFrame = (text: string): Uint8Array => frame(TEXT, utf8.encode(text))

export const pongFrame = (payload: Uint8Array): Uint8Array => frame(PONG, payload)

function frame(opcode: number, payload: Uint8Array): Uint8Array {
  const { length } = payload
  const head = length < 126 ? [length] : length < 65_536 ? [126, length >> 8, length & 255] : [127, 0, 0, 0, 0, ...bytes32(length)]
  const bytes = new Uint8Array(1 + head.length + length)
  bytes[0] = 0x80 | opcode
  bytes.set(head, 1)
  bytes.set(payload, 1 + head.length)
  return bytes
}

const bytes32 = (value: number): number[] => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255)
