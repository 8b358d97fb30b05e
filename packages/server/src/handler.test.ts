import { afterEach, describe, expect, test, vi } from 'vitest'
import { UsageError } from '@millrace/protocol'
import type { Agent } from './agent.ts'
import type { Asked, Authorize } from './authorize.ts'
import type { RunHandlerOptions } from './check-options.ts'
import { createRunHandler } from './handler.ts'
import { MemoryLog } from './log/memory.ts'
import { countingIds, eventually, input, MemoryLogger, never, post, readEvents, serve, types, type Served } from './test/fixtures.ts'

const hello: Agent = async (_, run) => void (await run.text('Hello'))

let served: Served | undefined
afterEach(async () => {
  await served?.close()
  served = undefined
})

async function start(options: Partial<RunHandlerOptions> = {}) {
  const logger = new MemoryLogger()
  const log = options.log ?? new MemoryLog()
  const handler = createRunHandler({ agent: hello, authorize: () => true, createId: countingIds(), logger, log, ...options })
  served = await serve(handler)
  return { url: served.url, handler, logger, log }
}

async function problem(response: Response): Promise<{ status: number; code: string; pointer?: string }> {
  expect(response.headers.get('content-type')).toBe('application/json')
  const { error } = (await response.json()) as { error: { code: string; message: string; pointer?: string } }
  expect(error.message).not.toBe('')
  return { status: response.status, code: error.code, ...(error.pointer !== undefined && { pointer: error.pointer }) }
}

describe('making a handler', () => {
  test('without authorize is an error that says so', () => {
    const make = (): unknown => createRunHandler({ agent: hello } as RunHandlerOptions)
    expect(make).toThrow(UsageError)
    expect(make).toThrow(/authorize: \(\) => true/)
  })

  test('without agent, too', () => {
    expect(() => createRunHandler({ authorize: () => true } as unknown as RunHandlerOptions)).toThrow(UsageError)
  })
})

