import { request as httpRequest, type IncomingMessage } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { parseNdjsonFrame, ThreadReader } from '@millrace/protocol'
import type { Agent } from './agent.ts'
import type { RunHandlerOptions } from './check-options.ts'
import { createRunHandler } from './handler.ts'
import type { HydratedThread } from './hydrate.ts'
import { MemoryLog } from './log/memory.ts'
import {
  countingIds,
  eventually,
  FakeClock,
  input,
  MemoryLogger,
  never,
  post,
  readEvents,
  readFrames,
  serve,
  types,
  type Served,
} from './test/fixtures.ts'

let served: Served | undefined
afterEach(async () => {
  await served?.close()
  served = undefined
})

async function start(agent: Agent, options: Partial<RunHandlerOptions> = {}) {
  const clock = new FakeClock()
  const logger = new MemoryLogger()
  const log = options.log ?? new MemoryLog({ clock })
  const handler = createRunHandler({ agent, authorize: () => true, createId: countingIds(), clock, logger, log, ...options })
  served = await serve(handler)
  return { url: served.url, handler, clock, logger, log }
}

const chatter: Agent = async (_, run) => {
  await run.reasoning('Let me think')
  await run.text('Hello')
  await (await run.toolCall('f', { x: 1 })).result('42')
}

/** An agent that goes on step by step, as the test says. */
function stepwise(): { agent: Agent; step(): void; left: () => boolean } {
  let go = (): void => undefined
  let left = false
  return {
    agent: async function* (_, run) {
      run.signal.addEventListener('abort', () => (left = true))
      for (let i = 0; ; i++) {
        await new Promise<void>((resolve) => (go = resolve))
        yield { type: 'CUSTOM', name: 'app.step', value: i }
      }
    },
    step: () => go(),
    left: () => left,
  }
}

describe('resuming', () => {
  test('behind each offset gives exactly the rest: by Last-Event-ID, by offset, by POST, in SSE and NDJSON', async () => {
    const { url } = await start(chatter)
    const frames = await readFrames(await post(url))
    expect(frames.length).toBeGreaterThan(10)
    for (const [index, frame] of frames.entries()) {
      const id = frame.id ?? ''
      const rest = frames.slice(index + 1).map(({ data }) => data)
      const byHeader = await readFrames(await fetch(`${url}?runId=r1`, { headers: { 'Last-Event-ID': id } }))
      expect(byHeader.map(({ data }) => data)).toEqual(rest)
      const byQuery = await readFrames(await fetch(`${url}?runId=r1&offset=${id}`))
      expect(byQuery.map(({ data }) => data)).toEqual(rest)
      const byPost = await readFrames(await post(url, input(), { 'Last-Event-ID': id }))
      expect(byPost.map(({ data }) => data)).toEqual(rest)
      const lines = (await (await fetch(`${url}?runId=r1&offset=${id}`, { headers: { Accept: 'application/x-ndjson' } })).text()).split('\n').filter(Boolean)
      expect(lines.map((data) => JSON.stringify(parseNdjsonFrame({ data, line: 1 }).event))).toEqual(rest)
    }
    for (const query of ['?runId=r1', '?runId=r1&offset=-1', '?runId=r1&threadId=t1', '?runId=r1&offset=']) {
      expect(await readFrames(await fetch(url + query))).toEqual(frames)
    }
  })

  test('the header, which is newer, wins over the query', async () => {
    const { url } = await start(chatter)
    const frames = await readFrames(await post(url))
    const resumed = await readFrames(await fetch(`${url}?runId=r1&offset=-1`, { headers: { 'Last-Event-ID': '3' } }))
    expect(resumed).toEqual(frames.slice(4).map((frame) => ({ ...frame, line: expect.any(Number) })))
  })

  test('a live run, cut after every event, loses and doubles nothing', async () => {
    const { agent, step } = stepwise()
    const { url, handler } = await start(agent)
    const seen: string[] = []
    let response = await post(url)
    for (let i = 0; i < 5; i++) {
      const frames = await readFrames(response, () => true)
      seen.push(...frames.map(({ data }) => data))
      const id = frames.at(-1)?.id ?? ''
      step()
      response = await fetch(`${url}?runId=r1`, { headers: { 'Last-Event-ID': id } })
    }
    await handler.stop()
    seen.push(...(await readFrames(response)).map(({ data }) => data))
    const all = await readFrames(await fetch(`${url}?runId=r1`))
    expect(seen).toEqual(all.map(({ data }) => data))
  })

  test('a POST with a cursor for a run that is gone does not run again: 410', async () => {
    let runs = 0
    const { url } = await start(async () => void runs++)
    const response = await post(url, input(), { 'Last-Event-ID': '4' })
    expect([response.status, runs]).toEqual([410, 0])
  })
})

