/** The contract of connections, in a real browser: its own fetch, XMLHttpRequest and WebSocket, and iterables. */
import { inject } from 'vitest'
import { describeConnection } from './connection-contract.ts'
import { fetchTransports, localTransports, webSocketTransports, xhrTransports } from './contract-transports.ts'

const base = (): string => inject('contractServer')

for (const transport of [...fetchTransports(base), ...xhrTransports(base), ...webSocketTransports(base), ...localTransports()]) {
  describeConnection(transport)
}
