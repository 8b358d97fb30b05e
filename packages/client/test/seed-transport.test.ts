/**
 * The behaviours of the transport and wire chapter that this package began from, one short test for each, under the
 * chapter's section numbers. Where the design departs from the chapter, the test says so and shows both. What surrounds
 * each behaviour is tested beside its source.
 */
import {
  abortableIterable,
  ChatClient,
  fetcherToConnectionAdapter,
  fetchHttpStream,
  fetchServerSentEvents,
  getChunkRunId,
  getResponseStreamReader,
  normalizeConnectionAdapter,
  readStreamLines,
  readXhrLines,
  requireSyntheticId,
  responseToSSEChunks,
  rpcStream,
  stream,
  StreamTruncatedError,
  UnsupportedResponseStreamError,
  xhrHttpStream,
  xhrServerSentEvents,
  type ByteReader,
  type ConnectionAdapter,
  type RunAgentInputContext,
  type StreamChunk,
} from '@millrace/client'
import { buildRunAgentInput, uiMessagesToWire, type UIMessage, type UIPart } from '@millrace/protocol'
import { describe, expect, it } from 'vitest'
import { caught, collect, collectUntilError, finished, hello, iterate, ndjson, sse, started, text, tick, userMessage } from './events.ts'
import { nodeXhr } from './node-xhr.ts'
import { answerWith, serve, SSE_HEADERS } from './serve.ts'

const context: RunAgentInputContext = { threadId: 't1', runId: 'r1' }
const messages = [userMessage()]

/** One send through the normalised shape: what its subscriber got, and what send() rejected with. */
async function sent(connection: ConnectionAdapter, runContext: RunAgentInputContext | undefined = context): Promise<{ events: StreamChunk[]; error: any }> {
  const { subscribe, send } = normalizeConnectionAdapter(connection)
  const controller = new AbortController()
  const events: StreamChunk[] = []
  const reading = (async () => {
    for await (const event of subscribe(controller.signal)) events.push(event)
  })()
  const error = await caught(() => send(messages, undefined, undefined, runContext))
  await tick()
  controller.abort()
  await reading
  return { events, error }
}

const response = (body: string): Response => new Response(body, { headers: SSE_HEADERS })
const sseChunks = (body: string, options = {}): Promise<StreamChunk[]> => collect(responseToSSEChunks(response(body), undefined, options))

/** A body that comes in these pieces. */
function bodyOf(...pieces: (string | Uint8Array)[]): ByteReader {
  const rest = pieces.map((piece) => (typeof piece === 'string' ? new TextEncoder().encode(piece) : piece))
  return { read: async () => (rest.length > 0 ? { done: false, value: rest.shift() } : { done: true }), cancel: async () => {} }
}

const onWire = (role: UIMessage['role'], ...parts: UIPart[]) => uiMessagesToWire([{ id: 'm', role, parts }])

describe('§2 two shapes of a connection', () => {
  it('§2.1 a connection with connect() is one request, one stream', async () => {
    expect((await sent({ connect: () => iterate(hello()) })).events).toEqual(hello())
  })

  it('§2.1 a connection with subscribe() and send() receives on a channel of its own', async () => {
    const waiting: StreamChunk[] = []
    const connection: ConnectionAdapter = {
      async *subscribe(signal) {
        while (!signal?.aborted) {
          const next = waiting.shift()
          if (next === undefined) await tick()
          else yield next
        }
      },
      send: async () => void waiting.push(...hello()),
    }
    const chat = new ChatClient({ connection, threadId: 't1' })
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
  })
})

