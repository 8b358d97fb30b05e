/** Law 9 over real sockets: whichever way a run over HTTP ends, no timer, listener or answer is left. */
import { fetchHttpStream, fetchServerSentEvents, type FetchConnectionOptions } from '@millrace/client'
import { cutAt, recordedRun, stallAt, startFaultServer, status, unterminated, type Fault } from '@millrace/testkit'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { collectUntilError, until } from '../../test/events.ts'
import { probeLeaks, type LeakProbe } from '../../test/leak-probe.ts'

const context = { threadId: 't1', runId: 'r1' }
const events = recordedRun('mixed', context)

let probe: LeakProbe | undefined
afterEach(() => probe?.restore())

interface Ending {
  readonly faults: readonly Fault[]
  readonly options?: FetchConnectionOptions
  /** When to abort: behind so many events, or when a wait has begun. */
  readonly abort?: number | 'waiting'
  /** Leaves the loop behind so many events. */
  readonly leave?: number
  readonly error?: string
}

const ENDINGS: Readonly<Record<string, Ending>> = {
  'its end': { faults: [] },
  'its end, after two cuts': { faults: [cutAt(1500), cutAt(1500)] },
  'its end, after silence': { faults: [stallAt(1500)], options: { reconnect: { idleMs: 100, delayMs: 1 } } },
  'a cut that cannot be mended': { faults: [cutAt(1500)], options: { resume: 'off' }, error: 'truncated' },
  'a refusal': { faults: [cutAt(1500), status(404)], error: 'truncated' },
  'giving up': { faults: Array.from({ length: 9 }, () => cutAt(0)), options: { reconnect: { maxAttempts: 2, delayMs: 1 } }, error: 'truncated' },
  'an end without a terminal event': { faults: [unterminated], options: { resume: 'off' }, error: 'truncated' },
  'a status': { faults: [status(500)], error: 'http-status' },
  'an abort while it reads': { faults: [stallAt(1500)], abort: 5 },
  'an abort while it reads, under a watch for silence': { faults: [stallAt(1500)], options: { reconnect: { idleMs: 60_000 } }, abort: 5 },
  'an abort while it waits': { faults: [cutAt(1500)], options: { reconnect: { delayMs: 60_000, maxDelayMs: 60_000, random: () => 0.9 } }, abort: 'waiting' },
  'leaving the loop': { faults: [stallAt(1500)], leave: 5 },
  'leaving the loop after a cut': { faults: [cutAt(1500), stallAt(1500)], leave: 20 },
}

describe.each([
  ['fetchServerSentEvents', fetchServerSentEvents],
  ['fetchHttpStream', fetchHttpStream],
] as const)('%s', (_, factory) => {
  it.each(Object.entries(ENDINGS))('%s leaves nothing', async (__, { faults, options, abort, leave, error: expected }) => {
    const server = await startFaultServer({ events, faults })
    onTestFinished(() => server.close())
    probe = probeLeaks()
    const own = new AbortController()
    const caller = new AbortController()
    const connection = factory(server.url, {
      reconnect: { delayMs: 1 },
      ...options,
      signal: own.signal,
      onReconnect: () => abort === 'waiting' && setTimeout(() => caller.abort(), 5),
    })
    const { items, error } = await collectUntilError(
      (async function* () {
        let count = 0
        for await (const chunk of connection.connect([], undefined, caller.signal, context)) {
          yield chunk
          count++
          if (count === abort) caller.abort()
          if (count === leave) break
        }
      })(),
    )
    expect(error?.code).toBe(expected)
    expect(items).toEqual(events.slice(0, items.length))
    if (expected === undefined && abort === undefined && leave === undefined) expect(items).toEqual(events)
    await server.until(({ connections }) => connections.answering === 0)
    // Platforms take their own listeners off a little later.
    await until(() => probe?.left([own.signal, caller.signal]).listeners === 0)
    expect(probe.left([own.signal, caller.signal])).toEqual({ timers: 0, listeners: 0 })
  })
})
