/** What the resume engine does at each way a connection can end. Duplicates have their law in resume.law.test.ts. */
import { StreamTruncatedError, TransportError, UnsupportedResponseStreamError, type ReconnectInfo, type StreamChunk } from '@millrace/client'
import { DONE, ProtocolError } from '@millrace/protocol'
import { describe, expect, it } from 'vitest'
import { collect, collectUntilError, finished, hello, started, text, tick } from '../../test/events.ts'
import { FakeClock, instantClock } from '../../test/fake-clock.ts'
import { countingSignal } from '../../test/leaks.ts'
import type { Delivery } from './deliveries.ts'
import { truncated } from './pieces.ts'
import { resumable, type ResumeOptions } from './resume.ts'
import type { Opened, Position, RunSource } from './run-source.ts'

const runContext = { threadId: 't1', runId: 'r1' }
const events = hello()
const LAST = events.length - 1

/** Events with their index as id, from one place to another. */
const numbered = (from = 0, to = events.length): Delivery[] =>
  events.slice(from, to).map((event, at) => ({ event, id: String(from + at), own: true, text: JSON.stringify(event) }))
const bare = (chunks: readonly (StreamChunk | typeof DONE)[]): Delivery[] =>
  chunks.map((event) => ({ event, id: undefined, own: false, text: String(JSON.stringify(event)) }))

/** What one connection does: its batches, then its end. An error instead of batches: it cannot be opened. */
type Step = Error | { give: (readonly Delivery[])[]; end?: Error | 'clean' | 'never'; offers?: Opened['offersResume']; retryMs?: number }

const broken = (): StreamTruncatedError => truncated('cut')
const status = (code: number, data: object = {}): TransportError => new TransportError('no', { code: 'http-status', status: code, ...data })
const network = (): TransportError => new TransportError('no', { code: 'network' })

function scripted(reopen: RunSource['reopen'], steps: readonly Step[]) {
  const positions: (Position | undefined)[] = []
  const log = { aborted: 0, returned: 0 }
  const source: RunSource = {
    reopen,
    async open({ position, signal }) {
      const step = steps[positions.push(position) - 1]
      signal.addEventListener('abort', () => log.aborted++, { once: true })
      if (step === undefined) throw new Error('opened once too often')
      if (step instanceof Error) throw step
      const { give, end = 'clean', offers = 'unknown', retryMs } = step
      async function* batches(): AsyncGenerator<readonly Delivery[], void, undefined> {
        try {
          yield* give
          if (end === 'never') await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
          if (end instanceof Error) throw end
        } finally {
          log.returned++
        }
      }
      return { batches: batches(), offersResume: offers, ...(retryMs !== undefined && { retryMs: () => retryMs }) }
    },
  }
  return { source, positions, log }
}

/** Runs a script to its end with waits that are over at once. */
async function played(reopen: RunSource['reopen'], steps: readonly Step[], options: ResumeOptions = {}) {
  const clock = instantClock()
  const infos: ReconnectInfo[] = []
  const { source, positions } = scripted(reopen, steps)
  const { items, error } = await collectUntilError(
    resumable(source, {
      runContext,
      onReconnect: (info) => infos.push(info),
      ...options,
      reconnect: { clock, environment: null, random: () => 1, ...options.reconnect },
    }),
  )
  expect(clock.pending()).toBe(0)
  return { chunks: items.flat(), error, infos, positions }
}

