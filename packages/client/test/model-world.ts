/** What a modelled chat lives in: a time that goes on when it is told to, a server in memory, and the tools of the page. */
import { defineTool, type ClientTool, type Clock, type ConnectConnectionAdapter } from '@millrace/client'
import { httpAdapter } from '../src/connection/http-adapter.ts'
import type { Run } from './model-runs.ts'
import { ModelServer, type Cut, type Pass, type ServerOptions } from './model-server.ts'

/** The first wait for a reconnection in ms; it doubles. */
export const RECONNECT_MS = 100
/** Attempts in a row that bring nothing new before one gives up. */
export const ATTEMPTS = 3

interface ConnectionOptions {
  readonly resume?: 'auto' | 'off'
  readonly pass?: Pass
  readonly threads?: boolean
}

export class World {
  now = 1_000_000
  readonly server: ModelServer
  /** Calls whose tool was run. */
  readonly executed: string[] = []
  readonly #slow = new Map<string, () => void>()

  constructor(server?: ServerOptions) {
    this.server = new ModelServer(this, server)
  }

  get runs(): readonly Run[] {
    return this.server.runs
  }

  /** As one page reaches the server; `threads`: which keeps threads and not only runs. */
  connection(clock: Clock, { resume = 'auto', pass, threads = false }: ConnectionOptions = {}): ConnectConnectionAdapter {
    const reconnect = { maxAttempts: ATTEMPTS, delayMs: 2 * RECONNECT_MS, random: () => 0.5, clock, environment: null }
    const { hydrate, ...adapter } = httpAdapter('http://model/', { resume, reconnect }, 'sse', () => this.server.client(pass))
    return threads ? { ...adapter, hydrate } : adapter
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
