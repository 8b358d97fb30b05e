import { getChunkRunId, normalizeConnectionAdapter, requireSyntheticId, type ConnectConnectionAdapter, type StreamChunk } from '@millrace/client'
import { UsageError } from '@millrace/protocol'
import { describe, expect, it } from 'vitest'
import { caught, collect, failed, finished, hello, iterate, started, text, tick, types } from '../../test/events.ts'

const context = { threadId: 't1', runId: 'r1' }
const over = (...chunks: StreamChunk[]): ConnectConnectionAdapter => ({ connect: () => iterate(chunks) })

/** Reads a subscription in the background. */
function listen(source: AsyncIterable<StreamChunk>) {
  const chunks: StreamChunk[] = []
  const done = (async () => {
    for await (const chunk of source) chunks.push(chunk)
  })()
  return { chunks, done }
}

/** One send over a fresh adapter: what the subscriber got, and what send threw. */
async function exchange(adapter: ConnectConnectionAdapter, runContext: typeof context | null = context) {
  const connection = normalizeConnectionAdapter(adapter)
  const controller = new AbortController()
  const { chunks, done } = listen(connection.subscribe(controller.signal))
  const error = await caught(() => connection.send([], undefined, undefined, runContext ?? undefined))
  await tick()
  controller.abort()
  await done
  return { chunks, error }
}

describe('shapes', () => {
  const shapes = { connect: () => iterate([]), subscribe: () => iterate([]), send: async () => {} }

  it.each([
    ['connect, subscribe and send', shapes],
    ['connect and send', { connect: shapes.connect, send: shapes.send }],
    ['connect and subscribe', { connect: shapes.connect, subscribe: shapes.subscribe }],
  ])('%s at once is refused', async (_, adapter) => {
    const error = await caught(() => normalizeConnectionAdapter(adapter as never))
    expect(error).toBeInstanceOf(UsageError)
    expect(error.code).toBe('both-adapter-shapes')
  })

  it.each([[{}], [{ subscribe: shapes.subscribe }], [{ send: shapes.send }], [undefined], [null], ['/api'], [{ connect: 'x' }]])(
    '%j is refused',
    async (adapter) => {
      expect(await caught(() => normalizeConnectionAdapter(adapter as never))).toMatchObject({ name: 'UsageError', code: 'no-adapter-shape' })
    },
  )

  it('subscribe and send are bound as they are, and nothing is added to their stream', async () => {
    class Channel {
      readonly sent: unknown[] = []
      subscribe(): AsyncIterable<StreamChunk> {
        return iterate(this.sent.length === 0 ? [started()] : [])
      }
      async send(...args: unknown[]): Promise<void> {
        this.sent.push(args)
      }
    }
    const channel = new Channel()
    const { subscribe, send } = normalizeConnectionAdapter(channel)
    expect(await collect(subscribe())).toEqual([started()])
    await send([], { a: 1 }, undefined, context)
    expect(channel.sent).toEqual([[[], { a: 1 }, undefined, context]])
  })
})

describe('the queue over connect', () => {
  it('hands every argument through', async () => {
    const seen: unknown[] = []
    const connection = normalizeConnectionAdapter({
      connect: (...args) => {
        seen.push(...args)
        return iterate(hello())
      },
    })
    const { signal } = new AbortController()
    await connection.send([], { a: 1 }, signal, context)
    expect(seen).toEqual([[], { a: 1 }, signal, context])
  })

  it('keeps what comes before anybody listens', async () => {
    const connection = normalizeConnectionAdapter(over(...hello()))
    await connection.send([], undefined, undefined, context)
    const controller = new AbortController()
    const { chunks, done } = listen(connection.subscribe(controller.signal))
    await tick()
    expect(chunks).toEqual(hello())
    controller.abort()
    await done
  })

  it('gives buffer and supply to the newest subscriber; the one before ends', async () => {
    const connection = normalizeConnectionAdapter(over(...hello()))
    const first = listen(connection.subscribe())
    await tick()
    const controller = new AbortController()
    const second = listen(connection.subscribe(controller.signal))
    await first.done
    await connection.send([], undefined, undefined, context)
    await tick()
    expect(first.chunks).toEqual([])
    expect(second.chunks).toEqual(hello())
    controller.abort()
    await second.done
  })

  it('hands over what a subscriber that reads one by one has not read', async () => {
    const connection = normalizeConnectionAdapter(over(...hello()))
    await connection.send([], undefined, undefined, context)
    const iterator = connection.subscribe()[Symbol.asyncIterator]()
    expect(await iterator.next()).toEqual({ done: false, value: started() })
    const controller = new AbortController()
    const second = listen(connection.subscribe(controller.signal))
    await tick()
    expect(second.chunks).toEqual(hello().slice(1))
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
    controller.abort()
    await second.done
  })

  it('ends a waiting subscriber on abort, and one whose signal was aborted before', async () => {
    const connection = normalizeConnectionAdapter(over())
    const controller = new AbortController()
    const waiting = listen(connection.subscribe(controller.signal))
    await tick()
    controller.abort()
    await waiting.done
    expect(await collect(connection.subscribe(AbortSignal.abort()))).toEqual([])
  })

  it('stamps chunks with the run of their request; a run id of their own counts more', async () => {
    const { chunks } = await exchange(over(started('server'), ...text('a'), finished('server')), { threadId: 't1', runId: 'asked' })
    expect(chunks.map((chunk) => getChunkRunId(chunk))).toEqual(['server', 'asked', 'asked', 'asked', 'server'])
    expect(getChunkRunId({ type: 'RAW', event: 1 })).toBeUndefined()
    expect(chunks[1]).not.toHaveProperty('runId')
  })

  it('lets the event loop turn while a source that never waits is read', async () => {
    let turns = 0
    // It would go on for long if the loop never turned.
    async function* busy(): AsyncGenerator<StreamChunk, void, undefined> {
      for (let n = 0; n < 3_000_000 && turns < 3; n++) yield { type: 'CUSTOM', name: 'n', value: 1 }
    }
    const timer = setInterval(() => turns++, 1)
    await exchange({ connect: busy })
    clearInterval(timer)
    expect(turns).toBeGreaterThan(2)
  })
})

