import { abortableIterable, fetcherToConnectionAdapter, rpcStream, stream, type ChatFetcher, type ConnectConnectionAdapter, type StreamChunk } from '@millrace/client'
import { describe, expect, it } from 'vitest'
import { caught, collect, collectUntilError, hello, iterate, ndjson, sse, started, tick, userMessage } from '../../test/events.ts'
import { answerWith, serve, SSE_HEADERS } from '../../test/serve.ts'

const context = { threadId: 't1', runId: 'r1' }
const connect = (source: unknown, signal?: AbortSignal) => stream(() => source as never).connect([], undefined, signal, context)

describe('stream', () => {
  it('hands everything to its factory', async () => {
    const seen: unknown[] = []
    const adapter = stream((...args) => {
      seen.push(...args)
      return iterate(hello())
    })
    const { signal } = new AbortController()
    const messages = [userMessage()]
    expect(await collect(adapter.connect(messages, { a: 1 }, signal, context))).toEqual(hello())
    expect(seen).toEqual([messages, { a: 1 }, signal, context])
  })

  it.each([
    ['an async iterable', () => iterate(hello())],
    ['an array', () => hello()],
    ['a promise of an iterable', async () => iterate(hello())],
    ['a response with server-sent events', () => new Response(sse(hello()), { headers: SSE_HEADERS })],
    ['a response with lines of JSON', () => new Response(ndjson(hello()), { headers: { 'content-type': 'application/x-ndjson' } })],
    ['a promise of a response', async () => new Response(sse(hello()))],
  ])('takes %s', async (_, factory) => {
    expect(await collect(stream(factory as never).connect([], undefined, undefined, context))).toEqual(hello())
  })

  it('checks a response as fetch connections do', async () => {
    const failure = async (response: Response): Promise<unknown> => (await collectUntilError(connect(response))).error
    expect(await failure(new Response('no', { status: 500 }))).toMatchObject({ code: 'http-status', status: 500, body: 'no' })
    expect(await failure(new Response('<p>', { headers: { 'content-type': 'text/html' } }))).toMatchObject({ code: 'content-type' })
    expect(await failure(new Response(null))).toMatchObject({ code: 'no-stream' })
    expect(await failure(new Response(sse([started()]), { headers: SSE_HEADERS }))).toMatchObject({ code: 'truncated' })
  })

  it.each([
    ['a stream of events', (events: StreamChunk[]) => new ReadableStream<StreamChunk>({ start: (controller) => (events.forEach((event) => controller.enqueue(event)), controller.close()) })],
    [
      'one that cannot be iterated over',
      (events: StreamChunk[]) => {
        const rest = [...events]
        return { getReader: () => ({ read: async () => (rest.length > 0 ? { done: false, value: rest.shift() } : { done: true }), cancel: async () => {} }) }
      },
    ],
  ])('takes %s', async (_, make) => {
    expect(await collect(connect(make(hello())))).toEqual(hello())
  })

  it('cancels a stream of events at once on abort, also while it waits', async () => {
    let cancelled = 0
    const controller = new AbortController()
    const reading = collect(connect(new ReadableStream({ start: (events) => events.enqueue(started()), cancel: () => void cancelled++ }), controller.signal))
    await tick()
    controller.abort()
    expect(await reading).toEqual([started()])
    expect(cancelled).toBe(1)
  })

  it('gives what a stream of events fails with, after what came', async () => {
    const source = new ReadableStream<StreamChunk>({
      start: (events) => events.enqueue(started()),
      pull: (events) => events.error(new Error('boom')),
    })
    expect(await collectUntilError(connect(source))).toMatchObject({ items: [started()], error: { message: 'boom' } })
  })

  it.each([[undefined], [5], ['text'], [{}]])('refuses %j from its factory', async (source) => {
    expect((await collectUntilError(connect(source))).error).toMatchObject({ name: 'UsageError', code: 'not-a-stream' })
  })

  it('refuses what is no function', async () => {
    expect(await caught(() => stream(undefined as never))).toMatchObject({ name: 'UsageError', code: 'no-stream-factory' })
  })

  it('ends on abort even while its factory has not answered', async () => {
    const controller = new AbortController()
    const reading = collect(connect(new Promise(() => {}), controller.signal))
    await tick()
    controller.abort()
    expect(await reading).toEqual([])
  })
})

