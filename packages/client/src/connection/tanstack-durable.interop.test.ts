/** A durable server of TanStack AI, cut over real sockets: its log, resumed by GET and by the same POST. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { fetchHttpStream, fetchServerSentEvents, type StreamChunk } from '@millrace/client'
import { memoryStream, resumeHttpResponse, resumeServerSentEventsResponse, toHttpResponse, toServerSentEventsResponse } from '@tanstack/ai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { cuttingProxy } from '../../test/cutting-proxy.ts'
import { collect, userMessage } from '../../test/events.ts'

async function* answer(threadId: string, runId: string): AsyncGenerator<Record<string, unknown>> {
  yield { type: 'RUN_STARTED', threadId, runId, model: 'm' }
  yield { type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant', model: 'm' }
  for (let word = 0; word < 40; word++) {
    yield { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: `wörd ${word % 3} `, model: 'm' }
    if (word % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  yield { type: 'TEXT_MESSAGE_END', messageId: 'm1', model: 'm' }
  yield { type: 'RUN_FINISHED', threadId, runId, model: 'm', finishReason: 'stop' }
}

async function served(format: 'sse' | 'ndjson') {
  let produced = 0
  const server = createServer((request, response) => {
    void (async () => {
      const body = await bodyOf(request)
      const asked = new Request(`http://x${request.url}`, { method: request.method ?? 'GET', headers: request.headers as Record<string, string>, ...(body !== '' && { body }) })
      const adapter = memoryStream(asked)
      const result = request.method === 'GET' ? resumed(adapter) : fresh(adapter, body)
      response.writeHead(result.status, Object.fromEntries(result.headers))
      if (result.body === null) response.end()
      else Readable.fromWeb(result.body as never).on('error', () => response.destroy()).pipe(response)
    })().catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const resumed = (adapter: ReturnType<typeof memoryStream>): Response =>
    format === 'sse' ? resumeServerSentEventsResponse({ adapter }) : resumeHttpResponse({ adapter })
  const fresh = (adapter: ReturnType<typeof memoryStream>, body: string): Response => {
    const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string }
    if (adapter.resumeFrom() === null) produced++
    const init = { durability: { adapter, batch: 4 } }
    const stream = answer(threadId, runId) as never
    return format === 'sse' ? toServerSentEventsResponse(stream, init) : toHttpResponse(stream, init)
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/chat`, produced: () => produced }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request) text += piece
  return text
}

const shape = (events: readonly StreamChunk[], runId: string): string => JSON.stringify(events).replaceAll(runId, 'RUN').replaceAll(/"timestamp":\d+,?/g, '')
let count = 0

describe.each([
  ['sse', 'get'],
  ['sse', 'post'],
  ['sse', 'auto'],
  ['ndjson', 'get'],
  ['ndjson', 'post'],
] as const)('%s, resumed by %s', (format, resume) => {
  it('gives the run once, wherever it is cut', async () => {
    const { url, produced } = await served(format)
    const factory = format === 'sse' ? fetchServerSentEvents : fetchHttpStream
    const run = async (cuts: readonly number[]) => {
      const proxy = await cuttingProxy(url, (request) => cuts[request] ?? Infinity)
      const runId = `tanstack-${++count}`
      const connection = factory(proxy.url, { resume, reconnect: { delayMs: 1 } })
      const events = await collect(connection.connect([userMessage()], undefined, undefined, { threadId: 't1', runId }))
      await proxy.close()
      return { shape: shape(events, runId), requests: proxy.requests.length, runId, connection: factory(url, { resume }) }
    }
    const whole = await run([])
    for (const cuts of [[900], [2000], [3333, 700], [5000, 1200, 800]]) {
      const before = produced()
      const cut = await run(cuts)
      expect(cut.shape, `cut at ${cuts}`).toBe(whole.shape)
      expect(cut.requests).toBeGreaterThan(1)
      expect(produced()).toBe(before + 1)
      if (resume !== 'auto') expect(shape(await collect(cut.connection.joinRun(cut.runId)), cut.runId)).toBe(whole.shape)
    }
  })
})
