import { readThread, type ReadThreadOptions, type ThreadSource } from '@millrace/client'
import type { Thread } from '@millrace/protocol'
import { describe, expect, it } from 'vitest'
import { caught, collectUntilError, failed, finished, hello, iterate, ndjson, recording, sse, started, text, tick, until } from '../test/events.ts'
import { answerWith, serve, SSE_HEADERS } from '../test/serve.ts'

async function read(source: ThreadSource, options?: ReadThreadOptions): Promise<{ threads: Thread[]; last: Thread; error: any }> {
  const { items, error } = await collectUntilError(readThread(source, options))
  return { threads: items, last: items.at(-1) as Thread, error }
}

const contents = (thread: Thread): unknown[] => thread.messages.map((message) => ('content' in message ? message.content : undefined))
const bytes = (textual: string): Uint8Array => new TextEncoder().encode(textual)

describe('sources', () => {
  const body = sse(hello())
  it.each([
    ['a response', () => new Response(body, { headers: SSE_HEADERS })],
    ['a response with lines of JSON', () => new Response(ndjson(hello()), { headers: { 'content-type': 'application/x-ndjson' } })],
    ['a response that does not say its type', () => new Response(new Blob([ndjson(hello())]))],
    ['a stream of bytes', () => new Response(body).body as ReadableStream<Uint8Array>],
    ['an async iterable of events', () => iterate(hello())],
    ['an array of events', () => hello()],
    ['pieces of text', () => iterate([body.slice(0, 50), body.slice(50)])],
    ['pieces of bytes', () => [bytes(body).subarray(0, 50), bytes(body).subarray(50)]],
  ])('%s', async (_, source) => {
    const { last, error } = await read(source())
    expect(error).toBeUndefined()
    expect(contents(last)).toEqual(['Hello'])
    expect(last.runs).toMatchObject([{ runId: 'r1', outcome: 'finished' }])
  })

  it('reads NDJSON envelopes from bytes without a type if told so', async () => {
    const enveloped = ndjson(hello().map((chunk, id) => ({ id: String(id), chunk })))
    expect(contents((await read([enveloped], { format: 'ndjson' })).last)).toEqual(['Hello'])
  })

  it.each([[undefined], [5], ['text'], [{}]])('refuses %j', async (source) => {
    expect(await caught(() => read(source as never).then(({ error }) => Promise.reject(error)))).toMatchObject({ name: 'UsageError', code: 'not-a-stream' })
  })

  it('goes on from messages and state, and tells of events and diagnostics', async () => {
    const seen: unknown[] = []
    const { last } = await read([started(), { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/b', value: 2 }] }, ...text('x'), { type: 'NEW_THING' }, finished()], {
      messages: [{ id: 'u', role: 'user', content: 'Hi' }],
      state: { a: 1 },
      onEvent: (event, index) => seen.push([event.type, index]),
      onDiagnostic: ({ rule }) => seen.push(rule),
    })
    expect(contents(last)).toEqual(['Hi', 'x'])
    expect(last.state).toEqual({ a: 1, b: 2 })
    expect(seen).toEqual([
      ['RUN_STARTED', 0],
      ['STATE_DELTA', 1],
      ['TEXT_MESSAGE_START', 2],
      ['TEXT_MESSAGE_CONTENT', 3],
      ['TEXT_MESSAGE_END', 4],
      'event.unknown-type',
      ['RUN_FINISHED', 6],
    ])
  })
})

describe('pace', () => {
  it('gives one thread for what comes in one turn of the event loop', async () => {
    const { threads } = await read(iterate([started(), ...text('x'.repeat(2000)), finished()]))
    expect(threads.length).toBeLessThan(5)
  })

  it('gives a thread for each turn in which something came', async () => {
    async function* slow(): AsyncGenerator<unknown, void, undefined> {
      for (const event of hello()) {
        yield event
        await tick(3)
      }
    }
    const { threads } = await read(slow())
    expect(threads.length).toBeGreaterThan(4)
    const lengths = threads.map((thread) => String(contents(thread)[0] ?? '').length)
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b))
    expect(new Set(threads).size).toBe(threads.length)
  })

  it('closes the source when the consumer leaves', async () => {
    const server = await serve((response) => {
      response.writeHead(200, SSE_HEADERS)
      response.write(sse([started()]))
    })
    for await (const _ of readThread(await fetch(server.url))) break
    await until(() => server.cut() === 1)
    let closed = false
    async function* source(): AsyncGenerator<unknown, void, undefined> {
      try {
        for (;;) {
          yield started()
          await tick(1)
        }
      } finally {
        closed = true
      }
    }
    for await (const _ of readThread(source())) break
    await until(() => closed)
  })

  it('ends without error on abort, with what came', async () => {
    const controller = new AbortController()
    async function* source(): AsyncGenerator<unknown, void, undefined> {
      yield* [started(), ...text('Half')]
      await new Promise(() => {})
    }
    setTimeout(() => controller.abort(), 20)
    const { last, error } = await read(source(), { signal: controller.signal })
    expect(error).toBeUndefined()
    expect(contents(last)).toEqual(['Half'])
    expect(last.runs).toMatchObject([{ outcome: 'cancelled' }])
  })
})