describe('§3 one shape of two', () => {
  it('§3.1 both shapes at once are refused', async () => {
    const both = { connect: () => iterate([]), subscribe: () => iterate([]), send: async () => {} }
    expect(await caught(() => normalizeConnectionAdapter(both))).toMatchObject({ name: 'UsageError', code: 'both-adapter-shapes' })
  })

  it('§3.1 neither shape is refused', async () => {
    expect(await caught(() => normalizeConnectionAdapter({} as never))).toMatchObject({ name: 'UsageError', code: 'no-adapter-shape' })
  })

  it('§3.1 subscribe() and send() are passed on as they are, bound to their object', async () => {
    const own = {
      sends: 0,
      subscribe: () => iterate(hello()),
      async send(this: { sends: number }) {
        this.sends++
      },
    }
    const { subscribe, send } = normalizeConnectionAdapter(own)
    expect(await collect(subscribe())).toEqual(hello())
    await send(messages)
    expect(own.sends).toBe(1)
  })

  it('§3.2 what comes before anybody waits is kept for who then asks', async () => {
    const { subscribe, send } = normalizeConnectionAdapter(stream(() => hello()))
    const controller = new AbortController()
    const subscription = subscribe(controller.signal)[Symbol.asyncIterator]()
    await send(messages, undefined, undefined, context)
    expect(await subscription.next()).toEqual({ done: false, value: started() })
    controller.abort()
  })

  it('§3.2 who waits gets the next chunk at once', async () => {
    const { subscribe, send } = normalizeConnectionAdapter(stream(() => hello()))
    const controller = new AbortController()
    const next = subscribe(controller.signal)[Symbol.asyncIterator]().next()
    void send(messages, undefined, undefined, context)
    expect(await next).toEqual({ done: false, value: started() })
    controller.abort()
  })

  it('§3.3 the newest subscriber takes over what is buffered, and all that comes; the one before gets nothing more (departure: it ends, where the chapter leaves it waiting)', async () => {
    const { subscribe, send } = normalizeConnectionAdapter(stream(() => hello()))
    const old = collect(subscribe())
    const controller = new AbortController()
    const events: StreamChunk[] = []
    const reading = (async () => {
      for await (const event of subscribe(controller.signal)) events.push(event)
    })()
    await send(messages, undefined, undefined, context)
    await tick()
    controller.abort()
    await reading
    expect(events).toEqual(hello())
    expect(await old).toEqual([])
  })

  it('§3.3 abort ends a subscriber that waits, without an error', async () => {
    const controller = new AbortController()
    const reading = collect(normalizeConnectionAdapter(stream(() => [])).subscribe(controller.signal))
    await tick()
    controller.abort()
    expect(await reading).toEqual([])
  })

  it('§3.4 a stream that ends cleanly without a terminal event is finished with the ids that were seen', async () => {
    const { events, error } = await sent(stream(() => iterate([started('seen', 'thread')])))
    expect(events.at(-1)).toEqual({ type: 'RUN_FINISHED', threadId: 'thread', runId: 'seen' })
    expect(error).toBeUndefined()
  })

  it('§3.4 with no ids seen, those of the caller are used', async () => {
    expect((await sent(stream(() => []))).events).toEqual([finished()])
  })

  it('§3.4 a stream that throws without a terminal event gives RUN_ERROR, and send() rejects with the error itself', async () => {
    const boom = new Error('boom')
    const { events, error } = await sent(
      stream(async function* () {
        yield started()
        throw boom
      }),
    )
    expect(events).toMatchObject([started(), { type: 'RUN_ERROR', message: 'boom', ...context }])
    expect(error).toBe(boom)
  })

  it('§3.4 after a terminal event none is added, at an end and at an error', async () => {
    expect((await sent(stream(() => hello()))).events).toEqual(hello())
    const { events } = await sent(
      stream(async function* () {
        yield* hello()
        throw new Error('late')
      }),
    )
    expect(events).toEqual(hello())
  })

  it('§3.4 departure: bytes that end without a terminal event are cut (AG-UI 1.0), with what came kept; missingTerminal restores the chapter’s rule', async () => {
    const half = [started(), ...text('Half')]
    const server = await serve(answerWith(sse(half)))
    const strict = await sent(fetchServerSentEvents(server.url, { resume: 'off' }))
    expect(strict.events.slice(0, -1)).toEqual(half)
    expect(strict.events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'truncated' })
    expect(strict.error).toBeInstanceOf(StreamTruncatedError)
    const lenient = await sent(fetchServerSentEvents(server.url, { missingTerminal: 'finish' }))
    expect(lenient).toEqual({ events: [...half, finished()], error: undefined })
  })
})

