/**
 * A server of runs that can be resumed (`GET ?runId=…&offset=…` behind an id), and cuts each run's connection so many times, at
 * equal distances. Every event has its number as id; all is bytes before anybody asks.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Stream } from '../workloads/stream.ts'
import { sseText } from '../workloads/wire.ts'
import { readAsked, withIds } from './asked.ts'
import { listen, type Server } from './listen.ts'

/** A run that was begun: its first and last event have its ids. */
interface Run {
  readonly events: readonly Uint8Array[]
  cutsLeft: number
}

export function serveCut(stream: Stream, breaks: number): Promise<Server> {
  const { events } = stream
  const utf8 = new TextEncoder()
  const bytesOf = (event: object, index: number): Uint8Array => utf8.encode(sseText(event, String(index + 1)))
  const bytes = events.map(bytesOf)
  const runs = new Map<string, Run>()
  const step = Math.ceil(events.length / (breaks + 1))

  async function begin(request: IncomingMessage): Promise<Run | undefined> {
    const asked = await readAsked(request, stream)
    if (asked?.runId === undefined) return undefined
    const last = events.length - 1
    const own = bytes.slice()
    for (const at of [0, last]) own[at] = bytesOf(withIds(events[at] as object, asked), at)
    const run: Run = { events: own, cutsLeft: breaks }
    runs.set(asked.runId, run)
    return run
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
    const run = request.method === 'POST' ? await begin(request) : runs.get(searchParams.get('runId') ?? '')
    if (run === undefined) return void response.writeHead(404).end()
    const from = Math.max(0, Number(searchParams.get('offset') ?? 0))
    const cut = run.cutsLeft > 0
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(Buffer.concat(run.events.slice(from, cut ? from + step : undefined)))
    if (!cut) return void response.end()
    run.cutsLeft--
    // What was written is still sent; the mark of the end is not.
    request.socket.destroySoon()
  }

  return listen((request, response) => {
    respond(request, response).catch(() => response.destroy())
  })
}
