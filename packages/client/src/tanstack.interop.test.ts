/**
 * A real server of TanStack AI over a real socket: `chat()` with a server tool in its loop, on a mock model, served by
 * its own `toServerSentEventsResponse` and `toHttpResponse`. It sends one RUN_STARTED and a RUN_FINISHED for each model
 * turn, which the tolerant mode is for.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { LLMock } from '@copilotkit/aimock'
import { ProtocolError, type UIMessage } from '@millrace/protocol'
import { chat, chatParamsFromRequestBody, toHttpResponse, toolDefinition, toServerSentEventsResponse } from '@tanstack/ai'
import { createOpenaiChat } from '@tanstack/ai-openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ChatClient, fetchHttpStream, fetchServerSentEvents, type ConnectionAdapter } from './index.ts'

const mock = new LLMock({ port: 0, chunkSize: 6 })
let server: Server
let base: string
let posts = 0

const weather = toolDefinition({
  name: 'getWeather',
  description: 'The weather in a city',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}).server((input) => ({ city: (input as { city: string }).city, degrees: 4 }))

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return JSON.parse(Buffer.concat(pieces).toString('utf8'))
}

beforeAll(async () => {
  // The first that matches answers: a request that ends on the tool's result still has the question in it.
  mock.onToolResult('call_1', { content: 'Zürich is at 4 °C.' })
  mock.onMessage('weather', { content: 'Let me look.', toolCalls: [{ id: 'call_1', name: 'getWeather', arguments: '{"city":"Zürich"}' }] })
  mock.onMessage('hello', { content: 'Hello! Ünïcode works: 你好 👋' })
  await mock.start()
  server = createServer((request, response) => {
    posts++
    void (async () => {
      const params = await chatParamsFromRequestBody(await bodyOf(request))
      const adapter = createOpenaiChat('gpt-4o', 'mock', { baseURL: `${mock.url}/v1` })
      const stream = chat({ adapter, messages: params.messages as never, tools: [weather], threadId: params.threadId, runId: params.runId })
      const answer = request.url === '/ndjson' ? toHttpResponse(stream as never) : toServerSentEventsResponse(stream as never)
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      Readable.fromWeb(answer.body as never).pipe(response)
    })().catch((error: unknown) => response.writeHead(500).end(String(error)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await mock.stop()
})

const shown = ({ parts }: UIMessage): string[] =>
  parts.map((part) => (part.type === 'text' ? `text:${part.content}` : part.type === 'tool-call' ? `tool:${part.name}(${part.arguments})=${JSON.stringify(part.output)}` : part.type))

const CONNECTIONS: readonly [name: string, connection: () => ConnectionAdapter][] = [
  ['server-sent events', () => fetchServerSentEvents(`${base}/sse`)],
  ['newline-delimited JSON', () => fetchHttpStream(`${base}/ndjson`)],
]

describe('TanStack AI', () => {
  for (const [name, connection] of CONNECTIONS) {
    it(`${name}: the tool loop gives the whole conversation, in one request and one turn`, async () => {
      posts = 0
      const rules: string[] = []
      let finished = 0
      const client = new ChatClient({ connection: connection(), onDiagnostic: ({ rule }) => rules.push(rule), onFinish: () => finished++ })
      const result = await client.sendMessage('What is the weather?')
      expect(result).toMatchObject({ outcome: 'finished' })
      const { messages, status, error } = client.getSnapshot()
      expect({ status, error }).toEqual({ status: 'ready', error: undefined })
      expect(messages.map(shown)).toEqual([
        ['text:What is the weather?'],
        ['text:Let me look.', 'tool:getWeather({"city":"Zürich"})={"city":"Zürich","degrees":4}', 'text:Zürich is at 4 °C.'],
      ])
      expect(rules).toContain('tolerated.run-goes-on')
      expect({ posts, finished }).toEqual({ posts: 1, finished: 1 })
    })

    it(`${name}: the history goes back, and the server answers on it`, async () => {
      const client = new ChatClient({ connection: connection() })
      await client.sendMessage('What is the weather?')
      expect(await client.sendMessage('hello')).toMatchObject({ outcome: 'finished' })
      expect(client.getSnapshot().messages.map(shown).slice(2)).toEqual([['text:hello'], ['text:Hello! Ünïcode works: 你好 👋']])
      const sent = JSON.stringify(mock.getLastRequest()?.body)
      for (const part of ['What is the weather?', 'Let me look.', 'call_1', 'Zürich is at 4 °C.']) expect(sent).toContain(part)
    })

    it(`${name}: in strict mode the same stream is a violation, and what came before it stays`, async () => {
      const client = new ChatClient({ connection: connection(), mode: 'strict' })
      const { outcome, error } = await client.sendMessage('What is the weather?')
      expect(outcome).toBe('violation')
      expect(error).toBeInstanceOf(ProtocolError)
      expect(error).toMatchObject({ rule: 'run.after-finish' })
      expect(shown(client.getSnapshot().messages[1] as UIMessage)[0]).toBe('text:Let me look.')
    })
  }
})
