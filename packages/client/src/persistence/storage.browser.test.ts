/** The contract of storages on those of a real browser, and what a full one says. */
import { webStorage, type StoredThread } from '@millrace/client'
import { indexedDbStorage } from '@millrace/client/indexeddb'
import { expect, it } from 'vitest'
import { describeStorage, storedThread } from '../../test/storage-contract.ts'
import { toStorageError } from './storage-error.ts'

describeStorage('webStorage(localStorage)', () => webStorage(localStorage))
describeStorage('webStorage(sessionStorage)', () => webStorage(sessionStorage, { prefix: 'app/' }))
describeStorage('indexedDbStorage', () => indexedDbStorage({ name: 'millrace-contract' }))

it('two databases have nothing of each other', async () => {
  await indexedDbStorage({ name: 'millrace-one' }).save('a', storedThread())
  expect(await indexedDbStorage({ name: 'millrace-two' }).load('a')).toBeUndefined()
})

it('a full localStorage is told as `quota`, and keeps what it had', () => {
  const storage = webStorage(localStorage, { prefix: 'quota:' })
  storage.save('a', storedThread('a', 'before'))
  let error: unknown
  try {
    storage.save('a', storedThread('a', 'x'.repeat(11_000_000)))
  } catch (thrown) {
    error = toStorageError(thrown, 'a')
  }
  expect(error).toMatchObject({ name: 'StorageError', code: 'quota', key: 'a' })
  expect((storage.load('a') as StoredThread).content?.messages[0]?.parts).toMatchObject([{ content: 'before' }])
})
