/** Byte for byte what `@ag-ui/proto` 1.0.0 writes, value for value what it reads: every type, every field. */
import { EventEncoder } from '@ag-ui/encoder'
import * as official from '@ag-ui/proto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asCarried } from '../../test/carried.ts'
import { EVENT_TYPES, eventOf } from '../../test/shaped-arbitraries.ts'
import type { Event } from '../index.ts'
import { decodeEvent, encodeEvent, encodeFrame, PROTO_MEDIA_TYPE } from '../proto.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const encodeThere = (event: Event): Uint8Array => official.encode(event as never)
/** The official encoder and decoder lose members of this name. */
const keepsEverything = (event: Event): boolean => !JSON.stringify(event).includes('"__proto__":')

describe.each(EVENT_TYPES)('%s', (type) => {
  for (const full of [false, true]) {
    it(full ? 'with every field' : 'with any fields', () => {
      fc.assert(
        fc.property(eventOf(type, full).filter(keepsEverything), (event) => {
          const bytes = encodeEvent(event)
          expect(hex(bytes)).toBe(hex(encodeThere(event)))
          expect(official.decode(bytes)).toEqual(asCarried(event))
          expect(decodeEvent(encodeThere(event))).toEqual(asCarried(event))
        }),
        { numRuns: 100 },
      )
    })
  }

  it('keeps a member called __proto__, which the official codec loses', () => {
    fc.assert(
      fc.property(eventOf(type, true), (event) => {
        expect(decodeEvent(encodeEvent(event))).toEqual(asCarried(event))
      }),
      { numRuns: 50 },
    )
  })
})

describe('around the events', () => {
  it('all 31 types are there', () => {
    expect(new Set(EVENT_TYPES).size).toBe(31)
  })

  it('the media type and the frame are those of @ag-ui/encoder', () => {
    expect(PROTO_MEDIA_TYPE).toBe(official.AGUI_MEDIA_TYPE)
    const event = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x'.repeat(300) } as const
    expect(hex(encodeFrame(event))).toBe(hex(new EventEncoder({ accept: PROTO_MEDIA_TYPE }).encodeBinary(event as never)))
  })
})
