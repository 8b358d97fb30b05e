import { describe, expect, test } from 'vitest'
import { FakeClock } from '../test/fixtures.ts'
import { eventLogSuite } from './contract-suite.ts'
import { MemoryLog, type MemoryLogLimits } from './memory.ts'

describe('contract', () => {
  eventLogSuite({ test, expect }, async () => {
    const clock = new FakeClock()
    return { log: new MemoryLog({ clock }), expireLeases: () => clock.advance(60_000), dispose: async () => undefined }
  })
})

describe('retention', () => {
  function makeLog(limits: Partial<MemoryLogLimits>) {
    const clock = new FakeClock()
    const log = new MemoryLog({ clock, limits })
    const open = async (runId: string) => {
      const made = await log.create({ threadId: 't', runId, input: '', leaseMs: 1000 })
      if (!made.created) throw new Error('exists')
      return made.lease
    }
    const done = async (runId: string, ...data: string[]) => log.close(await open(runId), { outcome: 'finished', data })
    const kept = async () => (await log.list('t')).map(({ runId }) => runId)
    return { clock, log, open, done, kept }
  }

  test('the oldest closed runs go first', async () => {
    const { done, kept } = makeLog({ closedRuns: 2 })
    for (const runId of ['a', 'b', 'c']) await done(runId)
    expect(await kept()).toEqual(['b', 'c'])
  })

  test('closed runs go when they are old; running ones stay', async () => {
    const { clock, done, open, kept } = makeLog({ closedMs: 1000 })
    await done('a')
    await open('b')
    await clock.advance(1001)
    await done('c')
    expect(await kept()).toEqual(['b', 'c'])
  })

  test('a run that grows too long is refused with the name of the bound, and can still be closed', async () => {
    const { log, open } = makeLog({ runLength: 10 })
    const lease = await open('a')
    await log.append(lease, ['12345'])
    await expect(log.append(lease, ['123456'])).rejects.toMatchObject({ code: 'limit', limit: 'runLength' })
    await log.close(lease, { outcome: 'error', data: ['the end of it'] })
    expect((await log.read('a')).entries.map(({ data }) => data)).toEqual(['12345', 'the end of it'])
  })

  test('closed runs make room for new text; without them it is refused', async () => {
    const { log, open, done, kept } = makeLog({ totalLength: 10 })
    await done('a', '12345')
    await done('b', '123')
    const lease = await open('c')
    await log.append(lease, ['123456'])
    expect(await kept()).toEqual(['b', 'c'])
    await log.append(lease, ['1234'])
    expect(await kept()).toEqual(['c'])
    await expect(log.append(lease, ['1'])).rejects.toMatchObject({ code: 'limit', limit: 'totalLength' })
    await expect(log.create({ threadId: 't', runId: 'd', input: '1', leaseMs: 1 })).rejects.toMatchObject({ code: 'limit' })
  })

  test('what was forgotten leaves nothing behind: room and runId are free again', async () => {
    const { log, done, open } = makeLog({ totalLength: 10, closedRuns: 0 })
    for (let i = 0; i < 100; i++) await done('a', '1234567890')
    await log.append(await open('b'), ['1234567890'])
  })

  test('a slow reader of a forgotten run is told, and does not keep it', async () => {
    const { log, done } = makeLog({})
    await done('a', '1', '2', '3')
    const tail = log.tail('a', { limit: 1 })
    expect((await tail.next()).value).toHaveLength(1)
    await log.trim({})
    await expect(tail.next()).rejects.toMatchObject({ code: 'unknown' })
  })
})
