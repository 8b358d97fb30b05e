/** A real HTTP server for one test, closed with it; every request's body is kept. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Served {
  readonly url: string
  readonly requests: { readonly method: string; readonly url: string; readonly headers: IncomingMessage['headers']; readonly body: any }[]
  readonly methods: readonly string[]
  /** Requests whose connection was closed by the client before the answer was complete. */
  readonly cut: () => number
}

export async function serve(
  answer: (response: ServerResponse, count: number, request: IncomingMessage) => unknown,
): Promise<Served> {
  const requests: { method: string; url: string; headers: IncomingMessage['headers']; body: any }[] = []
  const methods: string[] = []
  let cut = 0
  const server = createServer(async (request, response) => {
    methods.push(request.method ?? '')
    let text = ''
    for await (const piece of request) text += piece
    requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body: text === '' ? undefined : JSON.parse(text) })
    response.on('close', () => {
      if (!response.writableEnded) cut++
    })
    await answer(response, requests.length, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/agent`, requests, methods, cut: () => cut }
}

export const SSE_HEADERS = { 'content-type': 'text/event-stream' }

/** Answers with one body. */
export function answerWith(body: string | Uint8Array, headers: Record<string, string> = SSE_HEADERS, status = 200) {
  return (response: ServerResponse): void => {
    response.writeHead(status, headers)
    response.end(body)
  }
}
