import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { StreamChunk } from './adapter.ts'
import { batchesOf } from './chunk-stream.ts'
import { ChunkQueue } from './queue.ts'

type Step = { readonly push: number } | 'one' | 'batch' | 'subscribe one' | 'subscribe batch'

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ push: fc.integer({ min: 0, max: 5 }) }),
  fc.constantFrom<Step>('one', 'one', 'batch', 'subscribe one', 'subscribe batch'),
)

it('every chunk is given once, in order, to whoever is the newest subscriber', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const queue = new ChunkQueue()
      const given: unknown[] = []
      let pushed = 0
      let readable = 0
      let next: () => Promise<readonly StreamChunk[]>
      const subscribe = (batched: boolean): void => {
        const source = queue.subscribe()
        if (batched) {
          const iterator = batchesOf(source)[Symbol.asyncIterator]()
          next = async () => (await iterator.next()).value ?? []
        } else {
          const iterator = source[Symbol.asyncIterator]()
          next = async () => [(await iterator.next()).value]
        }
      }
      subscribe(false)
      const read = async (): Promise<void> => {
        if (readable === 0) return
        const chunks = await (next as () => Promise<readonly StreamChunk[]>)()
        readable -= chunks.length
        given.push(...chunks.map((chunk) => (chunk as { n?: unknown }).n))
      }
      for (const each of steps) {
        if (each === 'one' || each === 'batch') await read()
        else if (typeof each === 'string') subscribe(each === 'subscribe batch')
        else {
          queue.push(Array.from({ length: each.push }, () => ({ type: 'CUSTOM', n: pushed++ })), 'r')
          readable += each.push
        }
      }
      while (readable > 0) await read()
      expect(given).toEqual(Array.from({ length: pushed }, (_, n) => n))
    }),
  )
})
