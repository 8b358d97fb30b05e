/**
 * What every connection does, whatever carries it: one suite, run against each transport in Node and in browsers. A
 * transport that cannot do a point says why.
 */
import {
  ChatClient,
  normalizeConnectionAdapter,
  type ConnectionAdapter,
  type LooseChunk,
  type RunAgentInputContext,
  type StreamChunk,
} from '@millrace/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { DRAIN } from '../src/connection/normalize.ts'
import { probeLeaks } from './leak-probe.ts'
import { tick, until, userMessage } from './runs.ts'
import { eventsOf, type Scenario, type Seen } from './scenarios.ts'

/** A transport under test. */
export interface Transport {
  readonly name: string
  /** A connection to an agent that plays `scenario`, and what that agent saw. */
  open(scenario: Scenario, options?: OpenOptions): Opened
  /** What ends without a terminal event: bytes are cut, an iterable is done. */
  readonly end: 'cut' | 'done'
  /** One channel for many runs: leaving it ends none of them. */
  readonly shared?: true
  /** Points it has not, each with the reason. */
  readonly without?: Partial<Record<'headers' | 'sentinel' | 'listeners', string>>
}

export interface OpenOptions {
  readonly body?: Record<string, unknown>
  readonly headers?: Record<string, string>
}

export interface Opened {
  readonly connection: ConnectionAdapter
  seen(): Promise<readonly Seen[]>
  /** Answers and sockets of this test that are open at the other end, if there is a wire. */
  open?(): Promise<number>
  /** Lets go of what outlives a run by design (a socket for many runs). */
  close?(): void
}

interface Outcome {
  readonly events: readonly StreamChunk[]
  readonly error: { readonly name?: string; readonly code?: string } | undefined
}

const ids = { threadId: 't1', runId: 'r1' }
const messages = [userMessage()]

const typeOf = (chunk: StreamChunk | undefined): string | undefined => chunk?.type
const isTerminal = (chunk: StreamChunk | undefined): boolean => chunk?.type === 'RUN_FINISHED' || chunk?.type === 'RUN_ERROR'

/** One request through the normalised shape: what came, and what it failed with. */
async function run(
  connection: ConnectionAdapter,
  context: RunAgentInputContext = ids,
  {
    signal = new AbortController().signal,
    data,
    onEvent,
  }: { signal?: AbortSignal; data?: Record<string, unknown>; onEvent?: (event: StreamChunk, count: number) => unknown } = {},
): Promise<Outcome> {
  const normalized = normalizeConnectionAdapter(connection)
  const listen = new AbortController()
  const events: StreamChunk[] = []
  let over = false
  let sent = false
  const leaveIfDone = (): void => {
    // A channel of many runs does not end with one of them.
    if (sent && normalized[DRAIN] === undefined && over) listen.abort()
  }
  const reading = (async () => {
    for await (const event of normalized.subscribe(listen.signal)) {
      events.push(event)
      await onEvent?.(event, events.length)
      over = isTerminal(event) && (event as LooseChunk)['finishReason'] !== 'tool_calls'
      leaveIfDone()
    }
  })()
  const stop = (): void => listen.abort()
  signal.addEventListener('abort', stop, { once: true })
  let error: Outcome['error']
  try {
    await normalized.send(messages, data, signal, context)
  } catch (thrown) {
    error = thrown as Outcome['error']
    if (normalized[DRAIN] === undefined) listen.abort()
  }
  sent = true
  normalized[DRAIN]?.()
  leaveIfDone()
  if (signal.aborted) listen.abort()
  try {
    await reading
  } finally {
    signal.removeEventListener('abort', stop)
  }
  return { events, error }
}

/** How a run is left that does not end by itself. */
type Leaving = { readonly abortAt?: number; readonly throwAt?: number } | 'detach' | 'stop'

