/** A chat that asks for a value, and an agent of our server that reads what is asked for. */
import { ChatClient, fetchServerSentEvents, structured } from '@millrace/client'
import { createRunHandler, outputSchemaOf, type Agent } from '@millrace/server'
import { expect, it } from 'vitest'
import { z } from 'zod'

it('the agent is told the JSON Schema, and what it answers is a value', async () => {
  const asked: unknown[] = []
  const agent: Agent = async (input, run) => {
    const schema = outputSchemaOf(input)
    asked.push(schema)
    await run.text(schema === undefined ? 'Four degrees.' : pieces('{"degrees":4}'))
  }
  const handler = createRunHandler({ agent, authorize: () => true })
  const connection = fetchServerSentEvents('http://agent.test/', { fetchClient: async (url, init) => handler(new Request(url, init)) })
  const chat = new ChatClient({ connection, output: structured(z.object({ degrees: z.number() })) })
  expect(await chat.sendMessage('Oslo?')).toEqual({ outcome: 'finished' })
  expect(asked).toMatchObject([{ type: 'object', properties: { degrees: { type: 'number' } } }])
  expect(chat.getSnapshot()).toMatchObject({ final: { degrees: 4 }, outputError: undefined })
  chat.updateOptions({ connection })
  await chat.sendMessage('And in words?')
  expect(chat.getSnapshot()).toMatchObject({ final: undefined, messages: { 3: { parts: [{ type: 'text', content: 'Four degrees.' }] } } })
})

async function* pieces(text: string): AsyncGenerator<string, void, undefined> {
  yield* text
}
