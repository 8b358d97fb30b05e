/** Answers in the form of a value from TanStack AI's `chat({ outputSchema })`, over each of its wires. */
import { ChatClient, fetchHttpStream, fetchServerSentEvents, structured, webSocket, type ConnectionAdapter } from '@millrace/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { RECIPE_TEXT, startTanstackServer, type TanstackServer } from '../../test/tanstack-server.ts'

let server: TanstackServer
beforeAll(async () => {
  server = await startTanstackServer()
})
afterAll(async () => server.close())

const recipe = z.object({ title: z.string(), steps: z.array(z.string()) })

const WIRES: readonly [name: string, connect: () => ConnectionAdapter][] = [
  ['SSE', () => fetchServerSentEvents(`${server.url}/sse`)],
  ['NDJSON', () => fetchHttpStream(`${server.url}/ndjson`)],
  ['a log', () => fetchServerSentEvents(`${server.url}/durable/sse`)],
  ['WebSocket', () => webSocket(`${server.wsUrl}/ws`, { WebSocketImpl: WebSocket })],
]

describe.each(WIRES)('over %s', (_, connect) => {
  it('streams as a partial value and comes to the value, which goes back as it was said', async () => {
    const names: string[] = []
    const connection = connect() as ConnectionAdapter & { close?(): void }
    const chat = new ChatClient({ connection, output: structured(recipe), onEvent: (event) => event.type === 'CUSTOM' && names.push(event.name) })
    const titles = new Set<unknown>()
    const kinds = new Set<string>()
    chat.subscribe(() => {
      titles.add(chat.getSnapshot().partial?.title)
      for (const { role, parts } of chat.getSnapshot().messages) if (role === 'assistant') for (const { type } of parts) kinds.add(type)
    })
    expect(await chat.sendMessage('A recipe, please')).toEqual({ outcome: 'finished' })
    const value = JSON.parse(RECIPE_TEXT) as unknown
    expect(names.filter((name) => name.startsWith('structured-output'))).toEqual(['structured-output.start', 'structured-output.complete'])
    expect(chat.getSnapshot()).toMatchObject({ partial: value, final: value, outputError: undefined })
    expect([...kinds]).toEqual(['structured-output'])
    expect(titles.has('Soup')).toBe(true)
    await chat.sendMessage('Another recipe')
    const { messages } = (server.started.at(-1)?.input ?? {}) as { messages?: { role: string; content: string }[] }
    expect(messages?.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'A recipe, please'],
      ['assistant', RECIPE_TEXT],
      ['user', 'Another recipe'],
    ])
    connection.close?.()
  })

  it('is an error of the run there, and no value here, if the model says something else', async () => {
    const connection = connect() as ConnectionAdapter & { close?(): void }
    const chat = new ChatClient({ connection, output: structured(recipe) })
    expect(await chat.sendMessage('hello')).toMatchObject({ outcome: 'error' })
    expect(chat.getSnapshot()).toMatchObject({ status: 'error', final: undefined, outputError: { code: 'cut-short' } })
    connection.close?.()
  })
})
