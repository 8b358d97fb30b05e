/** Law 3, over real sockets and our own server: cut the connection at any byte, and the thread is that of the uncut run. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fetchHttpStream, fetchServerSentEvents, readThread, type StreamChunk } from '@millrace/client'
import { createRunHandler, type Agent } from '@millrace/server'
import { toNodeListener } from '@millrace/server/node'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { collect, until, userMessage } from '../../test/events.ts'
import { cuttingProxy, type Cut } from '../../test/cutting-proxy.ts'

/** Text in pieces, multi-byte too, a tool call, state and a step, with as little time as possible. */
const agent: Agent = async (_, run) => {
  await run.step('look', async () => {
    const call = await run.toolCall('search', { query: 'mühle ⚙️' })
    await call.result('{"found":3}')
  })
  await run.state.set({ n: 0, list: ['a'] })
  await run.state.patch([{ op: 'add', path: '/list/-', value: 'ü' }])
  const message = await run.text()
  for (const word of ['A ', 'millrace ', 'carries ', '水 ', 'to ', 'the ', 'wheel', '.', '.', '.']) await message.write(word)
  await message.end()
  await run.custom('done', { ok: true })
}

async function served() {
  const handler = createRunHandler({ agent, authorize: () => true })
  const server = createServer(toNodeListener(handler))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await handler.stop()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`, handler }
}

const FACTORIES = { fetchServerSentEvents, fetchHttpStream }
let run = 0

/** One run through a proxy: its events, and what was asked for. */
async function throughProxy(target: string, factory: keyof typeof FACTORIES, cut: (request: number) => Cut) {
  const proxy = await cuttingProxy(target, cut)
  const runId = `run-${++run}`
  const connection = FACTORIES[factory](proxy.url, { reconnect: { delayMs: 1, maxAttempts: 20 }, headers: { connection: 'close' } })
  const events = await collect(connection.connect([userMessage()], undefined, undefined, { threadId: `t-${run}`, runId }))
  await until(() => proxy.open() === 0)
  const { requests } = proxy
  await proxy.close()
  return { events, requests, runId, posts: requests.filter((line) => line.startsWith('POST')).length }
}

/** Without what differs from run to run. */
const shapeOf = (events: readonly StreamChunk[], runId: string): string =>
  JSON.stringify(events)
    .replaceAll(runId, 'RUN')
    .replaceAll(runId.replace('run', 't'), 'THREAD')
    .replaceAll(/"timestamp":\d+,?/g, '')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')

async function threadOf(events: readonly StreamChunk[]) {
  const threads = await collect(readThread(events, { missingTerminal: 'error' }))
  return threads.at(-1)
}

describe.each(['fetchServerSentEvents', 'fetchHttpStream'] as const)('%s', (factory) => {
  it('gives the run once and POSTs once, wherever its first answer is cut', async () => {
    const { url } = await served()
    const whole = await throughProxy(url, factory, () => Infinity)
    expect(whole.requests).toEqual(['POST /agent'])
    const expected = shapeOf(whole.events, whole.runId)
    let joined = 0
    // The whole answer has about 4,000 bytes; a prime, so that cuts fall into headers, lines, ids and characters alike.
    for (let byte = 0; byte < 4500; byte += 97) {
      const cut = await throughProxy(url, factory, (request) => (request > 0 ? Infinity : byte % 2 === 0 ? byte : { after: byte, how: 'reset' }))
      expect(shapeOf(cut.events, cut.runId), `cut at byte ${byte}`).toBe(expected)
      expect(cut.posts).toBe(1)
      expect(cut.requests.length).toBeLessThanOrEqual(2)
      joined += cut.requests.length - 1
    }
    expect(joined).toBeGreaterThan(20)
  })

  it('the same when joins are cut too, at any bytes', async () => {
    const { url, handler } = await served()
    const whole = await throughProxy(url, factory, () => Infinity)
    const expected = shapeOf(whole.events, whole.runId)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(1500), { maxLength: 8 }), async (cuts) => {
        const cut = await throughProxy(url, factory, (request) => cuts[request] ?? Infinity)
        expect(shapeOf(cut.events, cut.runId)).toBe(expected)
        expect(cut.posts).toBe(1)
        expect((await threadOf(cut.events))?.messages).toHaveLength((await threadOf(whole.events))?.messages.length ?? -1)
      }),
      { numRuns: 25 },
    )
    await until(() => handler.counts().readers === 0 && handler.counts().producers === 0)
  })
})