describe('a connection that breaks', () => {
  it('is opened again behind the last id', async () => {
    const { chunks, error, positions, infos } = await played('offered', [
      { give: [numbered(0, 2), numbered(2, 4)], end: broken() },
      { give: [numbered(4)] },
    ])
    expect(chunks).toEqual(events)
    expect(error).toBeUndefined()
    expect(positions).toEqual([undefined, { id: '3', seen: 0 }])
    expect(infos).toMatchObject([{ attempt: 1, delayMs: 250, error: { code: 'truncated' } }])
  })

  it('with ids on some events only, is opened behind the last one and leaves out what came after it', async () => {
    const sparse = numbered().map((delivery, at): Delivery => (at % 3 === 0 ? delivery : { ...delivery, id: String(at - (at % 3)), own: false }))
    const { chunks, positions } = await played('offered', [
      { give: [sparse.slice(0, 6)], end: broken() },
      { give: [sparse.slice(4).map((delivery) => (delivery.own ? delivery : { ...delivery, id: undefined }))] },
    ])
    expect(chunks).toEqual(events)
    expect(positions[1]).toEqual({ id: '3', seen: 2 })
  })

  it('before any id came, is joined from the start if the server offers it', async () => {
    const { chunks, positions } = await played('offered', [
      { give: [bare(events.slice(0, 3))], end: broken(), offers: 'yes' },
      { give: [bare(events)] },
    ])
    expect(chunks).toEqual(events)
    expect(positions[1]).toEqual({ id: undefined, seen: 3 })
  })

  it('after an empty id, is joined from the start', async () => {
    const log = numbered().map((delivery, at): Delivery => (at === 3 ? { ...delivery, id: undefined } : at === 4 ? { ...delivery, id: undefined, own: false } : delivery))
    const { chunks, positions } = await played('offered', [{ give: [log.slice(0, 5)], end: broken(), offers: 'yes' }, { give: [log] }])
    expect(chunks).toEqual(events)
    expect(positions[1]).toEqual({ id: undefined, seen: 5 })
  })

  it.each([
    ['before the answer', network()],
    ['in the answer, before its first event', { give: [[]], end: broken() }],
    ['at a gateway', status(502)],
    ['at a gateway that waited too long', status(504)],
  ] satisfies [string, Step][])('%s, is joined from the start, since it may have been accepted', async (_, step) => {
    const { chunks, positions } = await played('offered', [step, { give: [numbered()] }])
    expect(chunks).toEqual(events)
    expect(positions[1]).toEqual({ id: undefined, seen: 0 })
  })

  it('without ids and without an offer, is the end, and what came stays', async () => {
    const { chunks, error, positions } = await played('offered', [{ give: [bare(events.slice(0, 3))], end: broken() }])
    expect(chunks).toEqual(events.slice(0, 3))
    expect(error).toBeInstanceOf(StreamTruncatedError)
    expect('attempts' in error).toBe(false)
    expect(positions).toHaveLength(1)
  })

  it.each([
    ['never', { give: [numbered(0, 3)], end: broken() }],
    ['cursor', { give: [bare(events.slice(0, 3))], end: broken(), offers: 'yes' }],
    ['cursor', network()],
    ['offered', { give: [numbered(0, 3)], end: broken(), offers: 'no' }],
  ] satisfies [RunSource['reopen'], Step][])('of a source that reopens %s, is not always opened again', async (reopen, step) => {
    expect((await played(reopen, [step])).positions).toHaveLength(1)
  })

  it('under a source that always reopens, needs no offer', async () => {
    const { chunks } = await played('always', [{ give: [bare(events.slice(0, 3))], end: broken() }, { give: [bare(events)] }])
    expect(chunks).toEqual(events)
  })
})

