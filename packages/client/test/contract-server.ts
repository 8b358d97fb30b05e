/**
 * A real server that plays scenarios over SSE, NDJSON and WebSocket, for connections in Node and in browsers:
 * `/<transport>/<scenario>/<session>`, `/seen/<session>` for what it saw of a session's requests, and `/open/<session>` for how many of
 * its answers and WebSockets are open.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { WebSocketServer, type WebSocket } from 'ws'
import { SCENARIOS, type Scenario, type Seen } from './scenarios.ts'
import { tick } from './runs.ts'

export interface ContractServer {
  readonly url: string
  close(): Promise<void>
}

/** How a scenario gets out, whatever the transport. */
interface Outlet {
  events(events: readonly unknown[]): void
  done(): void
  end(): void
  break(): void
  readonly left: () => boolean
}

const ANY_ORIGIN = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-allow-methods': '*',
}

export async function startContractServer(): Promise<ContractServer> {
  const sessions = new Map<string, Seen[]>()
  const sessionOf = (name: string): Seen[] => {
    const known = sessions.get(name) ?? []
    sessions.set(name, known)
    return known
  }
  /** Answers and WebSockets that are open, by session. A connection that a browser keeps for its next request carries none. */
  const open = new Map<string, number>()
  const server = createServer((request, response) => {
    const [, first, second = '', name = second] = pathOf(request)
    if (first === 'open') return void response.writeHead(200, ANY_ORIGIN).end(String(open.get(second) ?? 0))
    if (request.method === 'POST') count(open, name, response)
    handle(request, response, sessionOf).catch(() => response.destroy())
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket, request) => {
    count(open, pathOf(request)[3] ?? '', socket)
    converse(socket, request, sessionOf)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      for (const client of sockets.clients) client.terminate()
      sockets.close()
      server.closeAllConnections()
      server.close()
    },
  }
}

const pathOf = ({ url = '' }: IncomingMessage): string[] => url.split('?', 1)[0]?.split('/') ?? []

/** Counts what is open until it closes. */
function count(open: Map<string, number>, session: string, what: ServerResponse | WebSocket): void {
  open.set(session, (open.get(session) ?? 0) + 1)
  what.once('close', () => open.set(session, (open.get(session) ?? 1) - 1))
}

async function handle(request: IncomingMessage, response: ServerResponse, sessionOf: (name: string) => Seen[]): Promise<void> {
  if (request.method === 'OPTIONS') {
    response.writeHead(204, ANY_ORIGIN).end()
    return
  }
  const [, transport, scenario, session] = pathOf(request)
  if (transport === 'seen') {
    response.writeHead(200, { ...ANY_ORIGIN, 'content-type': 'application/json' }).end(JSON.stringify(sessionOf(scenario ?? '')))
    return
  }
  if (request.method !== 'POST' || (transport !== 'sse' && transport !== 'ndjson')) {
    response.writeHead(404, ANY_ORIGIN).end()
    return
  }
  let body = ''
  for await (const piece of request) body += piece
  const seen: Seen = { headers: request.headers as Seen['headers'], input: JSON.parse(body), sent: 0, left: false }
  sessionOf(session ?? '').push(seen)
  response.on('close', () => {
    seen.left = !response.writableEnded
  })
  const encode = transport === 'sse' ? (data: string) => `data: ${data}\n\n` : (data: string) => `${data}\n`
  const begin = (): void => {
    if (response.headersSent) return
    response.writeHead(200, { ...ANY_ORIGIN, 'content-type': transport === 'sse' ? 'text/event-stream' : 'application/x-ndjson' })
  }
  await play(scenario as Scenario, seen, {
    events(events) {
      begin()
      response.write(events.map((event) => encode(JSON.stringify(event))).join(''))
    },
    done: () => response.write(encode('[DONE]')),
    end: () => response.end(),
    break: () => response.destroy(),
    left: () => seen.left,
  })
}

/** One socket, many runs: each message starts one, `{type:'abort', runId}` ends one. */
function converse(socket: WebSocket, request: IncomingMessage, sessionOf: (name: string) => Seen[]): void {
  const [, , scenario, session] = pathOf(request)
  const mine = new Set<Seen>()
  socket.on('message', (data) => {
    const input = JSON.parse(String(data)) as Record<string, unknown>
    if (input['type'] === 'abort') {
      for (const seen of mine) if (seen.input['runId'] === input['runId']) seen.left = true
      return
    }
    const seen: Seen = { headers: request.headers as Seen['headers'], input, sent: 0, left: false }
    mine.add(seen)
    sessionOf(session ?? '').push(seen)
    socket.send('{"type":"ping"}')
    void play(scenario as Scenario, seen, {
      events(events) {
        for (const event of events) socket.send(JSON.stringify(event))
      },
      done: () => socket.send('[DONE]'),
      // The socket outlives a run; only one that ends without a terminal event shows by its end that it is over.
      end: () => {
        if (scenario === 'unterminated') socket.close(1000)
      },
      break: () => (request.socket as Socket).destroy(),
      left: () => seen.left,
    }).then(() => mine.delete(seen))
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    for (const seen of mine) seen.left = true
  })
}

async function play(scenario: Scenario, seen: Seen, outlet: Outlet): Promise<void> {
  const ids = { threadId: String(seen.input['threadId']), runId: String(seen.input['runId']) }
  for (const step of SCENARIOS[scenario](ids)) {
    if (outlet.left()) return
    switch (step.kind) {
      case 'events':
        seen.sent += step.events.length
        outlet.events(step.events)
        await tick()
        break
      case 'flood':
        while (!outlet.left()) {
          seen.sent++
          outlet.events([step.event])
          await tick(3)
        }
        return
      case 'hang':
        while (!outlet.left()) await tick(3)
        return
      case 'break':
        // Lets what was written before get out first.
        await tick(20)
        outlet.break()
        return
      case 'done':
        outlet.done()
    }
  }
  outlet.end()
}
