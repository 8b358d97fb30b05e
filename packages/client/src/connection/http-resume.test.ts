/** Resuming over HTTP as servers see it: which requests are made, with what, and what their answers do. */
import { fetchHttpStream, fetchServerSentEvents, StreamTruncatedError, type FetchConnectionOptions, type ReconnectInfo } from '@millrace/client'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { caught, collect, collectUntilError, hello, sse, tick, until, userMessage } from '../../test/events.ts'
import { FakeClock } from '../../test/fake-clock.ts'
import { countingSignal } from '../../test/leaks.ts'
import { answerWith, serve, SSE_HEADERS } from '../../test/serve.ts'

const context = { threadId: 't1', runId: 'r1', headers: { 'x-run': 'own' } }
const events = hello()
const fast = { reconnect: { delayMs: 1, maxAttempts: 3 } } satisfies FetchConnectionOptions

const withIds = (from = 0, to = events.length): string =>
  events.slice(from, to).map((event, at) => `id: ${from + at}\ndata: ${JSON.stringify(event)}\n\n`).join('')

/** Writes a part of the answer, then breaks the connection. */
async function breakAfter(response: ServerResponse, text: string, headers: Record<string, string> = SSE_HEADERS): Promise<void> {
  response.writeHead(200, headers)
  response.write(text)
  await tick(10)
  response.destroy()
}

const run = (url: string, options: FetchConnectionOptions = {}, factory = fetchServerSentEvents) =>
  collectUntilError(factory(url, { ...fast, ...options }).connect([userMessage()], undefined, undefined, context))