describe('POST', () => {
  test('streams the run as SSE, with headers that keep proxies from holding it back', async () => {
    const { url } = await start()
    const response = await post(url)
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-run-id': 'r1',
      vary: 'Accept',
    })
    expect(types(await readEvents(response))).toEqual([
      'RUN_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ])
  })

  test('as NDJSON on demand', async () => {
    const { url } = await start()
    const response = await post(url, input(), { Accept: 'application/x-ndjson' })
    expect(response.headers.get('content-type')).toBe('application/x-ndjson')
    const lines = (await response.text()).trimEnd().split('\n').map((line) => JSON.parse(line) as { id: string; chunk: { type: string } })
    expect(lines.map(({ id }) => id)).toEqual(['0', '1', '2', '3', '4'])
    expect(lines[4]?.chunk.type).toBe('RUN_FINISHED')
  })

  test('a runId that no header can hold is left out of the headers', async () => {
    const { url } = await start()
    for (const runId of ['r\n1', 'é', '', '\ud800']) {
      const response = await post(url, input({ runId }))
      expect([response.status, response.headers.get('x-run-id')]).toEqual([200, null])
      expect(types(await readEvents(response)).at(-1)).toBe('RUN_FINISHED')
    }
  })

  test.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/jsonp', 415],
    ['application/json; charset=latin1', 415],
    ['application/json', 200],
    ['Application/JSON; charset=utf-8', 200],
    ['application/json;charset="UTF-8"', 200],
    ['application/vnd.api+json', 200],
  ])('Content-Type %s: %i', async (type, status) => {
    const { url } = await start()
    const response = await post(url, input(), { 'Content-Type': type })
    expect(response.status).toBe(status)
    if (status === 415) expect(await problem(response)).toEqual({ status, code: 'body.type' })
  })

  test('no Content-Type: 415', async () => {
    const { url } = await start()
    expect(await problem(await fetch(url, { method: 'POST', body: new TextEncoder().encode('{}') }))).toMatchObject({ status: 415 })
  })

  test.each(['', '{', 'nonsense', '{"a":1}}', '[1'])('a body that is no JSON (%s): 400', async (body) => {
    const { url } = await start()
    expect(await problem(await post(url, body))).toEqual({ status: 400, code: 'body.not-json' })
  })

  test('bytes that are no UTF-8: 400', async () => {
    const { url } = await start()
    const body = new Uint8Array([...new TextEncoder().encode('{"threadId":"'), 0xff, ...new TextEncoder().encode('"}')])
    const response = await fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })
    expect(await problem(response)).toEqual({ status: 400, code: 'body.not-json' })
  })

  test.each<[string, unknown, string]>([
    ['null', null, ''],
    ['a list', [], ''],
    ['no threadId', { runId: 'r', messages: [] }, '/threadId'],
    ['a runId that is no string', { threadId: 't', runId: 1, messages: [] }, '/runId'],
    ['messages that are no list', { threadId: 't', runId: 'r', messages: {} }, '/messages'],
    ['a message without id', { threadId: 't', runId: 'r', messages: [{ role: 'user', content: 'x' }] }, '/messages/0/id'],
    ['a tool without name', { threadId: 't', runId: 'r', messages: [], tools: [{ description: 'x' }] }, '/tools/0/name'],
  ])('%s: 400 with the pointer of the field', async (_, body, pointer) => {
    const { url } = await start()
    expect(await problem(await post(url, body))).toEqual({ status: 400, code: 'input.malformed', pointer })
  })

  test('JSON that is nested very deep does no harm', async () => {
    const { url } = await start()
    const state = '['.repeat(100_000) + ']'.repeat(100_000)
    const response = await post(url, `{"threadId":"t","runId":"r","messages":[],"state":${state}}`)
    expect((await problem(response)).status).toBe(400)
    expect((await post(url)).status).toBe(200)
  })

  test('a body over the limit, declared or not: 413', async () => {
    const { url } = await start({ limits: { bodyBytes: 1000 } })
    const large = JSON.stringify(input({ state: 'x'.repeat(2000) }))
    expect(await problem(await post(url, large))).toEqual({ status: 413, code: 'body.too-large' })
    const chunked = new Blob([large]).stream()
    const headers = { 'Content-Type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body: chunked, duplex: 'half' } as RequestInit)
    expect(await problem(response)).toEqual({ status: 413, code: 'body.too-large' })
    expect((await post(url)).status).toBe(200)
  })

  test('unknown fields of the input are removed before the agent sees it', async () => {
    const seen = vi.fn()
    const { url, logger } = await start({ agent: async (asked) => void seen(asked) })
    const { tools: _, context: __, ...asked } = input()
    await readEvents(await post(url, { ...asked, colour: 'red' }))
    expect(seen).toHaveBeenCalledWith(input())
    expect(logger.lines.some(({ data }) => data['rule'] === 'event.unknown-field')).toBe(true)
  })

  test('a runId under another thread: 409', async () => {
    const { url } = await start()
    await readEvents(await post(url))
    expect(await problem(await post(url, input({ threadId: 't2' })))).toEqual({ status: 409, code: 'run.conflict' })
  })

  test('an agent that fails before its first event answers 200 and RUN_ERROR: the run was accepted', async () => {
    const { url, logger } = await start({
      agent: () => {
        throw new Error('secret')
      },
    })
    const response = await post(url)
    expect(response.status).toBe(200)
    expect(await readEvents(response)).toMatchObject([{ type: 'RUN_STARTED' }, { type: 'RUN_ERROR', code: 'agent.failed', message: 'The agent failed' }])
    expect(logger.lines[0]?.data).toMatchObject({ threadId: 't1', runId: 'r1', error: new Error('secret') })
  })

  test('as many runs as the server takes: 503, and a known run can still be joined', async () => {
    const { url, handler } = await start({ agent: (_, run) => new Promise((resolve) => run.signal.addEventListener('abort', () => resolve())), limits: { activeRuns: 1 } })
    const first = await post(url)
    const refused = await post(url, input({ runId: 'r2' }))
    expect(refused.headers.get('retry-after')).toBe('5')
    expect(await problem(refused)).toEqual({ status: 503, code: 'limit.activeRuns' })
    const again = await post(url)
    expect(again.status).toBe(200)
    await handler.stop()
    expect(types(await readEvents(first))).toEqual(types(await readEvents(again)))
  })

  test('a log that is full: 503', async () => {
    const { url } = await start({ log: new MemoryLog({ limits: { totalLength: 10 } }) })
    expect(await problem(await post(url))).toEqual({ status: 503, code: 'server.full' })
  })

  test('a log that fails: 500, with the reason in the log alone', async () => {
    const log = new MemoryLog()
    log.create = () => Promise.reject(new Error('secret'))
    const { url, logger } = await start({ log })
    expect(await problem(await post(url))).toEqual({ status: 500, code: 'server.failed' })
    expect(logger.lines[0]?.data['error']).toEqual(new Error('secret'))
  })
})

