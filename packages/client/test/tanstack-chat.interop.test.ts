/** Our connections inside TanStack AI's `ChatClient`, against its servers and ours. */
import {
  fetchHttpStream,
  fetchServerSentEvents,
  rpcStream,
  stream,
  webSocket,
  xhrHttpStream,
  xhrServerSentEvents,
  type ConnectionAdapter,
  type StreamFactory,
} from '@millrace/client'
import { buildRunAgentInput, type RunAgentInputContext } from '@millrace/protocol'
import { afterAll, beforeAll } from 'vitest'
import { WebSocket } from 'ws'
import { describePair, theirs, type Pair } from './interop-script.ts'
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

const bodyOf = (...[messages, data, , runContext]: Parameters<StreamFactory>): Record<string, unknown> =>
  JSON.parse(JSON.stringify(buildRunAgentInput({ messages, runContext: runContext as RunAgentInputContext, ...(data && { data }) })))

const local: StreamFactory = (...args) => tanstack.play(bodyOf(...args), args[2] as AbortSignal)
const called: StreamFactory = (...args) =>
  own.handler(new Request(own.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(bodyOf(...args)), signal: args[2] as AbortSignal }))

const OVER_HTTP: readonly [name: string, path: string, make: (url: string) => ConnectionAdapter][] = [
  ['fetchServerSentEvents', 'sse', (url) => fetchServerSentEvents(url)],
  ['fetchHttpStream', 'ndjson', (url) => fetchHttpStream(url)],
  ['xhrServerSentEvents', 'sse', (url) => xhrServerSentEvents(url, { xhrFactory: nodeXhr })],
  ['xhrHttpStream', 'ndjson', (url) => xhrHttpStream(url, { xhrFactory: nodeXhr })],
]

const toTanstack = (name: string, connect: () => ConnectionAdapter, without: Pair['without'] = {}): Pair => ({
  name: `${name} in their client, against their server`,
  without,
  open() {
    const connection = connect() as ConnectionAdapter & { close?(): void }
    return { talker: theirs(connection), quiet: () => tanstack.running.size === 0, close: () => connection.close?.() }
  },
})
const toOwn = (name: string, connect: () => ConnectionAdapter): Pair => ({
  name: `${name} in their client, against our server`,
  open: () => ({ talker: theirs(connect()), quiet: () => own.handler.counts().producers === 0 }),
})

for (const [name, path, make] of OVER_HTTP) {
  describePair(toTanstack(name, () => make(`${tanstack.url}/${path}`)))
  describePair(toTanstack(`${name} (durable)`, () => make(`${tanstack.url}/durable/${path}`), { stop: 'a run that is stored outlives its reader there, and nothing cancels it' }))
  describePair(toOwn(name, () => make(own.url)))
}
for (const path of ['ws', 'durable/ws']) describePair(toTanstack(`webSocket (${path})`, () => webSocket(`${tanstack.wsUrl}/${path}`, { WebSocketImpl: WebSocket })))
describePair(toTanstack('stream', () => stream(local)))
describePair(toTanstack('rpcStream', () => rpcStream(async (...args) => local(...args))))
describePair(toOwn('stream', () => stream(called)))
describePair(toOwn('rpcStream', () => rpcStream(called)))
