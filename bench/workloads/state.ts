/** Patches on a large shared state. */
import type { JsonPatchOperation } from '@millrace/protocol'
import { oneRun, type Workload } from './stream.ts'

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

export type StateShape = 'list' | 'object'

export function stateOf(shape: StateShape, bytes: number, patches: number): State {
  const items = Array.from({ length: Math.ceil(bytes / 95) }, (_, id): Item => ({
    id,
    title: `Part ${id} of the wheel`,
    done: false,
    tags: ['oak', 'iron'],
    at: { x: id, y: -id },
  }))
  return {
    items: shape === 'list' ? items : Object.fromEntries(items.map((item) => [`item-${item.id}`, item])),
    log: [],
    progress: { step: 0, of: patches },
  }
}

/** What an agent at work sends: mostly fields, now and then a member that comes. */
export function patchesOn(state: State): JsonPatchOperation[][] {
  const keys = Object.keys(state.items)
  return Array.from({ length: state.progress.of }, (_, step): JsonPatchOperation[] => {
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

/** The same edits without any check: follows pointers that are known to be good, to members that are replaced or lists that grow. */
export function patchInPlace(state: unknown, operations: readonly JsonPatchOperation[]): void {
  for (const operation of operations) {
    const tokens = operation.path.slice(1).split('/')
    const last = tokens.pop() as string
    let parent = state as Record<string, unknown>
    for (const token of tokens) parent = parent[token] as Record<string, unknown>
    const { value } = operation as { value: unknown }
    if (last === '-') (parent as unknown as unknown[]).push(value)
    else parent[last] = value
  }
}

export const patches = (count: number, bytes: number): Workload => ({
  size: bytes < 1_000_000 ? `${bytes / 1_000} KB` : `${bytes / 1_000_000} MB`,
  make: () => {
    const state = stateOf('list', bytes, count)
    const deltas = patchesOn(state)
    const after = structuredClone(state)
    // Values in the events must stay as they are.
    patchInPlace(after, structuredClone(deltas).flat())
    return {
      history: [],
      state,
      events: oneRun(deltas.map((delta) => ({ type: 'STATE_DELTA', delta }))),
      answer: { state: JSON.stringify(after) },
    }
  },
})