describe('what ends it', () => {
  it.each([400, 401, 403, 404, 409, 410, 418])('HTTP %i to the attempt gives the first error, with the refusal as its cause', async (code) => {
    const first = broken()
    const { chunks, error } = await played('offered', [{ give: [numbered(0, 3)], end: first }, status(code)])
    expect(chunks).toEqual(events.slice(0, 3))
    expect(error).toBe(first)
    expect(error).toMatchObject({ name: 'StreamTruncatedError', code: 'truncated', attempts: 1, cause: { status: code } })
  })

  it.each([
    ['a web page', new TransportError('page', { code: 'content-type', status: 200 })],
    ['an answer without a body', new UnsupportedResponseStreamError('none', { status: 204 })],
  ])('%s too', async (_, refusal) => {
    expect((await played('offered', [{ give: [numbered(0, 3)], end: broken() }, refusal])).error).toMatchObject({ code: 'truncated' })
  })

  it('a cause of its own stays', async () => {
    const cause = new Error('reset')
    const { error } = await played('offered', [{ give: [numbered(0, 3)], end: truncated('cut', '/x', cause) }, status(404)])
    expect(error.cause).toBe(cause)
  })

  it.each([500, 503, 429, 408, 425, 404, 403])('HTTP %i to the first request is told at once', async (code) => {
    for (const reopen of ['offered', 'always', 'cursor'] as const) {
      const { error, positions } = await played(reopen, [status(code)])
      expect(error).toMatchObject({ code: 'http-status', status: code })
      expect(positions).toHaveLength(1)
    }
  })

  it.each([500, 502, 503, 504, 429, 408, 425])('HTTP %i to an attempt is tried again', async (code) => {
    const { chunks } = await played('offered', [{ give: [numbered(0, 3)], end: broken() }, status(code), { give: [numbered(3)] }])
    expect(chunks).toEqual(events)
  })

  it('a join may begin with a failure that passes', async () => {
    const { chunks, positions } = await played('always', [status(503), network(), { give: [numbered()] }], { from: { id: undefined, seen: 0 } })
    expect(chunks).toEqual(events)
    expect(positions).toEqual([{ id: undefined, seen: 0 }, { id: undefined, seen: 0 }, { id: undefined, seen: 0 }])
  })

  it('five attempts in a row without anything new', async () => {
    const first = broken()
    const { error, infos } = await played('offered', [
      { give: [numbered(0, 3)], end: first },
      network(),
      { give: [], end: broken() },
      // The same again is nothing new.
      { give: [numbered(0, 3)], end: broken() },
      status(503),
      { give: [[]], end: 'clean' },
    ])
    expect(error).toBe(first)
    expect(error).toMatchObject({ attempts: 5 })
    expect(infos.map(({ attempt, delayMs }) => [attempt, delayMs])).toEqual([[1, 250], [2, 500], [3, 1000], [4, 2000], [5, 4000]])
  })

  it('each new event sets the count back', async () => {
    const steps = events.map((_, at): Step => ({ give: [numbered(at, at + 1)], end: at === LAST ? 'clean' : broken() }))
    const { chunks, infos } = await played('offered', steps, { reconnect: { maxAttempts: 1 } })
    expect(chunks).toEqual(events)
    expect(infos.map(({ attempt }) => attempt)).toEqual(events.slice(1).map(() => 1))
  })

  it('the last outage, not one before it', async () => {
    const last = broken()
    const { error } = await played('offered', [{ give: [numbered(0, 3)], end: broken() }, { give: [numbered(3, 5)], end: last }, status(404)])
    expect(error).toBe(last)
    expect(error).toMatchObject({ attempts: 1 })
  })

  it('a server that was not heard, and is not there yet', async () => {
    expect((await played('offered', [network(), status(503), { give: [numbered()] }])).chunks).toEqual(events)
    const first = network()
    const { error } = await played('offered', [first, status(404)])
    expect(error).toBe(first)
    expect(error).toMatchObject({ code: 'network', attempts: 1 })
  })

  it('no attempt at all, if none is wanted', async () => {
    expect((await played('offered', [{ give: [numbered(0, 3)], end: broken() }], { reconnect: { maxAttempts: 0 } })).error).toMatchObject({ code: 'truncated' })
  })

  it('a bad frame, on whichever connection', async () => {
    const bad = new ProtocolError('no', { code: 'malformed', rule: 'frame.not-json' })
    const { chunks, error } = await played('offered', [{ give: [numbered(0, 3)], end: broken() }, { give: [numbered(3, 5)], end: bad }])
    expect(chunks).toEqual(events.slice(0, 5))
    expect(error).toBe(bad)
  })

  it('a function of the application that throws at first, but not at an attempt: it may need the network too', async () => {
    const token = new Error('no token')
    expect((await played('offered', [token])).error).toBe(token)
    expect((await played('offered', [{ give: [numbered(0, 3)], end: broken() }, token, { give: [numbered(3)] }])).chunks).toEqual(events)
  })

  it('a wait that is longer than anybody watches', async () => {
    const { error, positions } = await played('offered', [{ give: [numbered(0, 3)], end: broken() }, status(503, { retryAfterMs: 3_600_000 })])
    expect(error).toMatchObject({ code: 'truncated' })
    expect(positions).toHaveLength(2)
  })
})

