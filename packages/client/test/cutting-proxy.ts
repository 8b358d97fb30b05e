/** A TCP proxy for one test that lets a given number of bytes of each answer through and then cuts the connection. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface CuttingProxy {
  readonly url: string
  /** Method and path of each request, in their order. */
  readonly requests: readonly string[]
  /** Sockets of clients that are open now. */
  readonly open: () => number
  close(): Promise<void>
}

/** After so many bytes, or where a look at what has come says so (bytes as Latin-1, framing included). */
export type Cut = number | { readonly after: number; readonly how: 'reset' } | ((answer: string) => number | undefined)

/** `cut(n)`: bytes of the answer to request n (from 0) that get through, headers included; Infinity for all. */
export async function cuttingProxy(target: string, cut: (request: number) => Cut): Promise<CuttingProxy> {
  const { hostname, port, pathname } = new URL(target)
  const requests: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    sockets.add(client)
    client.on('close', () => sockets.delete(client))
    client.on('error', () => {})
    const upstream = connect(Number(port), hostname)
    upstream.on('error', () => client.destroy())
    client.on('close', () => upstream.destroy())
    let rule: Cut = Infinity
    let passed = 0
    let text = ''
    /** Bytes of the answer that get through, as far as can be told by now. */
    const limit = (bytes: Buffer): number => {
      if (typeof rule === 'number') return rule
      if (typeof rule === 'object') return rule.after
      text += bytes.toString('latin1')
      return rule(text) ?? Infinity
    }
    client.on('data', (bytes) => {
      // One request per connection: none of these tests pipelines, and the answer says so.
      const line = /^(GET|POST|DELETE) (\S+) HTTP/.exec(bytes.toString('latin1'))
      if (line !== null) {
        rule = cut(requests.push(`${line[1]} ${line[2]}`) - 1)
        passed = 0
        text = ''
      }
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      const left = limit(bytes) - passed
      passed += bytes.length
      if (bytes.length < left) return void client.write(bytes)
      const end = (): void => {
        if (typeof rule === 'object') client.resetAndDestroy()
        else client.destroy()
        upstream.destroy()
      }
      if (left > 0) client.write(bytes.subarray(0, left), end)
      else end()
    })
    upstream.on('end', () => client.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })
  onTestFinished(close)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    requests,
    open: () => sockets.size,
    close,
  }
}
