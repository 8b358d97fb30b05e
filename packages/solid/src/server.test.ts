import { ChatClient, stream } from '@millrace/client'
import { createChat, createChatSelector } from '@millrace/solid'
import { createComponent } from 'solid-js'
import { isServer, renderToString } from 'solid-js/web'
import { expect, it } from 'vitest'
import { keepingAgent } from '../../testkit/test/keeping-agent.ts'

const user = (id: string) => ({ id, role: 'user' as const, parts: [{ type: 'text' as const, content: id }] })

it('renders the initial snapshot on a server, without subscribing or attaching', () => {
  expect(isServer).toBe(true)
  const client = new ChatClient({ connection: stream(() => []), initialMessages: [user('a')] })
  Object.defineProperty(client, 'subscribe', {
    value: () => {
      throw new Error('subscribed')
    },
  })
  const kept = keepingAgent()
  function View(): string {
    const shared = createChat({ client })
    const own = createChat({ connection: kept.connection, threadId: 'kept', attach: true, initialMessages: [user('own')] })
    const count = createChatSelector(client, ({ messages }) => messages.length)
    return `${shared.messages[0]?.id} ${own.messages[0]?.id} ${own.status} ${count()}`
  }
  expect(renderToString(() => createComponent(View, {}))).toBe('a own ready 1')
  expect(kept.asked).toEqual([])
})
