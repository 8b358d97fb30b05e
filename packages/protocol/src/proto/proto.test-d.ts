// What must compile, and what must not.
import { ThreadReader, type Event } from '../index.ts'
import { decodeEvent, encodeEvent, encodeFrame, LengthPrefixedDecoder, parseBinaryFrame, ProtoDecoder, type BinaryFrame } from '../proto.ts'

declare const event: Event
const bytes: Uint8Array = encodeEvent(event)
encodeFrame({ type: 'TEXT_MESSAGE_END', messageId: 'm' }, { jsonDepth: 10 })

const reader = new ThreadReader()
const frames = new LengthPrefixedDecoder((frame) => reader.acceptFrame(frame, parseBinaryFrame))
const events = new ProtoDecoder((unchecked) => reader.accept(unchecked))
frames.feed(bytes)
events.feed(bytes)

const unchecked = decodeEvent(bytes)
const type: string = unchecked.type
const member: unknown = unchecked['messageId']
export const used: unknown[] = [type, member]

// @ts-expect-error an event has its fields
encodeEvent({ type: 'TEXT_MESSAGE_END' })
// @ts-expect-error what comes from the wire is no Event before it is checked
export const checked: Event = decodeEvent(bytes)
// @ts-expect-error binary frames are bytes
frames.feed('text')
// @ts-expect-error a binary frame is no frame of text: it needs its parser
reader.acceptFrame({ data: bytes } satisfies BinaryFrame)