describe('an open interrupt', () => {
  const asks: Agent = async (asked, run) => {
    if (asked.resume === undefined) return run.interrupt({ id: 'i1', reason: 'confirmation' })
    if (asked.resume[0]?.status === 'cancelled') throw new Error('no')
    await run.text(`Answered: ${JSON.stringify(run.answer('i1')?.payload)}`)
    return undefined
  }

  test('forbids a run that does not answer it: 409', async () => {
    const { url } = await start({ agent: asks })
    expect((await readEvents(await post(url))).at(-1)).toMatchObject({ outcome: { type: 'interrupt' } })
    const refused = { status: 409, code: 'interrupt.uncovered', pointer: '/resume' }
    expect(await problem(await post(url, input({ runId: 'r2' })))).toEqual(refused)
    const other = input({ runId: 'r2', resume: [{ interruptId: 'other', status: 'resolved' }] })
    expect(await problem(await post(url, other))).toEqual(refused)
  })

  test('is answered, and gone', async () => {
    const { url } = await start({ agent: asks })
    await readEvents(await post(url))
    const resumed = await readEvents(await post(url, input({ runId: 'r2', resume: [{ interruptId: 'i1', status: 'resolved', payload: { ok: true } }] })))
    expect(resumed.find(({ delta }) => delta)).toMatchObject({ delta: 'Answered: {"ok":true}' })
    expect((await post(url, input({ runId: 'r3' }))).status).toBe(200)
  })

  test('outlives a run that failed, and does not bind other threads', async () => {
    const { url } = await start({ agent: asks })
    await readEvents(await post(url))
    await readEvents(await post(url, input({ runId: 'r2', resume: [{ interruptId: 'i1', status: 'cancelled' }] })))
    expect((await post(url, input({ runId: 'r3' }))).status).toBe(409)
    expect((await post(url, input({ threadId: 't2', runId: 'r4' }))).status).toBe(200)
  })
})

