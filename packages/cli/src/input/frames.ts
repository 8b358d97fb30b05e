// Bytes of an input → frames, whatever the format. A HAR capture holds several streams, all else one. Files are
// read as they come; only JSON objects and captures, which cannot be used before their end, are read whole.
import { NdjsonDecoder, SseDecoder, type Frame } from '@millrace/protocol'
import { LengthPrefixedDecoder } from '@millrace/protocol/proto'
import { CommandError } from '../command-error.ts'
import { detectFormat, type Format } from './detect.ts'
import { JsonArrayDecoder } from './json-array.ts'
import { findEvents, readHar } from './json-document.ts'
import { RecordingDecoder } from './recording.ts'
import type { Source } from './source.ts'
import type { StreamSink } from './stream-sink.ts'

/** Bytes looked at to tell the format. */
const HEAD_LIMIT = 1024 * 1024
/** Largest text that Node can hold as one string, with a margin. */
const WHOLE_LIMIT = 500_000_000

/**
 * Reads the whole input. What `sink` throws ends the reading and comes out here.
 * @param forced the format, if the user named one
 * @returns the format
 * @throws CommandError if the input cannot be read or is no stream of events
 */
export async function readFrames(source: Source, forced: Format | undefined, sink: StreamSink): Promise<Format> {
  const chunks = source.chunks[Symbol.asyncIterator]()
  try {
    const { format, head, ended } = await readHead(chunks, forced, source.hint)
    if (format === 'har' || (format === 'json' && !startsArray(head))) {
      const text = await readWhole(head, ended, chunks)
      if (format === 'har') readCaptures(text, sink)
      else readObject(text, sink)
      return format
    }
    if (format !== 'recording') sink.begin(format)
    const decoder = decoderOf(format, sink)
    decoder.feed(head)
    while (!ended) {
      const next = await chunks.next()
      if (next.done === true) break
      decoder.feed(next.value)
    }
    decoder.finish()
    if (format !== 'recording') sink.end()
    return format
  } finally {
    // Ends a request or a pipe that is not wanted to its end; a source that is over does not mind.
    await chunks.return?.()
  }
}

interface Decoder {
  feed(chunk: Uint8Array): void
  finish(): void
}

function decoderOf(format: Exclude<Format, 'har'>, sink: StreamSink): Decoder {
  const frame = (text: Frame): void => sink.frame(text)
  switch (format) {
    case 'sse':
      return new SseDecoder(frame)
    case 'ndjson':
      return new NdjsonDecoder(frame)
    case 'json':
      return new JsonArrayDecoder(frame)
    case 'recording':
      return new RecordingDecoder(sink)
    case 'protobuf':
      return new LengthPrefixedDecoder((binary) => sink.binaryFrame(binary))
  }
}

/** Reads until the format is known. */
async function readHead(
  chunks: AsyncIterator<Uint8Array>,
  forced: Format | undefined,
  hint: string,
): Promise<{ format: Format; head: Uint8Array; ended: boolean }> {
  const parts: Uint8Array[] = []
  let length = 0
  for (;;) {
    const next = await chunks.next()
    const ended = next.done === true
    if (!ended) {
      parts.push(next.value)
      length += next.value.length
    }
    const head = parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
    const complete = ended || length >= HEAD_LIMIT
    // JSON, if named, is either an array or an object, which the first character tells.
    const known = forced === 'json' && !complete && new TextDecoder().decode(head).trim() === '' ? undefined : forced
    const format = known ?? detectFormat(head, complete, hint)
    if (format !== undefined) return { format, head, ended }
  }
}

function startsArray(head: Uint8Array): boolean {
  return new TextDecoder().decode(head.subarray(0, 4096)).trimStart().startsWith('[')
}

async function readWhole(head: Uint8Array, ended: boolean, chunks: AsyncIterator<Uint8Array>): Promise<string> {
  const parts = [head]
  let length = head.length
  while (!ended) {
    const next = await chunks.next()
    if (next.done === true) break
    length += next.value.length
    if (length > WHOLE_LIMIT) {
      throw new CommandError(
        'The input is too large to be read as one JSON object',
        'SSE, NDJSON and JSON arrays are read piece by piece, at any size.',
      )
    }
    parts.push(next.value)
  }
  return new TextDecoder().decode(Buffer.concat(parts))
}

/** An object with an array of events, or one event, or what claims to be. */
function readObject(text: string, sink: StreamSink): void {
  const events = findEvents(text)
  if (events === undefined && !isEvent(text)) {
    throw new CommandError(
      'The JSON object holds no events',
      'An array of events is read, or an object that holds one under “events” or “stream”.',
    )
  }
  sink.begin('json')
  const decoder = new JsonArrayDecoder((frame) => sink.frame(frame), events?.line)
  // What follows the array belongs to the object, so it is cut off with it.
  decoder.feed(events === undefined ? text : text.slice(events.offset, events.end))
  decoder.finish()
  sink.end()
}

/** Whether the text is one event, or so broken that the decoder should say so. */
function isEvent(text: string): boolean {
  try {
    const value = JSON.parse(text) as { type?: unknown }
    return typeof value.type === 'string'
  } catch {
    return true
  }
}

function readCaptures(text: string, sink: StreamSink): void {
  for (const { label, type, body } of readHar(text)) {
    sink.begin('har', label)
    const format = detectFormat(body, true, type) ?? 'sse'
    const decoder = decoderOf(format === 'har' || format === 'recording' ? 'sse' : format, sink)
    decoder.feed(body)
    decoder.finish()
    sink.end()
  }
}
