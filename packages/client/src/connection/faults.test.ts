/** Each kind of fault, over real sockets: what the run looks like in the end, and how often its POST was sent. */
import { fetchHttpStream, fetchServerSentEvents, type FetchConnectionOptions } from '@millrace/client'
import { both, catalogue, cutAt, recordedRun, startFaultServer, type Fault, type FaultServerOptions } from '@millrace/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { collectUntilError, userMessage } from '../../test/events.ts'

const context = { threadId: 't1', runId: 'r1' }
const events = recordedRun('mixed', context)
const entries = Object.entries<Fault>

const STYLES = {
  'numbers': { every: 1, look: 'numeric' },
  'opaque ids': { every: 1, look: 'opaque' },
  'ids on every fourth event': { every: 4, look: 'opaque' },
} satisfies Record<string, FaultServerOptions['ids']>

const FACTORIES = [
  ['fetchServerSentEvents', fetchServerSentEvents],
  ['fetchHttpStream', fetchHttpStream],
] as const

/** One run through the faults given, and what the server saw. */
async function through(factory: typeof fetchServerSentEvents, faults: readonly Fault[], server: Partial<FaultServerOptions> = {}, options: FetchConnectionOptions = {}) {
  const fault = await startFaultServer({ events, faults, ...server })
  onTestFinished(() => fault.close())
  const connection = factory(fault.url, { headers: { connection: 'close' }, reconnect: { delayMs: 1 }, ...options })
  const { items, error } = await collectUntilError(connection.connect([userMessage()], undefined, undefined, context))
  await fault.until(({ connections }) => connections.answering === 0)
  return { items, error, started: fault.started.length, did: fault.requests.map(({ did }) => did) }
}

describe.each(FACTORIES)('%s', (_, factory) => {
  it.each(entries(catalogue.harmless))('%s: the run, by one request', async (__, fault) => {
    const { items, error, did } = await through(factory, [fault])
    expect(error).toBeUndefined()
    expect(items).toEqual(events)
    expect(did).toEqual(['start'])
  })

  describe.each(Object.entries(STYLES))('with %s', (__, ids) => {
    it.each(entries(catalogue.lost))('%s: the run, started once', async (___, fault) => {
      const { items, error, started } = await through(factory, [fault], { ids })
      expect(error).toBeUndefined()
      expect(items).toEqual(events)
      expect(started).toBe(1)
    })

    it.each(entries(catalogue.repeated))('repeated %s: the run, each event once', async (___, fault) => {
      const { items, error, started } = await through(factory, [cutAt(2500), both(fault, cutAt(3500)), fault], { ids: { ...ids, every: 1 } })
      expect(error).toBeUndefined()
      expect(items).toEqual(events)
      expect(started).toBe(1)
    })
  })

  it.each(entries(catalogue.lost))('%s, where ids are given and POST resumes: the run, or what came of it', async (__, fault) => {
    const { items, error } = await through(factory, [fault], { resume: 'post' }, { resume: 'post' })
    if (error === undefined) expect(items).toEqual(events)
    else expect([items, error.code]).toEqual([[], expect.stringMatching(/network|truncated/)])
  })

  it.each(entries(catalogue.lost))('%s, where nothing is offered: what came, and the error', async (__, fault) => {
    const { items, error, started } = await through(factory, [fault], { ids: 'none', resume: 'none' })
    expect(items).toEqual(events.slice(0, items.length))
    if (items.length < events.length) expect(error).toMatchObject({ code: expect.stringMatching(/network|truncated/) })
    expect(started).toBeLessThanOrEqual(1)
  })

  it.each(entries(catalogue.silent))('%s: found out by idleMs', async (__, fault) => {
    const { items, error, started } = await through(factory, [fault], {}, { reconnect: { delayMs: 1, idleMs: 150 } })
    expect(error).toBeUndefined()
    expect(items).toEqual(events)
    expect(started).toBe(1)
  })

  it.each(entries(catalogue.later))('%s, when it comes back: tried again', async (__, fault) => {
    const { items, error, started } = await through(factory, [cutAt(2500), fault, fault])
    expect(error).toBeUndefined()
    expect(items).toEqual(events)
    expect(started).toBe(1)
  })

  it.each(entries(catalogue.final))('%s: told as it is; when it comes back, the cut is told', async (__, fault) => {
    const first = await through(factory, [fault])
    expect(first.items).toEqual([])
    expect(first.error).toMatchObject({ name: 'TransportError', code: expect.stringMatching(/http-status|content-type/) })
    const later = await through(factory, [cutAt(2500), fault])
    expect(later.items.length).toBeGreaterThan(5)
    expect(later.items).toEqual(events.slice(0, later.items.length))
    expect(later.error).toMatchObject({ name: 'StreamTruncatedError', attempts: 1 })
  })
})
