import { memoryStorage, StorageError, webStorage } from '@millrace/client'
import { expect, it } from 'vitest'
import { caught } from '../../test/events.ts'
import { describeStorage, storedThread } from '../../test/storage-contract.ts'

const memory = memoryStorage()
describeStorage('memoryStorage', () => memory)

it('a web storage that is not there, or forbidden, fails when it is used', async () => {
  const storage = webStorage(() => {
    throw new DOMException('denied', 'SecurityError')
  })
  expect(await caught(() => storage.load('a'))).toMatchObject({ name: 'SecurityError' })
  expect(await caught(() => webStorage(undefined as never))).toMatchObject({ code: 'bad-options' })
})

it('text that is no JSON is corrupt', async () => {
  const storage = webStorage({ getItem: () => '{"version":1', setItem: () => {}, removeItem: () => {} })
  const error = await caught(() => storage.load('a'))
  expect(error).toBeInstanceOf(StorageError)
  expect(error).toMatchObject({ code: 'corrupt', key: 'a' })
})

it('the prefix keeps keys apart', async () => {
  const map = new Map<string, string>()
  const like = { getItem: (key: string) => map.get(key) ?? null, setItem: (key: string, text: string) => void map.set(key, text), removeItem: (key: string) => void map.delete(key) }
  await webStorage(like).save('a', storedThread())
  expect([...map.keys()]).toEqual(['millrace:a'])
  expect(await webStorage(like, { prefix: 'other:' }).load('a')).toBeUndefined()
})
