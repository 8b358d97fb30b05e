import { ChatClient, stream } from '@millrace/client'
import { render } from 'svelte/server'
import { expect, it } from 'vitest'
import { createChat } from '@millrace/svelte'
import { keepingAgent } from '../../testkit/test/keeping-agent.ts'
import Server from '../test/Server.svelte'

const user = (id: string) => ({ id, role: 'user' as const, parts: [{ type: 'text' as const, content: id }] })

it('renders the initial snapshot on a server, without subscribing or attaching', () => {
  const client = new ChatClient({ connection: stream(() => []), initialMessages: [user('a')] })
  Object.defineProperty(client, 'subscribe', {
    value: () => {
      throw new Error('subscribed')
    },
  })
  const kept = keepingAgent()
  const { body } = render(Server as never, { props: { client, connection: kept.connection, onFinish: () => undefined } } as never)
  expect(body).toContain('<p>a a ready 1</p>')
  expect(kept.asked).toEqual([])
})

it('reads a shared client anywhere, and needs a component for one of its own', () => {
  const client = new ChatClient({ connection: stream(() => []) })
  const chat = createChat({ client })
  chat.setMessages([user('a')])
  expect(chat.messages).toBe(client.getSnapshot().messages)
  expect(() => createChat({ connection: stream(() => []) })).toThrow()
})