describe('when a run is done', () => {
  it('a clean end after its terminal event', async () => {
    expect((await played('always', [{ give: [numbered()] }])).positions).toHaveLength(1)
  })

  it('a clean end before it is resumed', async () => {
    expect((await played('offered', [{ give: [numbered(0, 4)] }, { give: [numbered(4)] }])).chunks).toEqual(events)
  })

  it('a break after it: there may be more', async () => {
    const more = hello('r2')
    const next = more.map((event, at): Delivery => ({ event, id: String(LAST + 1 + at), own: true, text: JSON.stringify(event) }))
    const { chunks, error } = await played('offered', [{ give: [numbered()], end: broken() }, { give: [next] }])
    expect(chunks).toEqual([...events, ...more])
    expect(error).toBeUndefined()
  })

  it.each([
    ['nothing came', [{ give: [] }]],
    ['it is refused', [status(404)]],
    ['it fails again and again', Array.from({ length: 5 }, network)],
  ] satisfies [string, Step[]][])('a break after it is no failure if %s', async (_, steps) => {
    const { chunks, error } = await played('offered', [{ give: [numbered()], end: broken() }, ...steps])
    expect(chunks).toEqual(events)
    expect(error).toBeUndefined()
  })

  it('an intermediate RUN_FINISHED is not the end', async () => {
    const turns = [started(), finished(), { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: '1' }, started(), ...text('Hi'), finished()]
    const log = turns.map((event, at): Delivery => ({ event, id: `e${at}`, own: true, text: JSON.stringify(event) }))
    for (let cut = 1; cut < turns.length; cut++) {
      const { chunks, error } = await played('offered', [{ give: [log.slice(0, cut)], end: broken() }, { give: [log.slice(cut)] }])
      expect(chunks).toEqual(turns)
      expect(error).toBeUndefined()
    }
  })

  it('[DONE] ends an open run with the ids seen, and nothing is read after it', async () => {
    const { chunks, positions } = await played('always', [{ give: [bare([started('seen'), DONE])], end: 'never' }])
    expect(chunks).toEqual([started('seen'), { type: 'RUN_FINISHED', threadId: 't1', runId: 'seen' }])
    expect(positions).toHaveLength(1)
    expect((await played('always', [{ give: [bare([...events, DONE])], end: 'never' }])).chunks).toEqual(events)
  })

  it("missingTerminal: 'finish' takes a clean end for it, and a break not", async () => {
    const options = { missingTerminal: 'finish' } as const
    expect((await played('offered', [{ give: [numbered(0, 3)] }], options)).chunks.at(-1)).toEqual(finished())
    expect((await played('offered', [{ give: [numbered(0, 3)], end: broken() }, { give: [numbered(3)] }], options)).chunks).toEqual(events)
  })
})

describe('a last event without its end', () => {
  const unterminated = (delivery: Delivery): Delivery => ({ ...delivery, id: undefined, own: false, unterminated: true })

  it('is given if it ends the run', async () => {
    const { chunks, positions } = await played('offered', [{ give: [numbered(0, LAST), [unterminated(numbered()[LAST] as Delivery)]] }])
    expect(chunks).toEqual(events)
    expect(positions).toHaveLength(1)
  })

  it('comes again, under its id, if the run is resumed', async () => {
    const { chunks, positions } = await played('offered', [
      { give: [numbered(0, 3), [unterminated(numbered()[3] as Delivery)]], end: broken() },
      { give: [numbered(3)] },
    ])
    expect(chunks).toEqual(events)
    expect(positions[1]).toEqual({ id: '2', seen: 0 })
  })

  it('is given before the error if it is not', async () => {
    const { chunks, error } = await played('never', [{ give: [numbered(0, 3), [unterminated(numbered()[3] as Delivery)]], end: broken() }])
    expect(chunks).toEqual(events.slice(0, 4))
    expect(error).toMatchObject({ code: 'truncated' })
  })
})

