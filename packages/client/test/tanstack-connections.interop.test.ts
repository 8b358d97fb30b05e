/** The connections of TanStack AI inside our `ChatClient`, against its servers and ours; and ours, as the measure. */
import {
  fetchHttpStream as ownHttpStream,
  fetchServerSentEvents as ownServerSentEvents,
  responseToSSEChunks,
  webSocket as ownWebSocket,
  type ConnectionAdapter,
} from '@millrace/client'
import { buildRunAgentInput, type UIMessage } from '@millrace/protocol'
import { fetchHttpStream, fetchServerSentEvents, rpcStream, stream, webSocket, xhrHttpStream, xhrServerSentEvents } from '@tanstack/ai-client'
import { afterAll, beforeAll } from 'vitest'
import { WebSocket } from 'ws'
import { describePair, ours, type Pair } from './interop-script.ts'
import { nodeXhr } from './node-xhr.ts'
import { startOwnServer, type OwnServer } from './own-agent.ts'
import { startTanstackServer, type TanstackServer } from './tanstack-server.ts'

let tanstack: TanstackServer
let own: OwnServer
beforeAll(async () => {
  tanstack = await startTanstackServer()
  own = await startOwnServer()
})
afterAll(async () => {
  await tanstack.close()
  await own.close()
})

let runs = 0
/** Their `stream` hands on no run context, so its function makes up ids and knows no tools and no answers. */
const bodyOf = (messages: unknown): Record<string, unknown> =>
  JSON.parse(JSON.stringify(buildRunAgentInput({ messages: messages as UIMessage[], runContext: { threadId: 'made-up', runId: `made-up-${++runs}` } })))
const NO_CONTEXT = 'their stream() hands on neither tools nor answers to interrupts'

async function* local(messages: unknown, signal: AbortSignal | undefined): AsyncGenerator<never> {
  yield* tanstack.play(bodyOf(messages), signal as AbortSignal)
}
async function* called(messages: unknown, signal: AbortSignal | undefined): AsyncGenerator<never> {
  const headers = { 'content-type': 'application/json' }
  const response = await own.handler(new Request(own.url, { method: 'POST', headers, body: JSON.stringify(bodyOf(messages)), signal: signal as AbortSignal }))
  yield* responseToSSEChunks(response, signal) as AsyncIterable<never>
}

const OVER_HTTP: readonly [name: string, path: string, make: (url: string) => unknown][] = [
  ['fetchServerSentEvents of TanStack AI', 'sse', (url) => fetchServerSentEvents(url)],
  ['fetchHttpStream of TanStack AI', 'ndjson', (url) => fetchHttpStream(url, { headers: { accept: 'application/x-ndjson' } })],
  ['xhrServerSentEvents of TanStack AI', 'sse', (url) => xhrServerSentEvents(url, { xhrFactory: nodeXhr })],
  ['xhrHttpStream of TanStack AI', 'ndjson', (url) => xhrHttpStream(url, { xhrFactory: nodeXhr, headers: { accept: 'application/x-ndjson' } })],
  ['our fetchServerSentEvents', 'sse', (url) => ownServerSentEvents(url)],
  ['our fetchHttpStream', 'ndjson', (url) => ownHttpStream(url)],
]

const toTanstack = (name: string, connect: () => unknown, without: Pair['without'] = {}): Pair => ({
  name: `${name} in our client, against their server`,
  without,
  open() {
    const connection = connect() as ConnectionAdapter & { close?(): void }
    return { talker: ours(connection), quiet: () => tanstack.running.size === 0, close: () => connection.close?.() }
  },
})
const toOwn = (name: string, connect: () => unknown, without: Pair['without'] = {}): Pair => ({
  name: `${name} in our client, against our server`,
  without,
  open: () => ({ talker: ours(connect() as ConnectionAdapter), quiet: () => own.handler.counts().producers === 0 }),
})

for (const [name, path, make] of OVER_HTTP) {
  describePair(toTanstack(name, () => make(`${tanstack.url}/${path}`)))
  describePair(toTanstack(`${name} (durable)`, () => make(`${tanstack.url}/durable/${path}`), { stop: 'a run that is stored outlives its reader there, and nothing cancels it' }))
  describePair(toOwn(name, () => make(own.url)))
}
for (const path of ['ws', 'durable/ws']) {
  describePair(toTanstack(`webSocket of TanStack AI (${path})`, () => webSocket(`${tanstack.wsUrl}/${path}`, { WebSocketImpl: WebSocket as never })))
  describePair(toTanstack(`our webSocket (${path})`, () => ownWebSocket(`${tanstack.wsUrl}/${path}`, { WebSocketImpl: WebSocket })))
}
for (const [name, make] of [['stream', stream], ['rpcStream', rpcStream]] as const) {
  describePair(toTanstack(`${name} of TanStack AI`, () => make((messages, _data, signal) => local(messages, signal)), { 'client tool': NO_CONTEXT }))
  describePair(toOwn(`${name} of TanStack AI`, () => make((messages, _data, signal) => called(messages, signal))))
}