describe('the same POST again', () => {
  test('joins: the agent runs once, and all see the same', async () => {
    let runs = 0
    const { url } = await start(async (asked, run) => {
      runs++
      await chatter(asked, run)
    })
    const responses = await Promise.all(Array.from({ length: 10 }, () => post(url)))
    const streams = await Promise.all(responses.map(readEvents))
    for (const events of streams) expect(events).toEqual(streams[0])
    expect(await readEvents(await post(url))).toEqual(streams[0])
    expect(runs).toBe(1)
  })
})

describe('many readers', () => {
  test('two readers of one run see the same, each at its own pace', async () => {
    const { agent, step } = stepwise()
    const { url, handler } = await start(agent)
    const first = readEvents(await post(url))
    const second = await fetch(`${url}?runId=r1`)
    for (let i = 0; i < 5; i++) {
      step()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await handler.stop()
    expect(await readEvents(second)).toEqual(await first)
    expect((await first).length).toBeGreaterThan(5)
  })

  test('one that leaves does not disturb the others, nor the run', async () => {
    const { agent, step, left } = stepwise()
    const { url, handler } = await start(agent)
    const stays = readEvents(await post(url))
    await readFrames(await fetch(`${url}?runId=r1`), () => true)
    await eventually(() => handler.counts().readers === 1)
    step()
    await handler.stop()
    expect(left()).toBe(true)
    expect(types(await stays).at(-1)).toBe('RUN_FINISHED')
  })

  test('are bounded: 429', async () => {
    const { agent } = stepwise()
    const { url, handler } = await start(agent, { limits: { subscribersPerRun: 2 } })
    const first = await post(url)
    const second = await fetch(`${url}?runId=r1`)
    const third = await fetch(`${url}?runId=r1`)
    expect([third.status, await third.json()]).toMatchObject([429, { error: { code: 'limit.subscribersPerRun' } }])
    await second.body?.cancel()
    await eventually(() => handler.counts().readers === 1)
    expect((await fetch(`${url}?runId=r1`)).status).toBe(200)
    await first.body?.cancel()
    await handler.stop()
  })
})

describe('a client that goes away', () => {
  const silent: Agent = (_, run) => new Promise((resolve) => run.signal.addEventListener('abort', () => resolve(), { once: true }))

  test('leaves the run to go on: it can be joined, and nothing but the run is held', async () => {
    const { agent, step } = stepwise()
    const { url, handler, clock } = await start(agent)
    const abort = new AbortController()
    await readFrames(await post(url, input(), {}, abort.signal), () => true)
    await eventually(() => handler.counts().readers === 0)
    // The bound on its time and the renewal of its lease; no heartbeat.
    expect([handler.counts().producers, clock.pending]).toEqual([1, 2])
    step()
    const joined = fetch(`${url}?runId=r1`).then(readEvents)
    await handler.stop()
    expect(types(await joined).at(-1)).toBe('RUN_FINISHED')
    expect([handler.counts(), clock.pending]).toEqual([{ producers: 0, readers: 0 }, 0])
  })

  test('cancels it where that is asked for, with the last reader, though the agent never yields', async () => {
    for (const agent of [silent, () => never(), async function* () { yield* [] as never[]; await never() } as Agent]) {
      const { url, handler, clock, log } = await start(agent, { onDisconnect: 'cancel' })
      const first = await post(url)
      const second = await fetch(`${url}?runId=r1`)
      await first.body?.cancel()
      await eventually(() => handler.counts().readers === 1)
      expect(handler.counts().producers).toBe(1)
      await second.body?.cancel()
      await eventually(() => handler.counts().producers === 0)
      expect((await log.get('r1'))?.outcome).toBe('cancelled')
      expect([handler.counts().readers, clock.pending]).toEqual([0, 0])
      await served?.close()
      served = undefined
    }
  })

  test('also while it waits for a heartbeat, again and again, without leaving anything', async () => {
    const { url, handler, clock } = await start(silent)
    for (let i = 0; i < 20; i++) {
      const abort = new AbortController()
      const response = await (i === 0 ? post(url, input(), {}, abort.signal) : fetch(`${url}?runId=r1`, { signal: abort.signal }))
      await response.body?.getReader().read()
      abort.abort()
      await eventually(() => handler.counts().readers === 0)
    }
    expect(clock.pending).toBe(2)
    await handler.stop()
    expect(clock.pending).toBe(0)
  })
})

describe('heartbeats', () => {
  test('fill silence, at the interval that was set, and are no events', async () => {
    const { agent, step } = stepwise()
    const { url, handler, clock } = await start(agent, { heartbeatMs: 1000 })
    const response = await post(url)
    const reader = response.body?.getReader()
    const text = async (): Promise<string> => new TextDecoder().decode((await reader?.read())?.value)
    expect(await text()).toContain('RUN_STARTED')
    await eventually(() => clock.pending === 3)
    await clock.advance(999)
    await clock.advance(1)
    expect(await text()).toBe(': heartbeat\n\n')
    step()
    expect(await text()).toContain('app.step')
    await handler.stop()
    await reader?.cancel()
  })
})

describe('backpressure', () => {
  test('a slow reader holds one batch, not the run', async () => {
    const big = 'x'.repeat(10_000)
    let sent = 0
    const log = new MemoryLog()
    let read = 0
    const tail = log.tail.bind(log)
    log.tail = async function* (...args) {
      for await (const batch of tail(...args)) {
        read += batch.length
        yield batch
      }
    }
    const { url } = await start(
      async function* () {
        for (; sent < 3000; sent++) yield { type: 'CUSTOM', name: 'app.big', value: big }
      },
      { log, limits: { readEvents: 10 } },
    )
    const request = httpRequest(url, { method: 'POST', headers: { 'Content-Type': 'application/json' } })
    request.end(JSON.stringify(input()))
    const response = await new Promise<IncomingMessage>((resolve) => request.on('response', resolve))
    response.pause()
    await eventually(() => sent === 3000)
    await new Promise((resolve) => setTimeout(resolve, 100))
    // What was read from the log is in the sockets' buffers; the rest waits in the log.
    expect(read).toBeLessThan(1000)
    let length = 0
    for await (const chunk of response) length += (chunk as Buffer).length
    expect(length).toBeGreaterThan(3000 * 10_000)
    expect(read).toBe(3002)
  })
})

describe('GET ?threadId', () => {
  const answers: Agent = async (asked, run) => {
    await run.text(`Answer to ${asked.messages.length}`)
    await run.state.patch([{ op: 'add', path: `/${asked.runId}`, value: true }])
  }
  const hydrated = async (url: string): Promise<HydratedThread> => (await fetch(`${url}?threadId=t1`)).json() as Promise<HydratedThread>

  test('gives the thread that a client folded from the streams', async () => {
    const { url } = await start(answers)
    const first = new ThreadReader({ messages: input().messages })
    for (const event of await readEvents(await post(url))) first.accept(event)
    const messages = [...first.snapshot().messages, { id: 'u2', role: 'user' as const, content: 'And?' }]
    const second = new ThreadReader({ messages, state: first.snapshot().state })
    const asked = input({ runId: 'r2', messages, state: first.snapshot().state })
    for (const event of await readEvents(await post(url, asked))) second.accept(event)
    expect(await hydrated(url)).toEqual({
      messages: second.snapshot().messages,
      state: { r1: true, r2: true },
      activeRun: null,
      interrupts: [],
      runs: [
        { threadId: 't1', runId: 'r1', outcome: 'finished' },
        { threadId: 't1', runId: 'r2', outcome: 'finished' },
      ],
    })
  })

  test('says how each run ended, and which calls it left', async () => {
    const { url } = await start(async (asked, run) => {
      if (asked.runId === 'r1') await run.toolCall('ask', '{}')
      if (asked.runId === 'r2') run.interrupt({ id: 'i1', reason: 'confirmation' })
      if (asked.runId === 'r3') throw new Error('no')
    })
    await readEvents(await post(url))
    const [call] = (await hydrated(url)).messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
    expect((await hydrated(url)).runs).toEqual([{ threadId: 't1', runId: 'r1', outcome: 'finished', pendingToolCallIds: [call?.id] }])
    await readEvents(await post(url, input({ runId: 'r2' })))
    await readEvents(await post(url, input({ runId: 'r3', parentRunId: 'r2', resume: [{ interruptId: 'i1', status: 'resolved' }] })))
    expect((await hydrated(url)).runs).toEqual([
      { threadId: 't1', runId: 'r1', outcome: 'finished', pendingToolCallIds: [expect.any(String)] },
      { threadId: 't1', runId: 'r2', outcome: 'interrupted' },
      { threadId: 't1', runId: 'r3', parentRunId: 'r2', outcome: 'error' },
    ])
  })

  test('a client that sends only what is new gets it all back', async () => {
    const { url } = await start(answers)
    await readEvents(await post(url))
    await readEvents(await post(url, input({ runId: 'r2', messages: [{ id: 'u2', role: 'user', content: 'And?' }] })))
    const { messages, state } = await hydrated(url)
    expect(messages.map(({ content }) => content)).toEqual(['Hi', 'Answer to 1', 'And?', 'Answer to 1'])
    expect(state).toEqual({ r1: true, r2: true })
  })

  test('a client that took an answer back and asked again does not find it', async () => {
    const { url } = await start(answers)
    await readEvents(await post(url))
    await readEvents(await post(url, input({ runId: 'r2' })))
    expect((await hydrated(url)).messages.map(({ id }) => id)).toEqual(['u1', 'id2'])
  })

  test('a run under way is named, to be joined from its start; its question is there, its answer is not', async () => {
    const { agent, step } = stepwise()
    const { url, handler } = await start(agent)
    await readFrames(await post(url), () => true)
    step()
    const { messages, activeRun } = await hydrated(url)
    expect(activeRun).toEqual({ runId: 'r1' })
    expect(messages.map(({ id }) => id)).toEqual(['u1'])
    const joined = fetch(`${url}?runId=${activeRun?.runId ?? ''}&offset=-1`).then(readEvents)
    await handler.stop()
    expect(types(await joined)[0]).toBe('RUN_STARTED')
    expect((await hydrated(url)).activeRun).toBe(null)
  })

  test('open interrupts are there, with what they ask', async () => {
    const { url } = await start(async (asked, run) => {
      if (asked.resume === undefined) run.interrupt({ id: 'i1', reason: 'confirmation', message: 'Really?' })
    })
    await readEvents(await post(url))
    expect((await hydrated(url)).interrupts).toEqual([{ id: 'i1', reason: 'confirmation', message: 'Really?' }])
    await readEvents(await post(url, input({ runId: 'r2', resume: [{ interruptId: 'i1', status: 'resolved' }] })))
    expect((await hydrated(url)).interrupts).toEqual([])
  })
})

test('a run whose producer died is ended for whoever waits for it', async () => {
  const { url, log, clock } = await start(() => never(), { heartbeatMs: 1000 })
  const made = await log.create({ threadId: 't1', runId: 'dead', input: JSON.stringify(input()), leaseMs: 5000 })
  if (!made.created) throw new Error('exists')
  await log.append(made.lease, ['{"type":"RUN_STARTED","threadId":"t1","runId":"dead"}'])
  const events = readEvents(await fetch(`${url}?runId=dead`))
  await eventually(() => clock.pending === 1)
  for (let i = 0; i < 6; i++) {
    await clock.advance(1000)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  expect(await events).toMatchObject([{ type: 'RUN_STARTED' }, { type: 'RUN_ERROR', code: 'run.abandoned' }])
  expect(clock.pending).toBe(0)
})
