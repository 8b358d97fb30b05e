import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { eventually, never, serve, type Served } from './test/fixtures.ts'

let served: Served | undefined
afterEach(async () => {
  await served?.close()
  served = undefined
})

async function at(handler: (request: Request) => Promise<Response> | Response): Promise<string> {
  served = await serve(handler)
  return served.url
}

/** A request as bytes, and all that comes back until the server closes. */
function raw(url: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => (answer += chunk))
    socket.on('end', () => resolve(answer))
    socket.on('error', reject)
  })
}

describe('the request', () => {
  test('comes with method, URL, headers and body', async () => {
    const url = await at(async (request) =>
      Response.json([request.method, request.url, request.headers.get('x-a'), request.headers.get('cookie'), await request.text()]),
    )
    const response = await fetch(`${url}path?q=1`, { method: 'PUT', headers: { 'X-A': 'b', cookie: 'a=1' }, body: 'Grüße' })
    expect(await response.json()).toEqual(['PUT', `${url}path?q=1`, 'b', 'a=1', 'Grüße'])
  })

  test('a large body arrives whole, and waits for who reads it', async () => {
    const url = await at(async (request) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return Response.json((await request.arrayBuffer()).byteLength)
    })
    const response = await fetch(url, { method: 'POST', body: new Uint8Array(5_000_000) })
    expect(await response.json()).toBe(5_000_000)
  })

  test('a body that nobody reads does not stop the answer, nor the next request', async () => {
    const url = await at(() => new Response('no', { status: 413 }))
    for (let i = 0; i < 3; i++) {
      const response = await fetch(url, { method: 'POST', body: new Uint8Array(1_000_000) })
      expect([response.status, await response.text()]).toEqual([413, 'no'])
    }
  })

  test('a body that is cancelled half way does not stop the answer', async () => {
    const url = await at(async (request) => {
      const reader = request.body?.getReader()
      await reader?.read()
      await reader?.cancel()
      return new Response('enough', { status: 413 })
    })
    for (let i = 0; i < 3; i++) {
      const response = await fetch(url, { method: 'POST', body: new Uint8Array(1_000_000) })
      expect([response.status, await response.text()]).toEqual([413, 'enough'])
    }
  })

  test('a client that goes away in the middle of its body makes reading it fail', async () => {
    let failure: unknown
    let arrived = false
    const url = await at(async (request) => {
      arrived = true
      await request.text().catch((error: unknown) => (failure = error))
      return new Response('x')
    })
    const client = httpRequest(url, { method: 'POST', headers: { 'content-length': 100 } })
    client.on('error', () => undefined)
    client.write('half')
    await eventually(() => arrived)
    client.destroy()
    await eventually(() => failure instanceof Error)
  })

  test('a body that a parser took before is empty, and nothing waits for it', async () => {
    const { toNodeListener } = await import('./node.ts')
    const { createServer } = await import('node:http')
    const listener = toNodeListener(async (request) => Response.json(await request.text()))
    const server = createServer((req, res) => void req.resume().on('end', () => setImmediate(() => listener(req, res))))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    expect(await (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x' })).json()).toBe('')
    server.close()
    server.closeAllConnections()
  })

  test('a malformed one is refused', async () => {
    const url = await at(() => new Response('never'))
    expect(await raw(url, 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /)
    expect(await raw(url, 'TRACE / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /)
  })

  test('`origin` replaces what the Host header says', async () => {
    const { toNodeListener } = await import('./node.ts')
    const { createServer } = await import('node:http')
    const server = createServer(toNodeListener((request) => new Response(request.url), { origin: 'https://api.example.com' }))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address() as { port: number }
    expect(await (await fetch(`http://127.0.0.1:${address.port}/a?b`)).text()).toBe('https://api.example.com/a?b')
    server.close()
    server.closeAllConnections()
  })
})

describe('the response', () => {
  test('goes with status, headers and every cookie', async () => {
    const url = await at(() => {
      const headers = new Headers({ 'X-A': 'b' })
      headers.append('set-cookie', 'a=1')
      headers.append('set-cookie', 'b=2')
      return new Response('made', { status: 201, statusText: 'Made', headers })
    })
    const response = await fetch(url)
    expect([response.status, response.statusText, response.headers.get('x-a'), await response.text()]).toEqual([201, 'Made', 'b', 'made'])
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  })

  test.each([204, 205, 304])('%i has no body', async (status) => {
    const url = await at(() => new Response(null, { status }))
    const response = await fetch(url)
    expect([response.status, await response.text()]).toEqual([status, ''])
  })

  test('HEAD gets the headers; the body is cancelled', async () => {
    let cancelled = false
    const url = await at(() => new Response(new ReadableStream({ cancel: () => void (cancelled = true) }), { headers: { 'X-A': 'b' } }))
    const response = await fetch(url, { method: 'HEAD' })
    expect([response.status, response.headers.get('x-a'), await response.text()]).toEqual([200, 'b', ''])
    await eventually(() => cancelled)
  })

  test('headers are out before the first byte of a stream', async () => {
    let enqueue = (_text: string): void => undefined
    const url = await at(
      () =>
        new Response(
          new ReadableStream({
            start(controller) {
              enqueue = (text) => controller.enqueue(new TextEncoder().encode(text))
            },
          }),
        ),
    )
    const response = await fetch(url)
    expect(response.status).toBe(200)
    enqueue('now')
    const reader = response.body?.getReader()
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('now')
    await reader?.cancel()
  })

  test('a slow client is waited for', async () => {
    let pulled = 0
    const url = await at(
      () =>
        new Response(
          new ReadableStream(
            {
              pull(controller) {
                pulled++
                controller.enqueue(new Uint8Array(65_536))
                if (pulled === 2000) controller.close()
              },
            },
            { highWaterMark: 0 },
          ),
        ),
    )
    const response = await new Promise<IncomingMessage>((resolve) => httpRequest(url, resolve).end())
    response.pause()
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(pulled).toBeLessThan(500)
    let length = 0
    for await (const chunk of response) length += (chunk as Buffer).length
    expect(length).toBe(2000 * 65_536)
  })

  test('a client that leaves a waiting writer cancels the body and aborts the signal', async () => {
    const seen = { cancelled: false, aborted: false }
    const url = await at((request) => {
      request.signal.addEventListener('abort', () => (seen.aborted = true))
      return new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(1_000_000)),
          cancel: () => void (seen.cancelled = true),
        }),
      )
    })
    const client = httpRequest(url, (response) => {
      response.pause()
      setTimeout(() => client.destroy(), 50)
    })
    client.on('error', () => undefined)
    client.end()
    await eventually(() => seen.cancelled && seen.aborted)
  })

  test('a client that leaves before there is an answer aborts the signal; a late answer is cancelled', async () => {
    const seen = { cancelled: false, arrived: false }
    const url = await at(async (request) => {
      seen.arrived = true
      await new Promise((resolve) => request.signal.addEventListener('abort', resolve))
      return new Response(new ReadableStream({ cancel: () => void (seen.cancelled = true) }))
    })
    const abort = new AbortController()
    const asked = fetch(url, { signal: abort.signal }).catch(() => undefined)
    await eventually(() => seen.arrived)
    abort.abort()
    await asked
    await eventually(() => seen.cancelled)
  })

  test('a request that was answered is not aborted afterwards', async () => {
    let aborted = false
    const url = await at((request) => {
      request.signal.addEventListener('abort', () => (aborted = true))
      return new Response('x')
    })
    await (await fetch(url)).text()
    await served?.close()
    served = undefined
    expect(aborted).toBe(false)
  })
})

