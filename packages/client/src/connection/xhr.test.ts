/** What is special to connections over XMLHttpRequest; what they share with others is in the contract of connections. */
import { xhrHttpStream, xhrServerSentEvents, type RunAgentInputContext, type StreamChunk, type XhrConnectionOptions } from '@millrace/client'
import { describe, expect, it } from 'vitest'
import { caught, collect, collectUntilError, hello, ndjson, sse, started, text, tick, until, userMessage } from '../../test/events.ts'
import { NodeXhr, nodeXhr, plainNodeXhr } from '../../test/node-xhr.ts'
import { answerWith, serve, SSE_HEADERS } from '../../test/serve.ts'

const context: RunAgentInputContext = { threadId: 't1', runId: 'r1' }
const messages = [userMessage()]
/** The engine's reconnections have tests of their own. */
const base: XhrConnectionOptions = { xhrFactory: nodeXhr, reconnect: { random: () => 0, maxAttempts: 1 } }

const connect = (url: string, options: XhrConnectionOptions = {}) => xhrServerSentEvents(url, { ...base, ...options }).connect(messages, undefined, undefined, context)
const failureOf = async (url: string, options: XhrConnectionOptions = {}) => collectUntilError(connect(url, options))

describe('xhrServerSentEvents', () => {
  it('takes URL and options as values or functions, asked at each request', async () => {
    const server = await serve(answerWith(sse(hello())))
    let count = 0
    const connection = xhrServerSentEvents(async () => new URL(server.url), async () => ({ ...base, headers: { 'x-count': String(++count) } }))
    for (let run = 0; run < 2; run++) expect(await collect(connection.connect(messages, undefined, undefined, context))).toEqual(hello())
    expect(server.requests.map(({ headers }) => headers['x-count'])).toEqual(['1', '2'])
    expect(server.requests[0]?.headers).toMatchObject({ accept: 'text/event-stream', 'content-type': 'application/json' })
  })

  it('makes a request for each connect, with credentials only if told to', async () => {
    const server = await serve(answerWith(sse(hello())))
    const made: NodeXhr[] = []
    const xhrFactory = (): XMLHttpRequest => {
      const xhr = new NodeXhr()
      made.push(xhr)
      return xhr as unknown as XMLHttpRequest
    }
    await collect(connect(server.url, { xhrFactory }))
    await collect(connect(server.url, { xhrFactory, withCredentials: true }))
    expect(made.map(({ withCredentials }) => withCredentials)).toEqual([false, true])
  })

  it('gives the errors of fetch connections: status, page, JSON', async () => {
    const status = await serve(answerWith('No such agent', { 'content-type': 'text/plain' }, 404))
    expect((await failureOf(status.url)).error).toMatchObject({ name: 'TransportError', code: 'http-status', status: 404, url: status.url, body: 'No such agent' })
    const page = await serve(answerWith('<!doctype html>', { 'content-type': 'text/html' }))
    expect((await failureOf(page.url)).error).toMatchObject({ name: 'TransportError', code: 'content-type', status: 200 })
    const json = await serve(answerWith('{}', { 'content-type': 'application/json' }))
    expect((await failureOf(json.url)).error).toMatchObject({ code: 'content-type', body: '{}' })
  })

  it('gives a server that is not there as network', async () => {
    const { error } = await failureOf('http://127.0.0.1:9/x', { resume: 'off' })
    expect(error).toMatchObject({ name: 'TransportError', code: 'network', url: 'http://127.0.0.1:9/x' })
    expect(error.message).toMatch(/XMLHttpRequest/)
  })

  it('gives a timeout that its maker has set as network', async () => {
    const server = await serve(() => {})
    const xhrFactory = (): XMLHttpRequest => Object.assign(nodeXhr(), { timeout: 20 })
    const { error } = await failureOf(server.url, { xhrFactory, resume: 'off' })
    expect(error).toMatchObject({ name: 'TransportError', code: 'network' })
    expect(error.message).toMatch(/timeout/)
    await until(() => server.cut() === 1)
  })

  it("gives an abort by the connection's own signal as aborted, before the answer and in it", async () => {
    const server = await serve(async (response, count) => {
      if (count === 1) return
      response.writeHead(200, SSE_HEADERS)
      response.write(sse([started()]))
    })
    for (const run of [1, 2]) {
      const own = new AbortController()
      const failing = failureOf(server.url, { signal: own.signal })
      await until(() => server.requests.length === run)
      await tick(10)
      own.abort()
      expect((await failing).error).toMatchObject({ name: 'TransportError', code: 'aborted' })
      await until(() => server.cut() === run)
    }
  })

  it('decodes UTF-8 wherever it is cut', async () => {
    const events = [started(), ...text('né 你好 \u{1F44B}'), hello().at(-1) as StreamChunk]
    const whole = Buffer.from(sse(events))
    const server = await serve(async (response) => {
      response.writeHead(200, SSE_HEADERS)
      for (let at = 0; at < whole.length; at += 7) {
        response.write(whole.subarray(at, at + 7))
        if (at % 5 === 0) await tick()
      }
      response.end()
    })
    expect(await collect(connect(server.url))).toEqual(events)
  })

  it('past limits.maxResponseLength says what to use instead, and keeps what came', async () => {
    const server = await serve(answerWith(sse([started(), ...text('x'.repeat(50))])))
    const { items, error } = await failureOf(server.url, { limits: { maxResponseLength: 200 } })
    expect(items[0]).toEqual(started())
    expect(error).toMatchObject({ name: 'StreamTruncatedError', code: 'truncated' })
    expect(error.message).toMatch(/maxResponseLength.*fetch/s)
  })

  it('past limits.maxResponseLength goes on with another request, where the server can resume', async () => {
    const events = [started(), ...text('x'.repeat(50)), hello().at(-1) as StreamChunk]
    const lines = events.map((event, index) => `id: ${index}\ndata: ${JSON.stringify(event)}\n\n`)
    const server = await serve(async (response, _count, request) => {
      const from = request.method === 'GET' ? Number(request.headers['last-event-id']) + 1 : 0
      response.writeHead(200, SSE_HEADERS)
      for (const line of lines.slice(from)) {
        response.write(line)
        await tick()
      }
      response.end()
    })
    expect(await collect(connect(server.url, { limits: { maxResponseLength: 1000 } }))).toEqual(events)
    expect(server.methods.filter((method) => method === 'POST')).toHaveLength(1)
    expect(server.methods.length).toBeGreaterThan(2)
    await until(() => server.cut() === server.methods.length - 1)
  })

  it('asks only for headers that it may see', async () => {
    const server = await serve(answerWith(sse(hello()), { ...SSE_HEADERS, 'x-run-id': 'r1' }))
    const asked: string[] = []
    const xhrFactory = (): XMLHttpRequest =>
      Object.assign(nodeXhr(), { getResponseHeader: (name: string) => (asked.push(name), null) }) as unknown as XMLHttpRequest
    expect(await collect(connect(server.url, { xhrFactory }))).toEqual(hello())
    expect(asked).toEqual([])
  })

  it('says what is wrong with its factory, or that there is no XMLHttpRequest', async () => {
    expect((await failureOf('http://x', { xhrFactory: (() => ({})) as never })).error).toMatchObject({ name: 'UsageError', code: 'bad-xhr' })
    expect((await failureOf('http://x', { xhrFactory: () => Object.assign(plainNodeXhr(), { responseType: 'blob' as const }) })).error).toMatchObject({
      name: 'UsageError',
      code: 'xhr-response-type',
    })
    const { error } = await collectUntilError(xhrServerSentEvents('http://x').connect(messages, undefined, undefined, context))
    expect(error).toMatchObject({ name: 'UsageError', code: 'no-xhr' })
  })

  it('hydrates, joins and cancels over XMLHttpRequest as well', async () => {
    const server = await serve((response, _count, request) => {
      const query = new URL(request.url ?? '', 'http://localhost').searchParams
      if (request.method === 'DELETE') return answerWith('{"state":"closed"}', { 'content-type': 'application/json' })(response)
      if (query.has('runId')) return answerWith(sse(hello('old')))(response)
      return answerWith('{"messages":[],"activeRun":null,"interrupts":null}', { 'content-type': 'application/json' })(response)
    })
    const connection = xhrServerSentEvents(server.url, base)
    expect(await connection.hydrate('t1')).toMatchObject({ messages: [], activeRun: null })
    expect(await collect(connection.joinRun('old'))).toEqual(hello('old'))
    expect(await connection.cancelRun('old').catch((error: Error) => error)).toBeDefined()
    expect(server.methods).toEqual(['GET', 'GET', 'DELETE'])
  })

  it.each([undefined, '', 42])('without a URL (%j) tells so at once', async (url) => {
    expect(await caught(() => xhrServerSentEvents(url as never))).toMatchObject({ name: 'UsageError', code: 'no-url' })
  })
})

describe('xhrHttpStream', () => {
  it('reads a line for each event, and envelopes', async () => {
    const [first, ...rest] = hello()
    const server = await serve(answerWith(ndjson([first, ...rest.map((chunk, id) => ({ id: String(id), chunk }))]), { 'content-type': 'application/x-ndjson' }))
    expect(await collect(xhrHttpStream(server.url, base).connect(messages, undefined, undefined, context))).toEqual(hello())
    expect(server.requests[0]?.headers.accept).toMatch(/^application\/x-ndjson/)
  })
})
