/** Each fault does what it says, down to the bytes. */
import { expect, describe, test } from 'vitest'
import { frames, idsOf, input, post, rawPost, readUntilError, serverFor } from '../../test/raw.ts'
import {
  allTogether,
  both,
  bufferingProxy,
  byteByByte,
  cutAfter,
  cutAt,
  cutInHead,
  drip,
  fine,
  fromStart,
  heartbeats,
  htmlPage,
  neverAnswer,
  overlap,
  recordedRun,
  resetAt,
  stallAfter,
  stallAt,
  status,
  twice,
  unterminated,
  wrappedInJson,
  type Fault,
  type Timer,
} from '../index.ts'

const events = recordedRun()

/** What a fine server sends. */
async function whole(fault: Fault = fine): Promise<Buffer> {
  const server = await serverFor({ events, faults: [fault] })
  return (await rawPost(server).done).plain
}

describe('cut', () => {
  test.each([0, 1, 77, 1000, 4000])('after byte %i of the body: so many come, and no mark of the end', async (byte) => {
    const all = await whole()
    const server = await serverFor({ events, faults: [cutAt(byte)] })
    const answer = await rawPost(server).done
    expect(answer.head).toMatch(/^HTTP\/1.1 200/)
    expect(answer.plain).toEqual(all.subarray(0, byte))
    expect(answer.body.endsWith('0\r\n\r\n')).toBe(false)
    expect(answer.end).toBe('fin')
    expect(server.requests[0]).toMatchObject({ bytes: byte, ending: 'cut', status: 200, did: 'start' })
  })

  test('after the last byte: all comes, but no clean end; behind it: nothing changes', async () => {
    const { length } = await whole()
    const server = await serverFor({ events, faults: [cutAt(length), cutAt(length + 1)] })
    expect(await readUntilError(await post(server, { runId: 'r1' }))).toMatchObject({ failed: true })
    expect(await readUntilError(await post(server, { runId: 'r2' }))).toMatchObject({ failed: false })
    expect(server.requests.map(({ ending }) => ending)).toEqual(['cut', 'end'])
  })

  test.each([0, 1, 9, 40])('after byte %i of the head', async (head) => {
    const server = await serverFor({ events, faults: [cutInHead(head)] })
    const answer = await rawPost(server).done
    expect(answer.text).toBe('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n'.slice(0, head))
    expect(answer.end).toBe('fin')
    // The run runs all the same: that is what makes a POST that failed so awkward.
    expect(server.started).toHaveLength(1)
    await expect(post(server)).resolves.toMatchObject({ status: 200 })
  })

  test('a place behind the head is the end of the head', async () => {
    const server = await serverFor({ events, faults: [cutInHead(100_000)] })
    const answer = await rawPost(server).done
    expect(answer.text).toMatch(/\r\n\r\n$/)
    expect(answer.body).toBe('')
  })

  test('after some events', async () => {
    const server = await serverFor({ events, faults: [cutAfter(3)] })
    const { text, failed } = await readUntilError(await post(server))
    expect([idsOf(text), failed]).toEqual([['1', '2', '3'], true])
    expect(server.requests[0]).toMatchObject({ events: 3 })
  })
})

test('a reset is a reset, before the head and in the body', async () => {
  const reset: Fault = { ending: { at: { head: 0 }, how: 'reset' } }
  const server = await serverFor({ events, faults: [resetAt(500), reset] })
  const answer = await rawPost(server, { body: input('a') }).done
  expect(answer.end).toBe('reset')
  expect(answer.plain.length).toBeLessThanOrEqual(500)
  expect(await rawPost(server, { body: input('b') }).done).toMatchObject({ end: 'reset', text: '' })
})

describe('stall', () => {
  test('in the body: so much comes, then nothing, until it is released', async () => {
    const all = await whole()
    const server = await serverFor({ events, faults: [stallAt(100)] })
    const client = rawPost(server)
    await server.until(({ requests }) => requests[0]?.ending === 'stalled')
    expect(server.requests[0]).toMatchObject({ bytes: 100 })
    expect(server.connections).toMatchObject({ open: 1, answering: 1 })
    server.unstall()
    expect((await client.done).plain).toEqual(all)
  })

  test('for ever: the client leaves, and that is seen', async () => {
    const server = await serverFor({ events, faults: [stallAfter(2)] })
    const abort = new AbortController()
    const response = await post(server, { signal: abort.signal })
    await server.until(({ requests }) => requests[0]?.ending === 'stalled')
    abort.abort()
    await server.until(({ requests }) => requests[0]?.ending === 'left')
    expect(await readUntilError(response)).toMatchObject({ failed: true })
  })

  test('half open: nothing at all comes, until it is released', async () => {
    const server = await serverFor({ events, faults: [neverAnswer] })
    const client = rawPost(server)
    await server.until(({ requests }) => requests[0]?.ending === 'stalled')
    expect(client.received()).toBe('')
    server.unstall()
    expect(frames((await client.done).plain)).toHaveLength(events.length)
  })
})