describe('a handler that fails', () => {
  test.each([
    ['throws', () => Promise.reject(new Error('secret'))],
    ['gives no Response', () => undefined as unknown as Response],
    ['gives a body that was read', async () => {
      const response = new Response('x')
      await response.text()
      return response
    }],
  ])('%s: 500 or a cut, and the server goes on', async (_, handler) => {
    let calls = 0
    const url = await at(() => (calls++ === 0 ? (handler() as Promise<Response>) : new Response('fine')))
    const answer = await fetch(url).then(
      (response) => response.text(),
      () => 'cut',
    )
    expect(answer).not.toContain('secret')
    expect(served?.logger.lines.length).toBe(1)
    expect(await (await fetch(url)).text()).toBe('fine')
  })

  test('in mid-stream: the client sees a cut, not an end', async () => {
    const url = await at(
      () =>
        new Response(
          new ReadableStream({
            async pull(controller) {
              controller.enqueue(new TextEncoder().encode('half'))
              await new Promise((resolve) => setTimeout(resolve, 10))
              controller.error(new Error('secret'))
            },
          }),
        ),
    )
    const response = await fetch(url)
    await expect(response.text()).rejects.toThrow()
  })

  test('never answers: the client leaves, and nothing is left', async () => {
    const url = await at(() => never())
    const abort = new AbortController()
    const asked = fetch(url, { signal: abort.signal }).catch(() => 'aborted')
    setTimeout(() => abort.abort(), 20)
    expect(await asked).toBe('aborted')
  })
})
