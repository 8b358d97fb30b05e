/**
 * Our client against TanStack AI's durable servers, cut over real sockets: a run with a tool of the server, so that
 * RUN_FINISHED comes once for each model turn, cut behind any of its events. Then joining and hydrating.
 */
import {
  ChatClient,
  fetchHttpStream,
  fetchServerSentEvents,
  webSocket,
  xhrServerSentEvents,
  type ConnectionAdapter,
  type FetchConnectionOptions,
  type TurnResult,
} from '@millrace/client'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { cuttingProxy, type Cut } from './cutting-proxy.ts'
import { collect, types, until, userMessage } from './events.ts'
import { lines } from './interop-script.ts'
import { nodeXhr } from './node-xhr.ts'
import { SLOW_TEXT, startTanstackServer, WEATHER_TEXT, type TanstackServer } from './tanstack-server.ts'

let server: TanstackServer
beforeAll(async () => {
  server = await startTanstackServer()
})
afterAll(() => server.close())

const ANSWER = ['user: weather?', 'assistant: Let me look.', 'getWeather({"city":"Zürich"}) = {"city":"Zürich","degrees":4}', `assistant: ${WEATHER_TEXT}`]

/** Behind the nth place of a text, up to the first of these ends. */
const behindText =
  (mark: string, nth: number, ends: string): Cut =>
  (answer) => {
    let at = -1
    for (let n = 0; n < nth; n++) {
      at = answer.indexOf(mark, at + 1)
      if (at < 0) return undefined
    }
    const end = answer.indexOf(ends, at)
    return end < 0 ? undefined : end + ends.length
  }
/** Names of cuts, and one cut for each connection in turn. `end` ends an event. */
function places(end: string): [name: string, ...cuts: Cut[]][] {
  const behind = (type: string, nth = 1): Cut => behindText(`"type":"${type}"`, nth, end)
  return [
    ['behind run.accepted', behind('CUSTOM')],
    ['behind RUN_STARTED', behind('RUN_STARTED')],
    ['in the middle of a text', behindText('"delta"', 1, ':"')],
    ['behind the call', behind('TOOL_CALL_END')],
    ['behind the RUN_FINISHED of the model turn', behind('RUN_FINISHED')],
    ['behind the result', behind('TOOL_CALL_RESULT')],
    ['in the second text', behind('TEXT_MESSAGE_START', 2)],
    ['behind the last event', behind('RUN_FINISHED', 2)],
    ['behind each RUN_FINISHED', behind('RUN_FINISHED'), behind('RUN_FINISHED')],
    ['again and again', behind('TEXT_MESSAGE_CONTENT'), behind('TOOL_CALL_ARGS'), behind('TOOL_CALL_RESULT'), behind('TEXT_MESSAGE_CONTENT')],
  ]
}

interface Played {
  readonly result: TurnResult
  readonly shown: string[]
  readonly requests: readonly string[]
  readonly started: number
  readonly rules: readonly string[]
}

async function play(path: string, cuts: readonly Cut[], connect: (url: string) => ConnectionAdapter): Promise<Played> {
  const proxy = await cuttingProxy(`${server.url}${path}`, (request) => cuts[request] ?? Infinity)
  const before = server.started.length
  const rules: string[] = []
  const connection = connect(proxy.url) as ConnectionAdapter & { close?(): void }
  const chat = new ChatClient({ connection, onDiagnostic: ({ rule }) => void rules.push(rule) })
  const result = await chat.sendMessage('weather?')
  const shown = lines(chat.getSnapshot().messages)
  chat.dispose()
  connection.close?.()
  await proxy.close()
  return { result, shown, requests: proxy.requests, started: server.started.length - before, rules }
}

const reconnect = { delayMs: 1, random: () => 0 }
const HTTP: readonly [name: string, path: string, make: (options: FetchConnectionOptions) => (url: string) => ConnectionAdapter][] = [
  ['fetchServerSentEvents', '/durable/sse', (options) => (url) => fetchServerSentEvents(url, options)],
  ['fetchHttpStream', '/durable/ndjson', (options) => (url) => fetchHttpStream(url, options)],
  ['xhrServerSentEvents', '/durable/sse', ({ resume = 'auto' }) => (url) => xhrServerSentEvents(url, { resume, reconnect, xhrFactory: nodeXhr })],
]