describe('how it is written', () => {
  test('byte by byte: every write is one byte, and the body is the same', async () => {
    const answer = await rawPost(await serverFor({ events, faults: [byteByByte] })).done
    expect(answer.plain).toEqual(await whole())
    expect(answer.body.match(/(^|\r\n)1\r\n/g)).toHaveLength(answer.plain.length)
  })

  test('all together: one write', async () => {
    const answer = await rawPost(await serverFor({ events, faults: [allTogether] })).done
    expect(answer.plain).toEqual(await whole())
    expect(Number.parseInt(answer.body, 16)).toBe(answer.plain.length)
  })

  test('a buffering proxy gives nothing before the end', async () => {
    const server = await serverFor({ events, faults: [bufferingProxy], hold: 10 })
    const response = await post(server)
    await server.until(({ started }) => started.length === 1)
    server.release(5)
    expect(server.requests[0]).toMatchObject({ bytes: 0, events: 0, status: 200 })
    server.release()
    expect(frames(await response.text())).toHaveLength(events.length)
  })

  test('a drip takes its time from the timer it was given', async () => {
    const waiting: (() => void)[] = []
    const timer: Timer = { after: (_ms, callback) => (waiting.push(callback), () => undefined) }
    const server = await serverFor({ events, faults: [drip(100, 50)], timer })
    void post(server)
    for (const bytes of [100, 200, 300]) {
      await server.until(({ requests }) => requests[0]?.bytes === bytes && waiting.length > 0)
      waiting.shift()?.()
    }
    await server.until(({ requests }) => requests[0]?.bytes === 400)
  })
})

describe('lengths', () => {
  test('one that is too long: the body fails at its end', async () => {
    const server = await serverFor({ events, faults: [{ lengthOff: 10 }] })
    const answer = await rawPost(server).done
    expect(answer.head).toMatch(new RegExp(`content-length: ${answer.body.length + 10}`, 'i'))
    expect(answer.plain).toEqual(await whole())
    expect(await readUntilError(await post(await serverFor({ events, faults: [{ lengthOff: 10 }] })))).toMatchObject({ failed: true })
  })

  test('one that is too short: the bytes come all the same', async () => {
    const server = await serverFor({ events, faults: [{ lengthOff: -10 }] })
    const answer = await rawPost(server).done
    expect(answer.head).toMatch(new RegExp(`content-length: ${answer.body.length - 10}`, 'i'))
    expect(answer.plain).toEqual(await whole())
  })
})

describe('something else in place of the stream', () => {
  test.each([503, 429, 408, 425, 404, 400])('%i, then fine; no run is started', async (code) => {
    const server = await serverFor({ events, faults: [status(code, '2')] })
    const response = await post(server)
    expect([response.status, response.headers.get('retry-after')]).toEqual([code, '2'])
    expect(await response.json()).toEqual({ error: { code: `fault.${code}`, message: expect.any(String) } })
    expect(server.started).toHaveLength(0)
    expect((await post(server)).status).toBe(200)
    expect(server.requests.map(({ did }) => did)).toEqual(['failed', 'start'])
  })

  test('a page', async () => {
    const response = await post(await serverFor({ faults: [htmlPage] }))
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await response.text()).toMatch(/^<!doctype html>/)
  })

  test('the stream as a string in JSON', async () => {
    const response = await post(await serverFor({ events, faults: [wrappedInJson] }))
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(((await response.json()) as { body: string }).body).toBe((await whole()).toString())
  })

  test('another Content-Type, or none', async () => {
    const server = await serverFor({ events, faults: [{ contentType: 'text/plain' }, { contentType: null }] })
    const [first, second] = [await post(server, { runId: 'a' }), await post(server, { runId: 'b' })]
    expect([first.headers.get('content-type'), second.headers.get('content-type')]).toEqual(['text/plain', null])
    expect(await first.text()).toBe((await whole()).toString().replaceAll('"r1"', '"a"'))
  })

  test('a clean end before the terminal event', async () => {
    const { text, failed } = await readUntilError(await post(await serverFor({ events, faults: [unterminated] })))
    expect(failed).toBe(false)
    expect(frames(text)).toHaveLength(events.length - 1)
  })
})

describe('replays', () => {
  const resumed = async (fault: Fault, cursor: string) => {
    const server = await serverFor({ events, faults: [fine, fault] })
    await (await post(server)).text()
    return idsOf(await (await fetch(`${server.url}?runId=r1`, { headers: { 'last-event-id': cursor } })).text())
  }

  test('without a fault it goes on behind the cursor', async () => {
    expect((await resumed(fine, '50'))[0]).toBe('51')
  })
  test('twice', async () => {
    expect((await resumed(twice, '50')).slice(0, 4)).toEqual(['51', '51', '52', '52'])
  })
  test('overlapping', async () => {
    expect((await resumed(overlap(3), '50')).slice(0, 2)).toEqual(['48', '49'])
    expect((await resumed(overlap(300), '50'))[0]).toBe('1')
  })
  test('from the start', async () => {
    expect(await resumed(fromStart, '50')).toHaveLength(events.length)
  })
  test('places count what is sent, replays included', async () => {
    const server = await serverFor({ events, faults: [both(twice, unterminated)] })
    expect(frames(await (await post(server)).text())).toHaveLength(2 * events.length - 1)
  })
})

describe('fillers', () => {
  test.each([
    ['comment', ': heartbeat\n\n'],
    ['blank', '\n'],
  ] as const)('a heartbeat as %s after every second event', async (as, text) => {
    const body = (await whole(heartbeats(2, as))).toString()
    const plain = (await whole()).toString().split('\n\n').slice(0, -1)
    expect(body).toBe(plain.map((block, i) => `${block}\n\n${i % 2 === 1 ? text : ''}`).join(''))
    expect(frames(body)).toHaveLength(events.length)
  })

  test('retry, before all events', async () => {
    expect((await whole({ retryMs: 1500 })).toString()).toBe(`retry: 1500\n\n${(await whole()).toString()}`)
  })
})

test('faults that are given together all happen', async () => {
  const fault = both(byteByByte, heartbeats(1), { retryMs: 9, contentType: 'text/event-stream; charset=UTF-8' }, cutAt(300))
  const all = await whole(both(heartbeats(1), { retryMs: 9 }))
  const answer = await rawPost(await serverFor({ events, faults: [fault] })).done
  expect(answer.plain).toEqual(all.subarray(0, 300))
  expect(answer.head).toMatch(/charset=UTF-8/)
})
