// The client of TanStack AI with its own connections against our server, over real sockets: runs, cuts, joining, leaving.
import { ChatClient, fetchHttpStream, fetchServerSentEvents } from '@tanstack/ai-client'
import { afterEach, describe, expect, test } from 'vitest'
import type { Agent } from './agent.ts'
import { createRunHandler, type RunHandler } from './handler.ts'
import { countingIds, eventually, serve, type Served } from './test/fixtures.ts'

let served: Served | undefined
let handler: RunHandler | undefined
afterEach(async () => {
  await served?.close()
  await handler?.stop()
})

const agent: Agent = async (input, run) => {
  const asked = input.messages.findLast(({ role }) => role === 'user')?.content
  const { messageId: parentMessageId } = await run.text(`You said: ${String(asked)}`)
  const call = await run.toolCall('look', { where: 'here' }, { parentMessageId })
  await call.result({ found: 1 })
  for (let word = 0; word < 20; word++) await run.custom('app.progress', word)
  await run.text('Done 👋')
}

/** Each request may be cut behind so many bytes of its answer; every one is noted. */
async function start(cuts: readonly number[] = [], answers: Agent = agent): Promise<{ url: string; requests: string[]; handler: RunHandler }> {
  const own = createRunHandler({ agent: answers, authorize: () => true, createId: countingIds() })
  const requests: string[] = []
  handler = own
  served = await serve(async (request) => {
    const url = new URL(request.url)
    requests.push(`${request.method} ${url.search}${request.headers.has('last-event-id') ? ' behind an id' : ''}`)
    const response = await own(request)
    const cut = cuts[requests.length - 1]
    return cut === undefined || response.body === null ? response : new Response(response.body.pipeThrough(cutting(cut)), response)
  })
  return { url: served.url, requests, handler: own }
}

function cutting(after: number): TransformStream<Uint8Array, Uint8Array> {
  let left = after
  return new TransformStream({
    transform(bytes, controller) {
      controller.enqueue(bytes.subarray(0, left))
      left -= bytes.length
      if (left <= 0) controller.terminate()
    },
  })
}

const shown = (chat: ChatClient): string[] =>
  chat.getMessages().flatMap(({ role, parts }) =>
    parts.flatMap((part) => (part.type === 'text' ? [`${role}: ${part.content}`] : part.type === 'tool-call' ? [`${part.name}(${part.arguments}) = ${JSON.stringify(part.output)}`] : [])),
  )

const ANSWER = ['user: Hi', 'assistant: You said: Hi', 'look({"where":"here"}) = {"found":1}', 'assistant: Done 👋']

describe.each([
  ['fetchServerSentEvents', fetchServerSentEvents, {}],
  ['fetchHttpStream', fetchHttpStream, { accept: 'application/x-ndjson' }],
] as const)('%s of TanStack AI', (_, connect, headers) => {
  test('text, a tool with its result, and a second turn', async () => {
    const { url, requests } = await start()
    const chat = new ChatClient({ connection: connect(url, { headers }) })
    await chat.sendMessage('Hi')
    expect(shown(chat)).toEqual(ANSWER)
    await chat.sendMessage('Hi')
    expect(shown(chat)).toEqual([...ANSWER, ...ANSWER])
    expect(requests).toEqual(['POST ', 'POST '])
  })

  test.each([[400], [900], [1500], [900, 300, 700]])('cut after %i bytes: it posts again behind an id, and the agent is asked once', async (...cuts) => {
    let runs = 0
    const { url, requests } = await start(cuts, async (input, run) => {
      runs++
      await agent(input, run)
    })
    const chat = new ChatClient({ connection: connect(url, { headers, reconnect: { delayMs: 1 } }) })
    await chat.sendMessage('Hi')
    expect(shown(chat)).toEqual(ANSWER)
    expect(runs).toBe(1)
    expect(requests.slice(0, 2)).toEqual(['POST ', 'POST  behind an id'])
  })

  test('joins a run from its start', async () => {
    const { url } = await start()
    const connection = connect(url, { headers })
    const run = async (events: AsyncIterable<unknown>): Promise<unknown[]> => {
      const all: unknown[] = []
      for await (const event of events) all.push(event)
      return all
    }
    const message = { id: 'u1', role: 'user' as const, parts: [{ type: 'text' as const, content: 'Hi' }] }
    const first = await run(connection.connect([message], undefined, new AbortController().signal, { threadId: 't1', runId: 'r1' }))
    expect(first.length).toBeGreaterThan(20)
    expect(await run(connection.joinRun('r1'))).toEqual(first)
  })

  test('a stop is a client that is gone: the run goes on, as it is told to', async () => {
    let go: () => void = () => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    const { url, handler: own } = await start([], async (_input, run) => {
      await run.text('Half')
      await gate
      await run.text('Whole')
    })
    const chat = new ChatClient({ connection: connect(url, { headers }) })
    const sending = chat.sendMessage('Hi')
    await eventually(() => shown(chat).length === 2)
    chat.stop()
    await sending
    await eventually(() => own.counts().readers === 0)
    expect(own.counts().producers).toBe(1)
    go()
    await eventually(() => own.counts().producers === 0)
  })
})
