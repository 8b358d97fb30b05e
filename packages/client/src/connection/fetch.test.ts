import { type RunAgentInputContext, fetchHttpStream, fetchServerSentEvents, StreamTruncatedError, TransportError } from '@millrace/client'
import { translateFor, UsageError, type UIMessage } from '@millrace/protocol'
import { describe, expect, it } from 'vitest'
import { caught, collect, collectUntilError, failed, finished, hello, ndjson, recording, sse, started, text, tick, types, until, userMessage } from '../../test/events.ts'
import { answerWith, serve, SSE_HEADERS } from '../../test/serve.ts'

const context: RunAgentInputContext = { threadId: 't1', runId: 'r1' }
const messages = [userMessage()]

describe('fetchServerSentEvents', () => {
  it('sends what prepareInput gives: for an agent of an older version, without what that cannot read', async () => {
    const server = await serve(answerWith(sse(hello())))
    const losses: string[] = []
    const prepareInput = translateFor('0.0.39', ({ code }) => losses.push(code)).input
    const picture: UIMessage = { id: 'u2', role: 'user', parts: [{ type: 'text', content: 'This?' }, { type: 'image', source: { type: 'url', value: 'https://x.test/a.png' } }] }
    expect(await collect(fetchServerSentEvents(server.url, { prepareInput }).connect([picture], undefined, undefined, context))).toEqual(hello())
    expect(server.requests[0]?.body).toMatchObject({ messages: [{ id: 'u2', role: 'user', content: 'This?' }] })
    expect(server.requests[0]?.body).not.toHaveProperty('protocolVersion')
    expect(losses).toEqual(['content-part'])
  })

  it.each([
    ['no object', () => 5 as never, { name: 'UsageError', code: 'not-serialisable' }],
    ['an error', () => { throw new RangeError('mine') }, { name: 'RangeError' }],
    ['what JSON cannot say', () => ({ n: 1n }), { name: 'UsageError', code: 'not-serialisable' }],
  ])('a prepareInput that gives %s sends nothing', async (_what, prepareInput, error) => {
    const server = await serve(answerWith(sse(hello())))
    expect(await caught(() => collect(fetchServerSentEvents(server.url, { prepareInput }).connect(messages, undefined, undefined, context)))).toMatchObject(error)
    expect(server.requests).toEqual([])
  })

  it('POSTs a run input and gives the events', async () => {
    const server = await serve(answerWith(sse(hello())))
    const connection = fetchServerSentEvents(server.url, { headers: { 'x-key': 'k' }, body: { model: 'a', temperature: 1 } })
    const runContext: RunAgentInputContext = {
      ...context,
      clientTools: [{ name: 'f', description: 'F', parameters: { type: 'object' } }],
      forwardedProps: { model: 'b', tenant: 'x' },
      headers: { 'x-run': 'y' },
      state: { n: 1 },
    }
    const chunks = await collect(connection.connect(messages, { tenant: 'z' }, undefined, runContext))
    expect(chunks).toEqual(hello())
    expect(server.requests).toHaveLength(1)
    const [{ body, headers }] = server.requests as [(typeof server.requests)[0]]
    expect(headers).toMatchObject({
      accept: 'text/event-stream',
      'content-type': 'application/json',
      'x-key': 'k',
      'x-run': 'y',
    })
    expect(body).toMatchObject({
      threadId: 't1',
      runId: 'r1',
      messages: [{ id: 'u1', role: 'user', content: 'Hi' }],
      tools: [{ name: 'f' }],
      state: { n: 1 },
      context: [],
      forwardedProps: { model: 'b', temperature: 1, tenant: 'z' },
      data: { model: 'b', temperature: 1, tenant: 'z' },
    })
  })

  it('asks for URL and options at each request, also asynchronously', async () => {
    const server = await serve(answerWith(sse(hello())))
    let count = 0
    const connection = fetchServerSentEvents(
      async () => new URL(server.url),
      async () => ({ headers: { 'x-count': String(++count) } }),
    )
    for (let run = 0; run < 2; run++) await collect(connection.connect(messages, undefined, undefined, context))
    expect(server.requests.map(({ headers }) => headers['x-count'])).toEqual(['1', '2'])
  })

  it('makes ids for a request without a run context', async () => {
    const server = await serve(answerWith('data: [DONE]\n\n'))
    const chunks = await collect(fetchServerSentEvents(server.url).connect(messages))
    const { threadId, runId } = server.requests[0]?.body ?? {}
    expect(runId).toMatch(/./)
    expect(chunks).toEqual([{ type: 'RUN_FINISHED', threadId, runId }])
  })

  it.each([undefined, null, '', '  ', 42])('without a URL (%j) tells so at once', async (url) => {
    const error = await caught(() => fetchServerSentEvents(url as unknown as string))
    expect(error).toBeInstanceOf(UsageError)
    expect(error.code).toBe('no-url')
  })

  it('without a URL from its function tells so at the request', async () => {
    const { error } = await collectUntilError(fetchServerSentEvents(() => '').connect(messages, undefined, undefined, context))
    expect(error).toMatchObject({ name: 'UsageError', code: 'no-url' })
  })

  it.each([
    ['{"message":"No credit left"}', 'No credit left'],
    ['{"error":"No credit left"}', 'No credit left'],
    ['{"error":{"message":"No credit left","code":"credit"}}', 'No credit left'],
    ['{"type":"about:blank","title":"Payment Required","detail":"No credit left"}', 'No credit left'],
    ['{"title":"No credit left"}', 'No credit left'],
    ['{"detail":[{"loc":["body"],"msg":"No credit left"}]}', 'No credit left'],
    ['{"errors":[{"message":"No credit left"}]}', 'No credit left'],
    ['{"errors":["No credit left","x"]}', 'No credit left'],
    ['{"errors":[],"detail":[null]}', undefined],
    ['{"message":{"a":1},"error":""}', undefined],
    ['{"__proto__":{"message":"x"}}', undefined],
    ['null', undefined],
    ['No credit left', undefined],
  ])('a status with the body %s is told with its reason', async (body, reason) => {
    const server = await serve(answerWith(body, { 'content-type': 'application/json' }, 402))
    const { error } = await collectUntilError(fetchServerSentEvents(server.url).connect(messages, undefined, undefined, context))
    expect(error).toMatchObject({ code: 'http-status', status: 402, body })
    expect(error.message).toBe(`${server.url} answered with HTTP 402 Payment Required${reason === undefined ? '.' : `: ${reason}`}`)
  })

  it('gives a 404 as http-status with status, URL and what the server said', async () => {
    const server = await serve(answerWith('No such agent: weather', { 'content-type': 'text/plain' }, 404))
    const { error, items } = await collectUntilError(
      fetchServerSentEvents(server.url).connect(messages, undefined, undefined, context),
    )
    expect(items).toEqual([])
    expect(error).toBeInstanceOf(TransportError)
    expect(error).toMatchObject({ code: 'http-status', status: 404, url: server.url, body: 'No such agent: weather' })
    expect(error.message).toContain('404')
  })

  it('refuses a web page with status 200 and says what to look at', async () => {
    const server = await serve(answerWith(`<!doctype html><title>App</title>${'x'.repeat(5000)}`, { 'content-type': 'text/html; charset=utf-8' }))
    const { error } = await collectUntilError(fetchServerSentEvents(server.url).connect(messages, undefined, undefined, context))
    expect(error).toMatchObject({ name: 'TransportError', code: 'content-type', status: 200, url: server.url })
    expect(error.message).toMatch(/web page/)
    expect(error.body).toMatch(/^<!doctype html>/)
    expect(error.body.length).toBeLessThan(600)
  })

  it('refuses a JSON document with status 200', async () => {
    const server = await serve(answerWith('{"error":"quota"}', { 'content-type': 'application/json' }))
    const { error } = await collectUntilError(fetchServerSentEvents(server.url).connect(messages, undefined, undefined, context))
    expect(error).toMatchObject({ code: 'content-type', body: '{"error":"quota"}' })
    expect(error.message).toMatch(/ It says: quota$/)
    expect(error.message).toMatch(/text\/event-stream/)
  })

  it('gives a server that is not there as network', async () => {
    const { error } = await collectUntilError(
      fetchServerSentEvents('http://127.0.0.1:9/x').connect(messages, undefined, undefined, context),
    )
    expect(error).toMatchObject({ name: 'TransportError', code: 'network', url: 'http://127.0.0.1:9/x' })
    expect(error.cause).toBeInstanceOf(Error)
  })

  it('gives an answer without body as no-stream', async () => {
    const server = await serve((response) => response.writeHead(204).end())
    const { error } = await collectUntilError(fetchServerSentEvents(server.url).connect(messages, undefined, undefined, context))
    expect(error).toMatchObject({ name: 'UnsupportedResponseStreamError', code: 'no-stream', status: 204 })
  })

  it('keeps what came before a body that stops in mid-line, and says it was cut', async () => {
    const whole = sse([started(), ...text('Hi')])
    const server = await serve(answerWith(`${whole}data: {"type":"TEXT_MES`))
    const { items, error } = await collectUntilError(
      fetchServerSentEvents(server.url).connect(messages, undefined, undefined, context),
    )
    expect(items).toEqual([started(), ...text('Hi')])
    expect(error).toBeInstanceOf(StreamTruncatedError)
    expect(error).toMatchObject({ code: 'truncated', url: server.url })
    expect(error.message).toMatch(/middle of a line/)
  })

  it('takes a last event without its blank line if it is whole', async () => {
    const server = await serve(answerWith(sse(hello()).trimEnd()))
    expect(await collect(fetchServerSentEvents(server.url).connect(messages, undefined, undefined, context))).toEqual(hello())
  })

  it('gives a connection that breaks while the run is open as truncated', async () => {
    const server = await serve(async (response) => {
      response.writeHead(200, SSE_HEADERS)
      response.write(sse([started(), ...text('Hi')]))
      await tick(20)
      response.destroy()
    })
    const { items, error } = await collectUntilError(
      fetchServerSentEvents(server.url).connect(messages, undefined, undefined, context),
    )
    expect(items).toHaveLength(5)
    expect(error).toMatchObject({ name: 'StreamTruncatedError', code: 'truncated' })
    expect(error.cause).toBeInstanceOf(Error)
    expect(server.requests).toHaveLength(1)
  })

  it('gives a clean end of the bytes while the run is open as truncated', async () => {
    const server = await serve(answerWith(sse([started(), ...text('Hi')])))
    const { error } = await collectUntilError(fetchServerSentEvents(server.url).connect(messages, undefined, undefined, context))
    expect(error).toMatchObject({ code: 'truncated' })
    expect(error.message).toMatch(/missingTerminal/)
  })

  it("finishes there with missingTerminal: 'finish', with the ids last seen", async () => {
    const server = await serve(answerWith(sse([started('seen', 'thread')])))
    const connection = fetchServerSentEvents(server.url, { missingTerminal: 'finish' })
    const chunks = await collect(connection.connect(messages, undefined, undefined, context))
    expect(chunks.at(-1)).toEqual({ type: 'RUN_FINISHED', threadId: 'thread', runId: 'seen' })
  })

  it('reads [DONE] as RUN_FINISHED with the ids last seen, and nothing after it', async () => {
    const server = await serve(answerWith(`${sse([started('seen')])}data: [DONE]\n\n${sse([failed()])}`))
    const chunks = await collect(fetchServerSentEvents(server.url).connect(messages, undefined, undefined, context))
    expect(chunks).toEqual([started('seen'), { type: 'RUN_FINISHED', threadId: 't1', runId: 'seen' }])
  })

  it('adds nothing for [DONE] after a terminal event', async () => {
    const server = await serve(answerWith(`${sse(hello())}data: [DONE]\n\n`))
    expect(await collect(fetchServerSentEvents(server.url).connect(messages, undefined, undefined, context))).toEqual(hello())
  })

  it('does not take a RUN_FINISHED that is followed by more for the end', async () => {
    const server = await serve(answerWith(sse([started(), finished(), { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: '1' }])))
    const { error } = await collectUntilError(fetchServerSentEvents(server.url).connect(messages, undefined, undefined, context))
    expect(error).toMatchObject({ code: 'truncated' })
  })

  it('gives a frame that is no JSON as malformed, after what came before it in the same read', async () => {
    const server = await serve(answerWith(`${sse([started()])}data: {nonsense}\n\n`))
    const { items, error } = await collectUntilError(
      fetchServerSentEvents(server.url).connect(messages, undefined, undefined, context),
    )
    expect(items).toEqual([started()])
    expect(error).toMatchObject({ name: 'ProtocolError', code: 'malformed' })
  })

  it('gives the same events however the bytes are cut', async () => {
    const whole = Buffer.from(recording('tanstack-tools.sse'))
    const expected = await collect(
      fetchServerSentEvents((await serve(answerWith(whole))).url).connect(messages, undefined, undefined, context),
    )
    const server = await serve(async (response) => {
      response.writeHead(200, SSE_HEADERS)
      for (let at = 0; at < whole.length; at += 97) {
        response.write(whole.subarray(at, at + 97))
        if (at % 10 === 0) await tick()
      }
      response.end()
    })
    const chunks = await collect(fetchServerSentEvents(server.url).connect(messages, undefined, undefined, context))
    expect(chunks).toEqual(expected)
    expect(types(chunks).filter((type) => type === 'RUN_FINISHED')).toHaveLength(2)
  })

  it('ends without error when the caller aborts, and closes the connection', async () => {
    const server = await serve((response) => {
      response.writeHead(200, SSE_HEADERS)
      response.write(sse([started()]))
    })
    const controller = new AbortController()
    const chunks = []
    for await (const chunk of fetchServerSentEvents(server.url).connect(messages, undefined, controller.signal, context)) {
      chunks.push(chunk)
      controller.abort()
    }
    expect(chunks).toEqual([started()])
    await until(() => server.cut() === 1)
  })

  it('ends without error when the caller aborts before the answer', async () => {
    const server = await serve(() => {})
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 20)
    expect(await collect(fetchServerSentEvents(server.url).connect(messages, undefined, controller.signal, context))).toEqual([])
    await until(() => server.cut() === 1)
  })

  it('sends nothing when the caller has aborted already', async () => {
    const server = await serve(answerWith(sse(hello())))
    const chunks = await collect(fetchServerSentEvents(server.url).connect(messages, undefined, AbortSignal.abort(), context))
    expect(chunks).toEqual([])
    expect(server.requests).toEqual([])
  })

  it("gives an abort by the connection's own signal as aborted", async () => {
    const server = await serve((response) => {
      response.writeHead(200, SSE_HEADERS)
      response.write(sse([started()]))
    })
    const own = new AbortController()
    const connection = fetchServerSentEvents(server.url, { signal: own.signal })
    const error = await caught(async () => {
      for await (const chunk of connection.connect(messages, undefined, new AbortController().signal, context)) {
        expect(chunk).toEqual(started())
        own.abort()
      }
    })
    expect(error).toMatchObject({ name: 'TransportError', code: 'aborted' })
  })

  it('closes the connection when the consumer leaves', async () => {
    const server = await serve((response) => {
      response.writeHead(200, SSE_HEADERS)
      response.write(sse([started()]))
    })
    for await (const _ of fetchServerSentEvents(server.url).connect(messages, undefined, undefined, context)) break
    await until(() => server.cut() === 1)
  })

  it('uses the fetch it is given', async () => {
    const seen: unknown[] = []
    const fetchClient: typeof fetch = async (input, init) => {
      seen.push(input, init?.method, init?.credentials)
      return new Response(sse(hello()), { headers: SSE_HEADERS })
    }
    const connection = fetchServerSentEvents('/relative', { fetchClient, credentials: 'include' })
    expect(await collect(connection.connect(messages, undefined, undefined, context))).toEqual(hello())
    expect(seen).toEqual(['/relative', 'POST', 'include'])
  })

  it('leaves no listener on a signal that outlives it', async () => {
    const server = await serve(answerWith(sse(hello())))
    const listeners = new Set<unknown>()
    const signal = new AbortController().signal
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (type: string, listener: any, options?: any) => {
      listeners.add(listener)
      add(type, listener, options)
    }
    signal.removeEventListener = (type: string, listener: any) => {
      listeners.delete(listener)
      remove(type, listener)
    }
    await collect(
      fetchServerSentEvents(server.url, { signal }).connect(messages, undefined, new AbortController().signal, context),
    )
    expect(listeners.size).toBe(0)
  })
})

