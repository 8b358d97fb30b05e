/**
 * `npm run bench -- json-patch`: 5,000 STATE_DELTA events on a large shared state, through the whole reader; nobody looks
 * in between, or somebody does every 64 events. Beside it the floor: the same edits in place, unchecked and not atomic.
 */
import { ThreadReader, type Event, type JsonPatchOperation } from '@millrace/protocol'
import { fileURLToPath } from 'node:url'
import { compare, type Group } from './figures.ts'

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

function groupOf(shape: keyof typeof SHAPES, text: string): Group {
  const operations = patches(JSON.parse(text) as State)
  const events = operations.map((delta): Event => ({ type: 'STATE_DELTA', delta }))
  const wanted = JSON.stringify(floor(JSON.parse(text), operations))
  const contenders: readonly [name: string, run: (state: unknown) => unknown][] = [
    ['floor, in place', (state) => floor(state, operations)],
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

const groups = (['list', 'object'] as const).flatMap((shape) => [100_000, 1_000_000].map((bytes) => groupOf(shape, JSON.stringify(stateOf(shape, bytes)))))
await compare(fileURLToPath(import.meta.url), groups, 6)
