// A server on a port of this machine, and the signal that ends it. It knows nothing of what is served.
import type { Server } from 'node:http'
import { isIP, type AddressInfo } from 'node:net'
import { CommandError, messageOf } from '../command-error.ts'

export interface Address {
  readonly port: number
  readonly host: string
}

/**
 * Begins to listen, and gives the address.
 * @throws CommandError if the port cannot be had.
 */
export function listen(server: Server, { host, port }: Address): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE'
      reject(
        new CommandError(
          taken ? `Port ${port} of ${host} is taken` : `${host}:${port} cannot be served: ${messageOf(error)}`,
          taken ? 'Choose another with --port, or --port 0 for any that is free.' : undefined,
        ),
      )
    })
    server.listen(port, host, () => {
      const bound = (server.address() as AddressInfo).port
      resolve(`http://${isIP(host) === 6 ? `[${host}]` : host}:${bound}/`)
    })
  })
}

/** Settles at the first signal to stop; the next one ends the process. */
export function signalled(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false
    const stop = (): void => {
      if (asked) process.exit(130)
      asked = true
      resolve()
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  })
}

/** Whether only this machine can reach it. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