describe('§4 the factories', () => {
  it.each([
    ['fetchServerSentEvents', fetchServerSentEvents, sse, 'text/event-stream', {}],
    ['fetchHttpStream', fetchHttpStream, ndjson, 'application/x-ndjson', {}],
    ['xhrServerSentEvents', xhrServerSentEvents, sse, 'text/event-stream', { xhrFactory: nodeXhr }],
    ['xhrHttpStream', xhrHttpStream, ndjson, 'application/x-ndjson', { xhrFactory: nodeXhr }],
  ] as const)('§4 %s POSTs a run input and parses the answer; URL and options may be functions that are asked each time', async (_, factory, encode, type, options) => {
    const server = await serve(answerWith(encode(hello()), { 'content-type': type }))
    let asked = 0
    const connection = factory(
      () => server.url,
      async () => ({ ...options, headers: { 'x-asked': String(++asked) } }),
    )
    for (let run = 0; run < 2; run++) expect((await sent(connection)).events).toEqual(hello())
    expect(server.requests.map(({ headers }) => headers['x-asked'])).toEqual(['1', '2'])
    expect(server.requests[0]?.body).toMatchObject({ threadId: 't1', runId: 'r1', messages: [{ role: 'user', content: 'Hi' }] })
  })

  it.each([
    ['stream', stream],
    ['rpcStream', rpcStream],
  ])('§4 %s hands messages over untouched, with their parts, and passes events through (departure: the signal and all of the run context go along)', async (_, factory) => {
    const seen: unknown[] = []
    const connection = factory((...args) => {
      seen.push(...args)
      return iterate(hello())
    })
    const { signal } = new AbortController()
    expect(await collect(connection.connect(messages, { a: 1 }, signal, context))).toEqual(hello())
    expect(seen).toEqual([messages, { a: 1 }, signal, context])
    expect(seen[0]).toBe(messages)
  })

  it('§4 lines of an XMLHttpRequest are cut from what is new of its text', async () => {
    const server = await serve(async (answer) => {
      answer.writeHead(200)
      answer.write('one\ntw')
      await tick(10)
      answer.end('o\n')
    })
    const xhr = nodeXhr()
    const lines = readXhrLines(xhr)
    xhr.open('POST', server.url)
    xhr.send()
    expect(await collect(lines)).toEqual(['one', 'two'])
  })

  it('§4 a fetcher is called with a signal and a run context, and without either says so', async () => {
    const connection = fetcherToConnectionAdapter(() => iterate(hello()))
    const { signal } = new AbortController()
    for (const chunks of [connection.connect(messages, undefined, undefined, context), connection.connect(messages, undefined, signal)]) {
      expect((await collectUntilError(chunks)).error).toMatchObject({ name: 'UsageError', code: 'fetcher-context' })
    }
  })

  it('§4 what a fetcher gives is read: a Response as server-sent events (departure: or as lines of JSON, by its content type), an iterable as it is', async () => {
    const { signal } = new AbortController()
    for (const source of [response(sse(hello())), new Response(ndjson(hello()), { headers: { 'content-type': 'application/x-ndjson' } }), iterate(hello())]) {
      expect(await collect(fetcherToConnectionAdapter(() => source).connect(messages, undefined, signal, context))).toEqual(hello())
    }
  })

  it('§4 a chat takes a fetcher in place of a connection', async () => {
    const chat = new ChatClient({ fetcher: () => response(sse(hello())), threadId: 't1' })
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
  })
})

