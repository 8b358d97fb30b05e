/** Law: whatever the pieces, the sizes of writes and the stop, what is written is a prefix of what was given, and ends exactly at the stop. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Bell } from './bell.ts'
import type { Chop, How } from './fault.ts'
import { Spout, type Pipe, type Progress, type Stop } from './spout.ts'

function fakePipe() {
  const writes: Uint8Array[] = []
  let ended: string | undefined
  const pipe: Pipe = {
    write: async (bytes) => void writes.push(bytes.slice()),
    end: () => void (ended = 'end'),
    cut: () => void (ended = 'cut'),
    reset: () => void (ended = 'reset'),
    close: () => void (ended = 'closed'),
    get gone() {
      return ended !== undefined
    },
  }
  return { pipe, writes, ended: () => ended }
}

const piece = fc.record({ bytes: fc.uint8Array({ minLength: 1, maxLength: 9 }), event: fc.boolean() })
const batches = fc.array(fc.array(piece, { maxLength: 5 }), { maxLength: 6 })
const chop: fc.Arbitrary<Chop | undefined> = fc.oneof(fc.constantFrom(undefined, 'together' as const, 'buffered' as const), fc.record({ size: fc.integer({ min: 1, max: 12 }) }))
const how: fc.Arbitrary<How> = fc.oneof(fc.constantFrom('cut' as const, 'reset' as const, 'stall' as const, 'end' as const), fc.constant({ close: 1011 }))
const at = fc.oneof(fc.record({ byte: fc.nat(60) }), fc.record({ event: fc.nat(12) }))
const stop: fc.Arbitrary<Stop | undefined> = fc.option(fc.record({ at, how }), { nil: undefined })

/** Bytes up to the stop; undefined if it is not reached. */
function expectedLength(pieces: readonly { bytes: Uint8Array; event: boolean }[], { at }: Stop): number | undefined {
  let bytes = 0
  let events = 0
  const total = pieces.reduce((sum, { bytes: { length } }) => sum + length, 0)
  if ('byte' in at) return at.byte <= total ? at.byte : undefined
  for (const { bytes: { length }, event } of pieces) {
    if (events >= at.event) break
    bytes += length
    if (event) events++
  }
  return events >= at.event ? bytes : undefined
}

test('prefix, to the byte', async () => {
  await fc.assert(
    fc.asyncProperty(batches, chop, stop, async (given, chop, stop) => {
      const { pipe, writes, ended } = fakePipe()
      const bell = new Bell()
      const progress: Progress = { bytes: 0, events: 0, ending: 'open' }
      let unstalled = 0
      const spout = new Spout(pipe, { stop, chop, progress, bell, timer: { after: () => () => undefined }, unstalled: () => unstalled })
      const all = given.flat()
      const whole = Buffer.concat(all.map(({ bytes }) => bytes))
      const reached = stop === undefined ? undefined : expectedLength(all, stop)
      const work = Promise.all([...given.map((batch) => spout.send(batch)), spout.send([]), spout.finish()])

      if (stop?.how === 'stall' && reached !== undefined) {
        await bell.until(() => progress.ending === 'stalled')
        expect(Buffer.concat(writes)).toEqual(whole.subarray(0, reached))
        expect(progress.bytes).toBe(reached)
        unstalled++
        bell.ring()
      }
      await work

      const stopped = stop !== undefined && stop.how !== 'stall' && reached !== undefined
      expect(Buffer.concat(writes)).toEqual(stopped ? whole.subarray(0, reached) : whole)
      expect(progress.bytes).toBe(stopped ? reached : whole.length)
      expect(ended()).toBe(stopped ? (typeof stop.how === 'object' ? 'closed' : stop.how) : 'end')
      expect(progress.ending).toBe(ended())
      if (typeof chop === 'object') for (const { length } of writes) expect(length).toBeLessThanOrEqual(chop.size)
      if (chop === 'buffered' && stop?.how !== 'stall') expect(writes.length).toBeLessThanOrEqual(1)
      if (!stopped) expect(progress.events).toBe(all.filter(({ event }) => event).length)
    }),
    { numRuns: 500 },
  )
})
