/** The transports that the contract is run against. Runs in browsers too, so what only Node has is given by its caller. */
import {
  fetcherToConnectionAdapter,
  fetchHttpStream,
  fetchServerSentEvents,
  rpcStream,
  stream,
  xhrHttpStream,
  xhrServerSentEvents,
  type RunAgentInputContext,
  type StreamFactory,
  webSocket,
  type WebSocketConnectionOptions,
} from '@millrace/client'
import { buildRunAgentInput } from '@millrace/protocol'
import type { Opened, OpenOptions, Transport } from './connection-contract.ts'
import { playLocally } from './local-agent.ts'
import type { Scenario, Seen } from './scenarios.ts'

let sessions = 0

/** The address of a scenario for one test, and what the server saw of it. */
export function session(base: string, transport: string, scenario: Scenario): { readonly url: string } & Required<Pick<Opened, 'open'>> & { seen(): Promise<Seen[]> } {
  const name = `${Date.now().toString(36)}-${++sessions}-${Math.random().toString(36).slice(2)}`
  return {
    url: `${base}/${transport}/${scenario}/${name}`,
    seen: async () => (await (await fetch(`${base}/seen/${name}`)).json()) as Seen[],
    open: async () => Number(await (await fetch(`${base}/open/${name}`)).text()),
  }
}

/** `base` is asked for late: the server is not there yet when tests are told. */
export function fetchTransports(base: () => string, fetchClient?: typeof fetch): Transport[] {
  const over = (format: 'sse' | 'ndjson', make: typeof fetchServerSentEvents) => (scenario: Scenario, options: OpenOptions = {}): Opened => {
    const { url, ...other } = session(base(), format, scenario)
    return { connection: make(url, { ...options, ...(fetchClient && { fetchClient }) }), ...other }
  }
  return [
    { name: 'fetchServerSentEvents', end: 'cut', open: over('sse', fetchServerSentEvents) },
    { name: 'fetchHttpStream', end: 'cut', open: over('ndjson', fetchHttpStream) },
  ]
}

export function xhrTransports(base: () => string, xhrFactory?: () => XMLHttpRequest, suffix = ''): Transport[] {
  const over = (format: 'sse' | 'ndjson', make: typeof xhrServerSentEvents) => (scenario: Scenario, options: OpenOptions = {}): Opened => {
    const { url, ...other } = session(base(), format, scenario)
    return { connection: make(url, { ...options, ...(xhrFactory && { xhrFactory }) }), ...other }
  }
  return [
    { name: `xhrServerSentEvents${suffix}`, end: 'cut', open: over('sse', xhrServerSentEvents) },
    { name: `xhrHttpStream${suffix}`, end: 'cut', open: over('ndjson', xhrHttpStream) },
  ]
}

/** Connections over functions that give iterables. */
export function localTransports(): Transport[] {
  const without = {
    headers: 'a function is given the headers of the run and has none of its own',
    sentinel: 'it is a frame of bytes, and iterables have none',
  }
  const over = (make: (factory: StreamFactory) => Opened['connection']) => (scenario: Scenario, { body }: OpenOptions = {}): Opened => {
    const log: Seen[] = []
    const factory: StreamFactory = (messages, data, signal, runContext) =>
      playLocally(scenario, log, { messages, data, signal, runContext: runContext as RunAgentInputContext, ...(body && { body }) })
    return { connection: make(factory), seen: async () => log }
  }
  return [
    { name: 'stream', end: 'done', without, open: over(stream) },
    { name: 'rpcStream', end: 'done', without, open: over((factory) => rpcStream(async (...args) => factory(...args))) },
    {
      name: 'fetcher with an iterable',
      end: 'done',
      without,
      open: (scenario, { body } = {}) => {
        const log: Seen[] = []
        const connection = fetcherToConnectionAdapter(({ messages, data, runContext }, { signal }) =>
          playLocally(scenario, log, { messages, data, signal, runContext, ...(body && { body }) }),
        )
        return { connection, seen: async () => log }
      },
    },
  ]
}

export function fetcherTransports(base: () => string, fetchClient: typeof fetch): Transport[] {
  return [
    {
      name: 'fetcher with a Response',
      end: 'cut',
      without: { listeners: 'the signal is given to a fetch that is not ours' },
      open: (scenario, { body, headers } = {}) => {
        const { url, ...other } = session(base(), 'sse', scenario)
        const connection = fetcherToConnectionAdapter(({ messages, data, runContext }, { signal, headers: own }) =>
          fetchClient(url, {
            method: 'POST',
            headers: { ...headers, ...own },
            body: JSON.stringify(buildRunAgentInput({ messages, runContext, ...(data && { data }), ...(body && { body }) })),
            signal,
          }),
        )
        return { connection, ...other }
      },
    },
  ]
}

export function webSocketTransports(base: () => string, options: WebSocketConnectionOptions = {}): Transport[] {
  return [
    {
      name: 'webSocket',
      end: 'cut',
      shared: true,
      without: { headers: 'a WebSocket sends none of ours' },
      open: (scenario, { body } = {}) => {
        const { url, ...other } = session(base(), 'ws', scenario)
        const connection = webSocket(url, { ...options, ...(body && { body }) })
        return { connection, ...other, close: () => connection.close() }
      },
    },
  ]
}