describe('§5 the request', () => {
  it('§5.1 has the ids of the run, and a parent only if there is one', () => {
    expect(buildRunAgentInput({ messages, runContext: context })).toMatchObject(context)
    expect(buildRunAgentInput({ messages, runContext: context })).not.toHaveProperty('parentRunId')
    expect(buildRunAgentInput({ messages, runContext: { ...context, parentRunId: 'r0' } }).parentRunId).toBe('r0')
  })

  it('§5.1 has ids made for it if there is no run context', async () => {
    const server = await serve(answerWith(sse(hello())))
    await collect(fetchServerSentEvents(server.url).connect(messages))
    expect(server.requests[0]?.body).toMatchObject({ threadId: expect.stringMatching(/./), runId: expect.stringMatching(/./) })
  })

  it('§5.1 has the client’s tools, or none; an empty state and context (departure: those of the run context, if it has them)', () => {
    expect(buildRunAgentInput({ messages, runContext: context })).toMatchObject({ tools: [], state: {}, context: [] })
    const full = { ...context, clientTools: [{ name: 'f', description: 'F' }], state: { n: 1 }, context: [{ description: 'a', value: 'b' }] }
    expect(buildRunAgentInput({ messages, runContext: full })).toMatchObject({ tools: full.clientTools, state: full.state, context: full.context })
  })

  it('§5.1 later properties win: body, then forwardedProps, then those of the message; `data` is a mirror', () => {
    const { forwardedProps, data } = buildRunAgentInput({
      messages,
      body: { a: 1, b: 1, c: 1 },
      runContext: { ...context, forwardedProps: { b: 2, c: 2 } },
      data: { c: 3 },
    })
    expect(forwardedProps).toEqual({ a: 1, b: 2, c: 3 })
    expect(data).toEqual(forwardedProps)
  })

  it('§5.2 a system message goes as its text', () => {
    expect(onWire('system', { type: 'text', content: 'Be' }, { type: 'text', content: ' kind' })).toMatchObject([{ role: 'system', content: 'Be kind' }])
  })

  it('§5.2 a user message goes as text, and as a list as soon as there is media', () => {
    expect(onWire('user', { type: 'text', content: 'Look' })).toEqual([{ id: 'm', role: 'user', content: 'Look' }])
    const source = { type: 'url', value: 'https://a.example/b.png' } as const
    expect(onWire('user', { type: 'text', content: 'Look' }, { type: 'image', source })).toEqual([
      { id: 'm', role: 'user', content: [{ type: 'text', text: 'Look' }, { type: 'image', source }] },
    ])
  })

  it('§5.2 an answer fans out: thoughts before it, itself with text and calls, results after it', () => {
    const wire = onWire(
      'assistant',
      { type: 'thinking', content: 'Hm' },
      { type: 'text', content: 'Let me look.' },
      { type: 'tool-call', id: 'c1', name: 'look', arguments: '{}', state: 'complete' },
      { type: 'tool-result', toolCallId: 'c1', content: '4', state: 'complete' },
    )
    expect(wire).toMatchObject([
      { role: 'reasoning', content: 'Hm' },
      { id: 'm', role: 'assistant', content: 'Let me look.', toolCalls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }] },
      { role: 'tool', toolCallId: 'c1', content: '4' },
    ])
    expect(new Set(wire.map(({ id }) => id)).size).toBe(3)
  })

  it('§5.2 an answer without text has no content', () => {
    expect(onWire('assistant', { type: 'tool-call', id: 'c1', name: 'look', arguments: '{}', state: 'input-complete' })[0]).not.toHaveProperty('content')
  })

  it('§5.2 a structured output is said again as text when it is complete and could be written, and else not at all', () => {
    const part = (status: 'complete' | 'streaming' | 'error', raw: string): UIPart => ({ type: 'structured-output', status, raw })
    expect(onWire('assistant', part('complete', '{"a":1}'))).toMatchObject([{ content: '{"a":1}' }])
    for (const [status, raw] of [['complete', ''], ['streaming', '{"a'], ['error', '{"a']] as const) {
      expect(onWire('assistant', { type: 'text', content: 'So:' }, part(status, raw))).toMatchObject([{ content: 'So:' }])
    }
  })

  it('§5.2 departure: messages go without their UI parts, as AG-UI 1.0 has it; `wire: parts` sends them along, as the chapter does', () => {
    const parts: UIPart[] = [{ type: 'text', content: 'Hi' }]
    const asked = [{ id: 'm', role: 'user', parts }] as const
    expect(uiMessagesToWire(asked)[0]).not.toHaveProperty('parts')
    expect(uiMessagesToWire(asked, { wire: 'parts' })[0]).toMatchObject({ content: 'Hi', parts })
  })
})

