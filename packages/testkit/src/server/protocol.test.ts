/** What the server says when nothing goes wrong: starting, joining, resuming, hydrating, cancelling, in all id styles. */
import { describe, expect, test } from 'vitest'
import { UsageError } from '@millrace/protocol'
import { bigRun, recordedRun, type Fault, type FaultServer, type IdStyle } from '../index.ts'
import { frames, idsOf, input, post, serverFor } from '../../test/raw.ts'
import { startFaultServer } from './fault-server.ts'

const events = recordedRun()

const get = (server: FaultServer, query: string, headers: Record<string, string> = {}): Promise<Response> => fetch(`${server.url}?${query}`, { headers })
const ids = async (response: Promise<Response>): Promise<(string | undefined)[]> => idsOf(await (await response).text())
const code = async (response: Promise<Response>): Promise<unknown> => {
  const answer = await response
  return [answer.status, ((await answer.json()) as { error: { code: string } }).error.code]
}

describe('runs', () => {
  test('a POST starts one: its events come with ids, under the ids that were asked for', async () => {
    const server = await serverFor({ events })
    const response = await post(server, { runId: 'mine' })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(response.headers.get('x-run-id')).toBe('mine')
    const all = frames(await response.text())
    expect(all.map(({ id }) => id)).toEqual(events.map((_, i) => String(i + 1)))
    const got = all.map(({ data }) => JSON.parse(data) as object)
    expect(got.at(0)).toMatchObject({ type: 'RUN_STARTED', runId: 'mine' })
    expect(got.at(-1)).toMatchObject({ type: 'RUN_FINISHED', runId: 'mine' })
    expect(got.slice(1, -1)).toEqual(events.slice(1, -1))
    expect(server.started).toEqual([input('mine')])
  })

  test('a script sees the input and how many runs there were', async () => {
    const server = await serverFor({ script: ({ runId }, count) => bigRun(count, { runId }) })
    expect(await ids(post(server, { runId: 'a' }))).toHaveLength(4)
    expect(await ids(post(server, { runId: 'b' }))).toHaveLength(5)
  })

  test('without events, each run has ids of its own', async () => {
    const server = await serverFor()
    expect(await (await post(server, { runId: 'a' })).text()).toMatch(/"messageId":"a-m1"/)
    expect(await (await post(server, { runId: 'b' })).text()).not.toMatch(/a-m1/)
  })

  test('text in a script is sent as it is', async () => {
    const server = await serverFor({ events: ['{"type":', '[DONE]'], ids: 'none' })
    expect(await (await post(server)).text()).toBe('data: {"type":\n\ndata: [DONE]\n\n')
  })

  test('NDJSON to those who ask for it: envelopes, or bare events without ids', async () => {
    const headers = { accept: 'application/x-ndjson' }
    const read = async (server: FaultServer) => {
      const response = await post(server, { headers })
      expect(response.headers.get('content-type')).toBe('application/x-ndjson')
      return (await response.text()).trim().split('\n').map((line) => JSON.parse(line) as object)
    }
    expect(await read(await serverFor({ events }))).toEqual(events.map((chunk, i) => ({ id: String(i + 1), chunk })))
    expect(await read(await serverFor({ events, ids: 'none' }))).toEqual(events)
  })

  test('what is no input is refused', async () => {
    const server = await serverFor()
    for (const body of ['', '{', 'null', '[]', '{"runId":"r"}', '{"runId":1,"threadId":"t"}']) {
      expect(await code(fetch(server.url, { method: 'POST', body }))).toEqual([400, 'input.malformed'])
    }
    expect(server.started).toHaveLength(0)
  })
})

