/** Threads in `localStorage` or `sessionStorage`. Everything is there at once, and there are about 5 MB for a whole origin. */
import { UsageError } from '@millrace/protocol'
import { decodeThread, encodeThread, type ChatStorage } from './storage.ts'

/** What is used of a `Storage`. */
export type WebStorageLike = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

export interface WebStorageOptions {
  /** Before each key. Default `millrace:`. */
  readonly prefix?: string
}

/**
 * @param storage or a function that gives it, asked at each use: where there is none, as on a server, or where it is forbidden,
 * only that use fails and not the module that makes the chat.
 * @throws UsageError `bad-options`.
 */
export function webStorage(storage: WebStorageLike | (() => WebStorageLike), { prefix = 'millrace:' }: WebStorageOptions = {}): ChatStorage {
  if (Object(storage) !== storage) throw new UsageError('bad-options', 'webStorage() needs a Storage, or a function that gives it: () => localStorage.')
  const there = (): WebStorageLike => (typeof storage === 'function' ? storage() : storage)
  return {
    load: (key) => decodeThread(key, there().getItem(prefix + key)),
    save: (key, thread) => there().setItem(prefix + key, encodeThread(key, thread)),
    remove: (key) => there().removeItem(prefix + key),
  }
}
