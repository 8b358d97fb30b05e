/** What a modelled chat lives in: a time that goes on when it is told to, a server in memory, and the tools of the page. */
import { defineTool, type ClientTool, type Clock, type ConnectConnectionAdapter } from '@millrace/client'
import { httpAdapter } from '../src/connection/http-adapter.ts'
import type { HttpConnectionOptions } from '../src/connection/run-request.ts'
import type { Run } from './model-runs.ts'
import { ModelServer, type Cut, type Ids, type Pass } from './model-server.ts'

/** The first wait for a reconnection in ms; it doubles. */
export const RECONNECT_MS = 100
/** Attempts in a row that bring nothing new before one gives up. */
export const ATTEMPTS = 3

export class World {
  now = 1_000_000
  readonly server: ModelServer
  /** Calls whose tool was run. */
  readonly executed: string[] = []
  readonly #slow = new Map<string, () => void>()

  constructor(ids?: Ids) {
    this.server = new ModelServer(this, ids)
  }

  get runs(): readonly Run[] {
    return this.server.runs
  }

  /** As one page reaches the server, which keeps runs and no threads. */
  connection(clock: Clock, resume: HttpConnectionOptions['resume'] = 'auto', pass?: Pass): ConnectConnectionAdapter {
    const reconnect = { maxAttempts: ATTEMPTS, delayMs: 2 * RECONNECT_MS, random: () => 0.5, clock, environment: null }
    const { hydrate: _hydrate, ...adapter } = httpAdapter('http://model/', { resume, reconnect }, 'sse', () => this.server.client(pass))
    return adapter
  }

  tools(pass?: Pass): ClientTool[] {
    const run = (name: string, toolCallId: string): string => {
      this.executed.push(toolCallId)
      return name
    }
    return [
      defineTool({ name: 'ask', description: 'd' }),
      defineTool({ name: 'auto', description: 'd', execute: (_, { toolCallId }) => run('auto', toolCallId) }),
      defineTool({
        name: 'slow',
        description: 'd',
        execute: async (_, { toolCallId }) => {
          const said = run('slow', toolCallId)
          await new Promise<void>((resolve) => this.#slow.set(toolCallId, resolve))
          await pass?.()
          return said
        },
      }),
    ]
  }

  /** Lets so many more events of every run be read. */
  release(events: number): void {
    this.server.release(events)
  }

  /** Breaks what is being read. */
  cut(cut?: Cut): void {
    this.server.cut(cut)
  }

  /** Lets the slow tools that run be done. */
  finishTools(): void {
    for (const resolve of this.#slow.values()) resolve()
    this.#slow.clear()
  }
}
