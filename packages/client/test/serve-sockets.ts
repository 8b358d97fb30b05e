/** A real WebSocket server for one test, closed with it; every socket with its URL and what was said on it is kept. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { WebSocketServer, type WebSocket } from 'ws'

export interface ServedSocket {
  /** Path and query. */
  readonly url: URL
  /** Messages of the client, parsed. */
  readonly received: any[]
  /** Sends values as JSON, text as it is. */
  send(...messages: unknown[]): void
  close(code: number, reason?: string): void
  /** Breaks the connection without a close. */
  cut(): void
  /** Close code, once it is closed. */
  closed: number | undefined
}

export interface ServedSockets {
  readonly url: string
  readonly sockets: ServedSocket[]
}

/** `onMessage` answers what clients say, `onOpen` what they ask for by connecting. */
export async function serveSockets(
  onMessage: (socket: ServedSocket, message: any, count: number) => unknown = () => {},
  onOpen: (socket: ServedSocket, count: number) => unknown = () => {},
): Promise<ServedSockets> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const sockets: ServedSocket[] = []
  server.on('connection', (socket: WebSocket, request: IncomingMessage) => {
    const served: ServedSocket = {
      url: new URL(request.url ?? '', 'http://localhost'),
      received: [],
      send: (...messages) => messages.forEach((message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message))),
      close: (code, reason) => socket.close(code, reason),
      cut: () => request.socket.destroy(),
      closed: undefined,
    }
    sockets.push(served)
    socket.on('error', () => {})
    socket.on('close', (code) => {
      served.closed = code
    })
    socket.on('message', (data) => {
      const message: unknown = JSON.parse(String(data))
      served.received.push(message)
      void onMessage(served, message, served.received.length)
    })
    void onOpen(served, sockets.length)
  })
  onTestFinished(() => {
    for (const client of server.clients) client.terminate()
    server.close()
  })
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/chat`, sockets }
}