/** Reads a run until it ends or is left so; gives the controller whose signal the connection was handed. */
async function leave(connection: ConnectionAdapter, leaving: Leaving): Promise<AbortController> {
  const controller = new AbortController()
  if (typeof leaving === 'string') {
    const chat = new ChatClient({ connection, threadId: 't1' })
    const sending = chat.sendMessage('Hi')
    await until(() => chat.getSnapshot().status === 'streaming')
    chat[leaving]()
    expect(await sending).toEqual({ outcome: leaving === 'stop' ? 'cancelled' : 'running' })
  } else if (leaving.throwAt === undefined) {
    await run(connection, ids, {
      signal: controller.signal,
      onEvent: (_, count) => {
        if (count === leaving.abortAt) controller.abort()
      },
    })
  } else {
    const { throwAt } = leaving
    const reading = (async () => {
      let count = 0
      for await (const _ of begin(connection, controller.signal)) if (++count === throwAt) throw new Error('mine')
    })()
    await expect(reading).rejects.toThrow('mine')
  }
  return controller
}

/** The events of a run, as its connection gives them. */
function begin(connection: ConnectionAdapter, signal: AbortSignal): AsyncIterable<StreamChunk> {
  if ('connect' in connection) return connection.connect(messages, undefined, signal, ids)
  const events = connection.subscribe(signal)
  connection.send(messages, undefined, signal, ids).catch(() => {})
  return events
}

