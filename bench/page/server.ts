/**
 * Serves the built page, and the answer to its question: events of AG-UI at `/agent`, the chunks of `ai` at `/ai`, as many and as
 * fast as the query of the address says. A request without the whole history is refused.
 */
import { EventEmitter, once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as after } from 'node:timers/promises'
import { uiMessageChunks } from '../contenders/ai-sdk-chunks.ts'
import { withIds, type Asked } from '../serving/asked.ts'
import { listen, type Server } from '../serving/listen.ts'
import { textStream } from '../workloads/text.ts'
import { sseBytes } from '../workloads/wire.ts'
import { answerDeltas } from './conversation.ts'
import { TOLD, type Told } from './observed.ts'
import { planOf, type Plan } from './plan.ts'

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

export interface PageServer extends Server {
  /** The next that a page tells. */
  told(): Promise<Told>
}

/** @param folder of the built page. */
export async function servePage(folder: string): Promise<PageServer> {
  const told = new EventEmitter()
  const files = new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path.slice(folder.length).replaceAll('\\', '/').replace(/^\/?/u, '/'), { type: TYPES[extname(path)] ?? 'text/plain', bytes: readFileSync(path) }]),
  )
  const server = await listen((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
    if (request.method === 'POST') {
      const answered = pathname === TOLD ? hear(request, response, told) : answer(request, response, pathname, planOf(searchParams))
      answered.catch(() => response.destroy())
      return
    }
    const file = files.get(pathname === '/' ? '/index.html' : pathname)
    if (file === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': `${file.type}; charset=utf-8` }).end(file.bytes)
  })
  return { ...server, told: async () => (await once(told, TOLD))[0] as Told }
}

async function hear(request: IncomingMessage, response: ServerResponse, told: EventEmitter): Promise<void> {
  const body = await text(request)
  response.writeHead(204).end()
  told.emit(TOLD, JSON.parse(body))
}

async function answer(request: IncomingMessage, response: ServerResponse, path: string, plan: Plan): Promise<void> {
  const asked = JSON.parse(await text(request)) as Asked
  // Results of tools are messages of their own to some: those of the user are as many for all.
  const questions = asked.messages.filter((message) => (message as { readonly role: string }).role === 'user').length
  if (questions !== Math.ceil(plan.messages / 2) + 1) return void response.writeHead(400).end()
  const events = textStream(answerDeltas(plan.deltas)).events.map((event) => withIds(event, asked) as (typeof event))
  const chunks = path === '/ai' ? uiMessageChunks(events) : events
  response.writeHead(200, { 'content-type': 'text/event-stream', 'x-vercel-ai-ui-message-stream': 'v1' })
  if (plan.pace === 0) for (const piece of sseBytes(chunks, 'large')) response.write(piece)
  else await writePaced(response, chunks, plan.pace)
  response.end()
}

/** One write for each event. A timer that is late makes up for it, so that an answer takes its time and no longer. */
async function writePaced(response: ServerResponse, events: readonly object[], pace: number): Promise<void> {
  const start = performance.now()
  for (const [index, event] of events.entries()) {
    const wait = start + (index * 1_000) / pace - performance.now()
    if (wait > 0) await after(wait)
    if (response.destroyed) return
    response.write(sseBytes([event], 'whole')[0])
  }
}