describe('ends that are not well', () => {
  it('a 404 and a web page', async () => {
    const missing = await serve(answerWith('gone', {}, 404))
    expect((await read(await fetch(missing.url))).error).toMatchObject({ name: 'TransportError', code: 'http-status', status: 404, url: missing.url, body: 'gone' })
    const page = await serve(answerWith('<!doctype html>', { 'content-type': 'text/html' }))
    expect((await read(await fetch(page.url))).error).toMatchObject({ code: 'content-type' })
  })

  it('bytes that stop in mid-line, or before the run had ended, are truncated', async () => {
    for (const cut of [`${sse([started(), ...text('Ok')])}data: {"ty`, sse([started(), ...text('Ok')])]) {
      const { last, error } = await read(new Response(cut))
      expect(error).toMatchObject({ name: 'StreamTruncatedError', code: 'truncated' })
      expect(contents(last)).toEqual(['Ok'])
      expect(last.runs).toMatchObject([{ outcome: 'truncated' }])
    }
  })

  it('events that stop before the run had ended are finished, or truncated if so asked', async () => {
    const events = [started(), ...text('Ok')]
    const { last, error } = await read(events)
    expect([error, last.runs[0]?.outcome]).toEqual([undefined, 'finished'])
    const strict = await read(events, { missingTerminal: 'error' })
    expect([strict.error?.code, strict.last.runs[0]?.outcome]).toEqual(['truncated', 'truncated'])
    expect((await read(new Response(sse(events)), { missingTerminal: 'finish' })).error).toBeUndefined()
  })

  it('a malformed event, a broken rule, a frame that is no JSON', async () => {
    const bad = await read([started(), ...text('Ok'), { type: 'TEXT_MESSAGE_START', messageId: 7 }, ...text('no', 'm2')])
    expect(bad.error).toMatchObject({ name: 'ProtocolError', code: 'malformed', event: 5 })
    expect(contents(bad.last)).toEqual(['Ok'])
    expect(bad.last.runs).toMatchObject([{ outcome: 'malformed' }])
    const broken = await read([started(), { type: 'TEXT_MESSAGE_END', messageId: 'x' }])
    expect(broken.error).toMatchObject({ name: 'ProtocolError', code: 'violation' })
    const noise = await read(new Response(`${sse([started(), ...text('Ok')])}data: nonsense\n\n`))
    expect(noise.error).toMatchObject({ name: 'ProtocolError', code: 'malformed' })
    expect(contents(noise.last)).toEqual(['Ok'])
    expect(noise.last.runs).toMatchObject([{ outcome: 'malformed' }])
  })

  it('an iterable that throws', async () => {
    async function* source(): AsyncGenerator<unknown, void, undefined> {
      yield* [started(), ...text('Ok')]
      throw new Error('boom')
    }
    const { last, error } = await read(source())
    expect(error).toMatchObject({ message: 'boom' })
    expect(contents(last)).toEqual(['Ok'])
    expect(last.runs).toMatchObject([{ outcome: 'error', error: { message: 'boom' } }])
  })

  it('a RUN_ERROR is not thrown: the thread has it', async () => {
    const { last, error } = await read([started(), failed('quota')])
    expect(error).toBeUndefined()
    expect(last.runs).toMatchObject([{ outcome: 'error', error: { message: 'quota' } }])
  })

  it('strict mode refuses what tolerant mode takes', async () => {
    const tools = new Response(recording('tanstack-tools.sse'))
    expect((await read(tools, { mode: 'strict' })).error).toMatchObject({ name: 'ProtocolError', code: 'violation' })
    expect((await read(new Response(recording('tanstack-tools.sse')))).error).toBeUndefined()
  })
})