for (const [name, path, make] of HTTP) {
  describe.each(['auto', 'get', 'post'] as const)(`${name}, resumed by %s`, (resume) => {
    const connect = make({ resume, reconnect })

    it('uncut: the note before the run loses nothing', async () => {
      const { result, shown, started, rules } = await play(path, [], connect)
      expect({ result, shown, started }).toEqual({ result: { outcome: 'finished' }, shown: ANSWER, started: 1 })
      expect(rules).toContain('tolerated.note-before-run')
    })

    it.each(places(path.endsWith('sse') ? '\n\n' : '\n'))('cut %s: the same, and the model is asked once', async (_, ...cuts) => {
      const { result, shown, requests, started } = await play(path, cuts, connect)
      expect({ result, shown, started }).toEqual({ result: { outcome: 'finished' }, shown: ANSWER, started: 1 })
      expect(requests.length).toBeGreaterThan(1)
      const again = new Set(requests.slice(1).map((request) => request.split(' ')[0]))
      expect([...again]).toEqual([resume === 'post' ? 'POST' : 'GET'])
    })

    it('cut before anything was heard: the model is not asked twice', async () => {
      const { result, shown, started } = await play(path, [0], connect)
      expect(started).toBe(1)
      // Only by GET, and only under the id that a header names, does such a server find a run of which nothing is known.
      if (resume === 'get') expect({ result, shown }).toEqual({ result: { outcome: 'finished' }, shown: ANSWER })
      else expect({ outcome: result.outcome, shown }).toEqual({ outcome: 'error', shown: ['user: weather?'] })
    })
  })
}

describe('webSocket', () => {
  const connect = (url: string): ConnectionAdapter => webSocket(url.replace('http', 'ws'), { WebSocketImpl: WebSocket, reconnect, lingerMs: 0 })

  it('uncut: the note before the run loses nothing', async () => {
    const { result, shown, started } = await play('/durable/ws', [], connect)
    expect({ result, shown, started }).toEqual({ result: { outcome: 'finished' }, shown: ANSWER, started: 1 })
  })

  // Frames of a WebSocket have no line ends: an event ends with the envelope around it.
  const frame = (type: string, nth: number, end: string): Cut => behindText(`"type":"${type}"`, nth, end)

  it.each([
    ['in the middle of a text', behindText('"delta"', 1, ':"')],
    ['behind the call', frame('TOOL_CALL_END', 1, '}}}}}')],
    ['behind the RUN_FINISHED of the model turn', frame('RUN_FINISHED', 1, '}}}}')],
  ])('cut %s: such a server ends a run with its socket; what it stored is here, and nothing is taken for an answer', async (_, place) => {
    const { result, shown, requests, started } = await play('/durable/ws', [place], connect)
    expect(started).toBe(1)
    expect(requests.length).toBeGreaterThan(1)
    expect(requests.slice(1).every((request) => request.includes('offset='))).toBe(true)
    expect(shown).toEqual(ANSWER.slice(0, shown.length))
    if (shown.length < ANSWER.length) expect(result.outcome).not.toBe('finished')
  })

  it('cut behind the last event: the answer is whole', async () => {
    const { result, shown, started } = await play('/durable/ws', [frame('RUN_FINISHED', 2, '}}}}')], connect)
    expect({ result, shown, started }).toEqual({ result: { outcome: 'finished' }, shown: ANSWER, started: 1 })
  })
})