describe('ids that are none', () => {
  it('events under one id are all given, it is told once, and they are not resumed behind', async () => {
    let told = 0
    const same = events.map((event): Delivery => ({ event, id: 'message', own: true, text: JSON.stringify(event) }))
    const whole = await played('offered', [{ give: [same] }], { onRepeatedIds: () => told++ })
    expect(whole.chunks).toEqual(events)
    expect(told).toBe(1)
    const cut = await played('offered', [{ give: [same.slice(0, 4)], end: broken() }])
    expect(cut.positions).toHaveLength(1)
    const offered = await played('offered', [{ give: [same.slice(0, 4)], end: broken(), offers: 'yes' }, { give: [same] }])
    expect(offered.chunks).toEqual(events)
    expect(offered.positions[1]).toEqual({ id: undefined, seen: 4 })
  })

  it('events under one id lose nothing if the first of them was cut off', async () => {
    const same = events.map((event): Delivery => ({ event, id: 'message', own: true, text: JSON.stringify(event) }))
    const { chunks, positions } = await played('offered', [{ give: [same.slice(0, 1)], end: broken() }, { give: [same] }])
    expect(positions[1]).toEqual({ id: 'message', seen: 0 })
    expect(chunks).toEqual(events)
  })

  it('numbers that begin anew with the next run lose nothing', async () => {
    const next = hello('r2')
    const log = [...numbered(), ...next.map((event, at): Delivery => ({ event, id: String(at), own: true, text: JSON.stringify(event) }))]
    for (const recentIds of [2, 100]) expect((await played('offered', [{ give: [log] }], { limits: { recentIds } })).chunks).toEqual([...events, ...next])
  })

  it('numbers in no order lose nothing', async () => {
    const log = events.map((event, at): Delivery => ({ event, id: String((at * 37) % 101), own: true, text: JSON.stringify(event) }))
    expect((await played('offered', [{ give: [log] }])).chunks).toEqual(events)
  })

  it('an id without an event moves the cursor', async () => {
    const log = numbered().map((delivery, at): Delivery => ({ ...delivery, id: at < 3 ? 'a' : 'b', own: false }))
    const { chunks, positions } = await played('offered', [
      { give: [log.slice(0, 5)], end: broken() },
      { give: [log.slice(3).map((delivery) => ({ ...delivery, id: undefined }))] },
    ])
    expect(positions[1]).toEqual({ id: 'b', seen: 2 })
    expect(chunks).toEqual(events)
  })
})

