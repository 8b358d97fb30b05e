// Recorded runs over HTTP, as the agent gave them: each POST is answered with the next one. It reads no file and says nothing.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RecordedRun } from './recorded-runs.ts'
import { inRound } from './rounds.ts'

export interface ReplayOptions {
  /** Times as fast as it was recorded; `Infinity` waits for nothing. */
  readonly speed: number
  /** Time; for tests. */
  readonly clock?: ReplayClock
  /** A request is answered with run `index`. */
  onRun(index: number, run: RecordedRun): void
}

export interface ReplayClock {
  /** Milliseconds since some moment. */
  now(): number
  /** Rejects when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

const SYSTEM: ReplayClock = { now: () => performance.now(), wait: (ms, signal) => sleep(ms, undefined, { signal }) }

/** After the last run it begins again, with other ids. */
export function replayListener(runs: readonly RecordedRun[], { speed, clock = SYSTEM, onRun }: ReplayOptions): (request: IncomingMessage, response: ServerResponse) => void {
  let asked = 0
  return (request, response) => {
    allowLocal(request, response)
    request.resume()
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    if (request.method === 'GET') return refuse(response, 404, 'replay.none', 'A replay keeps no threads and no runs')
    if (request.method !== 'POST') return refuse(response, 405, 'method', 'Allowed: POST')
    const index = asked % runs.length
    const round = Math.floor(asked++ / runs.length) + 1
    const run = runs[index] as RecordedRun
    onRun(index, run)
    void play(run, { speed, clock, round }, request, response)
  }
}

interface Pace {
  readonly speed: number
  readonly clock: ReplayClock
  /** How often the runs have begun, from 1 on. */
  readonly round: number
}

async function play(run: RecordedRun, { speed, clock, round }: Pace, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { events, broken } = run
  if (events.length === 0 && broken?.status !== undefined) return refuse(response, broken.status, 'replay.recorded', broken.message)
  const lines = (request.headers.accept ?? '').includes('application/x-ndjson') && !(request.headers.accept ?? '').includes('text/event-stream')
  response.writeHead(200, { 'content-type': lines ? 'application/x-ndjson' : 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
  response.flushHeaders()
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const began = clock.now()
  try {
    for (const { at, id, data: recorded } of events) {
      const data = inRound(recorded, round)
      const wait = at / speed - (clock.now() - began)
      if (wait > 1) await clock.wait(wait, gone.signal)
      if (gone.signal.aborted) return
      const text = lines ? (id === undefined ? `${data}\n` : `{"id":${JSON.stringify(id)},"chunk":${data}}\n`) : `${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`
      if (!response.write(text)) await drained(response, gone.signal)
    }
  } catch {
    // Nobody reads it any more.
    return
  }
  if (broken === undefined) response.end()
  else response.destroy()
}

function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Pages of this machine may ask: a recording is not for every page that is open in a browser. */
function allowLocal({ headers: { origin } }: IncomingMessage, response: ServerResponse): void {
  response.setHeader('vary', 'origin')
  if (origin === undefined || !isLocal(origin)) return
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-allow-headers', '*, authorization, content-type, last-event-id')
  response.setHeader('access-control-allow-methods', 'POST, GET')
}

function isLocal(origin: string): boolean {
  try {
    const { hostname } = new URL(origin)
    return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
  } catch {
    return false
  }
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { code, message } }))
}