describe('the terminal event that did not come', () => {
  it('a clean end gives RUN_FINISHED with the ids last seen', async () => {
    const { chunks, error } = await exchange(over(started('seen', 'thread'), ...text('a')))
    expect(error).toBeUndefined()
    expect(chunks.at(-1)).toEqual({ type: 'RUN_FINISHED', threadId: 'thread', runId: 'seen' })
  })

  it('or with those of the request, if none were seen', async () => {
    expect((await exchange(over(...text('a')))).chunks.at(-1)).toEqual(finished())
    expect((await exchange(over())).chunks).toEqual([finished()])
  })

  it('after a terminal event nothing is added', async () => {
    expect((await exchange(over(...hello()))).chunks).toEqual(hello())
    expect((await exchange(over(started(), failed()))).chunks).toEqual([started(), failed()])
    const straggler: StreamChunk = { type: 'CUSTOM', name: 'usage', value: 1 }
    expect((await exchange(over(...hello(), straggler))).chunks).toEqual([...hello(), straggler])
  })

  it('a RUN_FINISHED that more follows was not the last', async () => {
    const second = [started('r2'), ...text('b', 'm2')]
    expect((await exchange(over(...hello(), ...second))).chunks.at(-1)).toEqual(finished('r2'))
    const goesOn: StreamChunk = { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: '' }
    expect(types((await exchange(over(...hello(), goesOn))).chunks).slice(-3)).toEqual(['RUN_FINISHED', 'TOOL_CALL_RESULT', 'RUN_FINISHED'])
  })

  it('a throw gives RUN_ERROR with message and code, and the error', async () => {
    const boom = Object.assign(new Error('boom'), { code: 'E1' })
    const adapter: ConnectConnectionAdapter = {
      async *connect() {
        yield started('seen')
        throw boom
      },
    }
    const { chunks, error } = await exchange(adapter)
    expect(error).toBe(boom)
    expect(chunks).toEqual([started('seen'), { type: 'RUN_ERROR', threadId: 't1', runId: 'seen', message: 'boom', code: 'E1' }])
  })

  it('a connect that throws at once gives RUN_ERROR and the error', async () => {
    const boom = new Error('boom')
    const { chunks, error } = await exchange({
      connect() {
        throw boom
      },
    })
    expect(error).toBe(boom)
    expect(chunks).toEqual([{ type: 'RUN_ERROR', threadId: 't1', runId: 'r1', message: 'boom' }])
  })

  it('a throw after a terminal event gives the error only', async () => {
    const boom = new Error('boom')
    const adapter: ConnectConnectionAdapter = {
      async *connect() {
        yield* hello()
        throw boom
      },
    }
    expect(await exchange(adapter)).toEqual({ chunks: hello(), error: boom })
  })

  it('without ids a clean end is an error that says what to pass, and no id is made up', async () => {
    const { chunks, error } = await exchange(over(...text('a')), null)
    expect(error).toMatchObject({ name: 'UsageError', code: 'missing-synthetic-id' })
    expect(error.message).toMatch(/runContext/)
    expect(types(chunks)).not.toContain('RUN_FINISHED')
    expect(types(chunks)).not.toContain('RUN_ERROR')
  })

  it('without ids a throw stays the error it was', async () => {
    const boom = new Error('boom')
    const { chunks, error } = await exchange(
      {
        connect() {
          throw boom
        },
      },
      null,
    )
    expect(error).toBe(boom)
    expect(chunks).toEqual([])
  })

  it('an abort adds nothing, whether the source ends, throws or goes on', async () => {
    const sources: ((signal: AbortSignal) => AsyncGenerator<StreamChunk, void, undefined>)[] = [
      async function* (signal) {
        yield started()
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
      async function* (signal) {
        yield started()
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
      },
      async function* () {
        yield started()
        await new Promise(() => {})
      },
    ]
    for (const source of sources) {
      const connection = normalizeConnectionAdapter({ connect: (_messages, _data, signal) => source(signal as AbortSignal) })
      const sending = new AbortController()
      const listening = new AbortController()
      const { chunks, done } = listen(connection.subscribe(listening.signal))
      const sent = connection.send([], undefined, sending.signal, context)
      await tick(5)
      sending.abort()
      await sent
      await tick()
      listening.abort()
      await done
      expect(chunks).toEqual([started()])
    }
  })

  it('an abort before connect has answered adds nothing, though it then rejects', async () => {
    const connection = normalizeConnectionAdapter({
      connect: (_messages, _data, signal) =>
        new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted')))) as never,
    })
    const sending = new AbortController()
    const listening = new AbortController()
    const { chunks, done } = listen(connection.subscribe(listening.signal))
    const sent = connection.send([], undefined, sending.signal, context)
    sending.abort()
    await sent
    listening.abort()
    await done
    expect(chunks).toEqual([])
  })

  it('requireSyntheticId takes the id seen before the one given', () => {
    expect(requireSyntheticId('runId', 'seen', 'given')).toBe('seen')
    expect(requireSyntheticId('runId', undefined, 'given')).toBe('given')
    expect(() => requireSyntheticId('threadId', undefined, '')).toThrow(/threadId/)
  })
})

it('chunks that are no objects pass through to where they are judged', async () => {
  const { chunks } = await exchange(over(5 as never, null as never, 'x' as never))
  expect(chunks.slice(0, 3)).toEqual([5, null, 'x'])
})

describe('what else a connection offers', () => {
  class Full {
    readonly id = 'full'
    async *connect(): AsyncGenerator<StreamChunk> {
      yield* hello()
    }
    async *joinRun(runId: string): AsyncGenerator<StreamChunk> {
      yield started(runId)
      if (this.id !== 'full') throw new Error('unbound')
    }
    async hydrate(threadId: string) {
      return { messages: [threadId, this.id], activeRun: null, interrupts: null }
    }
    async cancelRun() {
      return this.id === 'full' ? ('closed' as const) : ('unknown' as const)
    }
  }

  it('is passed on, bound', async () => {
    const connection = normalizeConnectionAdapter(new Full())
    expect(await connection.hydrate?.('t1')).toMatchObject({ messages: ['t1', 'full'] })
    expect(await connection.cancelRun?.('r1')).toBe('closed')
    expect(await collect(connection.joinRun?.('r7') ?? iterate([]))).toEqual([started('r7')])
    const { subscribe, send } = normalizeConnectionAdapter(over())
    const channel = normalizeConnectionAdapter(Object.assign(new Full(), { connect: undefined, subscribe, send }) as never)
    expect(await channel.hydrate?.('t1')).toMatchObject({ messages: ['t1', 'full'] })
    expect(await collect(channel.joinRun?.('r7') ?? iterate([]))).toEqual([started('r7')])
    expect(channel.join).toBeUndefined()
  })

  it('is absent where it is not offered', () => {
    const connection = normalizeConnectionAdapter(over())
    expect([connection.join, connection.joinRun, connection.hydrate, connection.cancelRun]).toEqual([undefined, undefined, undefined, undefined])
  })

  it('a joined run goes to the subscriber, stamped, with the end that it lacks', async () => {
    const connection = normalizeConnectionAdapter(new Full())
    const controller = new AbortController()
    const { chunks, done } = listen(connection.subscribe(controller.signal))
    await connection.join?.('r7', undefined, { threadId: 't1' })
    await tick()
    controller.abort()
    await done
    expect(chunks).toMatchObject([started('r7'), { type: 'RUN_FINISHED', threadId: 't1', runId: 'r7' }])
    expect(chunks.map(getChunkRunId)).toEqual(['r7', 'r7'])
  })

  it('one that cannot be joined gives RUN_ERROR and rejects', async () => {
    const connection = normalizeConnectionAdapter({ ...over(), joinRun: () => iterateThenThrow() })
    const { chunks } = listen(connection.subscribe())
    const error = await caught(() => connection.join?.('r7', undefined, { threadId: 't1' }))
    await tick()
    expect(error).toMatchObject({ message: 'no' })
    expect(chunks).toMatchObject([{ type: 'RUN_ERROR', runId: 'r7' }])
  })
})

// eslint-disable-next-line require-yield
async function* iterateThenThrow(): AsyncGenerator<StreamChunk> {
  throw new Error('no')
}