describe('an interrupt that two clients answer', () => {
  const answer = (runId: string, payload: string): ReturnType<typeof input> => input({ runId, resume: [{ interruptId: 'i1', status: 'resolved', payload }] })
  const refused = { status: 409, code: 'interrupt.answered', pointer: '/resume' }

  /** Asks, then waits with the answer it was given until it is let go. */
  async function asked(act: (run: Parameters<Agent>[1], payload: unknown) => Promise<void> = async () => {}) {
    let letGo: () => void = () => {}
    const gone = new Promise<void>((resolve) => (letGo = resolve))
    const acted: unknown[] = []
    const made = await start({
      agent: async (given, run) => {
        if (given.resume === undefined) return run.interrupt({ id: 'i1', reason: 'confirmation' })
        const { payload } = run.answer('i1') ?? {}
        acted.push(payload)
        await act(run, payload)
        await Promise.race([gone, new Promise((resolve) => run.signal.addEventListener('abort', resolve))])
      },
    })
    await readEvents(await post(made.url))
    return { ...made, acted, letGo }
  }

  test('at the same moment is given to the agent once; the others are told', async () => {
    const { url, acted, letGo, log } = await asked()
    // A log that takes its time lets all of them look before one has begun.
    const { list } = log
    log.list = async (threadId) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return list.call(log, threadId)
    }
    const answers = await Promise.all(['r2', 'r3', 'r4'].map((runId) => post(url, answer(runId, runId))))
    const taken = answers.filter(({ status }) => status === 200)
    expect(taken).toHaveLength(1)
    for (const response of answers) if (response.status !== 200) expect(await problem(response)).toEqual(refused)
    await eventually(() => acted.length === 1)
    letGo()
    await readEvents(taken[0] as Response)
    expect(acted).toHaveLength(1)
  })

  test('one after the other, too, also when the first has come to its end; the same run is joined', async () => {
    const { url, acted, letGo } = await asked()
    const first = await post(url, answer('r2', 'first'))
    expect(await problem(await post(url, answer('r3', 'second')))).toEqual(refused)
    letGo()
    await readEvents(first)
    expect(await problem(await post(url, answer('r4', 'third')))).toEqual(refused)
    expect((await readEvents(await post(url, answer('r2', 'first')))).at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
    expect(acted).toEqual(['first'])
  })

  test('may be answered again if the first run failed, or was cancelled', async () => {
    const { url, acted } = await asked(async (_, payload) => {
      if (payload === 'fails') throw new Error('no')
    })
    await readEvents(await post(url, answer('r2', 'fails')))
    const waits = await post(url, answer('r3', 'waits'))
    expect((await fetch(`${url}?runId=r3`, { method: 'DELETE' })).status).toBe(200)
    await readEvents(waits)
    expect((await post(url, answer('r4', 'again'))).status).toBe(200)
    await eventually(() => acted.length === 3)
    expect(acted).toEqual(['fails', 'waits', 'again'])
  })

  test('is a new one if the agent asks it again; one that the log does not know is left to the agent', async () => {
    const { url } = await start({
      agent: async (given, run) => {
        if (given.resume?.[0]?.payload !== 'done') run.interrupt({ id: 'i1', reason: 'confirmation' })
      },
    })
    await readEvents(await post(url))
    await readEvents(await post(url, answer('r2', 'more')))
    await readEvents(await post(url, answer('r3', 'done')))
    expect(await problem(await post(url, answer('r4', 'done')))).toEqual(refused)
    expect((await post(url, input({ runId: 'r5', resume: [{ interruptId: 'stray', status: 'resolved' }] }))).status).toBe(200)
  })
})

describe('authorize', () => {
  test('is asked what is wanted, with the ids', async () => {
    const asked: Asked[] = []
    const { url } = await start({ authorize: (request, what) => asked.push(what) > 0 && request.headers.get('x-user') === 'ada' })
    const headers = { 'X-User': 'ada' }
    await readEvents(await post(url, input(), headers))
    await readEvents(await post(url, input(), headers))
    await readEvents(await fetch(`${url}?runId=r1`, { headers }))
    await readEvents(await fetch(`${url}?runId=r1&offset=1`, { headers }))
    await fetch(`${url}?threadId=t1`, { headers })
    await fetch(`${url}?runId=r1`, { method: 'DELETE', headers })
    await fetch(`${url}?runId=nobody`, { headers })
    const ids = { threadId: 't1', runId: 'r1' }
    expect(asked).toEqual([
      { action: 'run', ...ids, input: input() },
      { action: 'run', ...ids, input: input() },
      { action: 'join', ...ids },
      { action: 'join', ...ids },
      { action: 'resume', ...ids },
      { action: 'hydrate', threadId: 't1' },
      { action: 'cancel', ...ids },
      { action: 'join', runId: 'nobody' },
    ])
  })

  const requests: Record<string, (url: string) => Promise<Response>> = {
    run: (url) => post(url),
    join: (url) => fetch(`${url}?runId=r1`),
    hydrate: (url) => fetch(`${url}?threadId=t1`),
    cancel: (url) => fetch(`${url}?runId=r1`, { method: 'DELETE' }),
    'join of nothing': (url) => fetch(`${url}?runId=nobody`),
  }
  const answers: Record<string, [Authorize, number]> = {
    false: [() => false, 403],
    nothing: [() => undefined as unknown as boolean, 403],
    'something truthy': [() => 'yes' as unknown as boolean, 403],
    'a response': [async () => new Response('who are you?', { status: 401 }), 401],
    'a thrown response': [() => Promise.reject(new Response(null, { status: 418 })), 418],
    'an error': [() => Promise.reject(new Error('secret')), 500],
  }
  for (const [name, [authorize, status]] of Object.entries(answers)) {
    test.each(Object.entries(requests))(`${name} refuses to %s, and no agent runs`, async (_, request) => {
      const agent = vi.fn(hello)
      const { url } = await start({ authorize, agent })
      const response = await request(url)
      expect(response.status).toBe(status)
      expect(await response.text()).not.toContain('secret')
      expect(agent).not.toHaveBeenCalled()
    })
  }

  test('a refused join gets nothing of a run that others may not read', async () => {
    const { url } = await start({ authorize: (_, asked) => asked.action === 'run' })
    expect((await post(url)).status).toBe(200)
    expect((await post(url)).status).toBe(403)
  })
})

