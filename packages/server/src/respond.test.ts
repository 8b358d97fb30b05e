import { describe, expect, test } from 'vitest'
import type { Reader } from './hub.ts'
import type { LogEntry } from './log/contract.ts'
import { negotiate, streamEntries, type StreamFormat } from './respond.ts'
import { FakeClock } from './test/fixtures.ts'

test.each([
  [null, 'sse'],
  ['', 'sse'],
  ['*/*', 'sse'],
  ['text/event-stream', 'sse'],
  ['text/event-stream, application/vnd.ag-ui.event+proto', 'sse'],
  ['application/json', 'sse'],
  ['application/x-ndjson', 'ndjson'],
  ['Application/X-NDJSON; charset=utf-8', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/x-ndjson, */*;q=0.1', 'ndjson'],
  ['application/x-ndjson;q=0.5, text/event-stream', 'sse'],
  ['application/x-ndjson, text/event-stream;q=0.9', 'ndjson'],
  ['application/x-ndjson;q=0', 'sse'],
  ['application/x-ndjson;q=nonsense', 'sse'],
])('Accept %s is answered with %s', (accept, format) => {
  expect(negotiate(accept)).toBe(format)
})

/** A reader that is fed by hand. */
function makeReader() {
  const batches: (readonly LogEntry[] | undefined | Error)[] = []
  let wake = (): void => undefined
  const state = { reads: 0, closed: 0 }
  const reader: Reader = {
    async next() {
      state.reads++
      while (batches.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      const batch = batches.shift()
      if (batch instanceof Error) throw batch
      return batch
    },
    close() {
      state.closed++
      batches.push(undefined)
      wake()
    },
  }
  const feed = (batch: readonly LogEntry[] | undefined | Error): void => {
    batches.push(batch)
    wake()
  }
  return { reader, feed, state }
}

function makeStream(format: StreamFormat = 'sse') {
  const { reader, feed, state } = makeReader()
  const clock = new FakeClock()
  const abort = new AbortController()
  const silences = { count: 0 }
  const stream = streamEntries(reader, { format, clock, heartbeatMs: 1000, signal: abort.signal, onSilence: () => silences.count++ })
  const body = stream.getReader()
  const text = new TextDecoder()
  const read = async (): Promise<string | undefined> => {
    const { done, value } = await body.read()
    return done ? undefined : text.decode(value)
  }
  return { feed, state, clock, abort, silences, body, read }
}

const entry = (offset: string): LogEntry => ({ offset, data: `{"type":"CUSTOM","value":"${offset}"}` })

describe('a stream of entries', () => {
  test('SSE carries the offset as id', async () => {
    const { feed, read, state, clock } = makeStream()
    feed([entry('0'), entry('1')])
    feed(undefined)
    expect(await read()).toBe('id: 0\ndata: {"type":"CUSTOM","value":"0"}\n\nid: 1\ndata: {"type":"CUSTOM","value":"1"}\n\n')
    expect(await read()).toBe(undefined)
    expect([state.closed, clock.pending]).toEqual([1, 0])
  })

  test('NDJSON carries it in an envelope', async () => {
    const { feed, read } = makeStream('ndjson')
    feed([entry('0')])
    expect(await read()).toBe('{"id":"0","chunk":{"type":"CUSTOM","value":"0"}}\n')
  })

  test('large entries go one by one, however many came at once', async () => {
    const { feed, read, state } = makeStream('ndjson')
    const large = Array.from({ length: 3 }, (_, index) => ({ offset: String(index), data: JSON.stringify('x'.repeat(100_000)) }))
    feed(large)
    for (const { offset } of large) expect((await read())?.startsWith(`{"id":"${offset}"`)).toBe(true)
    expect(state.reads).toBe(1)
  })

  test('nothing is read before somebody asks', async () => {
    const { state, clock, read, feed } = makeStream()
    await clock.turn()
    expect([state.reads, clock.pending]).toEqual([0, 0])
    feed([entry('0')])
    await read()
    await clock.turn()
    expect(state.reads).toBe(1)
  })

  test.each(['sse', 'ndjson'] as const)('silence is filled in %s, over one read', async (format) => {
    const { feed, state, clock, read, silences } = makeStream(format)
    for (let i = 0; i < 3; i++) {
      const beat = read()
      await clock.turn()
      await clock.advance(1000)
      expect(await beat).toBe(format === 'sse' ? ': heartbeat\n\n' : '\n')
    }
    expect([state.reads, silences.count]).toEqual([1, 3])
    const next = read()
    await clock.turn()
    feed([entry('0')])
    expect(await next).toContain('"0"')
    expect(clock.pending).toBe(0)
  })

  test('it fails when the log fails', async () => {
    const { feed, read, state, clock } = makeStream()
    feed(new Error('disk gone'))
    await expect(read()).rejects.toThrow('disk gone')
    expect([state.closed, clock.pending]).toEqual([1, 0])
  })

  test('cancelling lets go of reader and timer', async () => {
    const { body, state, clock } = makeStream()
    const pending = body.read()
    await clock.turn()
    expect(clock.pending).toBe(1)
    await body.cancel()
    expect((await pending).done).toBe(true)
    expect([state.closed, clock.pending]).toEqual([1, 0])
  })

  test('so does the signal, while waiting, before the first read, and before the stream', async () => {
    const waiting = makeStream()
    const pending = waiting.read()
    await waiting.clock.turn()
    waiting.abort.abort()
    expect(await pending).toBe(undefined)
    expect([waiting.state.closed, waiting.clock.pending]).toEqual([1, 0])

    const idle = makeStream()
    idle.abort.abort()
    expect(await idle.read()).toBe(undefined)
    expect([idle.state.closed > 0, idle.clock.pending]).toEqual([true, 0])

    const { reader, state } = makeReader()
    streamEntries(reader, {
      format: 'sse',
      clock: new FakeClock(),
      heartbeatMs: 1000,
      signal: AbortSignal.abort(),
      onSilence: () => undefined,
    })
    expect(state.closed).toBe(1)
  })
})