describe.each([
  ['stream', stream],
  ['rpcStream', rpcStream],
])('%s with handlers', (_, make) => {
  it('offers only what it was given', () => {
    expect(Object.keys(make(() => hello()))).toEqual(['connect'])
    const all = { joinRun: () => hello(), hydrate: async () => undefined, cancelRun: async () => 'closed' as const }
    expect(Object.keys(make(() => hello(), all)).sort()).toEqual(['cancelRun', 'connect', 'hydrate', 'joinRun'])
  })

  it('joins a run by its handler, with what it may give as any factory', async () => {
    const seen: unknown[] = []
    const adapter = make(() => hello(), {
      joinRun: async (...args) => {
        seen.push(args)
        return new Response(sse(hello('old')), { headers: SSE_HEADERS })
      },
    })
    const { signal } = new AbortController()
    expect(await collect(adapter.joinRun?.('old', signal, { threadId: 't1' }) as AsyncIterable<StreamChunk>)).toEqual(hello('old'))
    expect(seen).toEqual([['old', signal, { threadId: 't1' }]])
  })

  it('keeps the object its handlers belong to', async () => {
    const store = {
      id: 'mine',
      async hydrate(threadId: string) {
        return { messages: [`${this.id} ${threadId}`], activeRun: null, interrupts: null }
      },
    }
    expect(await make(() => hello(), store).hydrate?.('t1')).toMatchObject({ messages: ['mine t1'] })
  })

  it('refuses handlers that are none', async () => {
    expect(await caught(() => make(() => hello(), null as never))).toMatchObject({ name: 'UsageError', code: 'bad-options' })
  })
})

describe('rpcStream', () => {
  it('reads what a call gives, with all that it is told', async () => {
    const seen: unknown[] = []
    const adapter = rpcStream(async (...args) => {
      seen.push(...args)
      await tick()
      return iterate(hello())
    })
    const { signal } = new AbortController()
    expect(await collect(adapter.connect([userMessage()], { a: 1 }, signal, context))).toEqual(hello())
    expect(seen).toEqual([[userMessage()], { a: 1 }, signal, context])
  })

  it('does not wait for a remote side that answers neither next() nor return()', async () => {
    let told = 0
    const dead = { next: () => new Promise<never>(() => {}), return: () => (told++, new Promise<never>(() => {})) }
    const controller = new AbortController()
    const reading = collect(rpcStream(() => ({ [Symbol.asyncIterator]: () => dead })).connect([], undefined, controller.signal, context))
    await tick()
    controller.abort()
    expect(await reading).toEqual([])
    expect(told).toBe(1)
  })

  it('names itself in what it says', async () => {
    expect((await caught(() => rpcStream(undefined as never))).message).toMatch(/^rpcStream\(\)/)
  })
})