export function describeConnection(transport: Transport): void {
  const { name, without = {} } = transport
  const open = (scenario: Scenario, options: OpenOptions = {}): Opened => {
    const opened = transport.open(scenario, options)
    onTestFinished(() => opened.close?.())
    return opened
  }
  const needs = (point: keyof NonNullable<Transport['without']>, title: string): [string, { skip: boolean }] => {
    const reason = without[point]
    return [reason === undefined ? title : `${title} (not here: ${reason})`, { skip: reason !== undefined }]
  }

  describe(`${name}: a connection`, () => {
    it('gives all events, in order, and then is done', async () => {
      const { connection } = open('hello')
      expect(await run(connection)).toEqual({ events: eventsOf('hello', ids), error: undefined })
    })

    it('gives a burst whole', async () => {
      const { connection } = open('burst')
      const { events } = await run(connection)
      expect(events).toEqual(eventsOf('burst', ids))
    })

    it('does not take an intermediate RUN_FINISHED for the end', async () => {
      const { connection } = open('tools')
      expect(await run(connection)).toEqual({ events: eventsOf('tools', ids), error: undefined })
    })

    it('carries the run context: ids, parent, tools, resume, state, context', async () => {
      const { connection, seen } = open('hello')
      const context: RunAgentInputContext = {
        ...ids,
        parentRunId: 'r0',
        resume: [{ interruptId: 'i1', status: 'resolved', payload: { ok: true } }],
        clientTools: [{ name: 'f', description: 'F', parameters: { type: 'object' } }],
        state: { n: 1 },
        context: [{ description: 'where', value: 'here' }],
      }
      await run(connection, context)
      expect(await seen()).toMatchObject([
        {
          input: {
            ...ids,
            parentRunId: 'r0',
            messages: [{ id: 'u1', role: 'user', content: 'Hi' }],
            resume: [{ interruptId: 'i1', status: 'resolved', payload: { ok: true } }],
            tools: [{ name: 'f', description: 'F', parameters: { type: 'object' } }],
            state: { n: 1 },
            context: [{ description: 'where', value: 'here' }],
          },
        },
      ])
    })

    it('lets later properties win: body, then forwardedProps, then those of the send', async () => {
      const { connection, seen } = open('hello', { body: { a: 'body', b: 'body', c: 'body' } })
      await run(connection, { ...ids, forwardedProps: { b: 'run', c: 'run' } }, { data: { c: 'send' } })
      const expected = { a: 'body', b: 'run', c: 'send' }
      expect(await seen()).toMatchObject([{ input: { forwardedProps: expected, data: expected } }])
    })

    it(...needs('headers', 'sends its headers, those of the run over them'), async () => {
      const { connection, seen } = open('hello', { headers: { 'x-a': 'connection', 'x-b': 'connection' } })
      await run(connection, { ...ids, headers: { 'x-b': 'run' } })
      expect(await seen()).toMatchObject([{ headers: { 'x-a': 'connection', 'x-b': 'run' } }])
    })

    it('aborted before, asks for nothing and gives nothing', async () => {
      const { connection, seen } = open('hello')
      expect(await run(connection, ids, { signal: AbortSignal.abort() })).toEqual({ events: [], error: undefined })
      await tick(10)
      expect(await seen()).toEqual([])
    })

    it('aborted while nothing has come yet, ends quietly and tells the other end', async () => {
      const { connection, seen, open: counted } = open('silent')
      const controller = new AbortController()
      const running = run(connection, ids, { signal: controller.signal })
      await until(async () => (await seen()).length === 1)
      if (counted !== undefined) expect(await counted()).toBe(1)
      controller.abort()
      expect(await running).toEqual({ events: [], error: undefined })
      await until(async () => (await seen())[0]?.left === true)
    })

    it('aborted in mid-stream, ends quietly, gives nothing more and has nothing more made', async () => {
      const { connection, seen } = open('flood')
      const controller = new AbortController()
      const { events, error } = await run(connection, ids, {
        signal: controller.signal,
        onEvent: (_, count) => {
          if (count === 4) controller.abort()
        },
      })
      expect(error).toBeUndefined()
      expect(events).toHaveLength(4)
      await until(async () => (await seen())[0]?.left === true)
      // What was being made then is.
      await tick(10)
      const made = (await seen())[0]?.sent
      await tick(20)
      expect((await seen())[0]?.sent).toBe(made)
    })

    it('can be aborted by the first event, before send() has returned', async () => {
      const { connection, seen } = open('flood')
      const controller = new AbortController()
      const { events } = await run(connection, ids, { signal: controller.signal, onEvent: () => controller.abort() })
      expect(events).toHaveLength(1)
      await until(async () => (await seen())[0]?.left === true)
    })

    it('keeps what came before it broke, and says so by RUN_ERROR', async () => {
      const { connection } = open('broken')
      const { events, error } = await run(connection)
      expect(events.slice(0, -1)).toEqual(eventsOf('broken', ids))
      expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', threadId: 't1', runId: 'r1' })
      if (transport.end === 'cut') {
        expect(events.at(-1)).toMatchObject({ code: 'truncated' })
        expect(error).toMatchObject({ name: 'StreamTruncatedError', code: 'truncated' })
      } else {
        expect(error).toMatchObject({ message: 'broken' })
      }
    })

    it('that broke is a failed turn of a chat, with the text that came', async () => {
      const { connection } = open('broken')
      const chat = new ChatClient({ connection, threadId: 't1' })
      const { outcome } = await chat.sendMessage('Hi')
      expect(outcome).toBe(transport.end === 'cut' ? 'truncated' : 'error')
      expect(chat.getSnapshot().messages.at(-1)?.parts).toMatchObject([{ type: 'text', content: 'Half' }])
    })

    it('says so too if it broke after a RUN_FINISHED that was not the last', async () => {
      const { connection } = open('brokenLater')
      const { events } = await run(connection)
      expect(events.slice(0, -1)).toEqual(eventsOf('brokenLater', ids))
      expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR' })
    })

    it(
      transport.end === 'cut'
        ? 'gives a clean end without a terminal event as RUN_ERROR truncated'
        : 'gives a clean end without a terminal event as RUN_FINISHED, with the ids seen',
      async () => {
        const { connection } = open('unterminated')
        const { events, error } = await run(connection)
        expect(events.slice(0, -1)).toEqual(eventsOf('unterminated', ids))
        if (transport.end === 'cut') expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'truncated', ...ids })
        else expect({ last: events.at(-1), error }).toMatchObject({ last: { type: 'RUN_FINISHED', ...ids }, error: undefined })
      },
    )

    it(...needs('sentinel', 'reads [DONE] as RUN_FINISHED'), async () => {
      const { connection } = open('done')
      const { events, error } = await run(connection)
      expect(events).toEqual([...eventsOf('done', ids), { type: 'RUN_FINISHED', ...ids }])
      expect(error).toBeUndefined()
    })

    it("passes the agent's own RUN_ERROR on, and adds none", async () => {
      const { connection } = open('failing')
      expect(await run(connection)).toEqual({ events: eventsOf('failing', ids), error: undefined })
    })

    it('is done for a consumer that throws, and tells the other end', async () => {
      const { connection, seen } = open('flood')
      const controller = new AbortController()
      const failure = run(connection, ids, {
        signal: controller.signal,
        onEvent: () => {
          controller.abort()
          throw new Error('mine')
        },
      })
      await expect(failure).rejects.toThrow('mine')
      await until(async () => (await seen())[0]?.left === true)
    })

    it.skipIf(transport.shared === true)('is done for a consumer who leaves the stream, and tells the other end', async () => {
      const { connection, seen } = open('flood')
      if (!('connect' in connection)) throw new Error('A transport without connect() has to say that it is shared.')
      for await (const _ of connection.connect(messages, undefined, new AbortController().signal, ids)) break
      await until(async () => (await seen())[0]?.left === true)
    })

    it('serves one send after the other', async () => {
      const { connection, seen } = open('hello')
      for (const runId of ['r1', 'r2', 'r3']) {
        expect(await run(connection, { ...ids, runId })).toEqual({ events: eventsOf('hello', { ...ids, runId }), error: undefined })
      }
      expect((await seen()).map(({ input }) => input['runId'])).toEqual(['r1', 'r2', 'r3'])
    })

    it('serves another send after one that was aborted', async () => {
      const { connection } = open('flood')
      for (const runId of ['r1', 'r2']) {
        const controller = new AbortController()
        const { events } = await run(connection, { ...ids, runId }, {
          signal: controller.signal,
          onEvent: (event) => {
            if (typeOf(event) === 'TEXT_MESSAGE_CONTENT') controller.abort()
          },
        })
        expect(events[0]).toMatchObject({ type: 'RUN_STARTED', runId })
      }
    })

    it('loses nothing for a slow consumer', async () => {
      const { connection } = open('hello')
      const { events } = await run(connection, ids, { onEvent: () => tick(5) })
      expect(events).toEqual(eventsOf('hello', ids))
    })

    it('makes a conversation with ChatClient', async () => {
      const { connection } = open('tools')
      const chat = new ChatClient({ connection, threadId: 't1' })
      expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
      expect(await chat.sendMessage('Again')).toEqual({ outcome: 'finished' })
      expect(chat.getSnapshot().messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    })

    it('gives ChatClient a stop that is felt at the other end', async () => {
      const { connection, seen } = open('flood')
      const chat = new ChatClient({ connection, threadId: 't1' })
      const sending = chat.sendMessage('Hi')
      await until(() => chat.getSnapshot().status === 'streaming')
      chat.stop()
      expect(await sending).toEqual({ outcome: 'cancelled' })
      await until(async () => (await seen())[0]?.left === true)
    })

    describe.each<[string, Scenario, Leaving]>([
      ['an end', 'hello', {}],
      ['a break', 'broken', {}],
      ['an end too early', 'unterminated', {}],
      ["the agent's error", 'failing', {}],
      ['an abort', 'flood', { abortAt: 3 }],
      ['a consumer that throws', 'flood', { throwAt: 3 }],
      ['a chat that detaches', 'flood', 'detach'],
      ['a chat that stops', 'flood', 'stop'],
    ])('leaves after %s', (_, scenario, leaving) => {
      it(...needs('listeners', 'no timer and no listener, no answer and no socket'), async () => {
        const opened = transport.open(scenario)
        const probe = probeLeaks()
        onTestFinished(() => probe.restore())
        const { signal } = await leave(opened.connection, leaving)
        opened.close?.()
        const left = async (): Promise<object> => ({ ...probe.left([signal]), open: (await opened.open?.()) ?? 0 })
        const none = { timers: 0, listeners: 0, open: 0 }
        await until(async () => JSON.stringify(await left()) === JSON.stringify(none)).catch(() => {})
        expect(await left()).toEqual(none)
      })
    })
  })
}