describe('waiting', () => {
  /** A stream that waits for its second connection, on a clock that stands still. */
  async function waiting(step: Step, options: ResumeOptions = {}) {
    const clock = new FakeClock()
    const { source, positions } = scripted('offered', [step, { give: [numbered(3)] }])
    const result = collect(
      resumable(source, { runContext, ...options, reconnect: { clock, environment: null, random: () => 1, ...options.reconnect } }),
    )
    await tick()
    return { clock, positions, result }
  }
  const cut: Step = { give: [numbered(0, 3)], end: broken() }

  it('takes a random part of a delay that doubles, up to a ceiling', async () => {
    const delays = async (reconnect: ResumeOptions['reconnect']): Promise<number[]> =>
      (await played('offered', [cut, ...Array.from({ length: 7 }, network)], { reconnect: { maxAttempts: 7, ...reconnect } })).infos.map(({ delayMs }) => delayMs)
    expect(await delays({})).toEqual([250, 500, 1000, 2000, 4000, 8000, 15000])
    expect(await delays({ delayMs: 10, maxDelayMs: 100 })).toEqual([10, 20, 40, 80, 100, 100, 100])
    expect(await delays({ random: () => 0.5 })).toEqual([125, 250, 500, 1000, 2000, 4000, 7500])
    expect(await delays({ random: () => 0 })).toEqual([0, 0, 0, 0, 0, 0, 0])
  })

  it('begins with what the server names as its retry time', async () => {
    const { infos } = await played('offered', [{ give: [numbered(0, 3)], end: broken(), retryMs: 3000 }, network(), { give: [numbered(3)] }])
    expect(infos.map(({ delayMs }) => delayMs)).toEqual([3000, 6000])
    const slip = await played('offered', [{ give: [numbered(0, 3)], end: broken(), retryMs: 3_000_000 }, { give: [numbered(3)] }])
    expect(slip.infos[0]?.delayMs).toBe(60_000)
  })

  it('is not shorter than the server asks', async () => {
    const { infos } = await played('offered', [cut, status(503, { retryAfterMs: 7000 }), { give: [numbered(3)] }])
    expect(infos.map(({ delayMs }) => delayMs)).toEqual([250, 7000])
  })

  it('ends when its time is over', async () => {
    const { clock, positions, result } = await waiting(cut)
    await clock.advance(249)
    expect(positions).toHaveLength(1)
    await clock.advance(1)
    expect((await result).flat()).toEqual(events)
    expect(clock.pending).toBe(0)
  })

  /** A device whose network and page come and go. */
  function device() {
    const state = { online: true, hidden: false }
    const listeners = new Set<() => void>()
    return {
      environment: {
        online: () => state.online,
        hidden: () => state.hidden,
        watch(callback: () => void) {
          listeners.add(callback)
          return () => void listeners.delete(callback)
        },
      },
      set(change: Partial<typeof state>) {
        Object.assign(state, change)
        if (change.online === true || change.hidden === false) for (const listener of listeners) listener()
      },
      listeners,
    }
  }

  it('ends at once when the network is back, and lasts while there is none', async () => {
    const phone = device()
    const { clock, positions, result } = await waiting(cut, { reconnect: { environment: phone.environment } })
    phone.set({ online: false })
    await clock.advance(60_000)
    expect(positions).toHaveLength(1)
    phone.set({ online: true })
    expect((await result).flat()).toEqual(events)
    expect([clock.pending, phone.listeners.size]).toEqual([0, 0])
    const soon = await waiting(cut, { reconnect: { environment: phone.environment, delayMs: 10_000 } })
    phone.set({ online: true })
    expect((await soon.result).flat()).toEqual(events)
    expect(soon.clock.pending).toBe(0)
  })

  it('is not cut short if the server asked for it', async () => {
    const phone = device()
    const { clock, positions, result } = await waiting({ give: [numbered(0, 3)], end: new TransportError('x', { code: 'truncated', retryAfterMs: 9000 }) }, { reconnect: { environment: phone.environment } })
    phone.set({ online: true })
    await clock.advance(8999)
    expect(positions).toHaveLength(1)
    await clock.advance(1)
    await result
  })

  it('lasts while nobody has looked at the page for long', async () => {
    const phone = device()
    phone.set({ hidden: true })
    const short = await waiting(cut, { reconnect: { environment: phone.environment } })
    await short.clock.advance(250)
    expect((await short.result).flat()).toEqual(events)
    const long = await waiting(cut, { reconnect: { environment: phone.environment, delayMs: 61_000, maxDelayMs: 61_000 } })
    await long.clock.advance(600_000)
    expect(long.positions).toHaveLength(1)
    phone.set({ hidden: false })
    expect((await long.result).flat()).toEqual(events)
    expect([long.clock.pending, phone.listeners.size]).toEqual([0, 0])
  })
})

