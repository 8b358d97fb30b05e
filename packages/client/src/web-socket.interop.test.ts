/**
 * WebSockets with TanStack AI at the other end: its server (`toWebSocketStream`, `resumeWebSocketStream`, with its log in
 * memory) under our client, and our connection under its client.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { memoryStream, resumeWebSocketStream, toWebSocketStream } from '@tanstack/ai'
import { ChatClient as TanstackChatClient } from '@tanstack/ai-client'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { hello, text, tick, types, until, userMessage } from '../test/events.ts'
import { ChatClient, webSocket, type StreamChunk, type WebSocketConnection } from './index.ts'

interface Turn {
  readonly runId: string
  readonly threadId: string
  readonly signal: AbortSignal
}

let server: WebSocketServer
let url: string
let turns: Turn[] = []
let play: (turn: Turn) => AsyncIterable<StreamChunk>
/** Whether the server keeps a log, which also puts ids on events (and CUSTOM `run.accepted` before the first). */
let durable = false
const sockets: { url: string; cut(): void }[] = []

beforeAll(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/chat`
  server.on('connection', (socket, incoming) => {
    sockets.push({ url: incoming.url ?? '', cut: () => incoming.socket.destroy() })
    const request = new Request(`http://127.0.0.1${incoming.url}`)
    if (new URL(request.url).searchParams.has('offset')) return resumeWebSocketStream(socket as never, { adapter: memoryStream(request) })
    toWebSocketStream(socket as never, request, {
      onRun: ({ runId, threadId, signal }) => {
        const turn = { runId, threadId, signal }
        turns.push(turn)
        return play(turn) as never
      },
      // Else it holds events back until there are 32.
      batch: 1,
      ...(durable && { durability: ({ request: own }) => memoryStream(own) }),
    })
  })
})
afterAll(() => {
  for (const client of server.clients) client.terminate()
  server.close()
})

function open(): WebSocketConnection {
  turns = []
  sockets.length = 0
  durable = false
  const connection = webSocket(url, { WebSocketImpl: WebSocket, reconnect: { random: () => 0 } })
  onTestFinished(() => connection.close())
  return connection
}

const half = ({ threadId, runId }: Turn): StreamChunk[] => [{ type: 'RUN_STARTED', threadId, runId }, ...text('Half').slice(0, 5)]
const textOf = (chat: ChatClient): string[] =>
  chat.getSnapshot().messages.map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.content : `[${part.type}]`)).join('|'))

it('serves turn after turn on one socket', async () => {
  play = async function* ({ runId }) {
    yield* hello(runId)
  }
  const chat = new ChatClient({ connection: open() })
  for (let turn = 0; turn < 2; turn++) expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
  expect(textOf(chat)).toEqual(['Hi', 'Hello', 'Hi', 'Hello'])
  expect(sockets).toHaveLength(1)
  expect(new Set(turns.map(({ threadId }) => threadId)).size).toBe(1)
})

it('goes on behind the RUN_FINISHED of a model turn', async () => {
  play = async function* ({ threadId, runId }) {
    yield { type: 'RUN_STARTED', threadId, runId }
    yield { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'look' }
    yield { type: 'TOOL_CALL_END', toolCallId: 'c1' }
    yield { type: 'RUN_FINISHED', threadId, runId, finishReason: 'tool_calls' }
    await tick(20)
    yield { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c1', content: '4' }
    yield* text('Done')
    yield { type: 'RUN_FINISHED', threadId, runId, finishReason: 'stop' }
  }
  const chat = new ChatClient({ connection: open() })
  expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
  expect(textOf(chat)).toEqual(['Hi', '[tool-call]|Done'])
})

it('stops the turn at the server, and the socket serves the next', async () => {
  play = async function* (turn) {
    if (turns.length > 1) return yield* hello(turn.runId)
    yield* half(turn)
    await new Promise<void>((resolve) => turn.signal.addEventListener('abort', () => resolve()))
  }
  const chat = new ChatClient({ connection: open() })
  const first = chat.sendMessage('Hi')
  await until(() => textOf(chat)[1] === 'Half')
  chat.stop()
  expect(await first).toEqual({ outcome: 'cancelled' })
  await until(() => turns[0]?.signal.aborted === true)
  expect(await chat.sendMessage('Again')).toMatchObject({ outcome: 'finished' })
  expect(sockets).toHaveLength(1)
})

it('reads on behind the cursor when the socket breaks: this server ends the run, and says so in its log', async () => {
  play = async function* (turn) {
    yield* half(turn)
    await new Promise<void>((resolve) => turn.signal.addEventListener('abort', () => resolve()))
  }
  const connection = open()
  durable = true
  const events: StreamChunk[] = []
  const listen = new AbortController()
  const reading = (async () => {
    for await (const event of connection.subscribe(listen.signal)) events.push(event)
  })()
  const sending = connection.send([userMessage()], undefined, undefined, { threadId: 't1', runId: 'cut' })
  await until(() => events.length === 7)
  sockets[0]?.cut()
  await sending
  await until(() => events.length === 8)
  expect(types(events)).toEqual(['CUSTOM', ...types(half({ threadId: 't1', runId: 'cut', signal: listen.signal })), 'RUN_ERROR'])
  expect(sockets[1]?.url).toMatch(/runId=cut&offset=./)
  expect(turns).toHaveLength(1)
  listen.abort()
  await reading
})

it('joins a run from its start', async () => {
  play = async function* ({ runId }) {
    yield* hello(runId)
  }
  const connection = open()
  durable = true
  await connection.send([userMessage()], undefined, undefined, { threadId: 't1', runId: 'joined' })
  const joined: StreamChunk[] = []
  for await (const event of connection.joinRun('joined')) joined.push(event)
  expect(types(joined).filter((type) => type !== 'CUSTOM')).toEqual(types(hello()))
  expect(sockets[1]?.url).toContain('offset=-1')
})

it("works under TanStack AI's own client", async () => {
  play = async function* ({ runId }) {
    yield* hello(runId)
  }
  const chat = new TanstackChatClient({ connection: open() as never })
  await chat.sendMessage('Hi')
  await chat.sendMessage('Again')
  expect(chat.getMessages().map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.content : part.type)).join('|'))).toEqual(['Hi', 'Hello', 'Again', 'Hello'])
  expect(sockets).toHaveLength(1)
})
