/** What a connection says of answers that are no stream of events, or one that was held back. */
import { fetchHttpStream, fetchServerSentEvents, type ConnectionWarning, type StreamChunk } from '@millrace/client'
import { describe, expect, it } from 'vitest'
import { collect, collectUntilError, hello, ndjson, sse, started, text } from '../../test/events.ts'
import { Arrival } from './arrival.ts'
import type { Delivery } from './deliveries.ts'

const context = { threadId: 't1', runId: 'r1' }
const SSE = { 'content-type': 'text/event-stream' }
const events = hello()

const answered = (body: string, headers: Record<string, string> = SSE, factory = fetchServerSentEvents) =>
  collectUntilError(factory('/x', { fetchClient: async () => new Response(body, { headers }), resume: 'off' }).connect([], undefined, undefined, context))

describe('a body that is no stream of events, under the content type of one', () => {
  const stream = sse(events)

  it.each([
    ['a JSON string', JSON.stringify(stream)],
    ['a list of strings', JSON.stringify([stream])],
    ['the answer of a function', JSON.stringify({ statusCode: 200, headers: {}, body: stream })],
    ['an event in a JSON string', JSON.stringify(`event: x\nid: 1\n${stream}`)],
    ['a printed list', JSON.stringify([stream], null, 2)],
    ['the printed answer of a function', JSON.stringify({ statusCode: 200, body: stream }, null, 2)],
  ])('%s is named as wrapped', async (_, body) => {
    for (const whole of [body, `${body}\n`]) {
      const { items, error } = await answered(whole)
      expect(items).toEqual([])
      expect(error).toMatchObject({ name: 'TransportError', code: 'content-type', url: '/x' })
      expect(error.message).toMatch(/inside of a JSON value/)
      expect(error.body.length).toBeGreaterThan(10)
    }
    const json = await answered(body, { 'content-type': 'application/json' })
    expect(json.error).toMatchObject({ code: 'content-type' })
    expect(json.error.message).toMatch(/inside of a JSON value/)
    const lines = await answered(body.replaceAll('\n', ' '), { 'content-type': 'application/json' }, fetchHttpStream)
    expect(lines.error).toMatchObject({ code: 'content-type' })
  })

  it.each(['<!doctype html><title>App</title>', '<!DOCTYPE HTML>\n<html>\n', '  <html lang="en">\n<body></body></html>'])('%j is a web page', async (page) => {
    for (const factory of [fetchServerSentEvents, fetchHttpStream]) {
      const { error } = await answered(page, factory === fetchHttpStream ? { 'content-type': 'application/x-ndjson' } : SSE, factory)
      expect(error).toMatchObject({ code: 'content-type' })
      expect(error.message).toMatch(/web page/)
    }
  })

  it('text without fields is told so', async () => {
    const { error } = await answered('Internal error\nat line 5\n')
    expect(error).toMatchObject({ code: 'content-type', body: 'Internal error\nat line 5\n' })
    expect(error.message).toMatch(/data:/)
  })

  it.each(['', ': ping\n\n', 'da', 'data', 'id: 1\n\n', 'retry: 5\n\n', '\n\n'])('%j is a stream that was cut', async (body) => {
    expect((await answered(body)).error).toMatchObject({ name: 'StreamTruncatedError' })
  })

  it('an error in the place of the first event is told with its reason', async () => {
    const body = '{"error":{"message":"No credit left"}}'
    for (const [text, headers, factory] of [
      [`data: ${body}\n\n`, SSE, fetchServerSentEvents],
      [`${body}\n`, { 'content-type': 'application/x-ndjson' }, fetchHttpStream],
      [body, { 'content-type': 'application/json' }, fetchHttpStream],
    ] as const) {
      const { error } = await answered(text, headers, factory)
      expect(error).toMatchObject({ name: 'TransportError', code: 'content-type' })
      expect(error.message).toMatch(/ It says: No credit left$/)
    }
  })

  it('is not looked for behind the first event', async () => {
    expect((await answered(`${sse([started()])}<!doctype html>\n`)).error).toMatchObject({ name: 'StreamTruncatedError' })
    const odd = { type: 'CUSTOM', name: 'n', value: 1, body: 'data: x' }
    expect((await answered(sse([odd, ...events]))).items).toEqual([odd, ...events])
  })

  it.each([
    [sse(events), /fetchServerSentEvents\(\)/],
    ['{\n  "type": "RUN_STARTED"\n}\n', /on a line of its own/],
    ['Internal error\nat line 5\n', /on a line of its own/],
  ])('%j where lines of JSON are expected is told so', async (body, told) => {
    const { error } = await answered(body, { 'content-type': 'application/x-ndjson' }, fetchHttpStream)
    expect(error).toMatchObject({ code: 'content-type' })
    expect(error.message).toMatch(told)
    expect(error.message).not.toMatch(/no server-sent event/)
  })

  it.each(['', '{"type":"RUN_', '\n\n'])('%j there is a stream that was cut', async (body) => {
    expect((await answered(body, { 'content-type': 'application/x-ndjson' }, fetchHttpStream)).error).toMatchObject({ name: 'StreamTruncatedError' })
  })

  it('a stream of JSON lines is none of these', async () => {
    expect((await answered(ndjson(events), { 'content-type': 'application/json' }, fetchHttpStream)).items).toEqual(events)
  })
})

