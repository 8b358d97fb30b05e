/** The contract of connections, in Node over real sockets. */
import { afterAll, beforeAll } from 'vitest'
import { WebSocket } from 'ws'
import { describeConnection } from './connection-contract.ts'
import { startContractServer, type ContractServer } from './contract-server.ts'
import { fetcherTransports, fetchTransports, localTransports, webSocketTransports, xhrTransports } from './contract-transports.ts'
import { nodeXhr, plainNodeXhr } from './node-xhr.ts'

let server: ContractServer
beforeAll(async () => {
  server = await startContractServer()
})
afterAll(() => server.close())

const base = (): string => server.url

for (const transport of [
  ...fetchTransports(base),
  ...xhrTransports(base, nodeXhr),
  ...xhrTransports(base, plainNodeXhr, ' with handlers as properties only'),
  ...localTransports(),
  ...fetcherTransports(base, fetch),
  ...webSocketTransports(base, { WebSocketImpl: WebSocket }),
]) {
  describeConnection(transport)
}
