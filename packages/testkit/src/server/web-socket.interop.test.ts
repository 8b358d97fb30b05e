/** The adapter whose protocol this server speaks. */
import { webSocket } from '@tanstack/ai-client'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { both, cutAfter, heartbeats, recordedRun, twice } from '../index.ts'
import { serverFor } from '../../test/raw.ts'

const events = recordedRun()

test('the adapter of TanStack AI runs against it, and resumes after a cut', async () => {
  const server = await serverFor({ events, faults: [cutAfter(20), both(twice, heartbeats(3))] })
  const adapter = webSocket(server.wsUrl, { WebSocketImpl: WebSocket as unknown as typeof globalThis.WebSocket, reconnect: { delayMs: 1 } })
  const abort = new AbortController()
  const chunks: unknown[] = []
  const reading = (async () => {
    for await (const chunk of adapter.subscribe(abort.signal)) {
      chunks.push(chunk)
      if (chunk.type === 'RUN_FINISHED') return
    }
  })()
  await adapter.send([{ id: 'u1', role: 'user', parts: [{ type: 'text', content: 'Hi' }] }], undefined, abort.signal, { threadId: 't1', runId: 'r1' })
  await reading
  abort.abort()
  expect(chunks).toMatchObject(events)
  expect(server.requests.map(({ did, query }) => [did, query.offset])).toEqual([
    ['conversation', undefined],
    ['resume', '20'],
  ])
})