describe('§6 the answer', () => {
  it('§6.1 lines are put together across reads, and characters across bytes', async () => {
    const bytes = new TextEncoder().encode('né\n')
    expect(await collect(readStreamLines(bodyOf('on', 'e\ntwo\n', bytes.slice(0, 2), bytes.slice(2))))).toEqual(['one', 'two', 'né'])
  })

  it('§6.1 a body that ends inside a line was cut', async () => {
    const { items, error } = await collectUntilError(readStreamLines(bodyOf('one\ntw')))
    expect(items).toEqual(['one'])
    expect(error).toBeInstanceOf(StreamTruncatedError)
  })

  it('§6.1 …but not if the reader itself has stopped it', async () => {
    const controller = new AbortController()
    const lines: string[] = []
    for await (const line of readStreamLines(bodyOf('one\ntw'), controller.signal)) {
      lines.push(line)
      controller.abort()
    }
    expect(lines).toEqual(['one'])
  })

  it('§6.2 comments, event names, ids and retry times are no data', async () => {
    expect(await sseChunks(`: keep-alive\nevent: x\nid: 7\nretry: 9\n${sse(hello())}`)).toEqual(hello())
  })

  it('§6.2 departure: an id is the run’s cursor, and a broken answer is read on behind it', async () => {
    const lines = hello().map((event, index) => `id: ${index}\ndata: ${JSON.stringify(event)}\n\n`)
    const server = await serve(async (answer, count, request) => {
      answer.writeHead(200, SSE_HEADERS)
      answer.write((count === 1 ? lines.slice(0, 4) : lines.slice(Number(request.headers['last-event-id']) + 1)).join(''))
      await tick(10)
      if (count === 1) answer.destroy()
      else answer.end()
    })
    const connection = fetchServerSentEvents(server.url, { reconnect: { random: () => 0 } })
    expect((await sent(connection)).events).toEqual(hello())
    expect(server.methods).toEqual(['POST', 'GET'])
  })

  it('§6.2 the prefix may have a space or none, and a line of bare JSON is an event', async () => {
    const [a, b, ...rest] = hello().map((event) => JSON.stringify(event))
    expect(await sseChunks(`data:${a}\n\ndata: ${b}\n\n${rest.map((line) => `${line}\n`).join('')}`)).toEqual(hello())
  })

  it('§6.2 [DONE] is the end of the run, with the ids and the model last seen', async () => {
    const chunks = await sseChunks(`${sse([{ ...started('seen', 'thread'), model: 'm-1' }])}data: [DONE]\n\n`)
    expect(chunks.at(-1)).toEqual({ type: 'RUN_FINISHED', threadId: 'thread', runId: 'seen', model: 'm-1' })
  })

  it('§6.2 what is no JSON is an error, after what came before it', async () => {
    const { items, error } = await collectUntilError(responseToSSEChunks(response(`${sse([started()])}data: {nonsense\n\n`)))
    expect(items).toEqual([started()])
    expect(error).toMatchObject({ name: 'ProtocolError', code: 'malformed' })
  })

  it('§6.3 a chunk without a run id is known by the request it came from; its own id comes first; the event stays as it is', async () => {
    const { events } = await sent(stream(() => iterate([started('own'), ...text('a')])), { threadId: 't1', runId: 'asked' })
    expect(events.slice(0, 2).map(getChunkRunId)).toEqual(['own', 'asked'])
    expect(events[1]).toEqual(text('a')[0])
  })
})