describe('a broken answer', () => {
  it('is joined by GET behind the last id, with the headers of the run', async () => {
    const server = await serve((response, count) => (count === 1 ? breakAfter(response, withIds(0, 4)) : answerWith(withIds(4))(response)))
    const infos: ReconnectInfo[] = []
    const { items, error } = await run(`${server.url}?x=1#top`, { headers: { authorization: 'A' }, onReconnect: (info) => infos.push(info) })
    expect(error).toBeUndefined()
    expect(items).toEqual(events)
    expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['POST /agent?x=1', 'GET /agent?x=1&runId=r1&offset=3'])
    expect(server.requests[1]?.headers).toMatchObject({ 'last-event-id': '3', authorization: 'A', 'x-run': 'own', accept: 'text/event-stream' })
    expect(server.requests[1]?.headers['content-type']).toBeUndefined()
    // No header that a cross-origin server would have to allow first.
    expect(server.requests[0]?.headers['x-run-id']).toBeUndefined()
    expect(server.requests[1]?.body).toBeUndefined()
    expect(infos).toMatchObject([{ attempt: 1, error: { name: 'StreamTruncatedError' } }])
  })

  it('is joined from the start where only X-Run-Id offers it, under the id it names', async () => {
    const server = await serve((response, count) =>
      count === 1 ? breakAfter(response, sse(events.slice(0, 4)), { ...SSE_HEADERS, 'x-run-id': 'theirs' }) : answerWith(sse(events))(response),
    )
    expect((await run(server.url)).items).toEqual(events)
    expect(server.requests[1]).toMatchObject({ method: 'GET', url: '/agent?runId=theirs&offset=-1' })
    expect(server.requests[1]?.headers['last-event-id']).toBeUndefined()
  })

  it('of lines is joined behind the id of the last envelope', async () => {
    const lines = (from: number, to?: number): string => events.slice(from, to).map((chunk, at) => `${JSON.stringify({ id: `e${from + at}`, chunk })}\n`).join('')
    const type = { 'content-type': 'application/x-ndjson' }
    const server = await serve((response, count) => (count === 1 ? breakAfter(response, lines(0, 3), type) : answerWith(lines(3), type)(response)))
    expect((await run(server.url, {}, fetchHttpStream)).items).toEqual(events)
    expect(server.requests[1]?.url).toBe('/agent?runId=r1&offset=e2')
  })

  it('may have ids of any text', async () => {
    const id = 'ä/&?=#\u6c34'
    const server = await serve((response, count) =>
      count === 1 ? breakAfter(response, `id: ${id}\ndata: ${JSON.stringify(events[0])}\n\n`) : answerWith(sse(events.slice(1)))(response),
    )
    expect((await run(server.url)).items).toEqual(events)
    expect(new URL(server.requests[1]?.url ?? '', server.url).searchParams.get('offset')).toBe(id)
  })

  it("with resume: 'post' is asked for by the same POST, behind the last id", async () => {
    const server = await serve((response, count) => (count === 1 ? breakAfter(response, withIds(0, 4)) : answerWith(withIds(4))(response)))
    expect((await run(server.url, { resume: 'post' })).items).toEqual(events)
    const [first, second] = server.requests
    expect(second).toMatchObject({ method: 'POST', url: '/agent', body: first?.body })
    expect(second?.headers).toMatchObject({ 'last-event-id': '3', 'content-type': 'application/json', 'x-run-id': 'r1' })
    expect(first?.headers['x-run-id']).toBe('r1')
  })

  it("with resume: 'post' is never POSTed again without an id", async () => {
    const server = await serve((response) => breakAfter(response, sse(events.slice(0, 4)), { ...SSE_HEADERS, 'x-run-id': 'r1' }))
    expect((await run(server.url, { resume: 'post' })).error).toMatchObject({ code: 'truncated' })
    expect(server.requests).toHaveLength(1)
  })

  it("with resume: 'off' is the end", async () => {
    const server = await serve((response) => breakAfter(response, withIds(0, 4)))
    const { items, error } = await run(server.url, { resume: 'off' })
    expect(items).toEqual(events.slice(0, 4))
    expect(error).toMatchObject({ code: 'truncated' })
    expect(server.requests).toHaveLength(1)
  })

  it("with resume: 'get' is joined though the server did not offer it", async () => {
    const server = await serve((response, count) => (count === 1 ? breakAfter(response, sse(events.slice(0, 4))) : answerWith(sse(events))(response)))
    expect((await run(server.url, { resume: 'get' })).items).toEqual(events)
  })

  it('asks for URL and options anew', async () => {
    const server = await serve((response, count) => (count === 1 ? breakAfter(response, withIds(0, 4)) : answerWith(withIds(4))(response)))
    let token = 0
    const connection = fetchServerSentEvents(() => server.url, async () => ({ ...fast, headers: { authorization: `t${++token}` } }))
    expect(await collect(connection.connect([], undefined, undefined, context))).toEqual(events)
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['t1', 't2'])
  })

  it.each<[string, (response: ServerResponse) => unknown]>([
    ['404', answerWith('no', { 'content-type': 'text/plain' }, 404)],
    ['405', answerWith('no', { 'content-type': 'text/plain' }, 405)],
    ['204', (response) => response.writeHead(204).end()],
    ['a web page', answerWith('<!doctype html><p>App</p>', { 'content-type': 'text/html' })],
    ['a web page that says it is a stream', answerWith('<!doctype html>\n<p>App</p>\n')],
    ['JSON that is no event', answerWith('{"ok":true}\n')],
  ])('that %s answers is truncated, by one attempt', async (_, answer) => {
    const server = await serve((response, count) => (count === 1 ? breakAfter(response, withIds(0, 4)) : answer(response)))
    const { items, error } = await run(server.url)
    expect(items).toEqual(events.slice(0, 4))
    expect(error).toBeInstanceOf(StreamTruncatedError)
    expect(error).toMatchObject({ attempts: 1, cause: expect.any(Error) })
    expect(server.requests).toHaveLength(2)
  })

  it.each([
    ['2', 2000],
    [new Date(1_005_000).toUTCString(), 5000],
    ['-1', 0],
    ['soon', 0],
  ])('waits as long as Retry-After: %s says', async (header, least) => {
    const server = await serve((response, count) => {
      if (count === 1) return breakAfter(response, withIds(0, 4))
      return count === 2 ? answerWith('', { 'retry-after': header }, 503)(response) : answerWith(withIds(4))(response)
    })
    const delays: number[] = []
    const controller = new AbortController()
    const real = Date.now
    Date.now = () => 1_000_000
    try {
      const connection = fetchServerSentEvents(server.url, {
        reconnect: { delayMs: 1 },
        onReconnect: ({ delayMs }) => {
          delays.push(delayMs)
          if (delays.length === 2) controller.abort()
        },
      })
      await collect(connection.connect([], undefined, controller.signal, context))
    } finally {
      Date.now = real
    }
    expect(delays[1]).toBeGreaterThanOrEqual(least)
    expect(delays[1]).toBeLessThanOrEqual(least + 2)
  })

  it('follows retry: of the server', async () => {
    const server = await serve((response, count) => (count === 1 ? breakAfter(response, `retry: 4000\n\n${withIds(0, 4)}`) : answerWith(withIds(4))(response)))
    const clock = new FakeClock()
    let delay = 0
    const result = collect(
      fetchServerSentEvents(server.url, { reconnect: { clock, random: () => 1 }, onReconnect: ({ delayMs }) => (delay = delayMs) }).connect([], undefined, undefined, context),
    )
    await until(() => delay > 0)
    expect(delay).toBe(4000)
    await clock.advance(4000)
    expect(await result).toEqual(events)
    expect(clock.pending).toBe(0)
  })

  it('that falls silent is dropped and joined', async () => {
    const server = await serve((response, count) => {
      if (count > 1) return answerWith(withIds(4))(response)
      response.writeHead(200, SSE_HEADERS)
      return response.write(withIds(0, 4))
    })
    expect((await run(server.url, { reconnect: { idleMs: 50, delayMs: 1 } })).items).toEqual(events)
    await until(() => server.cut() === 1)
  })

  it('is not joined after the caller has left, and nothing stays', async () => {
    const server = await serve((response) => breakAfter(response, withIds(0, 4)))
    const clock = new FakeClock()
    const { signal, abort, listening } = countingSignal()
    const result = collect(fetchServerSentEvents(server.url, { reconnect: { clock }, onReconnect: abort }).connect([], undefined, signal, context))
    expect(await result).toEqual(events.slice(0, 4))
    expect([clock.pending, listening(), server.requests.length]).toEqual([0, 0, 1])
  })

  it('options that cannot be are told where they are given', async () => {
    expect(await caught(() => fetchServerSentEvents('/x', { resume: 'maybe' as never }))).toMatchObject({ name: 'UsageError', code: 'bad-resume' })
    for (const reconnect of [{ delayMs: -1 }, { maxAttempts: Number.NaN }, { idleMs: '5' as never }, { maxDelayMs: null as never }]) {
      expect(await caught(() => fetchHttpStream('/x', { reconnect }))).toMatchObject({ name: 'UsageError', code: 'bad-reconnect' })
    }
  })
})

