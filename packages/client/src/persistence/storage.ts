/** Where threads are stored: the contract, its text form, and the simplest of its kind. It knows nothing of chats. */
import { StorageError } from './storage-error.ts'
import type { StoredThread } from './stored-thread.ts'

type Awaitable<Value> = Value | Promise<Value>

/**
 * Keeps one value for each key. Each method may answer at once or by a promise; a chat waits for one call before it makes the
 * next. What `load` gives is checked by who asked, so a storage need not know what it holds.
 */
export interface ChatStorage {
  /** What was saved last under `key`, as JSON gives it back; undefined if there is nothing. Throws if that cannot be told. */
  load(key: string): Awaitable<unknown>
  /** Takes the place of what was there. When it fails, what was there is still there. */
  save(key: string, thread: StoredThread): Awaitable<void>
  /** Does nothing if there is nothing. */
  remove(key: string): Awaitable<void>
}

/** @throws StorageError `not-json`. */
export function encodeThread(key: string, thread: StoredThread): string {
  try {
    return JSON.stringify(thread)
  } catch (cause) {
    throw new StorageError(`The thread "${key}" has something that JSON cannot say: ${String(cause)}`, { code: 'not-json', key, cause })
  }
}

/**
 * @param text as it was stored; null or undefined if nothing was.
 * @throws StorageError `corrupt`.
 */
export function decodeThread(key: string, text: unknown): unknown {
  if (text === null || text === undefined) return undefined
  try {
    return JSON.parse(text as string)
  } catch (cause) {
    throw new StorageError(`What is stored as "${key}" is no JSON.`, { code: 'corrupt', key, cause })
  }
}

/** For tests, and for chats that are to outlive a component and not the page. */
export function memoryStorage(): ChatStorage {
  const texts = new Map<string, string>()
  return {
    load: (key) => decodeThread(key, texts.get(key)),
    save: (key, thread) => void texts.set(key, encodeThread(key, thread)),
    remove: (key) => void texts.delete(key),
  }
}
