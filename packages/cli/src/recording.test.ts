/** Round trips: a session with a real server is recorded, checked, folded and replayed, and is the same each time. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ChatClient, defineTool, fetchHttpStream, fetchServerSentEvents, type ConnectConnectionAdapter } from '@millrace/client'
import { recordConnection } from '@millrace/client/recording'
import { createRunHandler, type Agent } from '@millrace/server'
import { toNodeListener } from '@millrace/server/node'
import { describe, expect, it, onTestFinished } from 'vitest'
import { check } from './commands/check.ts'
import { fold } from './commands/fold.ts'
import type { Source } from './input/source.ts'
import { readRuns } from './replay/recorded-runs.ts'
import { replayListener } from './replay/server.ts'

/** What can come over the wire, by what the user says. */
const agent: Agent = async (input, run) => {
  const last = input.messages.at(-1)
  if (input.resume !== undefined) return void (await run.text(`Answer: ${JSON.stringify(input.resume[0]?.payload)}`))
  if (last?.role === 'tool') return void (await run.text(`It is ${String(last.content)}.`))
  switch (last?.content) {
    case 'think':
      await run.reasoning('Hm.')
      await run.state.set({ count: 1, list: ['a'] })
      await run.state.patch([{ op: 'add', path: '/list/-', value: 'b' }])
      return void (await run.text('I have thought.'))
    case 'look': {
      const { messageId } = await run.text('Let me look. ')
      const call = await run.toolCall('search', { q: 'x' }, { parentMessageId: messageId })
      await call.result('found')
      await run.toolCall('where', {}, { parentMessageId: messageId })
      return
    }
    case 'ask':
      await run.text('Really?')
      return run.interrupt({ id: 'q1', reason: 'confirm' })
    case 'long':
      await run.text('So')
      return new Promise((resolve) => run.signal.addEventListener('abort', () => resolve(), { once: true }))
    default:
      await run.text('You said something.')
  }
}

