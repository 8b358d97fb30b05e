/** What a message of a WebSocket is: an event, alone or in an envelope, or a word between the two ends. It opens nothing. */
import { parseNdjsonFrame, ProtocolError } from '@millrace/protocol'
import type { StreamChunk } from './adapter.ts'
import type { Delivery } from './deliveries.ts'
import { truncated } from './pieces.ts'
import { TransportError, type StreamTruncatedError } from '../errors.ts'
import { saying, type SocketEnd } from './socket.ts'

export type SocketMessage =
  | { readonly kind: 'ping' | 'pong' }
  | { readonly kind: 'event'; readonly event: Delivery['event']; readonly id: string | undefined; readonly text: string }

/** What we say besides run inputs. */
export const PING = '{"type":"ping"}'
export const PONG = '{"type":"pong"}'
export const abortMessage = (runId: string): string => JSON.stringify({ type: 'abort', runId })

/**
 * Reads a message: an event, `{id, chunk}`, `[DONE]`, or `{type: 'ping' | 'pong'}`.
 * @throws ProtocolError `malformed` for what is no JSON, `limit` for what is longer than `frameLength`.
 */
export function readMessage(text: string, line: number, frameLength: number): SocketMessage {
  if (text.length > frameLength) {
    throw new ProtocolError(`A message is longer than limits.frameLength (${frameLength}); send smaller deltas or raise the limit`, {
      code: 'limit',
      rule: 'frame.too-long',
      line,
    })
  }
  const { event, id } = parseNdjsonFrame({ data: text, line })
  const { type } = Object(event) as { readonly type?: unknown }
  if (type === 'ping' || type === 'pong') return { kind: type }
  return { kind: 'event', event: event as StreamChunk, id, text }
}

/** Gives deliveries of one run their place in it: an id holds until the next, and an empty one takes it away. */
export class Placing {
  #id: string | undefined

  place({ event, id, text }: Extract<SocketMessage, { kind: 'event' }>): Delivery {
    if (id !== undefined) this.#id = id === '' ? undefined : id
    return { event, id: this.#id, own: id !== undefined, text }
  }
}

/** RFC 6455, §7.4.1: codes by which a server says that the same again will fare no better, and those of applications. */
const REFUSALS: ReadonlySet<number> = new Set([1002, 1003, 1007, 1008, 1009, 1010])

/** What a close means for a run that is open: undefined for an end that the server meant, else an error. */
export function errorOfEnd(end: SocketEnd, url: string): StreamTruncatedError | TransportError | undefined {
  if (end.code === 1000) return undefined
  if (REFUSALS.has(end.code) || end.code >= 4000) {
    return new TransportError(`The server at ${url} closed the WebSocket${saying(end)}.`, { code: 'refused', url })
  }
  return truncated(`The WebSocket to ${url} closed before the run had ended${saying(end)}.`, url)
}