describe('fetchHttpStream', () => {
  it('reads a line for each event, and envelopes', async () => {
    const [first, ...rest] = hello()
    const server = await serve(answerWith(ndjson([first, ...rest.map((chunk, id) => ({ id: String(id), chunk }))]), { 'content-type': 'application/x-ndjson' }))
    expect(await collect(fetchHttpStream(server.url).connect(messages, undefined, undefined, context))).toEqual(hello())
    expect(server.requests[0]?.headers.accept).toMatch(/^application\/x-ndjson/)
  })

  it('reads what TanStack AI sends', async () => {
    const server = await serve(answerWith(recording('tanstack-hello-ndjson.ndjson'), { 'content-type': 'application/json' }))
    const chunks = await collect(fetchHttpStream(server.url).connect(messages, undefined, undefined, context))
    expect(types(chunks)).toContain('TEXT_MESSAGE_CONTENT')
    expect(chunks.at(-1)?.type).toBe('RUN_FINISHED')
  })

  it('takes a last line without its end if it is whole, and gives one that is cut as truncated', async () => {
    const whole = ndjson(hello()).trimEnd()
    const good = await serve(answerWith(whole, {}))
    expect(await collect(fetchHttpStream(good.url).connect(messages, undefined, undefined, context))).toEqual(hello())
    const bad = await serve(answerWith(whole.slice(0, -3), {}))
    const { items, error } = await collectUntilError(fetchHttpStream(bad.url).connect(messages, undefined, undefined, context))
    expect(items).toEqual(hello().slice(0, -1))
    expect(error).toBeInstanceOf(StreamTruncatedError)
  })

  it('refuses server-sent events and names the connection for them', async () => {
    const server = await serve(answerWith(sse(hello())))
    const { error } = await collectUntilError(fetchHttpStream(server.url).connect(messages, undefined, undefined, context))
    expect(error).toMatchObject({ code: 'content-type' })
    expect(error.message).toMatch(/fetchServerSentEvents/)
  })
})