describe('coming back', () => {
  const over: readonly [string, string, (url: string) => ReturnType<typeof fetchServerSentEvents>][] = [
    ['fetchServerSentEvents', '/durable/sse', (url) => fetchServerSentEvents(url, { resume: 'get', reconnect })],
    ['fetchHttpStream', '/durable/ndjson', (url) => fetchHttpStream(url, { resume: 'get', reconnect })],
  ]

  it.each(over)('%s: a run is joined from its start, while it goes on and when it is over', async (_, path, connect) => {
    const connection = connect(server.url + path)
    const runId = `joined-${Math.random()}`
    const first = collect(connection.connect([userMessage('slow')], undefined, undefined, { threadId: 't', runId }))
    await until(() => server.running.has(runId))
    const joined = await collect(connection.joinRun(runId))
    expect(joined).toEqual(await first)
    expect(types(joined).slice(0, 2)).toEqual(['CUSTOM', 'RUN_STARTED'])
    expect(await collect(connection.joinRun(runId))).toEqual(joined)
    expect(server.started.filter((run) => run.runId === runId)).toHaveLength(1)
  })

  it.each(over)('%s: a run that is not there is an error, and soon', async (_, path, connect) => {
    const failure = await collect(connect(server.url + path).joinRun('nowhere')).catch((error: unknown) => error)
    expect(Array.isArray(failure) ? failure.at(-1) : failure).toMatchObject(Array.isArray(failure) ? { type: 'RUN_ERROR' } : { name: 'StreamTruncatedError' })
  })

  it.each(over)('%s: a page that is loaded again has the thread and the run that goes on', async (_, path, connect) => {
    const threadId = `back-${path}`
    const before = new ChatClient({ threadId, connection: connect(server.url + path) })
    const sending = before.sendMessage('slow')
    await until(() => lines(before.getSnapshot().messages).length === 2)
    before.detach()
    expect(await sending).toEqual({ outcome: 'running' })
    const { runId } = server.started.at(-1) as { runId: string }
    server.threads.set(threadId, {
      messages: [
        { id: 'u0', role: 'user', parts: [{ type: 'text', content: 'Earlier' }], createdAt: '2026-01-01T00:00:00.000Z' },
        {
          id: 'a0',
          role: 'assistant',
          parts: [
            { type: 'thinking', content: 'Hm' },
            { type: 'text', content: 'Let me see' },
            { type: 'tool-call', id: 'c0', name: 'getWeather', arguments: '{}', state: 'complete', input: {}, output: { degrees: 4 } },
            { type: 'tool-result', toolCallId: 'c0', content: '{"degrees":4}', state: 'complete' },
            { type: 'text', content: 'Cold' },
          ],
          createdAt: '2026-01-01T00:00:01.000Z',
        },
        { id: 'u1', role: 'user', parts: [{ type: 'text', content: 'slow' }], createdAt: '2026-01-01T00:00:02.000Z' },
      ],
      activeRun: { runId },
      interrupts: null,
      page: { truncated: false },
    })
    const after = new ChatClient({ threadId, connection: connect(server.url + path) })
    onTestFinished(() => after.dispose())
    expect(await after.attach()).toEqual({ outcome: 'finished' })
    expect(lines(after.getSnapshot().messages)).toEqual([
      'user: Earlier',
      'thinking',
      'assistant: Let me see',
      'getWeather({}) = {"degrees":4}',
      'assistant: Cold',
      'user: slow',
      `assistant: ${SLOW_TEXT}`,
    ])
  })

  it('a question that is open there is asked here again, and can be answered', async () => {
    const threadId = 'asked'
    const connection = (): ReturnType<typeof fetchServerSentEvents> => fetchServerSentEvents(`${server.url}/durable/sse`, { reconnect })
    const before = new ChatClient({ threadId, connection: connection() })
    expect(await before.sendMessage('colour?')).toEqual({ outcome: 'interrupted' })
    const { interrupts, messages } = before.getSnapshot()
    const { runId } = server.started.at(-1) as { runId: string }
    server.threads.set(threadId, { messages: JSON.parse(JSON.stringify(messages)), activeRun: null, interrupts: { runId, pending: interrupts } })
    const after = new ChatClient({ threadId, connection: connection() })
    expect(await after.attach()).toBeUndefined()
    expect(after.getSnapshot()).toMatchObject({ error: undefined, interrupts: [{ id: 'client_tool_call_pick' }] })
    expect(await after.respond('client_tool_call_pick', { status: 'resolved', payload: 'red' })).toEqual({ outcome: 'finished' })
    expect(lines(after.getSnapshot().messages)).toEqual(['user: colour?', 'assistant: Choose.', 'pickColour({"from":2}) = "red"', 'assistant: It is red.'])
  })
})