describe('other requests', () => {
  test.each(['PUT', 'PATCH', 'HEAD', 'OPTIONS'])('%s: 405 with Allow', async (method) => {
    const { url } = await start()
    const response = await fetch(url, { method })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE'])
  })

  test.each(['GET', 'DELETE'])('%s without ids: 400', async (method) => {
    const { url } = await start()
    expect(await problem(await fetch(url, { method }))).toEqual({ status: 400, code: 'query.missing' })
  })

  test.each<[string, string]>([
    ['GET', '?runId=nobody'],
    ['GET', '?runId=r1&threadId=other'],
    ['DELETE', '?runId=nobody'],
    ['DELETE', '?runId=r1&threadId=other'],
  ])('%s %s: 404', async (method, query) => {
    const { url } = await start()
    await readEvents(await post(url))
    expect(await problem(await fetch(url + query, { method }))).toEqual({ status: 404, code: 'run.unknown' })
  })

  test('an unknown thread: 404', async () => {
    const { url } = await start()
    expect(await problem(await fetch(`${url}?threadId=nobody`))).toEqual({ status: 404, code: 'thread.unknown' })
  })

  test.each(['99', 'x', '-2', '%20'])('offset=%s: 400', async (offset) => {
    const { url } = await start()
    await readEvents(await post(url))
    expect(await problem(await fetch(`${url}?runId=r1&offset=${offset}`))).toEqual({ status: 400, code: 'run.offset' })
  })
})

describe('DELETE', () => {
  test('cancels: the run ends with everything closed, its readers see it, and the answer says so', async () => {
    const { url, handler } = await start({
      agent: async (_, run) => {
        await (await run.text()).write('Hel')
        await never()
      },
    })
    const running = await post(url)
    const events = readEvents(running)
    await eventually(() => handler.counts().producers === 1)
    await new Promise((resolve) => setTimeout(resolve, 20))
    const response = await fetch(`${url}?runId=r1`, { method: 'DELETE' })
    expect([response.status, await response.json()]).toEqual([200, { runId: 'r1', status: 'closed', outcome: 'cancelled' }])
    expect(types(await events).slice(-2)).toEqual(['TEXT_MESSAGE_END', 'RUN_FINISHED'])
    expect((await events).at(-1)).toMatchObject({ outcome: { type: 'cancelled' } })
    expect(handler.counts()).toEqual({ producers: 0, readers: 0 })
  })

  test('of a run that has ended changes nothing and tells how it ended', async () => {
    const { url } = await start()
    await readEvents(await post(url))
    for (let i = 0; i < 2; i++) {
      const response = await fetch(`${url}?runId=r1`, { method: 'DELETE' })
      expect([response.status, await response.json()]).toEqual([200, { runId: 'r1', status: 'closed', outcome: 'finished' }])
    }
  })

  test('of a run that another process has is asked for: 202', async () => {
    const { url, log } = await start()
    const { created } = await log.create({ threadId: 't1', runId: 'far', input: JSON.stringify(input()), leaseMs: 60_000 })
    expect(created).toBe(true)
    const response = await fetch(`${url}?runId=far`, { method: 'DELETE' })
    expect([response.status, await response.json()]).toEqual([202, { runId: 'far', status: 'cancelling' }])
    expect((await log.get('far'))?.cancelRequested).toBe(true)
  })
})