describe('ids', () => {
  const styles: [string, 'none' | IdStyle, (string | undefined)[]][] = [
    ['numbers', {}, ['1', '2', '3', '4', '5', '6']],
    ['every third', { every: 3 }, [undefined, undefined, '3', undefined, undefined, '6']],
    ['none', 'none', [undefined, undefined, undefined, undefined, undefined, undefined]],
    ['emptied', { emptyAt: [2, 5] }, ['1', '', '3', '4', '', '6']],
    ['emptied, of every third', { every: 3, emptyAt: [4] }, [undefined, undefined, '3', '', undefined, '6']],
  ]
  test.each(styles)('%s', async (_, style, expected) => {
    const server = await serverFor({ events: bigRun(2), ids: style })
    const text = await (await post(server)).text()
    // Read line by line: a decoder would carry an id on to events without one.
    const sent = text.trim().split('\n\n').map((block) => /^id: ?(.*)$/m.exec(block)?.[1])
    expect(sent).toEqual(expected)
  })

  test('opaque ones are all different, fit into a header, and are found again', async () => {
    const server = await serverFor({ events, ids: { look: 'opaque' } })
    const all = await ids(post(server))
    expect(new Set(all).size).toBe(events.length)
    expect(all[0]).not.toBe((await ids(post(server, { runId: 'other' })))[0])
    const cursor = all[20] ?? ''
    expect(await ids(get(server, 'runId=r1', { 'last-event-id': cursor }))).toEqual(all.slice(21))
    expect(await ids(get(server, `runId=r1&offset=${encodeURIComponent(cursor)}`))).toEqual(all.slice(21))
  })

  test('behind an event without an id one resumes at the id before it', async () => {
    const server = await serverFor({ events, ids: { every: 10 } })
    await (await post(server)).text()
    const text = await (await get(server, 'runId=r1&offset=20')).text()
    expect(frames(text)).toHaveLength(events.length - 20)
  })
})

describe('resuming by GET', () => {
  test('from the start, behind a cursor; the header counts before the query', async () => {
    const server = await serverFor({ events })
    await (await post(server)).text()
    expect(await ids(get(server, 'runId=r1'))).toHaveLength(events.length)
    expect(await ids(get(server, 'runId=r1&offset=-1'))).toHaveLength(events.length)
    expect(await ids(get(server, 'runId=r1&offset=10'))).toHaveLength(events.length - 10)
    expect(await ids(get(server, 'runId=r1&offset=10', { 'last-event-id': '20' }))).toHaveLength(events.length - 20)
    expect(await ids(get(server, `runId=r1&offset=${events.length}`))).toEqual([])
    expect(server.requests.map(({ did }) => did)).toEqual(['start', 'join', 'join', 'resume', 'resume', 'resume'])
    expect(server.started).toHaveLength(1)
  })

  test('a POST that is sent again joins the run', async () => {
    const server = await serverFor({ events })
    await (await post(server)).text()
    expect(await ids(post(server))).toHaveLength(events.length)
    expect(await ids(post(server, { headers: { 'last-event-id': '50' } }))).toHaveLength(events.length - 50)
    expect(server.started).toHaveLength(1)
  })

  test('what is not there', async () => {
    const server = await serverFor({ events })
    await (await post(server)).text()
    expect(await code(get(server, 'runId=nobody'))).toEqual([404, 'run.unknown'])
    expect(await code(get(server, 'runId=r1&offset=nowhere'))).toEqual([400, 'run.offset'])
    expect(await code(get(server, 'threadId=nobody'))).toEqual([404, 'thread.unknown'])
    expect(await code(get(server, ''))).toEqual([400, 'query.missing'])
    expect(await code(post(server, { runId: 'gone', headers: { 'last-event-id': '3' } }))).toEqual([410, 'run.gone'])
    expect(await code(fetch(server.url, { method: 'PUT' }))).toEqual([405, 'method'])
  })
})

test('resuming by POST: with a cursor it goes on, without one it runs again; GET is not served', async () => {
  const server = await serverFor({ events, resume: 'post' })
  await (await post(server)).text()
  expect(await ids(post(server, { headers: { 'last-event-id': '50' } }))).toHaveLength(events.length - 50)
  expect(await code(get(server, 'runId=r1&offset=50'))).toEqual([405, 'method'])
  expect(server.started).toHaveLength(1)
  expect(await ids(post(server))).toHaveLength(events.length)
  expect(server.started).toHaveLength(2)
})