describe('silence', () => {
  it('longer than idleMs ends a connection, which is resumed', async () => {
    const clock = new FakeClock()
    const { source, log } = scripted('offered', [{ give: [numbered(0, 3)], end: 'never' }, { give: [numbered(3)] }])
    const result = collect(resumable(source, { runContext, reconnect: { clock, environment: null, idleMs: 5000, delayMs: 0 } }))
    await clock.advance(4999)
    expect(log.aborted).toBe(0)
    await clock.advance(1)
    await clock.advance(0)
    expect((await result).flat()).toEqual(events)
    expect(log).toEqual({ aborted: 1, returned: 2 })
    expect(clock.pending).toBe(0)
  })

  it('ends it with an error if it cannot be resumed', async () => {
    const clock = new FakeClock()
    const { source } = scripted('never', [{ give: [numbered(0, 3)], end: 'never' }])
    const result = collectUntilError(resumable(source, { runContext, reconnect: { clock, environment: null, idleMs: 5000 } }))
    await clock.advance(5000)
    expect(await result).toMatchObject({ items: [events.slice(0, 3)], error: { code: 'truncated' } })
  })

  /** A server whose bytes a test sends. */
  function live(reopen: RunSource['reopen']) {
    let wake: (batch: readonly Delivery[]) => void = () => {}
    let opened = 0
    const source: RunSource = {
      reopen,
      async open() {
        opened++
        async function* batches(): AsyncGenerator<readonly Delivery[], void, undefined> {
          if (opened > 1) return yield numbered(3)
          for (;;) {
            yield await new Promise<readonly Delivery[]>((resolve) => {
              wake = resolve
            })
          }
        }
        return { batches: batches(), offersResume: 'unknown' }
      },
    }
    return {
      source,
      opened: () => opened,
      async say(batch: readonly Delivery[] = []) {
        wake(batch)
        await tick()
      },
    }
  }

  it('is no matter until heartbeats were seen', async () => {
    const clock = new FakeClock()
    const controller = new AbortController()
    const server = live('offered')
    const result = collect(resumable(server.source, { runContext, signal: controller.signal, reconnect: { clock, environment: null } }))
    await tick()
    // Comments at the start and pieces of events are no heartbeats.
    for (let piece = 0; piece < 4; piece++) await server.say()
    await server.say(numbered(0, 3))
    await clock.advance(10_000_000)
    expect(server.opened()).toBe(1)
    controller.abort()
    await result
    expect(clock.pending).toBe(0)
  })

  it('of three heartbeats ends a connection that can be resumed', async () => {
    const clock = new FakeClock()
    const server = live('offered')
    const result = collect(resumable(server.source, { runContext, reconnect: { clock, environment: null, delayMs: 0 } }))
    await tick()
    await server.say(numbered(0, 3))
    for (let beat = 0; beat < 3; beat++) {
      await clock.advance(15_000)
      await server.say()
    }
    await clock.advance(44_999)
    expect(server.opened()).toBe(1)
    await clock.advance(1)
    await clock.advance(0)
    expect((await result).flat()).toEqual(events)
  })

  it('while the consumer works is not the server’s', async () => {
    const clock = new FakeClock()
    const { source, positions } = scripted('offered', [{ give: [numbered(0, 3), numbered(3)] }])
    const stream = resumable(source, { runContext, reconnect: { clock, environment: null, idleMs: 1000 } })
    await stream.next()
    await clock.advance(100_000)
    expect(clock.pending).toBe(0)
    await collect(stream)
    expect(positions).toHaveLength(1)
  })
})

describe('leaving', () => {
  const clock = new FakeClock()
  const reconnect = { clock, environment: null, random: () => 1 }
  const open: Step = { give: [numbered(0, 3)], end: 'never' }

  it.each([
    ['while it opens', { reopen: 'offered', open: () => new Promise<never>(() => {}) } satisfies RunSource, 0],
    ['while it reads', scripted('offered', [open]).source, 1],
    ['while it reads a source that ignores its signal', {
      reopen: 'offered',
      open: async () => ({ offersResume: 'yes', batches: { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) } }),
    } satisfies RunSource, 0],
    ['while it waits', scripted('offered', [{ give: [numbered(0, 3)], end: broken() }]).source, 1],
    ['while it watches for silence', scripted('offered', [open]).source, 1],
  ])('by abort %s ends quietly and leaves nothing', async (name, source, batches) => {
    const { signal, abort, listening } = countingSignal()
    const idle = name.includes('silence') ? { idleMs: 5000 } : {}
    const result = collect(resumable(source, { runContext, signal, reconnect: { ...reconnect, ...idle } }))
    await tick()
    abort()
    expect(await result).toHaveLength(batches)
    expect([clock.pending, listening()]).toEqual([0, 0])
  })

  it('by return closes the connection', async () => {
    const { signal, listening } = countingSignal()
    const { source, log } = scripted('offered', [open])
    for await (const _ of resumable(source, { runContext, signal, reconnect })) break
    await tick()
    expect(log).toEqual({ aborted: 1, returned: 1 })
    expect([clock.pending, listening()]).toEqual([0, 0])
  })

  it('at its end, and by failing, leaves nothing either', async () => {
    for (const steps of [[{ give: [numbered()] }], [{ give: [numbered(0, 3)], end: broken() }, status(404)]] satisfies Step[][]) {
      const { signal, listening } = countingSignal()
      const timers = instantClock()
      await collectUntilError(resumable(scripted('offered', steps).source, { runContext, signal, reconnect: { ...reconnect, clock: timers } }))
      expect([timers.pending(), listening()]).toEqual([0, 0])
    }
  })

  it('opens nothing after an abort', async () => {
    const { source, positions } = scripted('offered', [open])
    expect(await collect(resumable(source, { signal: AbortSignal.abort(), reconnect }))).toEqual([])
    expect(positions).toEqual([])
  })
})
