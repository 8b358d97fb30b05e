/** Our server with an agent that answers to the words to which the model of `tanstack-server.ts` does. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AgentError, createRunHandler, type Agent, type RunContext, type RunHandler } from '@millrace/server'
import { toNodeListener } from '@millrace/server/node'
import { SLOW_TEXT, WEATHER_TEXT } from './tanstack-server.ts'
import { tick } from './runs.ts'

export interface OwnServer {
  readonly url: string
  readonly handler: RunHandler
  /** Method and path of each request. */
  readonly requests: string[]
  /** Sockets of clients that are open. */
  readonly open: () => number
  close(): Promise<void>
}

/** The text of the last message of the user, and whether its call has been answered. */
function asked({ messages }: Parameters<Agent>[0]): { readonly text: string; readonly answered: boolean } {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  return { text: JSON.stringify(messages[at]), answered: messages.slice(at).some(({ role }) => role === 'tool') }
}

const agent: Agent = async (input, run) => {
  const { text, answered } = asked(input)
  if (text.includes('weather')) await weather(run)
  else if (text.includes('colour')) await colour(run, answered)
  else if (text.includes('slow')) await slow(run)
  else if (text.includes('fail')) await fail(run)
  else await run.text('Hello! Ünïcode works: 你好 👋')
}

async function weather(run: RunContext): Promise<void> {
  const { messageId: parentMessageId } = await run.text('Let me look.')
  const call = await run.toolCall('getWeather', '{"city":"Zürich"}', { parentMessageId })
  await call.result({ city: 'Zürich', degrees: 4 })
  await run.text(WEATHER_TEXT)
}

async function colour(run: RunContext, answered: boolean): Promise<void> {
  if (answered) return void (await run.text('It is red.'))
  const { messageId: parentMessageId } = await run.text('Choose.')
  await run.toolCall('pickColour', '{"from":2}', { parentMessageId, toolCallId: 'call_pick' })
}

async function slow(run: RunContext): Promise<void> {
  const writer = await run.text()
  for (const word of SLOW_TEXT.split(/(?<= )/)) {
    await writer.write(word)
    await tick(40)
  }
}

async function fail(run: RunContext): Promise<void> {
  const writer = await run.text()
  await writer.write('Half')
  throw new AgentError('model', 'The model is gone.')
}

export async function startOwnServer(): Promise<OwnServer> {
  const handler = createRunHandler({ agent, authorize: () => true, onDisconnect: 'cancel' })
  const requests: string[] = []
  const listener = toNodeListener(handler)
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    listener(request, response)
  })
  let open = 0
  server.on('connection', (socket) => {
    open++
    socket.on('close', () => open--)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`,
    handler,
    requests,
    open: () => open,
    async close() {
      server.closeAllConnections()
      server.close()
      await handler.stop()
    },
  }
}
