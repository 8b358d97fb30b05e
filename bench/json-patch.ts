/**
 * `npm run bench -- json-patch`: 5,000 STATE_DELTA events on a large shared state, through the whole reader; nobody looks
 * in between, or somebody does every 64 events. Beside it the floor: the same edits in place, unchecked and not atomic.
 */
import { ThreadReader, type Event, type JsonPatchOperation } from '@millrace/protocol'
import { heading, median, ms, ratio, timed } from './figures.ts'

const ROUNDS = 5
const PATCHES = 5_000
const LOOK_EVERY = 64

interface Item {
  id: number
  title: string
  done: boolean
  tags: string[]
  at: { x: number; y: number }
}

/** Items by id: in an object, which is slow to copy when it is wide, or in a list, which is fast. */
interface State {
  items: Item[] | Record<string, Item>
  log: string[]
  progress: { step: number; of: number }
}

const SHAPES = { list: 'a wide list', object: 'a wide object' } as const

function stateOf(shape: keyof typeof SHAPES, bytes: number): State {
  const items = Array.from({ length: Math.ceil(bytes / 95) }, (_, id): Item => ({ id, title: `Part ${id} of the wheel`, done: false, tags: ['oak', 'iron'], at: { x: id, y: -id } }))
  return { items: shape === 'list' ? items : Object.fromEntries(items.map((item) => [`item-${item.id}`, item])), log: [], progress: { step: 0, of: PATCHES } }
}

/** What an agent at work sends: mostly fields, now and then a member that comes or goes. */
function patches(state: State): JsonPatchOperation[][] {
  const keys = Object.keys(state.items)
  return Array.from({ length: PATCHES }, (_, step): JsonPatchOperation[] => {
    const at = keys[(step * 7919) % keys.length] as string
    const progress: JsonPatchOperation = { op: 'replace', path: '/progress/step', value: step }
    switch (step % 5) {
      case 0:
        return [{ op: 'replace', path: `/items/${at}/done`, value: true }, progress]
      case 1:
        return [{ op: 'replace', path: `/items/${at}/at`, value: { x: step, y: step } }]
      case 2:
        return [{ op: 'add', path: '/log/-', value: `Turned part ${at}` }, progress]
      case 3:
        return [{ op: 'replace', path: `/items/${at}/title`, value: `Turned at ${step}` }]
      default:
        return [{ op: 'add', path: `/items/${at}/tags/-`, value: `seen ${step}` }]
    }
  })
}

/** Follows pointers that are known to be good. */
function floor(state: unknown, operations: readonly (readonly JsonPatchOperation[])[]): unknown {
  for (const operation of operations.flat()) {
    const tokens = operation.path.slice(1).split('/')
    const last = tokens.pop() as string
    let parent = state as Record<string, unknown>
    for (const token of tokens) parent = parent[token] as Record<string, unknown>
    const { value } = operation as { value: unknown }
    if (last === '-') (parent as unknown as unknown[]).push(value)
    else parent[last] = value
  }
  return state
}

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

console.log(heading(ROUNDS))
for (const shape of ['list', 'object'] as const) for (const bytes of [100_000, 1_000_000]) table(shape, JSON.stringify(stateOf(shape, bytes)))

function table(shape: keyof typeof SHAPES, text: string): void {
  const operations = patches(JSON.parse(text) as State)
  const events = operations.map((delta): Event => ({ type: 'STATE_DELTA', delta }))
  const contenders: [name: string, run: (state: unknown) => unknown][] = [
    ['floor, in place', (state) => floor(state, operations)],
    ['millrace, no snapshot', (state) => read(state, events, Number.POSITIVE_INFINITY)],
    [`millrace, every ${LOOK_EVERY}`, (state) => read(state, events, LOOK_EVERY)],
  ]
  const wanted = JSON.stringify(floor(JSON.parse(text), operations))
  const times = new Map<string, number[]>(contenders.map(([name]) => [name, []]))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, run] of contenders) {
      const state: unknown = JSON.parse(text)
      const { result, time } = timed(() => run(state))
      if (JSON.stringify(result) !== wanted) throw new Error(`${name} gives a wrong answer`)
      times.get(name)?.push(time)
    }
  }
  console.log(`${PATCHES.toLocaleString('en')} patches on ${Math.round(text.length / 1000).toLocaleString('en')} KB of state, ${SHAPES[shape]}`)
  const base = median(times.get('floor, in place') ?? [])
  for (const [name] of contenders) {
    const time = median(times.get(name) ?? [])
    console.log(`  ${name.padEnd(24)}${ms(time).padStart(8)} ms${ratio(time, base).padStart(10)} of the floor`)
  }
  console.log('')
}