describe('joinRun', () => {
  it('reads a run from its start by GET, over breaks', async () => {
    const server = await serve((response, count) => (count === 1 ? breakAfter(response, withIds(0, 4)) : answerWith(withIds(4))(response)))
    expect(await collect(fetchServerSentEvents(server.url, fast).joinRun('r1', undefined, context))).toEqual(events)
    expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /agent?runId=r1&offset=-1', 'GET /agent?runId=r1&offset=3'])
    expect(server.requests[0]?.headers['x-run']).toBe('own')
  })

  it('of a run that is not kept is an error with the status', async () => {
    const server = await serve(answerWith('{"error":{"code":"run.unknown"}}', { 'content-type': 'application/json' }, 404))
    const { items, error } = await collectUntilError(fetchServerSentEvents(server.url, fast).joinRun('r1'))
    expect(items).toEqual([])
    expect(error).toMatchObject({ code: 'http-status', status: 404 })
    expect(server.requests).toHaveLength(1)
  })

  it('ends quietly by abort', async () => {
    const server = await serve((response) => void response.writeHead(200, SSE_HEADERS).write(withIds(0, 4)))
    const { signal, abort, listening } = countingSignal()
    const items = []
    for await (const chunk of fetchServerSentEvents(server.url).joinRun('r1', signal)) if (items.push(chunk) === 4) abort()
    expect(items).toHaveLength(4)
    await until(() => server.cut() === 1)
    expect(listening()).toBe(0)
  })
})

