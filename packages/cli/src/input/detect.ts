// Tells the format of an input from how it begins; a file's extension or a response's content type only decides
// where the bytes leave it open.
import { LengthPrefixedDecoder, parseBinaryFrame, PROTO_MEDIA_TYPE, type BinaryFrame } from '@millrace/protocol/proto'
import { CommandError } from '../command-error.ts'
import { EVENT_KEYS } from './json-document.ts'
import { jsonTokens, keyAt } from './json-tokens.ts'

export type Format = 'sse' | 'ndjson' | 'json' | 'har' | 'protobuf' | 'recording'

export const FORMATS: readonly Format[] = ['sse', 'ndjson', 'json', 'har', 'protobuf', 'recording']

const HINTS: Readonly<Record<string, Format>> = {
  '.sse': 'sse',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'json',
  '.har': 'har',
  'text/event-stream': 'sse',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'application/x-jsonlines': 'ndjson',
  'application/json': 'json',
  '.pb': 'protobuf',
  '.binpb': 'protobuf',
  [PROTO_MEDIA_TYPE]: 'protobuf',
}

const FIELD_LINE = /^(?:data|event|id|retry)[:\r\n]/m

/**
 * @param head how the input begins
 * @param complete whether that is all of it, or as much as we are willing to look at
 * @param hint extension or content type
 * @returns the format, or `undefined` while more bytes could decide
 * @throws CommandError for what is no stream of events, or not one that is understood
 */
export function detectFormat(head: Uint8Array, complete: boolean, hint: string): Format | undefined {
  refuseBinary(head)
  // A frame begins with its length, big-endian, whose first byte is zero below 16 MiB. No text begins with a zero.
  if (head[0] === 0) return detectProtobuf(head, complete, hint)
  const text = new TextDecoder().decode(head)
  const first = text.trimStart()[0]
  if (first === undefined) return complete ? (HINTS[hint] ?? 'sse') : undefined

  // No line of a JSON text begins like this, and no line of NDJSON, so one such line settles it.
  if (FIELD_LINE.test(text)) return 'sse'
  if (first === '[') return 'json'
  if (first === '{') {
    const { keys, closed, multiline } = outline(text)
    if (keys.has('recording') && closed && !multiline) return 'recording'
    if (keys.has('log')) return 'har'
    const holder = !keys.has('type') && [...EVENT_KEYS].some((key) => keys.has(key))
    if (holder && (multiline || closed)) return 'json'
    // A first line that is cut or broken makes what follows look like its inside.
    if (multiline) return text.split('\n').some(isEvent) ? 'ndjson' : 'json'
    if (closed && (keys.has('type') || keys.has('chunk'))) return 'ndjson'
    if (closed && complete) return text.split('\n').some(isEvent) ? 'ndjson' : 'json'
    return complete ? (holder ? 'json' : 'ndjson') : undefined
  }
  if (first === ':') return 'sse'
  if (!complete) return undefined
  if (text.split('\n').some(isEvent)) return 'ndjson'
  const hinted = HINTS[hint]
  if (hinted !== undefined) return hinted
  throw new CommandError(
    first === '<' ? 'The input is a page of markup, not a stream of events' : 'The input is no stream of events I know',
    'SSE, NDJSON, a JSON array of events, HAR captures and protobuf are read; name one with --format to insist.',
  )
}

/** Formats that are recognised in order to say so. */
function refuseBinary(head: Uint8Array): void {
  const [a, b] = head
  if (a === 0x1f && b === 0x8b) throw new CommandError('The input is compressed with gzip', 'Pipe it through gunzip -c.')
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) {
    throw new CommandError('The input is UTF-16; streams of events are UTF-8')
  }
}

/** Without a name that says so, it is protobuf if the first frame is an event. */
function detectProtobuf(head: Uint8Array, complete: boolean, hint: string): Format | undefined {
  if (HINTS[hint] === 'protobuf') return 'protobuf'
  let first: BinaryFrame | undefined
  try {
    new LengthPrefixedDecoder((frame) => (first ??= frame)).feed(head)
    if (first === undefined && !complete) return undefined
    if (first !== undefined && parseBinaryFrame(first) !== undefined) return 'protobuf'
  } catch {
    // Some other kind of binary data.
  }
  throw new CommandError('The input is binary, and no stream of events I know', 'If it is AG-UI over protobuf, insist with --format protobuf.')
}

/** What can be told of a JSON object from its beginning: its keys so far, whether it ends, and spans lines. */
function outline(text: string): { keys: Set<string>; closed: boolean; multiline: boolean } {
  const keys = new Set<string>()
  let depth = 0
  let multiline = false
  for (const token of jsonTokens(text)) {
    switch (token.kind) {
      case 'string': {
        const key = depth === 1 ? keyAt(text, token) : undefined
        if (key !== undefined) keys.add(key.name)
        break
      }
      case '\n':
        if (depth > 0) multiline = true
        break
      case '{':
      case '[':
        depth += 1
        break
      default:
        depth -= 1
        if (depth === 0) return { keys, closed: true, multiline }
    }
  }
  return { keys, closed: false, multiline }
}

/** Whether a line is an event, or an envelope around one. */
function isEvent(line: string): boolean {
  if (!line.trimStart().startsWith('{')) return false
  try {
    const { type, chunk } = JSON.parse(line) as { type?: unknown; chunk?: unknown }
    return typeof type === 'string' || (typeof chunk === 'object' && chunk !== null)
  } catch {
    return false
  }
}
