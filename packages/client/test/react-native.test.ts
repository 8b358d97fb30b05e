/** A runtime such as React Native: `fetch` cannot stream, there is no TextDecoder, and XMLHttpRequest is what there is. */
import { ChatClient, fetchServerSentEvents, UnsupportedResponseStreamError, webSocket, xhrHttpStream, xhrServerSentEvents } from '@millrace/client'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { hello, ndjson, sse, started, text, tick, until } from './events.ts'
import { PlainNodeXhr } from './node-xhr.ts'
import { serve, SSE_HEADERS } from './serve.ts'
import { serveSockets } from './serve-sockets.ts'

// Node loads these when they are first used, and that needs a TextDecoder.
const { headers: sseHeaders } = new Response('', { headers: SSE_HEADERS })

beforeEach(() => {
  vi.stubGlobal('fetch', async (url: string) => ({ status: 200, statusText: '', ok: true, url, headers: sseHeaders, text: async () => sse(hello()) }))
  for (const name of ['TextDecoder', 'TextDecoderStream', 'TextEncoder', 'ReadableStream', 'crypto', 'MessageChannel', 'structuredClone']) {
    vi.stubGlobal(name, undefined)
  }
  vi.stubGlobal('XMLHttpRequest', PlainNodeXhr)
  vi.stubGlobal('navigator', { product: 'ReactNative' })
})
afterEach(() => {
  vi.unstubAllGlobals()
})

const textOf = (chat: ChatClient): string[] =>
  chat.getSnapshot().messages.map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.content : `[${part.type}]`)).join('|'))

it.each([
  ['xhrServerSentEvents', xhrServerSentEvents, sse, 'text/event-stream'],
  ['xhrHttpStream', xhrHttpStream, ndjson, 'application/x-ndjson'],
] as const)('a chat over %s streams, turn by turn', async (_, factory, encode, type) => {
  let goOn: () => void = () => {}
  const server = await serve(async (response, count) => {
    const events = hello(`r${count}`, 'Grüße \u{1F44B}')
    response.writeHead(200, { 'content-type': type })
    response.write(encode(events.slice(0, 4)))
    await new Promise<void>((resolve) => {
      goOn = resolve
    })
    response.end(encode(events.slice(4)))
  })
  const chat = new ChatClient({ connection: factory(server.url) })
  for (const turn of [1, 2]) {
    const sending = chat.sendMessage('Hi')
    // Shown before the answer is complete.
    await until(() => textOf(chat)[turn * 2 - 1] === 'Gr')
    goOn()
    expect(await sending).toEqual({ outcome: 'finished' })
    expect(textOf(chat)[turn * 2 - 1]).toBe('Grüße \u{1F44B}')
  }
  expect(server.requests).toHaveLength(2)
})

it('a chat over XHR can be stopped, and the request is closed', async () => {
  const server = await serve((response) => {
    response.writeHead(200, SSE_HEADERS)
    response.write(sse([started(), ...text('Half').slice(0, 3)]))
  })
  const chat = new ChatClient({ connection: xhrServerSentEvents(server.url) })
  const sending = chat.sendMessage('Hi')
  await until(() => textOf(chat)[1] === 'Ha')
  chat.stop()
  expect(await sending).toEqual({ outcome: 'cancelled' })
  await until(() => server.cut() === 1)
})

it('a chat over XHR keeps the text of an answer that breaks', async () => {
  const server = await serve(async (response) => {
    response.writeHead(200, SSE_HEADERS)
    response.write(sse([started(), ...text('Half').slice(0, 3)]))
    await tick(20)
    response.destroy()
  })
  const chat = new ChatClient({ connection: xhrServerSentEvents(server.url, { resume: 'off' }) })
  expect(await chat.sendMessage('Hi')).toMatchObject({ outcome: 'truncated' })
  expect(textOf(chat)[1]).toBe('Ha')
})

it('a chat over a WebSocket works there too', async () => {
  const server = await serveSockets((socket, { runId }) => socket.send(...hello(runId)))
  const connection = webSocket(server.url, { WebSocketImpl: WebSocket })
  const chat = new ChatClient({ connection })
  expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
  expect(textOf(chat)).toEqual(['Hi', 'Hello'])
  connection.close()
})

it('fetch says that it cannot stream there, and what to use', async () => {
  const { outcome, error } = await new ChatClient({ connection: fetchServerSentEvents('http://127.0.0.1/agent') }).sendMessage('Hi')
  expect(outcome).toBe('error')
  expect(error).toBeInstanceOf(UnsupportedResponseStreamError)
  expect(error).toMatchObject({ code: 'no-stream' })
  expect(error?.message).toMatch(/xhrServerSentEvents\(\).*xhrHttpStream\(\)/s)
})