describe('hydrate', () => {
  const json = { 'content-type': 'application/json' }
  const hydrated = async (answer: (response: ServerResponse) => unknown, options: FetchConnectionOptions = {}) => {
    const server = await serve(answer)
    const connection = fetchServerSentEvents(server.url, options)
    const result: { value?: unknown; error?: any } = await connection.hydrate('t1').then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    return { ...result, server }
  }

  it('gives the stored thread', async () => {
    const thread = { messages: [{ id: 'u1', role: 'user', content: 'Hi' }], state: { n: 1 }, activeRun: { runId: 'r2' }, interrupts: [{ id: 'i' }] }
    const { value, server } = await hydrated(answerWith(JSON.stringify({ ...thread, more: 1 }), json), { headers: { authorization: 'A' } })
    expect(value).toEqual(thread)
    expect(server.requests[0]).toMatchObject({ method: 'GET', url: '/agent?threadId=t1', headers: { authorization: 'A', accept: 'application/json' } })
    expect((await hydrated(answerWith('{"messages":[]}', json))).value).toEqual({ messages: [], activeRun: null, interrupts: null })
  })

  it.each<[string, (response: ServerResponse) => unknown]>([
    ['404', answerWith('{"error":{"code":"thread.unknown"}}', json, 404)],
    ['204', (response) => response.writeHead(204).end()],
    ['null', answerWith('null', json)],
  ])('%s is a thread that is not kept', async (_, answer) => {
    const { value, error } = await hydrated(answer)
    expect([value, error]).toEqual([undefined, undefined])
  })

  it.each<[string, (response: ServerResponse) => unknown, object]>([
    ['500', answerWith('{}', json, 500), { code: 'http-status', status: 500 }],
    ['401', answerWith('{}', json, 401), { code: 'http-status', status: 401 }],
    ['a page with 404', answerWith('<!doctype html>', { 'content-type': 'text/html' }, 404), { code: 'http-status', status: 404 }],
    ['a page', answerWith('<!doctype html>', { 'content-type': 'text/html' }), { code: 'unexpected-answer', body: '<!doctype html>' }],
    ['other JSON', answerWith('{"ok":true}', json), { code: 'unexpected-answer', body: '{"ok":true}' }],
    ['a list', answerWith('[]', json), { code: 'unexpected-answer' }],
    ['an active run without id', answerWith('{"messages":[],"activeRun":{}}', json), { code: 'unexpected-answer' }],
    ['a cut answer', answerWith('{"messages":[', json), { code: 'unexpected-answer' }],
    ['a broken answer', (response) => breakAfter(response, '{"messages":[', json), { code: 'network' }],
  ])('%s is an error and no empty thread', async (_, answer, expected) => {
    const { error } = await hydrated(answer)
    expect(error).toMatchObject({ name: 'TransportError', ...expected })
  })

  it('is bounded', async () => {
    const { error } = await hydrated(answerWith(JSON.stringify({ messages: ['x'.repeat(500)] }), json), { limits: { answerLength: 100 } })
    expect(error).toMatchObject({ code: 'unexpected-answer' })
    expect(error.message).toMatch(/answerLength/)
  })

  it('rejects by abort, and takes the options of other clients for no signal', async () => {
    const server = await serve(() => {})
    const controller = new AbortController()
    const result = caught(() => fetchServerSentEvents(server.url).hydrate('t1', controller.signal))
    await until(() => server.requests.length === 1)
    controller.abort()
    expect(await result).toMatchObject({ code: 'aborted' })
    const other = await serve(answerWith('{"messages":[]}', json))
    expect(await fetchServerSentEvents(other.url).hydrate('t1', { limit: 5 } as never)).toMatchObject({ messages: [] })
  })
})

describe('cancelRun', () => {
  it.each([
    [200, 'closed'],
    [204, 'closed'],
    [202, 'cancelling'],
    [404, 'unknown'],
  ])('HTTP %i is %s', async (status, expected) => {
    const server = await serve(answerWith('', { 'content-type': 'application/json' }, status))
    expect(await fetchServerSentEvents(server.url).cancelRun('r 1')).toBe(expected)
    expect(server.requests[0]).toMatchObject({ method: 'DELETE', url: '/agent?runId=r%201' })
  })

  it('a server that does not do it is an error', async () => {
    const server = await serve(answerWith('', {}, 405))
    expect(await caught(() => fetchServerSentEvents(server.url).cancelRun('r1'))).toMatchObject({ code: 'http-status', status: 405 })
    expect(await caught(() => fetchServerSentEvents(server.url).cancelRun(''))).toMatchObject({ name: 'UsageError', code: 'no-id' })
  })
})
