/** Law 10 for the official streams of AG-UI 1.0: each gives through protobuf what it gives as JSON. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ThreadReader, UsageError, type Diagnostic, type Event, type Message, type Thread, type VerifiedEvent } from '../index.ts'
import { encodeEvent, parseBinaryFrame } from '../proto.ts'

/** Events that protobuf has no form for, so that they are left out of both readings: by stream, the index of each. */
const NOT_ENCODABLE: Readonly<Record<string, readonly number[]>> = {
  // Types that are not of 1.0.
  'era-0-0-45-thinking-translated': [1, 2, 3, 4, 5],
  'unknown-event-dropped': [3],
  // A required field with another type, or none.
  'malformed-known-field-fatal': [2],
  'subagent-started-missing-name-fatal': [1],
  'unknown-outcome-array-fatal': [1],
  // Union members that are not of 1.0.
  'state-delta-unknown-op-dropped': [2],
  'unknown-part-in-message-list': [1],
}

/** Streams with fields that are not of 1.0: protobuf does not carry them, so nobody warns of them. */
const WITH_UNKNOWN_FIELDS: readonly string[] = ['unknown-property-stripped']

interface Stream {
  readonly input?: { readonly messages?: readonly Message[]; readonly state?: unknown }
  readonly stream: readonly Event[]
}

interface Reading {
  readonly outcome: string
  readonly found: readonly Diagnostic[]
  readonly emitted: readonly VerifiedEvent[]
  readonly error: object | undefined
  readonly thread: Thread
}

function read({ input }: Stream, feed: (reader: ThreadReader) => void): Reading {
  const found: Diagnostic[] = []
  const emitted: VerifiedEvent[] = []
  const reader = new ThreadReader({
    ...(input?.messages !== undefined && { messages: input.messages }),
    ...(input?.state !== undefined && { state: input.state }),
    onDiagnostic: (diagnostic) => found.push(diagnostic),
    onEvent: (event) => emitted.push(event),
  })
  let error: object | undefined
  try {
    feed(reader)
  } catch (thrown) {
    error = { ...(thrown as Error), message: (thrown as Error).message }
  }
  return { outcome: reader.finish(), found, emitted, error, thread: reader.snapshot() }
}

function encoded(event: Event): Uint8Array | undefined {
  try {
    return encodeEvent(event)
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError)
    return undefined
  }
}

const folder = new URL('../../../../conformance/ag-ui-1.0/streams/', import.meta.url)
const names = readdirSync(folder).map((name) => name.replace(/\.json$/, ''))

describe('the official streams, through protobuf', () => {
  it('are all there, and so are those named here', () => {
    expect(names).toHaveLength(68)
    for (const name of [...Object.keys(NOT_ENCODABLE), ...WITH_UNKNOWN_FIELDS]) expect(names).toContain(name)
  })

  it.each(names)('%s', (name) => {
    const file = JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) as Stream
    const frames = file.stream.map(encoded)
    expect(frames.flatMap((frame, index) => (frame === undefined ? [index] : []))).toEqual(NOT_ENCODABLE[name] ?? [])
    const asJson = read(file, (reader) => {
      file.stream.forEach((event, index) => {
        if (frames[index] !== undefined) reader.accept(event)
      })
    })
    const asProtobuf = read(file, (reader) => {
      for (const data of frames) if (data !== undefined) reader.acceptFrame({ data }, parseBinaryFrame)
    })
    const unknown = asJson.found.filter(({ rule }) => rule === 'event.unknown-field')
    expect(unknown.length > 0).toBe(WITH_UNKNOWN_FIELDS.includes(name))
    expect(asProtobuf).toEqual({ ...asJson, found: asJson.found.filter((diagnostic) => !unknown.includes(diagnostic)) })
  })
})
