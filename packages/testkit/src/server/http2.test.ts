/** The same runs and faults over HTTP/2. */
import { connect, constants, type ClientHttp2Session } from 'node:http2'
import { expect, onTestFinished, test } from 'vitest'
import { byteByByte, cutAt, neverAnswer, recordedRun, resetAt, selfSigned, stallAfter, status, unterminated, type Fault, type FaultServer } from '../index.ts'
import { frames, idsOf, input, serverFor } from '../../test/raw.ts'

const events = recordedRun()

interface Answer {
  readonly status: number | undefined
  readonly text: string
  readonly code: number
  readonly error: string | undefined
}

function session(server: FaultServer, ca?: string): ClientHttp2Session {
  const client = connect(server.http2Url, ca === undefined ? {} : { ca })
  client.on('error', () => undefined)
  onTestFinished(() => client.destroy())
  return client
}

function ask(client: ClientHttp2Session, options: { method?: string; query?: string; body?: unknown; headers?: Record<string, string> } = {}): Promise<Answer> {
  const { method = 'POST', query = '', body = method === 'POST' ? input() : undefined, headers } = options
  const stream = client.request({ ':method': method, ':path': `/agent${query}`, ...headers })
  stream.end(body === undefined ? undefined : JSON.stringify(body))
  const pieces: Buffer[] = []
  let code: number | undefined
  let error: string | undefined
  stream.on('response', (answer) => (code = answer[':status']))
  stream.on('data', (piece: Buffer) => pieces.push(piece))
  stream.on('error', (reason: NodeJS.ErrnoException) => (error = reason.code))
  return new Promise((resolve) => stream.on('close', () => resolve({ status: code, text: Buffer.concat(pieces).toString(), code: stream.rstCode, error })))
}

test('several runs share a connection; resuming and cancelling work as over HTTP/1.1', async () => {
  const server = await serverFor({ events })
  const client = session(server)
  const [a, b] = await Promise.all([ask(client, { body: input('a') }), ask(client, { body: input('b') })])
  expect([a.status, frames(a.text).length, b.status, frames(b.text).length]).toEqual([200, events.length, 200, events.length])
  const resumed = await ask(client, { method: 'GET', query: '?runId=a', headers: { 'last-event-id': '50' } })
  expect(idsOf(resumed.text)[0]).toBe('51')
  expect(JSON.parse((await ask(client, { method: 'DELETE', query: '?runId=a' })).text)).toMatchObject({ runId: 'a', status: 'closed' })
  expect(server.requests[0]).toMatchObject({ transport: 'h2', method: 'POST', path: '/agent', did: 'start', ending: 'end' })
  expect(server.connections).toMatchObject({ open: 1, total: 1 })
})

test('a reset is of the stream: the connection stays', async () => {
  const server = await serverFor({ events, faults: [resetAt(300)] })
  const client = session(server)
  const answer = await ask(client)
  expect([answer.code, answer.error, Buffer.byteLength(answer.text)]).toEqual([constants.NGHTTP2_INTERNAL_ERROR, 'ERR_HTTP2_STREAM_ERROR', 300])
  expect(frames((await ask(client)).text)).toHaveLength(events.length)
  expect(server.connections.total).toBe(1)
})

test('a cut is of the connection: all its streams fail', async () => {
  const server = await serverFor({ events, faults: [{}, cutAt(300)], hold: 1 })
  const client = session(server)
  const gone = new Promise((resolve) => client.on('close', resolve))
  const other = ask(client, { body: input('a') })
  await server.until(({ requests }) => requests[0]?.events === 1)
  const answer = ask(client, { body: input('b') })
  await server.until(({ started }) => started.length === 2)
  server.release()
  const got = await answer
  await gone
  expect(Buffer.byteLength(got.text)).toBeLessThanOrEqual(300)
  expect(frames(got.text).length).toBeLessThan(events.length)
  await other
  await server.until(({ connections }) => connections.open === 0)
  expect(server.requests[1]).toMatchObject({ ending: 'cut' })
})

test.each([
  ['cut', { ending: { at: { head: 0 }, how: 'cut' } }],
  ['reset', { ending: { at: { head: 0 }, how: 'reset' } }],
] satisfies [string, Fault][])('%s before the head', async (_, fault) => {
  const server = await serverFor({ events, faults: [fault] })
  expect(await ask(session(server))).toMatchObject({ status: undefined, text: '' })
  expect(server.started).toHaveLength(1)
})

test('stalls, before the head and later', async () => {
  const server = await serverFor({ events, faults: [neverAnswer, stallAfter(2)] })
  const client = session(server)
  const answers = [ask(client, { body: input('a') }), ask(client, { body: input('b') })]
  await server.until(({ requests }) => requests[0]?.ending === 'stalled' && requests[1]?.ending === 'stalled')
  expect(server.requests[0]?.status).toBeUndefined()
  server.unstall()
  for (const answer of await Promise.all(answers)) expect(frames(answer.text)).toHaveLength(events.length)
})

test('statuses, bytes and clean ends', async () => {
  const server = await serverFor({ events, faults: [status(503, '1'), byteByByte, unterminated] })
  const client = session(server)
  expect((await ask(client)).status).toBe(503)
  expect(frames((await ask(client, { body: input('a') })).text)).toHaveLength(events.length)
  const short = await ask(client, { body: input('b') })
  expect([short.code, frames(short.text).length]).toEqual([0, events.length - 1])
})

test('a client that leaves is seen', async () => {
  const server = await serverFor({ events, hold: 1 })
  const client = session(server)
  void ask(client)
  await server.until(({ requests }) => requests[0]?.events === 1)
  client.destroy()
  await server.until(({ requests, connections }) => requests[0]?.ending === 'left' && connections.open === 0)
})

test('the same over TLS, with a certificate that only those trust who are given it', async () => {
  const tls = selfSigned()
  const server = await serverFor({ events, tls, faults: [cutAt(300)] })
  expect(server.http2Url).toMatch(/^https:/)
  const client = session(server, tls.cert)
  const cut = await ask(client)
  expect(frames(cut.text).length).toBeLessThan(events.length)
  expect(frames((await ask(session(server, tls.cert))).text)).toHaveLength(events.length)
  const distrusting = session(server, selfSigned().cert)
  const refused = new Promise<NodeJS.ErrnoException>((resolve) => distrusting.on('error', resolve))
  void ask(distrusting)
  expect((await refused).code).toMatch(/CERT|SIGNATURE/)
})
