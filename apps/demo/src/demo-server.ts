/** The HTTP side of the demo: what is served under which path and with which headers. It opens no port by itself. */
import { createHash } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { AgentError, createRunHandler } from '@millrace/server'
import { toNodeListener } from '@millrace/server/node'
import type { AgentOptions } from './agent.ts'
import { createAgent } from './agent.ts'
import { Outage } from './outage.ts'
import type { PageFile } from './page-files.ts'
import { readPage } from './page-files.ts'

export interface DemoServerOptions extends AgentOptions {
  /** Folder of the built page. */
  readonly page: URL
}

export interface DemoServer {
  readonly server: Server
  /** Ends the runs that are under way, then the connections. */
  readonly close: () => Promise<void>
}

/** Nothing from elsewhere, nothing inline but what the page itself was written with, no frame around us. */
const contentSecurityPolicy = (page: PageFile | undefined): string => [
  "default-src 'none'",
  ["script-src 'self'", ...inlineScripts(page)].join(' '),
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Each script that stands in the page, as a policy names it (CSP 3, hash-source). */
function inlineScripts(page: PageFile | undefined): string[] {
  const scripts = page?.body.toString('utf8').matchAll(/<script(?![^>]*\ssrc=)[^>]*>([^]*?)<\/script>/gu) ?? []
  return [...scripts].map(([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`)
}

const fixedHeaders: Readonly<Record<string, string>> = {
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

/** Only what is not scripted: an `AgentError` is part of the show, and the page tells it. */
function report(message: string, data?: unknown): void {
  const error = typeof data === 'object' && data !== null && 'error' in data ? data.error : undefined
  if (!(error instanceof AgentError)) console.error(message, data)
}

/** How long a client may take to let go of its connection at shutdown. */
const graceMs = 2000

/** @throws if the page has not been built. */
export async function createDemoServer({ page, ...agentOptions }: DemoServerOptions): Promise<DemoServer> {
  const files = await readPage(page)
  const handler = createRunHandler({
    agent: createAgent(agentOptions),
    // Everybody may do everything: runs are scripted, and nothing of anybody's is kept.
    authorize: () => true,
    // Whoever is gone may come back: only a DELETE stops a run.
    onDisconnect: 'continue',
    // The page takes a longer silence for a broken connection.
    heartbeatMs: 2000,
    logger: { warn: () => undefined, error: report },
  })
  const api = toNodeListener(handler)
  const network = new Outage()
  const headers = { 'Content-Security-Policy': contentSecurityPolicy(files.get('/')), ...fixedHeaders }

  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    const [path = '/'] = (request.url ?? '/').split(/[?#]/u, 1)
    if (path === '/api/chat') return network.admits(request, response) ? api(request, response) : undefined
    if (path === '/demo/cut') return cutNetwork(request, response, network)
    return sendFile(request, response, files.get(path))
  })

  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    await handler.stop()
    server.closeIdleConnections()
    const force = setTimeout(() => server.closeAllConnections(), graceMs)
    await closed
    clearTimeout(force)
  }
  return { server, close }
}

/** The page's button for it. No other page may press it. */
function cutNetwork({ method, headers }: IncomingMessage, response: ServerResponse, network: Outage): void {
  if (method !== 'POST') return void response.writeHead(405, { Allow: 'POST' }).end()
  if ((headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin') return void response.writeHead(403).end()
  network.cut()
  response.writeHead(204).end()
}

function sendFile(request: IncomingMessage, response: ServerResponse, file: PageFile | undefined): void {
  if (file === undefined) {
    response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' }).end('Not found\n')
    return
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { Allow: 'GET, HEAD' }).end()
    return
  }
  response.writeHead(200, {
    'Content-Type': file.type,
    'Content-Length': file.body.byteLength,
    // Vite puts a hash of the contents into the names under /assets/.
    'Cache-Control': file.hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
  })
  response.end(request.method === 'HEAD' ? undefined : file.body)
}
