/**
 * The laws of `contract.ts` as tests, for every log there is. It knows the contract only, and no test runner: the
 * caller passes its `test` and `expect`.
 */
import { START, type EventLog, type Lease, type LogEntry, type NewRun } from './contract.ts'

export interface SuiteApi {
  test(name: string, run: () => Promise<void>): void
  expect(value: unknown): {
    toBe(expected: unknown): void
    toEqual(expected: unknown): void
    toMatchObject(expected: object): void
  }
}

export interface LogHarness {
  readonly log: EventLog
  /** Makes every lease given so far expire. */
  expireLeases(): Promise<void>
  dispose(): Promise<void>
}

const LEASE_MS = 10_000

/** @param make gives an empty log for each test. */
export function eventLogSuite(api: SuiteApi, make: () => Promise<LogHarness>): void {
  const { expect } = api
  const test = (name: string, run: (log: EventLog, harness: LogHarness) => Promise<void>): void =>
    api.test(name, async () => {
      const harness = await make()
      try {
        await run(harness.log, harness)
      } finally {
        await harness.dispose()
      }
    })
  const refusal = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => 'accepted',
      (error: { code?: unknown }) => error.code,
    )

  test('a run is accepted once: later creates are told what is there', async (log) => {
    const first = await log.create(newRun())
    expect(first.created).toBe(true)
    const second = await log.create({ ...newRun(), input: '{"other":true}' })
    expect(second).toMatchObject({ created: false, run: { threadId: 't', runId: 'r', status: 'running' } })
    expect(await log.input('r')).toBe('{}')
  })

  test('of many creates at once, one is told that it created', async (log) => {
    const all = await Promise.all(Array.from({ length: 20 }, () => log.create(newRun())))
    expect(all.filter(({ created }) => created).length).toBe(1)
  })

  test('a runId belongs to one thread', async (log) => {
    await create(log)
    expect(await refusal(log.create({ ...newRun(), threadId: 'other' }))).toBe('conflict')
    expect((await log.list('other')).length).toBe(0)
  })

  test('what was appended is read in order, whatever the batches', async (log) => {
    const lease = await create(log)
    await log.append(lease, ['a', 'b'])
    await log.append(lease, [])
    await log.append(lease, ['c'])
    expect(texts((await log.read('r')).entries)).toEqual(['a', 'b', 'c'])
    expect((await log.read('r')).end).toBe(false)
  })

  test('appends that are not awaited keep their order', async (log) => {
    const lease = await create(log)
    const sent = Array.from({ length: 50 }, (_, index) => String(index))
    await Promise.all(sent.map((text) => log.append(lease, [text])))
    expect(texts((await log.read('r')).entries)).toEqual(sent)
  })

  test('text comes back as it was given', async (log) => {
    const lease = await create(log)
    const odd = ['', ' ', '\n\r\0', '"\\', 'ä€😀', 'x'.repeat(100_000)]
    await log.append(lease, odd)
    expect(texts((await log.read('r')).entries)).toEqual(odd)
  })

  test('reading behind any offset gives exactly the rest, and so does a tail', async (log) => {
    const lease = await create(log)
    await log.append(lease, ['a', 'b', 'c'])
    await log.close(lease, { outcome: 'finished', data: ['d'] })
    const { entries, end } = await log.read('r')
    expect(end).toBe(true)
    expect(new Set(entries.map(({ offset }) => offset)).size).toBe(4)
    expect(await collect(log, START)).toEqual(entries)
    for (const [index, { offset }] of entries.entries()) {
      expect(/^[\x21-\x7e]+$/.test(offset)).toBe(true)
      expect(await log.read('r', { after: offset })).toEqual({ entries: entries.slice(index + 1), end: true })
      expect(await collect(log, offset)).toEqual(entries.slice(index + 1))
    }
  })

  test('pages have the size asked for and join without gap', async (log) => {
    const lease = await create(log)
    await log.append(lease, ['a', 'b', 'c'])
    await log.close(lease, { outcome: 'finished', data: ['d'] })
    const first = await log.read('r', { limit: 3 })
    expect(texts(first.entries)).toEqual(['a', 'b', 'c'])
    expect(first.end).toBe(false)
    const second = await log.read('r', { limit: 3, after: first.entries[2]?.offset ?? '' })
    expect(texts(second.entries)).toEqual(['d'])
    expect(second.end).toBe(true)
    const sizes: number[] = []
    for await (const batch of log.tail('r', { limit: 2 })) sizes.push(batch.length)
    expect(sizes).toEqual([2, 2])
  })

  test('an offset the run never had is refused', async (log) => {
    const lease = await create(log)
    await log.append(lease, ['a'])
    for (const after of ['', 'x', '-2', '99999999', '1.5', '0x0', ' 0', '9'.repeat(400)]) {
      expect(await refusal(log.read('r', { after }))).toBe('offset')
      expect(await refusal(collect(log, after))).toBe('offset')
    }
  })

  test('a run that is not there is unknown to every method', async (log) => {
    const lease = { runId: 'nobody', token: 1 }
    expect(await refusal(log.append(lease, ['a']))).toBe('unknown')
    expect(await refusal(log.renew(lease))).toBe('unknown')
    expect(await refusal(log.close(lease, { outcome: 'finished', data: [] }))).toBe('unknown')
    expect(await refusal(log.read('nobody'))).toBe('unknown')
    expect(await refusal(collect(log, START, 'nobody'))).toBe('unknown')
    expect(await log.get('nobody')).toBe(undefined)
    expect(await log.input('nobody')).toBe(undefined)
    expect(await log.takeOver('nobody', LEASE_MS)).toBe(undefined)
    expect(await log.requestCancel('nobody')).toBe(undefined)
    expect(await log.list('nobody')).toEqual([])
  })

  test('ids are opaque: any string names a run of its own', async (log) => {
    for (const id of ['', ' ', '__proto__', 'a:b', 'a/b', '*', 'é', "'; DROP TABLE runs; --"]) {
      const lease = await create(log, { threadId: `thread ${id}`, runId: id })
      await log.append(lease, [id])
      expect(texts((await log.read(id)).entries)).toEqual([id])
      expect((await log.list(`thread ${id}`)).map(({ runId }) => runId)).toEqual([id])
    }
  })

  test('a closed run takes nothing more and says how it ended', async (log) => {
    const lease = await create(log)
    await log.close(lease, { outcome: 'interrupted', data: ['end'], interruptIds: ['i1', 'i2'] })
    expect(await refusal(log.append(lease, ['late']))).toBe('closed')
    expect(await refusal(log.renew(lease))).toBe('closed')
    expect(await refusal(log.close(lease, { outcome: 'error', data: ['late'] }))).toBe('closed')
    expect(texts((await log.read('r')).entries)).toEqual(['end'])
    expect(await log.get('r')).toMatchObject({ status: 'closed', outcome: 'interrupted', interruptIds: ['i1', 'i2'] })
  })

  test('a tail follows live appends and ends with the run', async (log) => {
    const lease = await create(log)
    const seen = collect(log, START)
    await tick()
    await log.append(lease, ['a'])
    await tick()
    await log.append(lease, ['b', 'c'])
    await log.close(lease, { outcome: 'finished', data: ['d'] })
    expect(texts(await seen)).toEqual(['a', 'b', 'c', 'd'])
  })

  test('readers that join at any moment see the same, once', async (log) => {
    const lease = await create(log)
    const readers: Promise<LogEntry[]>[] = []
    const sent: string[] = []
    for (let index = 0; index < 30; index++) {
      readers.push(collect(log, START))
      if (index % 3 === 0) await tick()
      sent.push(`n${index}`)
      await log.append(lease, [`n${index}`])
    }
    await log.close(lease, { outcome: 'finished', data: ['end'] })
    for (const reader of readers) expect(texts(await reader)).toEqual([...sent, 'end'])
  })

  test('no reader sees a closed run without its last event', async (log) => {
    const lease = await create(log)
    await log.append(lease, ['a'])
    const closing = log.close(lease, { outcome: 'finished', data: ['end'] })
    const pages = await Promise.all(Array.from({ length: 10 }, () => log.read('r')))
    await closing
    for (const { entries, end } of pages) if (end) expect(texts(entries)).toEqual(['a', 'end'])
  })

  test('an append that races with the closing is in whole, or refused', async (log) => {
    const lease = await create(log)
    const [appended] = await Promise.all([
      refusal(log.append(lease, ['a', 'b'])),
      log.close(lease, { outcome: 'finished', data: ['end'] }),
    ])
    const expected = appended === 'closed' ? ['end'] : ['a', 'b', 'end']
    expect(texts((await log.read('r')).entries)).toEqual(expected)
  })

  test('an aborted tail ends quietly, also before it began', async (log) => {
    await create(log)
    const abort = new AbortController()
    const waiting = collect(log, START, 'r', abort.signal)
    await tick()
    abort.abort()
    expect(await waiting).toEqual([])
    expect(await collect(log, START, 'r', abort.signal)).toEqual([])
  })

  test('one aborted tail leaves the others', async (log) => {
    const lease = await create(log)
    const abort = new AbortController()
    const left = collect(log, START, 'r', abort.signal)
    const stays = collect(log, START)
    await tick()
    abort.abort()
    await left
    await log.close(lease, { outcome: 'finished', data: ['end'] })
    expect(texts(await stays)).toEqual(['end'])
  })

  test('a lease that holds is not taken over', async (log) => {
    const lease = await create(log)
    expect(await log.takeOver('r', LEASE_MS)).toBe(undefined)
    await log.close(lease, { outcome: 'finished', data: [] })
    expect(await log.takeOver('r', LEASE_MS)).toBe(undefined)
  })

  test('an expired lease is taken over by one; the old holder is fenced and changes nothing', async (log, harness) => {
    const old = await create(log)
    await log.append(old, ['a'])
    await harness.expireLeases()
    const takers = (await Promise.all(Array.from({ length: 10 }, () => log.takeOver('r', LEASE_MS)))).filter(isLease)
    expect(takers.length).toBe(1)
    const lease = takers[0] as Lease
    expect(lease.token > old.token).toBe(true)
    expect(await refusal(log.append(old, ['ghost']))).toBe('fenced')
    expect(await refusal(log.renew(old))).toBe('fenced')
    expect(await refusal(log.close(old, { outcome: 'finished', data: ['ghost'] }))).toBe('fenced')
    await log.close(lease, { outcome: 'error', data: ['lost'] })
    expect(texts((await log.read('r')).entries)).toEqual(['a', 'lost'])
    expect((await log.get('r'))?.outcome).toBe('error')
  })

  test('an expired lease that nobody took still holds; appending and renewing bring it back', async (log, harness) => {
    const lease = await create(log)
    await harness.expireLeases()
    await log.append(lease, ['a'])
    expect(await log.takeOver('r', LEASE_MS)).toBe(undefined)
    await harness.expireLeases()
    await log.renew(lease)
    expect(await log.takeOver('r', LEASE_MS)).toBe(undefined)
  })

  test('of a renewal and a takeover at once, one wins', async (log, harness) => {
    const old = await create(log)
    await harness.expireLeases()
    const [taken, renewed] = await Promise.all([log.takeOver('r', LEASE_MS), refusal(log.renew(old))])
    expect(taken === undefined ? renewed : 'fenced').toBe(renewed)
    expect(await refusal(log.append(old, ['x']))).toBe(taken === undefined ? 'accepted' : 'fenced')
  })

  test('a tail survives the takeover', async (log, harness) => {
    const old = await create(log)
    const seen = collect(log, START)
    await log.append(old, ['a'])
    await harness.expireLeases()
    const lease = await log.takeOver('r', LEASE_MS)
    if (lease !== undefined) await log.close(lease, { outcome: 'error', data: ['lost'] })
    expect(texts(await seen)).toEqual(['a', 'lost'])
  })

  test('the producer learns of a cancel with its next append or renewal; a closed run stays as it is', async (log) => {
    const lease = await create(log)
    expect(await log.append(lease, ['a'])).toMatchObject({ cancelRequested: false })
    expect(await log.requestCancel('r')).toMatchObject({ status: 'running', cancelRequested: true })
    expect(await log.append(lease, ['b'])).toMatchObject({ cancelRequested: true })
    expect(await log.renew(lease)).toMatchObject({ cancelRequested: true })
    await log.close(lease, { outcome: 'finished', data: [] })
    expect(await log.requestCancel('r')).toMatchObject({ status: 'closed', outcome: 'finished' })
  })

  test('a thread lists its runs in the order of their creation', async (log) => {
    const runIds = ['r9', 'r1', 'r5']
    for (const runId of runIds) await create(log, { runId })
    await create(log, { threadId: 'other', runId: 'r2' })
    expect((await log.list('t')).map(({ runId }) => runId)).toEqual(runIds)
  })

  test('trimming forgets closed runs, and running ones stay', async (log) => {
    const lease = await create(log, { runId: 'done' })
    await log.close(lease, { outcome: 'finished', data: ['end'] })
    await create(log, { runId: 'running' })
    await log.close(await create(log, { threadId: 'other', runId: 'elsewhere' }), { outcome: 'finished', data: [] })
    expect(await log.trim({ threadId: 't' })).toBe(1)
    expect(await log.get('done')).toBe(undefined)
    expect(await refusal(log.read('done'))).toBe('unknown')
    expect((await log.list('t')).map(({ runId }) => runId)).toEqual(['running'])
    expect((await log.get('elsewhere'))?.status).toBe('closed')
    expect(await log.trim({ closedBefore: 0 })).toBe(0)
    expect(await log.trim({ closedBefore: Number.MAX_SAFE_INTEGER })).toBe(1)
    expect(await log.get('elsewhere')).toBe(undefined)
  })

  test('a runId that was trimmed can be used again', async (log) => {
    await log.close(await create(log), { outcome: 'finished', data: ['old'] })
    await log.trim({ threadId: 't' })
    const lease = await create(log, { threadId: 'new' })
    await log.append(lease, ['new'])
    expect(texts((await log.read('r')).entries)).toEqual(['new'])
  })
}

function newRun(): NewRun {
  return { threadId: 't', runId: 'r', input: '{}', leaseMs: LEASE_MS }
}

async function create(log: EventLog, run: Partial<NewRun> = {}): Promise<Lease> {
  const made = await log.create({ ...newRun(), ...run })
  if (!made.created) throw new Error('The run exists')
  return made.lease
}

function isLease(lease: Lease | undefined): lease is Lease {
  return lease !== undefined
}

function texts(entries: readonly LogEntry[]): string[] {
  return entries.map(({ data }) => data)
}

async function collect(log: EventLog, after: string, runId = 'r', signal?: AbortSignal): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  for await (const batch of log.tail(runId, { after, ...(signal !== undefined && { signal }) })) entries.push(...batch)
  return entries
}

function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1))
}
