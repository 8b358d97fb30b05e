/** The HTTP side of the demo: what is served under which path and with which headers. It opens no port by itself. */
import { createHash } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { AgentError, createRunHandler } from '@millrace/server'
import { toNodeListener } from '@millrace/server/node'
import type { AgentOptions } from './agent.ts'
import { createAgent } from './agent.ts'
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
    // Whoever stops or leaves wants the script to stop, too.
    onDisconnect: 'cancel',
    logger: { warn: () => undefined, error: report },
  })
  const api = toNodeListener(handler)
  const headers = { 'Content-Security-Policy': contentSecurityPolicy(files.get('/')), ...fixedHeaders }

  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    const [path = '/'] = (request.url ?? '/').split(/[?#]/u, 1)
    if (path === '/api/chat') return api(request, response)
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