describe('§7 guards', () => {
  it.each([
    ['fetch', (url: string) => fetchServerSentEvents(url, { resume: 'off' })],
    ['XHR', (url: string) => xhrServerSentEvents(url, { xhrFactory: nodeXhr, resume: 'off' })],
  ])('§7.1 over %s an answer that is cut is no success: the chat is in error, and shows what came', async (_, factory) => {
    const server = await serve(answerWith(`${sse([started(), ...text('Half')])}data: {"type":"TEXT`))
    const chat = new ChatClient({ connection: factory(server.url), threadId: 't1' })
    expect(await chat.sendMessage('Hi')).toMatchObject({ outcome: 'truncated' })
    const snapshot = chat.getSnapshot()
    expect(snapshot.status).toBe('error')
    expect(snapshot.error).toBeInstanceOf(StreamTruncatedError)
    expect(snapshot.messages.at(-1)?.parts).toMatchObject([{ content: 'Half' }])
  })

  it('§7.2 an end that has to be made up takes its ids from the stream, else from the caller, and else is an error', async () => {
    expect(requireSyntheticId('runId', 'seen', 'given')).toBe('seen')
    expect(requireSyntheticId('runId', undefined, 'given')).toBe('given')
    expect(await caught(() => requireSyntheticId('runId', undefined, undefined))).toMatchObject({ name: 'UsageError', code: 'missing-synthetic-id' })
    const { subscribe, send } = normalizeConnectionAdapter(stream(() => []))
    void subscribe()
    expect(await caught(() => send(messages))).toMatchObject({ code: 'missing-synthetic-id' })
  })

  it('§7.2 departure: no transport invents ids, XHR neither: it sends some with the request, and ends with those', async () => {
    const server = await serve(answerWith('data: [DONE]\n\n'))
    const chunks = await collect(xhrServerSentEvents(server.url, { xhrFactory: nodeXhr }).connect(messages))
    const { threadId, runId } = server.requests[0]?.body ?? {}
    expect(chunks).toEqual([{ type: 'RUN_FINISHED', threadId, runId }])
    expect(runId).toMatch(/./)
  })

  it('§7.3 an iterable that ignores the signal is left as soon as it aborts, and told', async () => {
    let told = 0
    const deaf = { next: () => new Promise<never>(() => {}), return: async () => (told++, { done: true as const, value: undefined }) }
    const controller = new AbortController()
    const reading = collect(abortableIterable({ [Symbol.asyncIterator]: () => deaf }, controller.signal))
    await tick()
    controller.abort()
    expect(await reading).toEqual([])
    expect(told).toBe(1)
  })
})

describe('§9 bounds', () => {
  it('§9 the name of an SSE event says nothing; the type is in the event', async () => {
    expect(await sseChunks(`event: RUN_ERROR\ndata: ${JSON.stringify(started())}\n\n${sse(hello().slice(1))}`)).toEqual(hello())
  })

  it('§9 an XMLHttpRequest keeps its whole text (departure: up to a limit, past which it says to use fetch)', async () => {
    const server = await serve(answerWith(sse([started(), ...text('x'.repeat(20))])))
    const { error } = await sent(xhrServerSentEvents(server.url, { xhrFactory: nodeXhr, limits: { maxResponseLength: 100 }, resume: 'off' }))
    expect(error).toBeInstanceOf(StreamTruncatedError)
    expect(error.message).toMatch(/fetch/)
  })

  it('§9 a runtime that cannot stream a response is told so, with the connections that can', async () => {
    const error = await caught(() => getResponseStreamReader({ status: 200, url: '', body: undefined } as never))
    expect(error).toBeInstanceOf(UnsupportedResponseStreamError)
    expect(error.message).toMatch(/xhr/)
  })
})
