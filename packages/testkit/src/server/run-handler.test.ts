/** Where nothing is broken on purpose, the fault server answers as `createRunHandler` does: same statuses, codes and events. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRunHandler } from '@millrace/server'
import { toNodeListener } from '@millrace/server/node'
import { expect, onTestFinished, test } from 'vitest'
import { frames, input, serverFor } from '../../test/raw.ts'
import { recordedRun } from '../index.ts'

const events = recordedRun('interrupt')

async function realServer(): Promise<string> {
  const handler = createRunHandler({ agent: () => events.slice(1) as never, authorize: () => true })
  const server = createServer(toNodeListener(handler))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await handler.stop()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`
}

/** What a client sees of a server, with cursors as places among the ids that it sent. */
async function seen(url: string): Promise<unknown[]> {
  const all: unknown[] = []
  let ids: (string | undefined)[] = []
  const ask = async (query: string, init: RequestInit = {}): Promise<void> => {
    const response = await fetch(url + query, init)
    const type = response.headers.get('content-type')
    const text = await response.text()
    if (type !== 'text/event-stream') {
      const body = JSON.parse(text) as { error?: { code?: string }; messages?: { id: string }[]; activeRun?: unknown; interrupts?: { id: string }[] }
      const { error, messages, activeRun, interrupts } = body
      all.push([response.status, error?.code, messages?.map(({ id }) => id), activeRun, interrupts?.map(({ id }) => id)])
      return
    }
    const got = frames(text)
    if (ids.length === 0) ids = got.map(({ id }) => id)
    all.push([response.status, response.headers.get('x-run-id'), got.map(({ id, data }) => [ids.indexOf(id), (JSON.parse(data) as { type: string }).type])])
  }
  const post = (body: unknown, headers: Record<string, string> = {}): Promise<void> =>
    ask('', { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })

  await post(input())
  const cursor = encodeURIComponent(ids[10] ?? '')
  await post(input())
  await post(input(), { 'last-event-id': ids[30] ?? '' })
  await post(input('gone'), { 'last-event-id': ids[30] ?? '' })
  await post({ threadId: 't1' })
  for (const query of ['runId=r1', 'runId=r1&offset=-1', `runId=r1&offset=${cursor}`, 'runId=r1&offset=nowhere', 'runId=nobody', 'threadId=t1', 'threadId=nobody', '']) {
    await ask(`?${query}`)
  }
  await ask(`?runId=r1&offset=${cursor}`, { headers: { 'last-event-id': ids[20] ?? '' } })
  await ask('?runId=nobody', { method: 'DELETE' })
  await ask('', { method: 'DELETE' })
  await ask('?runId=r1', { method: 'DELETE' })
  await ask('', { method: 'PUT' })
  return all
}

test('same requests, same answers', async () => {
  const [real, ours] = [await seen(await realServer()), await seen((await serverFor({ events })).url)]
  expect(ours).toEqual(real)
})