async function serve(listener: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const ids = () => {
  let id = 0
  return (kind: string) => `${kind}-${++id}`
}
const where = defineTool({ name: 'where', description: 'where the user is', execute: () => 'Oslo' })
const newChat = (connection: ConnectConnectionAdapter) => new ChatClient({ connection, threadId: 't1', generateId: ids(), tools: [where] })

/** The session of a user: each word is sent, questions are answered. */
async function play(chat: ChatClient, words: readonly string[]): Promise<void> {
  for (const word of words) {
    const { outcome } = await chat.sendMessage(word)
    if (outcome === 'interrupted') await chat.respond('q1', { status: 'resolved', payload: { ok: true } })
  }
}

const source = (text: string): Source => ({ name: 'recording', hint: '', chunks: (async function* () { yield new TextEncoder().encode(text) })() })
const folded = (text: string) => fold(source(text), { message: '', header: [], mode: 'strict' })
const checked = async (text: string) => {
  const { diagnostics, format, runs } = await check(source(text), {}, new Map())
  return { format, outcomes: runs.map(({ outcome }) => outcome), found: diagnostics.filter(({ severity }) => severity !== 'info') }
}
const shown = (chat: ChatClient) => {
  const { messages, state, interrupts, runs } = chat.getSnapshot()
  return { ui: messages.map(({ id, role, parts, metadata }) => ({ id, role, parts, ...(metadata !== undefined && { metadata }) })), state, interrupts, outcomes: runs.map(({ outcome }) => outcome) }
}

async function recordedSession(words: readonly string[], connect = fetchServerSentEvents, act: (chat: ChatClient) => Promise<unknown> = (chat) => play(chat, words)) {
  const handler = createRunHandler({ agent, authorize: () => true })
  onTestFinished(() => handler.stop())
  const recording = recordConnection(connect(await serve(toNodeListener(handler))))
  const chat = newChat(recording.connection)
  await act(chat)
  return { chat, text: recording.toText(), recording }
}

const WORDS = ['think', 'look', 'ask', 'hello']

describe.each([
  ['SSE', fetchServerSentEvents],
  ['NDJSON', fetchHttpStream],
])('over %s', (_, connect) => {
  it('check finds nothing, fold gives the thread of the client, and so does a replay', async () => {
    const { chat, text } = await recordedSession(WORDS, connect)
    expect(await checked(text)).toEqual({ format: 'recording', outcomes: ['finished', 'finished', 'finished', 'interrupted', 'finished', 'finished'], found: [] })
    const result = await folded(text)
    const mine = shown(chat)
    expect({ ui: result.ui, state: result.state, interrupts: result.interrupts, outcomes: result.runs.map(({ outcome }) => outcome) }).toEqual(mine)

    const runs = await readRuns(source(text))
    const again = newChat(connect(await serve(replayListener(runs, { speed: Number.POSITIVE_INFINITY, onRun: () => {} }))))
    await play(again, WORDS)
    expect(shown(again)).toEqual(mine)
  })
})

it('a stop is no fault of the server; what was left and joined again is one run', async () => {
  const { chat, text } = await recordedSession([], fetchServerSentEvents, async (chat) => {
    const stopped = chat.sendMessage('long')
    while (chat.getSnapshot().messages.length < 2) await new Promise((resolve) => setTimeout(resolve, 1))
    chat.stop()
    await stopped
    const left = chat.sendMessage('long')
    while (chat.getSnapshot().messages.length < 4) await new Promise((resolve) => setTimeout(resolve, 1))
    chat.detach()
    await left
    const joined = chat.attach()
    while (chat.getSnapshot().status !== 'streaming') await new Promise((resolve) => setTimeout(resolve, 1))
    chat.stop()
    await joined
  })
  expect((await checked(text)).found).toEqual([])
  const { ui, outcome } = await folded(text)
  expect(outcome).toBe('cancelled')
  expect(ui).toEqual(shown(chat).ui)
})

it('an edit shows in a fold', async () => {
  const { chat, text } = await recordedSession([], fetchServerSentEvents, async (chat) => {
    await play(chat, ['hello', 'think'])
    const [first] = chat.getSnapshot().messages
    await chat.edit(first?.id ?? '', 'look')
  })
  expect((await folded(text)).ui).toEqual(shown(chat).ui)
})

it('a request that is refused is told, and replayed as that', async () => {
  const url = await serve((_, response) => void response.writeHead(503, { 'retry-after': '0' }).end('later'))
  const recording = recordConnection(fetchServerSentEvents(url, { reconnect: { maxAttempts: 0 } }))
  await newChat(recording.connection).sendMessage('Hi')
  expect(await folded(recording.toText())).toMatchObject({ outcome: 'error', error: { code: 'http-status' } })
  const runs = await readRuns(source(recording.toText()))
  const again = await serve(replayListener(runs, { speed: 1, onRun: () => {} }))
  expect((await fetch(again, { method: 'POST', body: '{}' })).status).toBe(503)
})

it('a chat that is led through a replay twice gets all of it twice, and nothing doubled', async () => {
  const { text } = await recordedSession(WORDS)
  const runs = await readRuns(source(text))
  const chat = newChat(fetchServerSentEvents(await serve(replayListener(runs, { speed: Number.POSITIVE_INFINITY, onRun: () => {} }))))
  await play(chat, WORDS)
  const once = shown(chat)
  for (const word of WORDS) {
    const { outcome } = await chat.sendMessage(word)
    if (outcome === 'interrupted') expect(await chat.respond('q1#2', { status: 'resolved', payload: { ok: true } })).toEqual({ outcome: 'finished' })
  }
  const { ui, outcomes } = shown(chat)
  const told = (messages: typeof ui) => JSON.stringify(messages.map(({ role, parts }) => ({ role, parts }))).replaceAll('#2', '').replaceAll(/message-\d+/g, 'user')
  expect(ui.slice(0, once.ui.length)).toEqual(once.ui)
  expect(told(ui.slice(once.ui.length))).toBe(told(once.ui))
  expect(new Set(ui.map(({ id }) => id)).size).toBe(ui.length)
  expect(outcomes).toEqual([...once.outcomes, ...once.outcomes])
})

describe('the lines', () => {
  const line = (value: object): string => `${JSON.stringify(value)}\n`
  const header = line({ recording: 1, startedAt: '2026-01-01T00:00:00.000Z' })
  const event = (of: number, chunk: object): string => line({ at: 1, of, chunk })
  const run = (of: number, runId: string, ...inner: object[]): string[] => [
    line({ at: 0, of, request: { kind: 'run', input: { threadId: 't', runId, messages: [] } } }),
    event(of, { type: 'RUN_STARTED', threadId: 't', runId }),
    ...inner.map((chunk) => event(of, chunk)),
    event(of, { type: 'RUN_FINISHED', threadId: 't', runId }),
    line({ at: 2, of, end: 'done' }),
  ]

  it('findings have the lines of the file, and lines that are not known are passed over', async () => {
    const odd = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x' }
    const text = [header, line({ at: 0, of: 9, later: 1 }), 'not json\n', ...run(1, 'r1', odd)].join('')
    const { diagnostics } = await check(source(text), {}, new Map())
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([expect.objectContaining({ rule: 'text.continue', event: 1, line: 6 })])
  })

  it('streams side by side are told apart', async () => {
    const [a, b] = [run(1, 'r1'), run(2, 'r2')]
    const text = [header, a[0], b[0], b[1], a[1], b[2], a[2], b[3], a[3]].join('')
    expect(await checked(text)).toEqual({ format: 'recording', outcomes: ['finished', 'finished'], found: [] })
    expect((await readRuns(source(text))).map(({ runId, events }) => [runId, events.length])).toEqual([['r1', 2], ['r2', 2]])
  })

  it('a file that is cut is a stream that is cut', async () => {
    const text = [header, ...run(1, 'r1')].join('')
    expect((await checked(text.slice(0, text.indexOf('RUN_FINISHED')))).found.map(({ rule }) => rule)).toEqual(['run.truncated'])
  })

  it('another version is refused', async () => {
    await expect(check(source(line({ recording: 2, startedAt: '' })), {}, new Map())).rejects.toMatchObject({ message: expect.stringContaining('version 2') })
  })

  it('nothing that ran is no good stream', async () => {
    expect((await checked(header)).found.map(({ rule }) => rule)).toEqual(['run.empty'])
  })
})

describe('a replay', () => {
  const sse = ['r1', 'r2'].map((runId) => [{ type: 'RUN_STARTED', threadId: 't', runId }, { type: 'RUN_FINISHED', threadId: 't', runId }]).flat().map((event, id) => `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`).join('')

  it('gives the runs in order, and begins again; also of a plain stream of events', async () => {
    const runs = await readRuns(source(sse))
    const served: number[] = []
    const url = await serve(replayListener(runs, { speed: 1, onRun: (index) => served.push(index) }))
    const bodies = []
    for (let n = 0; n < 3; n++) bodies.push(await (await fetch(url, { method: 'POST', body: '{}' })).text())
    expect(served).toEqual([0, 1, 0])
    expect(bodies.map((body) => /"runId":"([^"]+)"/.exec(body)?.[1])).toEqual(['r1', 'r2', 'r1#2'])
    expect((await fetch(url, { method: 'POST', body: '{}', headers: { accept: 'application/x-ndjson' } })).headers.get('content-type')).toBe('application/x-ndjson')
  })

  it.each([
    [1, [3_000, 500]],
    [10, [300, 50]],
    [Number.POSITIVE_INFINITY, []],
  ])('keeps the time of the recording, %d times as fast', async (speed, expected) => {
    const event = (at: number, type: string): string => `${JSON.stringify({ at, of: 1, chunk: { type, threadId: 't', runId: 'r' } })}\n`
    const runs = await readRuns(source(`{"recording":1,"startedAt":""}\n${event(5_000, 'RUN_STARTED')}${event(8_000, 'CUSTOM')}${event(8_500, 'RUN_FINISHED')}`))
    let now = 0
    const waits: number[] = []
    const clock = { now: () => now, wait: async (ms: number) => void (waits.push(ms), (now += ms)) }
    await (await fetch(await serve(replayListener(runs, { speed, clock, onRun: () => {} })), { method: 'POST', body: '{}' })).text()
    expect(waits).toEqual(expected)
  })

  it('waits for nobody who has gone', async () => {
    const runs = await readRuns(source(`{"recording":1,"startedAt":""}\n{"at":0,"of":1,"chunk":{"type":"CUSTOM"}}\n{"at":1000000,"of":1,"chunk":{"type":"CUSTOM"}}\n`))
    let gone = false
    const clock = { now: () => 0, wait: (_: number, signal: AbortSignal) => new Promise<void>((_resolve, reject) => signal.addEventListener('abort', () => { gone = true; reject(signal.reason) })) }
    const controller = new AbortController()
    const response = await fetch(await serve(replayListener(runs, { speed: 1, clock, onRun: () => {} })), { method: 'POST', body: '{}', signal: controller.signal })
    await response.body?.getReader().read()
    controller.abort()
    await expect.poll(() => gone).toBe(true)
  })

  it('may be asked by pages of this machine alone', async () => {
    const url = await serve(replayListener(await readRuns(source(sse)), { speed: 1, onRun: () => {} }))
    const allowed = async (origin: string) => (await fetch(url, { method: 'OPTIONS', headers: { origin } })).headers.get('access-control-allow-origin')
    expect([await allowed('http://localhost:5173'), await allowed('https://evil.example'), await allowed('null')]).toEqual(['http://localhost:5173', null, null])
    expect([(await fetch(`${url}?threadId=t`)).status, (await fetch(url, { method: 'DELETE' })).status]).toEqual([404, 405])
  })
})
