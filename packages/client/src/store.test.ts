import { expect, it } from 'vitest'
import { Store } from './store.ts'

function counting(errors: unknown[] = []) {
  let value = 0
  let builds = 0
  const store = new Store<{ readonly value: number }>(
    (previous) => {
      builds++
      return previous?.value === value ? previous : { value }
    },
    (error) => errors.push(error),
  )
  return { store, set: (next: number) => (value = next), builds: () => builds }
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))

it('builds when somebody looks, once per change, and keeps the object if nothing changed', () => {
  const { store, set, builds } = counting()
  const first = store.getSnapshot()
  expect(store.getSnapshot()).toBe(first)
  expect(builds()).toBe(1)
  for (let n = 0; n < 100; n++) store.touch()
  expect(store.getSnapshot()).toBe(first)
  expect(builds()).toBe(2)
  set(1)
  store.touch()
  expect(store.getSnapshot()).toEqual({ value: 1 })
})

it('tells at once of what the user does', () => {
  const { store } = counting()
  let told = 0
  store.subscribe(() => told++)
  store.commit()
  store.commit()
  expect(told).toBe(2)
})

it('tells of the first change of the stream in a microtask and of a burst twice', async () => {
  const { store } = counting()
  let told = 0
  store.subscribe(() => told++)
  store.touch()
  expect(told).toBe(0)
  await Promise.resolve()
  expect(told).toBe(1)
  for (let n = 0; n < 1000; n++) {
    store.touch()
    await Promise.resolve()
  }
  expect(told).toBe(1)
  await turn()
  expect(told).toBe(2)
  await turn()
  expect(told).toBe(2)
  store.touch()
  await Promise.resolve()
  expect(told).toBe(3)
})

it('does not tell twice of what a commit has told of', async () => {
  const { store } = counting()
  let told = 0
  store.subscribe(() => told++)
  store.touch()
  store.commit()
  await turn()
  expect(told).toBe(1)
})

it('takes off one listener for each call, and none that is there', async () => {
  const { store } = counting()
  let told = 0
  const listener = (): void => void told++
  const first = store.subscribe(listener)
  const second = store.subscribe(listener)
  first()
  first()
  store.commit()
  expect(told).toBe(1)
  second()
  store.touch()
  await turn()
  expect(told).toBe(1)
})

it('goes on after a listener that throws', () => {
  const errors: unknown[] = []
  const { store } = counting(errors)
  const boom = new Error('boom')
  let told = 0
  store.subscribe(() => {
    throw boom
  })
  store.subscribe(() => told++)
  store.commit()
  expect([told, errors]).toEqual([1, [boom]])
})

it('tells nobody after close', async () => {
  const { store } = counting()
  let told = 0
  store.subscribe(() => told++)
  store.touch()
  store.close()
  store.commit()
  await turn()
  expect(told).toBe(0)
})
