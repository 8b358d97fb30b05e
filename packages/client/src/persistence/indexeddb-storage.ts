/** Threads in IndexedDB, through `idb-keyval`: much more room than `localStorage`, and the page does not wait for it. */
import { createStore, del, get, set } from 'idb-keyval'
import { decodeThread, encodeThread, type ChatStorage } from './storage.ts'

export interface IndexedDbOptions {
  /** Of the database. Default `millrace`. */
  readonly name?: string
}

/** Opens nothing before it is used. Needs `idb-keyval` 6. */
export function indexedDbStorage({ name = 'millrace' }: IndexedDbOptions = {}): ChatStorage {
  let opened: ReturnType<typeof createStore> | undefined
  const store = (): ReturnType<typeof createStore> => (opened ??= createStore(name, 'threads'))
  // Text, as everywhere: what cannot be said in JSON fails here too, and a deep value is not cloned piece by piece.
  return {
    load: async (key) => decodeThread(key, await get(key, store())),
    save: async (key, thread) => set(key, encodeThread(key, thread), store()),
    remove: async (key) => del(key, store()),
  }
}