describe('abortableIterable', () => {
  it('gives all items, and closes the source once when the consumer leaves', async () => {
    let closed = 0
    async function* source(): AsyncGenerator<number, void, undefined> {
      try {
        yield* [1, 2, 3]
      } finally {
        closed++
      }
    }
    expect(await collect(abortableIterable(source(), new AbortController().signal))).toEqual([1, 2, 3])
    expect(closed).toBe(1)
    for await (const _ of abortableIterable(source())) break
    expect(closed).toBe(2)
  })

  it('ends at once when the signal aborts while the source hangs; the source is told', async () => {
    let told = 0
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<IteratorResult<number>>(() => {}),
        return: () => {
          told++
          return Promise.reject(new Error('ignored'))
        },
      }),
    }
    const controller = new AbortController()
    const reading = collect(abortableIterable(source, controller.signal))
    await tick()
    controller.abort()
    expect(await reading).toEqual([])
    expect(told).toBe(1)
  })

  it('pulls nothing after the abort, and nothing at all after an abort before', async () => {
    let pulls = 0
    const source = {
      [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false as const, value: ++pulls }) }),
    }
    const controller = new AbortController()
    for await (const item of abortableIterable(source, controller.signal)) if (item === 3) controller.abort()
    expect(pulls).toBe(3)
    expect(await collect(abortableIterable(source, AbortSignal.abort()))).toEqual([])
    expect(pulls).toBe(3)
  })

  it('gives what the source throws', async () => {
    async function* source(): AsyncGenerator<number, void, undefined> {
      yield 1
      throw new Error('boom')
    }
    expect(await collectUntilError(abortableIterable(source(), new AbortController().signal))).toMatchObject({ items: [1], error: { message: 'boom' } })
  })

  it('leaves no listener, however many items pass', async () => {
    const controller = new AbortController()
    let listeners = 0
    let most = 0
    const { signal } = controller
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      most = Math.max(most, ++listeners)
      add(...args)
    }
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--
      remove(...args)
    }
    await collect(abortableIterable(iterate(Array.from({ length: 100 }, (_, n) => n)), signal))
    expect([listeners, most]).toEqual([0, 1])
  })
})

describe('fetcherToConnectionAdapter', () => {
  const { signal } = new AbortController()

  it('asks with ids, messages and data, and reads the answer', async () => {
    const seen: Parameters<ChatFetcher>[] = []
    const adapter = fetcherToConnectionAdapter((...args) => {
      seen.push(args)
      return new Response(sse(hello()), { headers: SSE_HEADERS })
    })
    const full = { ...context, parentRunId: 'r0', resume: [{ interruptId: 'i', status: 'cancelled' as const }], headers: { h: 'v' } }
    const messages = [userMessage()]
    expect(await collect(adapter.connect(messages, { a: 1 }, signal, full))).toEqual(hello())
    expect(seen).toEqual([
      [{ messages, data: { a: 1 }, threadId: 't1', runId: 'r1', parentRunId: 'r0', resume: full.resume, runContext: full }, { signal, headers: { h: 'v' } }],
    ])
  })

  it.each([
    ['signal', [[], undefined, undefined, context]],
    ['runContext', [[], undefined, signal, undefined]],
  ] as const)('without a %s says what is missing', async (name, args) => {
    const { error } = await collectUntilError(fetcherToConnectionAdapter(() => iterate(hello())).connect(...(args as unknown as Parameters<ConnectConnectionAdapter['connect']>)))
    expect(error).toMatchObject({ name: 'UsageError', code: 'fetcher-context' })
    expect(error.message).toContain(name)
  })

  it('ends an iterable that ignores the signal', async () => {
    const controller = new AbortController()
    const items: StreamChunk[] = []
    async function* deaf(): AsyncGenerator<StreamChunk, void, undefined> {
      yield started()
      await new Promise(() => {})
    }
    for await (const chunk of fetcherToConnectionAdapter(() => deaf()).connect([], undefined, controller.signal, context)) {
      items.push(chunk)
      setTimeout(() => controller.abort(), 5)
    }
    expect(items).toEqual([started()])
  })

  it('works over a real request', async () => {
    const server = await serve(answerWith(sse(hello())))
    const adapter = fetcherToConnectionAdapter(({ runId }, options) =>
      fetch(server.url, { method: 'POST', body: JSON.stringify({ runId }), ...options }),
    )
    expect(await collect(adapter.connect([], undefined, signal, context))).toEqual(hello())
    expect(server.requests[0]?.body).toEqual({ runId: 'r1' })
  })
})
