/** What every storage of threads does, whatever it is made of. Runs in browsers too. */
import type { ChatStorage, StoredThread } from '@millrace/client'
import { describe, expect, it } from 'vitest'

export const storedThread = (threadId = 't1', content = 'Hi'): StoredThread => ({
  version: 1,
  threadId,
  content: { messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', content }], createdAt: new Date('2026-01-02T03:04:05.678Z') }], state: { n: 1, deep: [null, { 'a/b': '👍🏽' }] } },
  interrupts: [],
  runs: [{ threadId, runId: 'r1', outcome: 'finished' }],
})

const setN = ({ content }: StoredThread, n: number): void => void Object.assign(content?.state ?? {}, { n })

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** `open` gives the same storage each time, as another page would find it. */
export function describeStorage(name: string, open: () => ChatStorage): void {
  describe(name, () => {
    it('has nothing under a key that was not saved, nor under names that objects have', async () => {
      for (const key of ['never', '__proto__', 'constructor', 'toString', '']) expect(await open().load(`${name}-none-${key}`)).toBeUndefined()
      for (const key of ['__proto__', 'constructor', 'toString', 'length']) expect(await open().load(key)).toBeUndefined()
    })

    it('gives back what was saved last, in another page too, each key its own', async () => {
      const storage = open()
      await storage.save('a', storedThread('a', 'first'))
      await storage.save('b', storedThread('b'))
      await storage.save('a', storedThread('a', 'second'))
      expect(json(await storage.load('a'))).toEqual(json(storedThread('a', 'second')))
      expect(json(await open().load('a'))).toEqual(json(storedThread('a', 'second')))
      expect(json(await open().load('b'))).toEqual(json(storedThread('b')))
    })

    it('gives a value of its own: what one does with it changes nothing', async () => {
      const storage = open()
      const thread = storedThread()
      await storage.save('own', thread)
      setN(thread, 2)
      const first = (await storage.load('own')) as StoredThread
      expect(first.content?.state).toMatchObject({ n: 1 })
      setN(first, 3)
      expect(((await storage.load('own')) as StoredThread).content?.state).toMatchObject({ n: 1 })
    })

    it('keeps any text, and a key of any text', async () => {
      const odd = '\u0000 \u{1F468}\u200D\u{1F469} \\ " \ud800 \u2028 __proto__'
      await open().save(odd, storedThread(odd, odd))
      expect(json(await open().load(odd))).toEqual(json(storedThread(odd, odd)))
      await open().remove(odd)
      expect(await open().load(odd)).toBeUndefined()
    })

    it('removes, also what is not there', async () => {
      const storage = open()
      await storage.save('gone', storedThread())
      await storage.remove('gone')
      await storage.remove('gone')
      expect(await storage.load('gone')).toBeUndefined()
    })

    it('fails on what JSON cannot say, and keeps what it had', async () => {
      const storage = open()
      await storage.save('kept', storedThread('kept', 'before'))
      const bad = { ...storedThread(), content: { messages: [], state: { big: 1n } } }
      await expect((async () => storage.save('kept', bad))()).rejects.toMatchObject({ name: 'StorageError', code: 'not-json', key: 'kept' })
      expect(json(await storage.load('kept'))).toEqual(json(storedThread('kept', 'before')))
    })

    it('does not touch a prototype', async () => {
      const state = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}') as object
      await open().save('proto', { ...storedThread(), content: { messages: [], state } })
      const loaded = (await open().load('proto')) as StoredThread
      expect(JSON.stringify(loaded.content?.state)).toBe(JSON.stringify(state))
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    })
  })
}
