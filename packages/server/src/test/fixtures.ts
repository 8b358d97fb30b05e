/** What the tests of this package share: a clock that stands still, inputs, and a server on a real socket. Not exported. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { compatible, SseDecoder, ThreadReader, type Event, type Frame, type RunAgentInput, type Thread } from '@millrace/protocol'
import type { Agent } from '../agent.ts'
import type { Clock } from '../clock.ts'
import { Hub, type HubOptions } from '../hub.ts'
import { DEFAULT_SERVER_LIMITS } from '../limits.ts'
import { START, type LogEntry } from '../log/contract.ts'
import { MemoryLog } from '../log/memory.ts'
import type { Logger } from '../logger.ts'
import { toNodeListener } from '../node.ts'

export class FakeClock implements Clock {
  #now = 1_000_000
  #timers = new Set<{ at: number; callback: () => void }>()

  now(): number {
    return this.#now
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  turn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve))
  }

  get pending(): number {
    return this.#timers.size
  }

  /** Lets time pass, then lets what it woke run. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    for (;;) {
      const next = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      this.#now = next.at
      this.#timers.delete(next)
      next.callback()
      await this.turn()
    }
    this.#now = end
    await this.turn()
  }
}

export class MemoryLogger implements Logger {
  readonly lines: { level: 'warn' | 'error'; message: string; data: Record<string, unknown> }[] = []

  warn(message: string, data: Record<string, unknown> = {}): void {
    this.lines.push({ level: 'warn', message, data })
  }

  error(message: string, data: Record<string, unknown> = {}): void {
    this.lines.push({ level: 'error', message, data })
  }
}

export function countingIds(): () => string {
  let count = 0
  return () => `id${++count}`
}

export function input(fields: Partial<RunAgentInput> = {}): RunAgentInput {
  return { threadId: 't1', runId: 'r1', messages: [{ id: 'u1', role: 'user', content: 'Hi' }], tools: [], context: [], ...fields }
}

/** An event as JSON gives it. */
export type Wire = { type: string; [field: string]: unknown }

export function parseEntries(entries: readonly LogEntry[]): Wire[] {
  return entries.map(({ data }) => JSON.parse(data) as Wire)
}

export function makeHub(agent: Agent, options: Partial<HubOptions> = {}): { hub: Hub; log: MemoryLog; clock: FakeClock; logger: MemoryLogger } {
  const clock = new FakeClock()
  const logger = new MemoryLogger()
  const log = new MemoryLog({ clock })
  const hub = new Hub({
    agent,
    log,
    clock,
    logger,
    limits: DEFAULT_SERVER_LIMITS,
    createId: countingIds(),
    onDisconnect: 'continue',
    leaseMs: 30_000,
    ...options,
  })
  return { hub, log, clock, logger }
}

/** Runs an agent without a network and gives what a reader saw, and the thread a strict client makes of it. */
export async function runAgent(
  agent: Agent,
  options: Partial<HubOptions> & { input?: RunAgentInput } = {},
): Promise<{ events: Wire[]; thread: Thread; outcome: string; logger: MemoryLogger; clock: FakeClock }> {
  const { hub, logger, clock } = makeHub(agent, options)
  const asked = options.input ?? input()
  await hub.start(asked, new Request('http://localhost/'))
  const reader = hub.open(asked.runId, START)
  const events: Wire[] = []
  for (let batch = await reader.next(); batch !== undefined; batch = await reader.next()) events.push(...parseEntries(batch))
  const thread = new ThreadReader({ ...compatible(), messages: asked.messages })
  for (const event of events) thread.accept(event)
  return { events, thread: thread.snapshot(), outcome: thread.finish(), logger, clock }
}

export interface Served {
  readonly url: string
  readonly logger: MemoryLogger
  close(): Promise<void>
}

export async function serve(handler: (request: Request) => Promise<Response> | Response): Promise<Served> {
  const logger = new MemoryLogger()
  const server = createServer(toNodeListener(handler, { logger }))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    logger,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export function post(url: string, body: unknown = input(), headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal !== undefined && { signal }),
  })
}

/** The frames of an SSE body; comments are counted. `until` ends it early and drops the connection. */
export async function readFrames(response: Response, until?: (frame: Frame) => boolean): Promise<Frame[]> {
  const frames: Frame[] = []
  let stop = false
  const decoder = new SseDecoder((frame) => {
    frames.push(frame)
    stop ||= until?.(frame) ?? false
  })
  const reader = response.body?.getReader()
  while (reader !== undefined && !stop) {
    const { done, value } = await reader.read()
    if (done) break
    decoder.feed(value)
  }
  if (stop) await reader?.cancel()
  return frames
}

export async function readEvents(response: Response): Promise<Wire[]> {
  return (await readFrames(response)).map(({ data }) => JSON.parse(data) as Wire)
}

export function types(events: readonly { type: string }[]): string[] {
  return events.map(({ type }) => type)
}

/** Polls, because sockets close when they like. */
export async function eventually(check: () => boolean): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (check()) return
    await new Promise((resolve) => setTimeout(resolve, 4))
  }
  throw new Error(`It never came to this: ${check.toString()}`)
}

/** Never settles. */
export function never(): Promise<never> {
  return new Promise(() => undefined)
}

export type { Event }
