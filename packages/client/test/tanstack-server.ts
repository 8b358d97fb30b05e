/**
 * A server of TanStack AI over real sockets, one for a test file: its `chat()` on a mock model, behind all its functions for
 * the wire, with its log in memory where the path says `durable`. It answers to a few words; what they are is in `MOCK`.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { LLMock } from '@copilotkit/aimock'
import {
  chat,
  chatParamsFromRequestBody,
  memoryStream,
  mergeAgentTools,
  resumeHttpResponse,
  resumeServerSentEventsResponse,
  resumeWebSocketStream,
  toHttpResponse,
  toolDefinition,
  toServerSentEventsResponse,
  toWebSocketStream,
} from '@tanstack/ai'
import { createOpenaiChat } from '@tanstack/ai-openai'
import { WebSocketServer } from 'ws'

type Chunks = ReturnType<typeof chat> & AsyncIterable<never>

export interface TanstackServer {
  /** Paths: `/sse`, `/ndjson`, `/durable/sse`, `/durable/ndjson`; `/older/sse` asks by CUSTOM events, as servers of before interrupts. */
  readonly url: string
  /** Paths: `/ws`, `/durable/ws`. */
  readonly wsUrl: string
  /** Method and path of each request and each socket. */
  readonly requests: string[]
  /** Run inputs for which a model was asked. */
  readonly started: { readonly runId: string; readonly input: Record<string, unknown> }[]
  /** Runs whose abort signal fired before they were over. */
  readonly aborted: string[]
  /** Runs that are under way. */
  readonly running: Set<string>
  /** Sockets of clients that are open. */
  readonly open: () => number
  /** Inputs with which the tool `sendMail` ran, which needs an approval. */
  readonly mails: unknown[]
  /** What `GET ?threadId=` answers. */
  readonly threads: Map<string, unknown>
  /** The same events without a wire, for connections over functions. */
  play(input: Record<string, unknown>, signal: AbortSignal): Chunks
  close(): Promise<void>
}

export const WEATHER_TEXT = 'Zürich is at 4 °C.'
export const RECIPE_TEXT = JSON.stringify({ title: 'Soup', steps: ['Boil water', 'Add 你好 👋'] })
export const SLOW_TEXT = 'one two three four five six seven eight nine ten eleven twelve'

/** What the model says to which word. The first that matches answers. */
function teach(mock: LLMock): void {
  const call = (id: string, name: string, args: string): { id: string; name: string; arguments: string } => ({ id, name, arguments: args })
  mock.onToolResult('call_weather', { content: WEATHER_TEXT })
  mock.onToolResult('call_pick', { content: 'It is red.' })
  mock.onToolResult('call_mail', { content: 'That is settled.' })
  mock.onToolResult('call_wipe', { content: 'That is settled.' })
  mock.onMessage('mail', { content: 'Shall I?', toolCalls: [call('call_mail', 'sendMail', '{"to":"ann"}')] })
  mock.onMessage('wipe', { content: 'Shall I?', toolCalls: [call('call_wipe', 'wipe', '{"disk":"c"}')] })
  mock.onMessage('both', { content: 'Shall I?', toolCalls: [call('call_mail', 'sendMail', '{"to":"ann"}'), call('call_pick', 'pickColour', '{"from":2}')] })
  mock.onMessage('weather', { content: 'Let me look.', toolCalls: [call('call_weather', 'getWeather', '{"city":"Zürich"}')] })
  mock.onMessage('colour', { content: 'Choose.', toolCalls: [call('call_pick', 'pickColour', '{"from":2}')] })
  mock.onMessage('recipe', { content: RECIPE_TEXT })
  mock.onMessage('hello', { content: 'Hello! Ünïcode works: 你好 👋' })
  mock.onMessage('slow', { content: SLOW_TEXT }, { latency: 25 })
}

const weather = toolDefinition({
  name: 'getWeather',
  description: 'The weather in a city',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}).server((input) => ({ city: (input as { city: string }).city, degrees: 4 }))

/** Runs at the client, when the user has said so. */
const wipe = toolDefinition({
  name: 'wipe',
  description: 'Wipes a disk',
  inputSchema: { type: 'object', properties: { disk: { type: 'string' } }, required: ['disk'] },
  needsApproval: true,
})

/** Known to the server, run by the client. */
export const pickColour = toolDefinition({
  name: 'pickColour',
  description: 'Lets the user pick a colour',
  inputSchema: { type: 'object', properties: { from: { type: 'number' } } },
})

