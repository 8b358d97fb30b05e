// JSON that is read as a whole: an object that holds its events under `events` or `stream`, a single event, and
// HAR captures, whose response bodies are streams of their own.
import { PROTO_MEDIA_TYPE } from '@millrace/protocol/proto'
import { CommandError } from '../command-error.ts'
import { jsonTokens, keyAt } from './json-tokens.ts'

/** Keys under which an object holds its events. */
export const EVENT_KEYS: ReadonlySet<string> = new Set(['events', 'stream'])

/** Where an array stands in a text: its bracket, the place behind its end, and the line of its bracket. */
export interface ArrayPlace {
  readonly offset: number
  /** The end of the text, if the array has none. */
  readonly end: number
  readonly line: number
}

/** Finds the array of events in the text of an object, by its key at the top level. */
export function findEvents(text: string): ArrayPlace | undefined {
  let depth = 0
  let found: { offset: number; line: number } | undefined
  for (const token of jsonTokens(text)) {
    switch (token.kind) {
      case '{':
      case '[':
        depth += 1
        break
      case '}':
      case ']':
        depth -= 1
        if (depth === 1 && found !== undefined) return { ...found, end: token.end }
        break
      case 'string': {
        const key = depth === 1 ? keyAt(text, token) : undefined
        if (key === undefined || !EVENT_KEYS.has(key.name) || text[key.valueStart] !== '[') break
        found = { offset: key.valueStart, line: text.slice(0, key.valueStart).split('\n').length }
      }
    }
  }
  return found && { ...found, end: text.length }
}

/** One response of a capture. */
export interface Capture {
  /** `POST https://…`, for people. */
  readonly label: string
  readonly type: string
  readonly body: Uint8Array
}

/** What is read of a HAR entry; anything may be missing. */
interface HarEntry {
  request?: { method?: unknown; url?: unknown }
  response?: { content?: { text?: unknown; encoding?: unknown; mimeType?: unknown } }
  _eventSourceMessages?: { data?: unknown }[]
}

const STREAM_TYPE = /^(?:text\/event-stream|application\/(?:x-)?(?:ndjson|jsonl|jsonlines))\b/i

function isStreamType(type: unknown): boolean {
  return STREAM_TYPE.test(String(type)) || mediaType(String(type)) === PROTO_MEDIA_TYPE
}

/** Without parameters and case. */
function mediaType(type: string): string {
  return type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/**
 * The streams of events in a HAR capture, in the order of the capture.
 * @throws CommandError if it is no capture, or has none
 */
export function readHar(text: string): Capture[] {
  let har: { log?: { entries?: HarEntry[] } } | null
  try {
    har = JSON.parse(text) as typeof har
  } catch (error) {
    throw new CommandError(`The HAR capture is not valid JSON: ${(error as Error).message}`)
  }
  const entries = har?.log?.entries
  if (!Array.isArray(entries)) throw new CommandError('The input is no HAR capture: it has no log.entries')
  const found = entries.flatMap((entry) => capture(entry) ?? [])
  if (found.length > 0) return found
  const empty = entries.some((entry) => isStreamType(entry?.response?.content?.mimeType))
  throw new CommandError(
    `None of the ${entries.length} entries of the HAR capture holds the body of a stream of events`,
    empty
      ? 'There is such a response, but its body was not saved: export the HAR “with content”.'
      : `Looked for responses of type text/event-stream, application/x-ndjson or ${PROTO_MEDIA_TYPE}.`,
  )
}

function capture(entry: HarEntry | null): Capture | undefined {
  const content = entry?.response?.content
  const label = `${String(entry?.request?.method ?? 'GET')} ${String(entry?.request?.url ?? '(no address)')}`
  const type = String(content?.mimeType ?? '')
  if (isStreamType(type) && typeof content?.text === 'string' && content.text !== '') {
    const body = Buffer.from(content.text, content.encoding === 'base64' ? 'base64' : 'utf8')
    return { label, type: mediaType(type), body }
  }
  // Chromium keeps what an EventSource received beside an empty body.
  const messages = entry?._eventSourceMessages
  if (!Array.isArray(messages) || messages.length === 0) return undefined
  const body = messages.map(({ data }) => `data: ${String(data).replace(/\n/g, '\ndata: ')}\n\n`).join('')
  return { label, type: 'text/event-stream', body: Buffer.from(body) }
}
