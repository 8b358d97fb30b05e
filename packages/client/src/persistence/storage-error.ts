/** Why a thread could not be stored or read again. It ends no turn: the chat goes on without being stored. */

export type StorageErrorCode =
  /** There is no more room. */
  | 'quota'
  /** What is stored is no thread. It stays as it is until `clear()`. */
  | 'corrupt'
  /** What is stored was written by a newer version. It stays as it is until `clear()`. */
  | 'newer-version'
  /** The thread has something that JSON cannot say: a cycle, a BigInt. */
  | 'not-json'
  /** There is no such storage here, or it failed; `cause` is what it threw. */
  | 'unavailable'

/** What a snapshot shows as `storageError`. */
export class StorageError extends Error {
  override readonly name: string = 'StorageError'
  readonly code: StorageErrorCode
  /** Under which key. */
  readonly key: string

  constructor(message: string, data: { readonly code: StorageErrorCode; readonly key: string; readonly cause?: unknown }) {
    super(message, data.cause === undefined ? undefined : { cause: data.cause })
    this.code = data.code
    this.key = data.key
  }
}

/** What a storage threw, as ours. Engines name a full quota in two ways. */
export function toStorageError(thrown: unknown, key: string): StorageError {
  if (thrown instanceof StorageError) return thrown
  const { name, message } = Object(thrown) as { readonly name?: unknown; readonly message?: unknown }
  const full = name === 'QuotaExceededError' || name === 'NS_ERROR_DOM_QUOTA_REACHED'
  const why = typeof message === 'string' && message !== '' ? message : 'it gave no reason'
  return new StorageError(full ? `There is no room to store "${key}".` : `The storage failed on "${key}": ${why}`, {
    code: full ? 'quota' : 'unavailable',
    key,
    cause: thrown,
  })
}