it('gives the same thread however the bytes are cut', async () => {
  const whole = bytes(recording('copilotkit-tools.sse'))
  const { last: expected } = await read([whole])
  for (const size of [1, 7, 64, 1000]) {
    const pieces: Uint8Array[] = []
    for (let at = 0; at < whole.length; at += size) pieces.push(whole.subarray(at, at + size))
    expect((await read(iterate(pieces))).last).toEqual(expected)
  }
})

describe('what it refuses, and what it does not lose', () => {
  it('reads 150,000 deltas that come at once', async () => {
    const { last, error } = await read(new Response(sse([started(), ...text('x'.repeat(150_000)), finished()])))
    expect(error).toBeUndefined()
    expect(contents(last)).toEqual(['x'.repeat(150_000)])
  })

  it.each<[unknown, string]>([
    [null, 'bad-options'],
    [{ mode: 'foo' }, 'bad-mode'],
    [{ limits: { frameLength: -1 } }, 'bad-limit'],
    [{ limits: { jsonDepth: Number.NaN } }, 'bad-limit'],
  ])('options %j are %s', async (options, code) => {
    expect((await read([], options as never)).error).toMatchObject({ name: 'UsageError', code })
  })

  it('a stream that is locked, or a response that was read, is locked-stream', async () => {
    const locked = new Response(sse(hello()))
    locked.body?.getReader()
    const used = new Response(sse(hello()))
    await used.text()
    for (const source of [locked, locked.body as ReadableStream<Uint8Array>, used]) {
      expect((await read(source)).error).toMatchObject({ name: 'UsageError', code: 'locked-stream' })
    }
  })

  it('the real error of an event that cannot be folded, with what came before', async () => {
    const boom = new Error('cannot be read')
    const trap = {
      type: 'TEXT_MESSAGE_CONTENT',
      messageId: 'm1',
      get delta(): string {
        throw boom
      },
    }
    const { last, error } = await read([started(), ...text('Ok').slice(0, -1), trap])
    expect(error).toBe(boom)
    expect(contents(last)).toEqual(['Ok'])
    expect(last.runs).toMatchObject([{ outcome: 'error', error: { message: 'cannot be read' } }])
  })

  it('what onEvent throws, as it is', async () => {
    const boom = new Error('mine')
    const { error } = await read(hello(), {
      onEvent: () => {
        throw boom
      },
    })
    expect(error).toBe(boom)
  })

  it('what an iterable throws, with a code, at its first event or later', async () => {
    const boom = new Error('boom')
    for (const before of [[], [started(), ...text('Ok')]]) {
      async function* source(): AsyncGenerator<unknown, void, undefined> {
        yield* before
        throw boom
      }
      expect((await read(source())).error).toMatchObject({ name: 'TransportError', code: 'connection-failed', cause: boom })
    }
  })

  it('an iterator whose next() gives undefined does not pass for an end', async () => {
    const source = { [Symbol.asyncIterator]: () => ({ next: async () => undefined }) }
    expect((await read(source as never)).error).toMatchObject({ name: 'UsageError', code: 'not-an-iterator' })
  })
})

it('the limits given hold for patches too', async () => {
  const rules: string[] = []
  const events = [
    { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
    { type: 'STATE_SNAPSHOT', snapshot: { a: { b: {} } } },
    { type: 'STATE_DELTA', delta: [{ op: 'copy', from: '', path: '/a/b/c' }] },
    { type: 'RUN_FINISHED', threadId: 't', runId: 'r' },
  ]
  for await (const _ of readThread(events, { limits: { jsonDepth: 4 }, onDiagnostic: ({ rule }) => rules.push(rule) }));
  expect(rules).toContain('state.patch-failed')
})
