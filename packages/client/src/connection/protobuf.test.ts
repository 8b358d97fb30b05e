/** Protobuf over HTTP, where both sides speak it. */
import { fetchHttpStream, fetchServerSentEvents, StreamTruncatedError } from '@millrace/client'
import * as protobuf from '@millrace/protocol/proto'
import { describe, expect, it } from 'vitest'
import { collect, collectUntilError, hello, ndjson, sse, tick } from '../../test/events.ts'
import { answerWith, serve } from '../../test/serve.ts'

const context = { threadId: 't1', runId: 'r1' }
const events = hello()
const bytes = Buffer.concat(events.map((event) => protobuf.encodeFrame(event as never)))
const type = { 'content-type': `${protobuf.PROTO_MEDIA_TYPE}; v=1` }
const run = (url: string, factory = fetchServerSentEvents) =>
  collectUntilError(factory(url, { protobuf, reconnect: { delayMs: 1 } }).connect([], undefined, undefined, context))

describe.each([
  ['fetchServerSentEvents', fetchServerSentEvents, 'text/event-stream', sse],
  ['fetchHttpStream', fetchHttpStream, 'application/x-ndjson', ndjson],
] as const)('%s with protobuf', (_, factory, other, encode) => {
  it('asks for it first, and reads it however it is cut', async () => {
    const server = await serve(async (response) => {
      response.writeHead(200, type)
      for (let at = 0; at < bytes.length; at += 11) {
        response.write(bytes.subarray(at, at + 11))
        if (at % 5 === 0) await tick()
      }
      response.end()
    })
    const { items, error } = await run(server.url, factory)
    expect(error).toBeUndefined()
    expect(items).toEqual(events)
    expect(server.requests[0]?.headers.accept).toMatch(new RegExp(`^${protobuf.PROTO_MEDIA_TYPE.replace('+', '\\+')}, ${other}`))
  })

  it('reads text where the server does not speak it', async () => {
    const server = await serve(answerWith(encode(events), { 'content-type': other }))
    expect((await run(server.url, factory)).items).toEqual(events)
  })

  it('is joined from the start where that is offered', async () => {
    const server = await serve(async (response, count) => {
      response.writeHead(200, { ...type, 'x-run-id': 'r1' })
      if (count > 1) return response.end(bytes)
      response.write(bytes.subarray(0, 100))
      await tick(10)
      return response.destroy()
    })
    expect((await run(server.url, factory)).items).toEqual(events)
    expect(server.requests[1]?.url).toBe('/agent?runId=r1&offset=-1')
  })

  it('that is cut is truncated, and bytes that are none are malformed', async () => {
    const cut = await serve(answerWith(bytes.subarray(0, 100), type))
    expect((await run(cut.url, factory)).error).toBeInstanceOf(StreamTruncatedError)
    const bad = await serve(answerWith(Buffer.from([0, 0, 0, 3, 255, 10, 10, 0]), type))
    expect((await run(bad.url, factory)).error).toMatchObject({ name: 'ProtocolError', code: 'malformed' })
  })
})

it('without the codec, protobuf is refused', async () => {
  const server = await serve(answerWith(bytes, type))
  const { error } = await collectUntilError(fetchServerSentEvents(server.url).connect([], undefined, undefined, context))
  expect(error).toMatchObject({ code: 'content-type' })
  expect(await collect(fetchServerSentEvents(server.url, { protobuf }).connect([], undefined, undefined, context))).toEqual(events)
})
