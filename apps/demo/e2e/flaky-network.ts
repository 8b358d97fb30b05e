/**
 * A TCP proxy in front of a server, whose connections can all be cut at once, or go silent. It reads no more of HTTP than
 * request lines.
 */
import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

export interface FlakyNetwork {
  readonly url: string
  /** Method and path of each request, in their order. */
  readonly requests: readonly string[]
  cut(): void
  /** Nothing goes through the connections that are open now, and nobody is told. */
  silence(): void
  close(): Promise<void>
}

/** @param listenPort default: any that is free */
export async function flakyNetwork(target: string, listenPort = 0): Promise<FlakyNetwork> {
  const { hostname, port } = new URL(target)
  const requests: string[] = []
  const sockets = new Set<Socket>()
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const silence = (): void => {
    for (const socket of sockets) socket.unpipe().pause()
  }
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const [socket, other] of [[client, upstream], [upstream, client]] as const) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
    // A browser sends its next request when it has the answer to the last.
    client.on('data', (bytes) => {
      const line = /^([A-Z]+ \S+) HTTP/u.exec(bytes.toString('latin1'))?.[1]
      if (line !== undefined) requests.push(line)
    })
  })
  await new Promise<void>((resolve) => server.listen(listenPort, '127.0.0.1', resolve))
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    cut()
    await closed
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, cut, silence, close }
}
