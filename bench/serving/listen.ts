/** A server on 127.0.0.1: listening and closing. It knows nothing of what is answered. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Server {
  /** Streams of AG-UI are asked for here. */
  readonly url: string
  /** Cuts what is open. */
  close(): Promise<void>
}

/** Longer than any pause between two rounds: no client finds its connection closed by us. */
const KEPT_MS = 120_000

export function listen(answer: RequestListener): Promise<Server> {
  const server = createServer({ keepAliveTimeout: KEPT_MS }, answer)
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () =>
      resolve({
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed())
            server.closeAllConnections()
          }),
      }),
    )
  })
}