test('no resuming: no ids, and every POST runs', async () => {
  const server = await serverFor({ events, resume: 'none' })
  expect(await ids(post(server))).toEqual(events.map(() => undefined))
  await (await post(server, { headers: { 'last-event-id': '5' } })).text()
  expect(server.started).toHaveLength(2)
  expect(await code(get(server, 'runId=r1'))).toEqual([405, 'method'])
  expect(await code(fetch(`${server.url}?runId=r1`, { method: 'DELETE' }))).toEqual([405, 'method'])
})

describe('gates', () => {
  test('events come as they are released, to all who read', async () => {
    const server = await serverFor({ events, hold: 10 })
    const first = await post(server)
    const second = await get(server, 'runId=r1&offset=5')
    await server.until(({ requests }) => requests[0]?.events === 10 && requests[1]?.events === 5)
    server.release(3)
    await server.until(({ requests }) => requests[0]?.events === 13 && requests[1]?.events === 8)
    expect(server.connections.answering).toBe(2)
    server.release()
    expect(frames(await first.text())).toHaveLength(events.length)
    expect(frames(await second.text())).toHaveLength(events.length - 5)
  })

  test('one run can be released alone', async () => {
    const server = await serverFor({ events, hold: 1 })
    const [a] = [await post(server, { runId: 'a' }), await post(server, { runId: 'b' })]
    server.release(Infinity, 'a')
    expect(frames(await a.text())).toHaveLength(events.length)
    expect(server.requests[1]).toMatchObject({ events: 1, ending: 'open' })
  })
})

describe('threads', () => {
  test('hydrating gives what ended, and names what runs', async () => {
    const server = await serverFor({ script: ({ runId, threadId }) => recordedRun('mixed', { runId, threadId, prefix: runId }), hold: 5 })
    void post(server)
    await server.until(({ requests }) => requests[0]?.events === 5)
    const running = (await (await get(server, 'threadId=t1')).json()) as { messages: { id: string }[] }
    expect(running).toMatchObject({ messages: [{ id: 'u1' }], activeRun: { runId: 'r1' }, interrupts: [] })
    server.release()
    const done = (await (await get(server, 'threadId=t1')).json()) as { messages: { id: string }[]; state: unknown }
    expect(done).toMatchObject({ activeRun: null, state: { done: true } })
    expect(done.messages.map(({ id }) => id)).toEqual(['u1', 'r1think1', 'r1m1', 'r1result1', 'r1m2', 'r1m3'])
  })

  test('an open question is among the interrupts', async () => {
    const server = await serverFor({ events: recordedRun('interrupt') })
    await (await post(server)).text()
    expect(await (await get(server, 'threadId=t1')).json()).toMatchObject({ interrupts: [{ id: 'ask1', reason: 'confirm' }] })
  })

  test('cancelling ends the run for all who read it', async () => {
    const server = await serverFor({ events, hold: 3 })
    const response = await post(server)
    const cancelled = await fetch(`${server.url}?runId=r1`, { method: 'DELETE' })
    expect(await cancelled.json()).toEqual({ runId: 'r1', status: 'closed', outcome: 'cancelled' })
    const all = frames(await response.text())
    expect(all).toHaveLength(4)
    expect(JSON.parse(all.at(-1)?.data ?? '')).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } })
    const again = await fetch(`${server.url}?runId=r1`, { method: 'DELETE' })
    expect(await again.json()).toMatchObject({ status: 'closed' })
    expect(await code(fetch(`${server.url}?runId=nobody`, { method: 'DELETE' }))).toEqual([404, 'run.unknown'])
    expect(server.requests[1]).toMatchObject({ did: 'cancel', method: 'DELETE', query: { runId: 'r1' } })
  })
})

