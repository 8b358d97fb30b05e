/** What our server offers besides runs, asked for by our connections: joining, hydrating and cancelling. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fetchHttpStream, fetchServerSentEvents, normalizeConnectionAdapter } from '@millrace/client'
import { createRunHandler, type Agent } from '@millrace/server'
import { toNodeListener } from '@millrace/server/node'
import { describe, expect, it, onTestFinished } from 'vitest'
import { collect, types, until, userMessage } from '../../test/events.ts'

async function served(agent: Agent) {
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

/** An agent that says one thing, then waits until it is let go. */
function gated() {
  let go: () => void = () => {}
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  const agent: Agent = async (_, run) => {
    await run.text('one')
    await Promise.race([gate, new Promise<void>((resolve) => run.signal.addEventListener('abort', () => resolve(), { once: true }))])
    await run.text('two')
  }
  return { agent, go: () => go() }
}

describe.each([
  ['fetchServerSentEvents', fetchServerSentEvents],
  ['fetchHttpStream', fetchHttpStream],
])('%s', (_, factory) => {
  it('a run is left and joined again, by another connection too', async () => {
    const { agent, go } = gated()
    const { url, handler } = await served(agent)
    const context = { threadId: 't1', runId: 'r1' }
    const first = []
    for await (const chunk of factory(url).connect([userMessage()], undefined, undefined, context)) if (first.push(chunk) === 4) break
    await until(() => handler.counts().readers === 0)
    expect(handler.counts().producers).toBe(1)
    expect(await factory(url).hydrate('t1')).toMatchObject({ messages: [{ id: 'u1' }], activeRun: { runId: 'r1' } })
    const joined = collect(factory(url).joinRun('r1'))
    await until(() => handler.counts().readers === 1)
    go()
    const events = await joined
    expect(events.slice(0, 4)).toEqual(first)
    expect(types(events)).toEqual(['RUN_STARTED', ...Array.from({ length: 2 }, () => ['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END']).flat(), 'RUN_FINISHED'])
    expect(await factory(url).hydrate('t1')).toMatchObject({ messages: [{ id: 'u1' }, { content: 'one' }, { content: 'two' }], activeRun: null, interrupts: [] })
    expect(await factory(url).hydrate('t2')).toBeUndefined()
  })

  it('a run is cancelled, and its reader sees the end', async () => {
    const { agent } = gated()
    const { url, handler } = await served(agent)
    const run = collect(factory(url).connect([userMessage()], undefined, undefined, { threadId: 't1', runId: 'r1' }))
    await until(() => handler.counts().readers === 1)
    expect(await factory(url).cancelRun('r1')).toBe('closed')
    expect(['RUN_FINISHED', 'RUN_ERROR']).toContain((await run).at(-1)?.type)
    expect(await factory(url).cancelRun('r2')).toBe('unknown')
    await until(() => handler.counts().readers === 0 && handler.counts().producers === 0)
  })

  it('a run that is joined comes out of the subscription', async () => {
    const { agent, go } = gated()
    const { url } = await served(agent)
    go()
    await collect(factory(url).connect([userMessage()], undefined, undefined, { threadId: 't1', runId: 'r1' }))
    const connection = normalizeConnectionAdapter(factory(url))
    const controller = new AbortController()
    const seen = collect(connection.subscribe(controller.signal))
    await connection.join?.('r1')
    controller.abort()
    expect(types(await seen).at(-1)).toBe('RUN_FINISHED')
    expect(await connection.hydrate?.('t1')).toMatchObject({ activeRun: null })
    expect(await connection.cancelRun?.('r1')).toBe('closed')
  })
})