export async function startTanstackServer(): Promise<TanstackServer> {
  const mock = new LLMock({ port: 0, chunkSize: 6 })
  teach(mock)
  await mock.start()
  const requests: string[] = []
  const started: TanstackServer['started'] = []
  const aborted: string[] = []
  const running = new Set<string>()
  const threads = new Map<string, unknown>()
  const mails: unknown[] = []
  const sendMail = toolDefinition({
    name: 'sendMail',
    description: 'Sends a mail',
    inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    needsApproval: true,
  }).server((input) => (mails.push(input), { sent: true }))

  async function* play(body: unknown, abort: AbortController, older = false): AsyncGenerator<never> {
    const { messages: read, threadId, runId, parentRunId, resume, tools, forwardedProps } = await chatParamsFromRequestBody(body)
    // Servers of before took the messages as they came, with their parts, from which `chat()` reads approvals to this day.
    const messages = older ? (body as { messages: typeof read }).messages : read
    started.push({ runId, input: body as Record<string, unknown> })
    running.add(runId)
    abort.signal.addEventListener('abort', () => running.has(runId) && aborted.push(runId))
    try {
      if (JSON.stringify(messages.at(-1)).includes('fail')) {
        yield* [{ type: 'RUN_STARTED', threadId, runId }, { type: 'TEXT_MESSAGE_START', messageId: `m-${runId}`, role: 'assistant' }, { type: 'TEXT_MESSAGE_CONTENT', messageId: `m-${runId}`, delta: 'Half' }] as never[]
        throw new Error('The model is gone.')
      }
      yield* chat({
        adapter: createOpenaiChat('gpt-4o', 'mock', { baseURL: `${mock.url}/v1` }),
        messages: messages as never,
        tools: mergeAgentTools([weather, pickColour, sendMail, wipe], tools) as never,
        threadId,
        runId,
        ...(parentRunId !== undefined && { parentRunId }),
        ...(resume !== undefined && { resume }),
        abortController: abort,
        // The schema that the client sends along.
        ...(forwardedProps['outputSchema'] !== undefined && { outputSchema: forwardedProps['outputSchema'] as never, stream: true }),
      }) as AsyncIterable<never>
    } finally {
      running.delete(runId)
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = await requestOf(request)
    const url = new URL(asked.url)
    const result = asked.method === 'GET' ? stored(asked, url) : asked.method === 'POST' ? await run(asked, url) : new Response(null, { status: 405 })
    response.writeHead(result.status, Object.fromEntries(result.headers))
    if (result.body === null) response.end()
    else await pipeline(Readable.fromWeb(result.body as never), response)
  }

  async function run(request: Request, url: URL): Promise<Response> {
    const abort = new AbortController()
    // Only `stop` by a client that is gone ends a run that nobody stores.
    const init = url.pathname.includes('durable') ? { durability: { adapter: memoryStream(request), batch: 4 } } : { abortController: abort }
    const older = url.pathname.includes('older')
    const played = play(await request.json(), abort, older)
    const chunks = older ? (olderSpelling(played) as AsyncGenerator<never>) : played
    return url.pathname.endsWith('sse') ? toServerSentEventsResponse(chunks, init) : toHttpResponse(chunks, init)
  }

  function stored(request: Request, url: URL): Response {
    const threadId = url.searchParams.get('threadId')
    if (threadId !== null) return Response.json(threads.get(threadId) ?? { messages: [], activeRun: null, interrupts: null })
    const adapter = memoryStream(request)
    return url.pathname.endsWith('sse') ? resumeServerSentEventsResponse({ adapter }) : resumeHttpResponse({ adapter })
  }

  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    answer(request, response).catch(() => response.destroy())
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket, incoming) => {
    requests.push(`WS ${incoming.url}`)
    socket.on('error', () => {})
    const request = new Request(`http://127.0.0.1${incoming.url}`)
    if (new URL(request.url).searchParams.has('offset')) return resumeWebSocketStream(socket as never, { adapter: memoryStream(request) })
    const inputs: unknown[] = []
    // What it hands to `onRun` has no tools and no answers to interrupts, so what came is kept for it.
    socket.prependListener('message', (data) => inputs.push(JSON.parse(String(data))))
    toWebSocketStream(socket as never, request, {
      onRun: ({ runId, signal }) => {
        const abort = new AbortController()
        signal.addEventListener('abort', () => abort.abort())
        return play(inputs.findLast((input) => (input as { runId?: unknown }).runId === runId), abort)
      },
      batch: 4,
      debug: false,
      ...(incoming.url?.includes('durable') && { durability: ({ request: own }) => memoryStream(own) }),
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  let open = 0
  server.on('connection', (socket) => {
    open++
    socket.on('close', () => open--)
  })
  return {
    url: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    requests,
    started,
    aborted,
    running,
    open: () => open,
    mails,
    threads,
    play: (input, signal) => {
      const abort = new AbortController()
      signal.addEventListener('abort', () => abort.abort())
      return play(input, abort) as unknown as Chunks
    },
    async close() {
      for (const client of sockets.clients) client.terminate()
      sockets.close()
      server.closeAllConnections()
      server.close()
      await mock.stop()
    },
  }
}

interface Asking {
  readonly type: string
  readonly outcome?: { readonly interrupts?: readonly { readonly id: string; readonly toolCallId: string; readonly metadata: { readonly kind: string; readonly toolName: string; readonly input: unknown } }[] }
}

/** Interrupts as the CUSTOM events that stood in their place before there were any: behind the RUN_FINISHED, which says nothing of them. */
async function* olderSpelling(chunks: AsyncIterable<unknown>): AsyncGenerator<unknown> {
  for await (const chunk of chunks) {
    const { outcome, ...rest } = chunk as Asking
    if (outcome?.interrupts === undefined) {
      yield chunk
      continue
    }
    yield rest
    for (const { id, toolCallId, metadata } of outcome.interrupts) {
      const { kind, toolName, input } = metadata
      const value = { toolCallId, toolName, input }
      yield kind === 'approval'
        ? { type: 'CUSTOM', name: 'approval-requested', value: { ...value, approval: { id, needsApproval: true } } }
        : { type: 'CUSTOM', name: 'tool-input-available', value }
    }
  }
}

async function requestOf(incoming: IncomingMessage): Promise<Request> {
  let body = ''
  for await (const piece of incoming) body += piece
  return new Request(`http://127.0.0.1${incoming.url}`, {
    method: incoming.method ?? 'GET',
    headers: incoming.headers as Record<string, string>,
    ...(body !== '' && { body }),
  })
}