describe('faults by request', () => {
  test('a list counts what opens a stream; a function is asked for everything', async () => {
    const server = await serverFor({ events, faults: [{}, { answer: { status: 503 } }] })
    await (await post(server)).text()
    expect((await get(server, 'threadId=t1')).status).toBe(200)
    expect((await get(server, 'runId=r1')).status).toBe(503)
    const attempts: number[] = []
    server.setFaults(({ query }, attempt) => {
      attempts.push(attempt)
      return query.threadId === undefined ? undefined : { answer: { status: 429 } }
    })
    expect((await get(server, 'threadId=t1')).status).toBe(429)
    expect((await get(server, 'runId=r1')).status).toBe(200)
    expect(attempts).toEqual([-1, 0])
  })
})

test('the request log has what was asked, in order', async () => {
  const server = await serverFor({ events })
  await (await post(server, { headers: { 'x-mine': 'yes' } })).text()
  await (await get(server, 'runId=r1&offset=2')).text()
  expect(server.requests).toMatchObject([
    { index: 0, transport: 'http/1.1', method: 'POST', path: '/agent', query: {}, headers: { 'x-mine': 'yes' }, did: 'start', events: events.length },
    { index: 1, method: 'GET', query: { runId: 'r1', offset: '2' }, body: '', did: 'resume', ending: 'end' },
  ])
  expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual(input())
})

test('pages of other origins may ask: preflights are answered, not logged, and meet no fault', async () => {
  const server = await serverFor({ faults: [{ answer: { status: 503 } }] })
  const headers = { origin: 'http://localhost:1', 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-mine' }
  const preflight = await fetch(server.url, { method: 'OPTIONS', headers })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-headers')).toBe('x-mine')
  expect(server.requests).toHaveLength(0)
  const refused = await post(server, { headers: { origin: 'http://localhost:1' } })
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([503, 'http://localhost:1'])
  expect((await post(server)).headers.get('access-control-allow-origin')).toBeNull()
})

describe('mistakes of a test are told', () => {
  const impossible: [string, Fault][] = [
    ['chop.size', { chop: { size: 0 } }],
    ['heartbeat.every', { heartbeat: { every: 0, as: 'blank' } }],
    ['ending.at.byte', { ending: { at: { byte: -1 }, how: 'cut' } }],
    ['ending.at.event', { ending: { at: { event: 1.5 }, how: 'cut' } }],
    ['ending.at.head', { ending: { at: { head: Number.NaN }, how: 'cut' } }],
    ['ending.how.close', { ending: { at: { event: 1 }, how: { close: 200 } } }],
    ['answer.status', { answer: { status: 101 } }],
    ['replay.overlap', { replay: { overlap: -1 } }],
    ['lengthOff', { lengthOff: 0.5 }],
    ['retryMs', { retryMs: -1 }],
  ]
  test.each(impossible)('%s', async (member, fault) => {
    await expect(startFaultServer({ faults: [fault] })).rejects.toMatchObject({ code: 'testkit.fault', message: expect.stringContaining(member) })
    const server = await serverFor({ faults: () => fault })
    expect(() => server.setFaults([fault])).toThrow(UsageError)
    const answer = await post(server)
    expect([answer.status, await answer.text()]).toEqual([500, expect.stringContaining(member)])
  })

  test('a script that throws gives a run that says so', async () => {
    const server = await serverFor({
      script: () => {
        throw new Error('oops')
      },
    })
    expect(await (await post(server)).text()).toMatch(/RUN_ERROR.*oops.*testkit\.script/)
  })

  test('a condition that throws', async () => {
    const server = await serverFor()
    const waiting = server.until(({ requests }) => {
      if (requests.length > 0) throw new Error('oops')
      return false
    })
    const told = expect(waiting).rejects.toThrow('oops')
    await (await post(server)).text()
    await told
  })
})

test('waiting for what does not come is told when the server closes', async () => {
  const server = await startFaultServer()
  const waiting = expect(server.until(() => false)).rejects.toMatchObject({ code: 'testkit.closed' })
  await server.close()
  await waiting
})
