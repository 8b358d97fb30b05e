/**
 * Exactly once: whatever connections do (cut anywhere, begin too early, say things twice), what comes out of them is the
 * run as it is. Docs: docs/decisions/0013-resume-and-duplicates.md.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { collect } from '../../test/events.ts'
import { instantClock } from '../../test/fake-clock.ts'
import type { StreamChunk } from './adapter.ts'
import type { Delivery } from './deliveries.ts'
import { truncated } from './pieces.ts'
import { resumable } from './resume.ts'
import type { Opened, RunSource } from './run-source.ts'

/** One event of the log; '' takes the id away. */
interface Entry {
  readonly event: StreamChunk
  readonly id: string | undefined
}

type Style = 'numeric' | 'redis' | 'opaque' | 'sparse' | 'none'

/** What one connection does. */
interface Fault {
  /** Events it gives before it ends. */
  readonly after: number
  readonly end: 'clean' | 'broken'
  /** Where it begins: `early` events with an id before the cursor, or at the start of the run. */
  readonly early: number | 'start'
  /** At each event with an id: how many such events it goes back first. */
  readonly back: readonly number[]
  readonly batch: number
}

const RECENT = 4

const runOf = (deltas: readonly string[]): StreamChunk[] => [
  { type: 'RUN_STARTED', threadId: 't1', runId: 'r1' },
  { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' },
  ...deltas.map((delta) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta })),
  { type: 'TEXT_MESSAGE_END', messageId: 'm' },
  { type: 'RUN_FINISHED', threadId: 't1', runId: 'r1' },
]

function logOf(events: readonly StreamChunk[], style: Style, ids: readonly number[]): Entry[] {
  let last = 0
  return events.map((event, at) => {
    const step = 1 + (ids[at % ids.length] as number)
    last += step
    switch (style) {
      case 'numeric':
        return { event, id: String(last) }
      case 'redis':
        return { event, id: `17000000000${String(Math.floor(last / 3)).padStart(2, '0')}-${last % 3}${'0'.repeat(last % 3)}${at}` }
      case 'opaque':
        return { event, id: `${(step * 7919) % 97}x${at}` }
      case 'sparse':
        return { event, id: step % 3 === 0 ? `s${at}` : undefined }
      case 'none':
        return { event, id: undefined }
    }
  })
}

/**
 * A server that gives the log behind a cursor, as well as `faults` let it; when they are used up it does it well. It goes
 * back to events with an id only, and never past `reach` of them.
 */
function serverOf(log: readonly Entry[], faults: readonly Fault[], reach: number): RunSource {
  const left = [...faults]
  /** Place of the event that is `count` events with an id before `at`; the first of them if there are fewer. */
  const ownBefore = (at: number, count: number): number | undefined => {
    const own = log.flatMap(({ id }, index) => (id !== undefined && index < at ? [index] : []))
    return own[Math.max(0, own.length - count)]
  }
  let high = 0
  return {
    reopen: 'always',
    async open({ position }): Promise<Opened> {
      const fault: Fault = left.shift() ?? { after: Infinity, end: 'clean', early: 0, back: [], batch: 3 }
      let from = position?.id === undefined ? 0 : log.findIndex(({ id }) => id === position.id) + 1
      if (position?.id !== undefined && fault.early !== 0) from = fault.early === 'start' ? 0 : (ownBefore(from, fault.early) ?? from)
      return { batches: give(fault, from), offersResume: 'yes' }
    },
  }

  async function* give(fault: Fault, from: number): AsyncGenerator<readonly Delivery[], void, undefined> {
    const back = [...fault.back]
    let inForce: string | undefined
    let batch: Delivery[] = []
    for (let at = from, count = 0; at < log.length && count < fault.after; count++) {
      const { event, id } = log[at] as Entry
      inForce = id ?? inForce
      batch.push({ event, id: inForce, own: id !== undefined, text: JSON.stringify(event) })
      if (batch.length >= fault.batch) {
        yield batch
        batch = []
      }
      high = Math.max(high, at + 1)
      // Having said this one, it goes back and says some again.
      const again = id === undefined ? 0 : (back.shift() ?? 0)
      const to = again === 0 ? undefined : ownBefore(at + 1, again)
      at = to === undefined ? at + 1 : Math.max(to, Math.min(at + 1, ownBefore(high, reach) ?? high))
    }
    yield batch
    if (fault.end === 'broken') throw truncated('cut')
  }
}

const fault = (early: fc.Arbitrary<number | 'start'>, back: number): fc.Arbitrary<Fault> =>
  fc.record({
    after: fc.nat(30),
    end: fc.constantFrom('clean', 'broken'),
    early,
    back: fc.array(fc.nat(back), { maxLength: 10, size: 'max' }),
    batch: fc.integer({ min: 1, max: 5 }),
  })

it.each<[Style, fc.Arbitrary<Fault>]>([
  ['numeric', fault(fc.oneof(fc.nat(40), fc.constant('start' as const)), 30)],
  ['redis', fault(fc.oneof(fc.nat(40), fc.constant('start' as const)), 30)],
  ['opaque', fault(fc.oneof(fc.nat(RECENT - 1), fc.constant('start' as const)), RECENT - 1)],
  ['sparse', fault(fc.oneof(fc.nat(RECENT - 1), fc.constant('start' as const)), RECENT - 1)],
  ['none', fault(fc.constant(0), 0)],
])('every event comes once, with %s ids', async (style, faults) => {
  await fc.assert(
    fc.asyncProperty(
      // Few different deltas: equal events have to be told apart by their place.
      fc.array(fc.constantFrom('a', 'b', 'a'), { maxLength: 40, size: 'max' }),
      fc.array(fc.nat(5), { minLength: 1, maxLength: 12, size: 'max' }),
      fc.array(faults, { maxLength: 12, size: 'max' }),
      async (deltas, ids, given) => {
        const events = runOf(deltas)
        const source = serverOf(logOf(events, style, ids), given, style === 'opaque' || style === 'sparse' ? RECENT - 1 : Infinity)
        const clock = instantClock()
        const batches = await collect(
          resumable(source, {
            limits: { recentIds: RECENT },
            runContext: { threadId: 't1', runId: 'r1' },
            reconnect: { maxAttempts: 100, delayMs: 0, clock, environment: null },
          }),
        )
        expect(batches.flat()).toEqual(events)
        expect(clock.pending()).toBe(0)
      },
    ),
    { numRuns: 400 },
  )
})