describe('a stream that was held back', () => {
  const deliveries = (count: number, spanMs?: number): Delivery[] =>
    Array.from({ length: count }, (_, at) => {
      const event: StreamChunk = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x', ...(spanMs !== undefined && { timestamp: 1000 + (spanMs * at) / (count - 1) }) }
      return { event, id: undefined, own: false, text: '' }
    })

  /** Asked at 0. */
  const heldBack = (answeredAt: number, ...batches: readonly (readonly [number, readonly Delivery[]])[]): boolean => {
    const arrival = new Arrival(0)
    arrival.answered(answeredAt)
    for (const [at, batch] of batches) arrival.batch(batch, at)
    return arrival.heldBack
  }

  it('shows by its timestamps', () => {
    expect(heldBack(0, [5000, deliveries(50, 5000)])).toBe(true)
    expect(heldBack(0, [5000, deliveries(25, 2000)], [5040, deliveries(25, 2000)])).toBe(true)
  })

  it('shows by an answer that came as late as its end, if it has none', () => {
    expect(heldBack(5000, [5001, deliveries(50)])).toBe(true)
  })

  it.each([
    ['few events', heldBack(0, [5000, deliveries(19, 5000)])],
    ['events made at once', heldBack(5000, [5001, deliveries(50, 20)])],
    ['events that came over time', heldBack(0, [10, deliveries(25, 2000)], [1000, deliveries(25, 2000)])],
    ['an agent that thought long and then was quick', heldBack(20, [5000, deliveries(50)])],
    ['a quick answer', heldBack(200, [201, deliveries(50)])],
    ['nothing', heldBack(5000)],
    ['signs of life only', heldBack(5000, [5000, []])],
  ])('does not show in %s', (_, shown) => {
    expect(shown).toBe(false)
  })

  it('is told once, with what to do, and not for a run that is joined', async () => {
    const warnings: ConnectionWarning[] = []
    const log = [started(), ...text('It came over seconds, and here it is.')].map((event, at) => ({ ...event, timestamp: 1000 + at * 100 }))
    const body = sse([...log, { type: 'RUN_FINISHED', threadId: 't1', runId: 'r1' }])
    const connection = fetchServerSentEvents('/x', { fetchClient: async () => new Response(body, { headers: SSE }), onWarning: (warning) => warnings.push(warning) })
    await collect(connection.connect([], undefined, undefined, context))
    expect(warnings).toMatchObject([{ code: 'buffered', url: '/x' }])
    expect(warnings[0]?.message).toMatch(/X-Accel-Buffering/)
    await collect(connection.joinRun('r1'))
    expect(warnings).toHaveLength(1)
  })

  it('a server that gives one id to all events is told of', async () => {
    const warnings: ConnectionWarning[] = []
    const body = events.map((event) => `id: message\ndata: ${JSON.stringify(event)}\n\n`).join('')
    const connection = fetchServerSentEvents('/x', { fetchClient: async () => new Response(body, { headers: SSE }), onWarning: (warning) => warnings.push(warning) })
    expect(await collect(connection.connect([], undefined, undefined, context))).toEqual(events)
    expect(warnings).toMatchObject([{ code: 'repeated-ids' }])
  })
})
