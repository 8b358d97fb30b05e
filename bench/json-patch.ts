/**
 * `npm run bench -- json-patch`: 5,000 STATE_DELTA events on a large shared state, through the whole reader; nobody looks
 * in between, or somebody does every 64 events. Beside it the floor: the same edits in place, unchecked and not atomic.
 */
import { ThreadReader, type Event } from '@millrace/protocol'
import { fileURLToPath } from 'node:url'
import { compare, type Group } from './compare.ts'
import { patchesOn, patchInPlace, stateOf, type StateShape } from './workloads/state.ts'

const PATCHES = 5_000
const LOOK_EVERY = 64

const SHAPES = { list: 'a wide list', object: 'a wide object' } as const

function read(state: unknown, events: readonly Event[], lookEvery: number): unknown {
  const reader = new ThreadReader({ state })
  reader.accept({ type: 'RUN_STARTED', threadId: 't', runId: 'r' })
  events.forEach((event, index) => {
    reader.accept(event)
    if (index % lookEvery === 0) reader.snapshot()
  })
  reader.accept({ type: 'RUN_FINISHED', threadId: 't', runId: 'r' })
  return reader.snapshot().state
}

function groupOf(shape: StateShape, bytes: number): Group {
  const before = stateOf(shape, bytes, PATCHES)
  const text = JSON.stringify(before)
  const operations = patchesOn(before)
  const events = operations.map((delta): Event => ({ type: 'STATE_DELTA', delta }))
  const floor = (state: unknown): unknown => {
    patchInPlace(state, operations.flat())
    return state
  }
  const wanted = JSON.stringify(floor(JSON.parse(text)))
  const contenders: readonly [name: string, run: (state: unknown) => unknown][] = [
    ['floor, in place', floor],
    ['millrace, no snapshot', (state) => read(state, events, Number.POSITIVE_INFINITY)],
    [`millrace, every ${LOOK_EVERY}`, (state) => read(state, events, LOOK_EVERY)],
  ]
  return {
    name: `${PATCHES.toLocaleString('en')} patches on ${Math.round(text.length / 1000).toLocaleString('en')} KB of state, ${SHAPES[shape]}`,
    base: 'floor, in place',
    contenders: contenders.map(([name, run]) => ({
      name,
      prepare: () => {
        const state: unknown = JSON.parse(text)
        return () => run(state)
      },
      check: (answer) => JSON.stringify(answer) === wanted,
    })),
  }
}

const groups = (['list', 'object'] as const).flatMap((shape) => [100_000, 1_000_000].map((bytes) => groupOf(shape, bytes)))
await compare(fileURLToPath(import.meta.url), groups, 6)
