import { getResponseStreamReader, readStreamLines, responseToSSEChunks, StreamTruncatedError, UnsupportedResponseStreamError } from '@millrace/client'
import { describe, expect, it } from 'vitest'
import { caught, collect, collectUntilError, hello, sse, started, text, tick } from '../../test/events.ts'

/** A body in pieces; counts how often it is asked for more, and whether it was cancelled. */
function body(pieces: readonly (string | Error)[]) {
  const log = { pulls: 0, cancelled: false }
  const encoder = new TextEncoder()
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[log.pulls++]
        if (piece === undefined) controller.close()
        else if (piece instanceof Error) controller.error(piece)
        else controller.enqueue(encoder.encode(piece))
      },
      cancel() {
        log.cancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, log }
}

const endless = () => {
  const log = { pulls: 0, cancelled: false }
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        log.pulls++
        await tick(1)
        controller.enqueue(new TextEncoder().encode(sse([{ type: 'CUSTOM', name: 'n', value: log.pulls }])))
      },
      cancel() {
        log.cancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, log }
}

describe('responseToSSEChunks', () => {
  it('skips comments, event names, ids and retry times, and takes bare JSON lines', async () => {
    const [first, ...rest] = hello()
    const text = `: keep-alive\n\nevent: x\nid: 7\nretry: 10\ndata: ${JSON.stringify(first)}\n\n${rest.map((chunk) => `${JSON.stringify(chunk)}\n`).join('')}`
    expect(await collect(responseToSSEChunks(new Response(text)))).toEqual(hello())
  })

  it('reads CR, CRLF, a BOM, and data of several lines', async () => {
    const pretty = hello().map((chunk) => JSON.stringify(chunk, null, 1).split('\n').map((line) => `data:${line}`).join('\r\n'))
    expect(await collect(responseToSSEChunks(new Response(`\uFEFF${pretty.join('\r\n\r\n')}\r\n\r\n`)))).toEqual(hello())
    expect(await collect(responseToSSEChunks(new Response(sse(hello()).replaceAll('\n', '\r'))))).toEqual(hello())
  })

  it('[DONE] takes ids of the stream, else those given; without any it is an error', async () => {
    const done = 'data: [DONE]\n\n'
    const runContext = { threadId: 't9', runId: 'r9' }
    expect(await collect(responseToSSEChunks(new Response(sse([started('seen')]) + done), undefined, { runContext }))).toMatchObject([{}, { type: 'RUN_FINISHED', threadId: 't1', runId: 'seen' }])
    expect(await collect(responseToSSEChunks(new Response(done), undefined, { runContext }))).toEqual([{ type: 'RUN_FINISHED', ...runContext }])
    expect((await collectUntilError(responseToSSEChunks(new Response(done)))).error).toMatchObject({ code: 'missing-synthetic-id' })
  })

  it('reads nothing more after abort, and cancels the body', async () => {
    const { stream, log } = endless()
    const controller = new AbortController()
    let count = 0
    for await (const _ of responseToSSEChunks(new Response(stream), controller.signal)) if (++count === 3) controller.abort()
    expect(count).toBe(3)
    const { pulls } = log
    await tick(20)
    expect(log).toEqual({ pulls, cancelled: true })
  })

  it('is not cut when the abort comes in mid-line', async () => {
    const controller = new AbortController()
    const stream = new ReadableStream<Uint8Array>({
      start(sink) {
        sink.enqueue(new TextEncoder().encode(`${sse([started()])}data: {"ty`))
      },
    })
    setTimeout(() => controller.abort(), 10)
    expect(await collect(responseToSSEChunks(new Response(stream), controller.signal))).toEqual([started()])
  })

  it('a body that fails after the terminal event lost nothing', async () => {
    const { stream } = body([sse(hello()), new Error('reset')])
    expect(await collect(responseToSSEChunks(new Response(stream)))).toEqual(hello())
  })

  it('names a frame that is too long', async () => {
    const { error } = await collectUntilError(responseToSSEChunks(new Response(sse([started(), ...text('a')]) + `data: ${'x'.repeat(999)}`), undefined, { limits: { frameLength: 500 } }))
    expect(error).toMatchObject({ name: 'ProtocolError', code: 'limit' })
  })
})

describe('readStreamLines', () => {
  const lines = (pieces: readonly (string | Error)[], signal?: AbortSignal) => readStreamLines(body(pieces).stream.getReader(), signal)

  it('gives lines however they are cut, without blank ones', async () => {
    expect(await collect(lines(['a', 'b\nc', '\r\n\n \n', 'ü\n']))).toEqual(['ab', 'c', 'ü'])
    expect(await collect(lines([]))).toEqual([])
  })

  it('throws for what follows the last line end', async () => {
    const { items, error } = await collectUntilError(lines(['a\nb']))
    expect(items).toEqual(['a'])
    expect(error).toBeInstanceOf(StreamTruncatedError)
  })

  it('throws for a body that breaks', async () => {
    const { items, error } = await collectUntilError(lines(['a\n', new Error('reset')]))
    expect(items).toEqual(['a'])
    expect(error).toMatchObject({ code: 'truncated', cause: { message: 'reset' } })
  })

  it('does not throw for a line that an abort cut', async () => {
    const controller = new AbortController()
    const { stream, log } = body(['a\n', 'b'])
    const seen: string[] = []
    for await (const line of readStreamLines(stream.getReader(), controller.signal)) {
      seen.push(line)
      controller.abort()
    }
    expect(seen).toEqual(['a'])
    await tick()
    expect(log.cancelled).toBe(true)
  })
})

describe('getResponseStreamReader', () => {
  it('reads a body', async () => {
    expect(await getResponseStreamReader(new Response('x')).read()).toMatchObject({ done: false })
  })

  it.each([
    ['no body', new Response(null, { status: 200 })],
    ['a body that cannot be read in pieces', { status: 200, url: '/x', body: {} } as Response],
    ['a runtime without response.body', { status: 200, url: '/x' } as Response],
  ])('refuses %s', async (_, response) => {
    const error = await caught(() => getResponseStreamReader(response))
    expect(error).toBeInstanceOf(UnsupportedResponseStreamError)
    expect(error).toMatchObject({ code: 'no-stream', status: 200 })
  })

  it('refuses a body that somebody else reads', async () => {
    const response = new Response('x')
    response.body?.getReader()
    expect(await caught(() => getResponseStreamReader(response))).toMatchObject({ code: 'no-stream' })
  })
})
