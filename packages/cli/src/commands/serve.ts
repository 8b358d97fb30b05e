// `millrace serve`: an agent behind @millrace/server's handler on a local port, until it is told to stop.
import { createRunHandler, type Agent, type RunHandler } from '@millrace/server'
import { toNodeListener } from '@millrace/server/node'
import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CommandError, messageOf } from '../command-error.ts'
import { echoAgent } from '../serve/echo-agent.ts'
import { isLoopback, listen, signalled } from '../serve/listening.ts'
import { oneLine, type Terminal } from '../terminal.ts'

export interface ServeOptions {
  readonly port: number
  readonly host: string
  readonly agent?: string
}

/** Time that open responses get to come to their end, in ms. */
const GRACE = 5_000

/** Serves until SIGINT or SIGTERM, then ends what runs and closes; a second signal does not wait. */
export async function serve(options: ServeOptions, terminal: Terminal): Promise<void> {
  const agent = options.agent === undefined ? echoAgent : await loadAgent(options.agent)
  const say = (message: string, data?: unknown): void => terminal.err(`${oneLine(message)}${detail(data)}\n`)
  const logger = { warn: say, error: say }
  const handler = createRunHandler({ agent, authorize: () => true, logger })
  surviveStrays(say)
  const server = createServer(toNodeListener(handler, { logger }))
  const url = await listen(server, options)

  const { colours } = terminal
  const what = options.agent === undefined ? 'the built-in echo agent' : oneLine(options.agent)
  terminal.out(`Serving ${what} at ${colours.bold(colours.cyan(url))}\n`)
  terminal.out(colours.dim(`Talk to it with: millrace chat ${url}\nCtrl-C stops it.\n`))
  if (!isLoopback(options.host)) {
    terminal.err(terminal.errColours.yellow(`Whoever can reach ${options.host} can run this agent: nothing asks who they are.\n`))
  }
  await signalled()
  await close(server, handler)
}

/**
 * What an agent's code throws where nobody can catch it (a timer, a promise it forgot) would end the process, and with it
 * the runs of everybody else. It belongs to no run that we could end instead.
 */
function surviveStrays(say: (message: string, data: unknown) => void): void {
  const survive =
    (what: string) =>
    (error: unknown): void =>
      say(`${what} outside of any run; the server stays up`, { error })
  process.on('uncaughtException', survive('The agent threw'))
  process.on('unhandledRejection', survive('A promise of the agent was rejected'))
}

async function loadAgent(file: string): Promise<Agent> {
  const path = resolve(file)
  if (!existsSync(path)) throw new CommandError(`There is no file ${file}`)
  let module: { default?: unknown }
  try {
    module = (await import(pathToFileURL(path).href)) as typeof module
  } catch (error) {
    const unknown = error instanceof Error && 'code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION'
    throw new CommandError(
      `${file} could not be loaded: ${messageOf(error)}`,
      unknown ? 'Compile it to JavaScript first, or run millrace under a loader such as tsx.' : 'Set DEBUG=1 to see where it failed.',
      { cause: error },
    )
  }
  if (typeof module.default !== 'function') {
    throw new CommandError(
      `${file} has no agent as its default export`,
      'Export one: export default async function (input, run) { await run.text("Hello") }',
    )
  }
  return module.default as Agent
}

async function close(server: Server, handler: RunHandler): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const late = setTimeout(() => server.closeAllConnections(), GRACE)
  await handler.stop()
  server.closeIdleConnections()
  await closed
  clearTimeout(late)
}

function detail(data: unknown): string {
  if (typeof data !== 'object' || data === null || !('error' in data)) return ''
  const debug = process.env['DEBUG']
  return debug ? `\n${data.error instanceof Error ? data.error.stack : String(data.error)}` : `: ${oneLine(messageOf(data.error))}`
}
