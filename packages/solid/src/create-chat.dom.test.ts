import { ChatClient, stream } from '@millrace/client'
import { createEffect, createRenderEffect, createRoot, createSignal } from 'solid-js'
import { expect, it } from 'vitest'
import { createChat, createChatSelector } from './index.ts'

const user = (id: string) => ({ id, role: 'user' as const, parts: [{ type: 'text' as const, content: id }] })
const connection = stream(() => [])

it('takes options with getters, as properties are', () => {
  createRoot((dispose) => {
    const [id, setId] = createSignal('a')
    const chat = createChat({
      connection,
      get threadId() {
        return id()
      },
    })
    const { client } = chat
    let runs = 0
    createRenderEffect(() => {
      runs++
      chat.setState(1)
    })
    setId('b')
    // An effect that calls a method does not depend on the options.
    expect(runs).toBe(1)
    expect(chat.threadId).toBe('b')
    expect(chat.client).not.toBe(client)
    dispose()
  })
})

it('tells of one member, and of what is selected, only when that changes', () => {
  const client = new ChatClient({ connection, initialState: 0 })
  const seen: unknown[] = []
  const dispose = createRoot((end) => {
    const chat = createChat({ client })
    const ids = createChatSelector(client, ({ messages }) => messages.map(({ id }) => id), (a, b) => a.join() === b.join())
    createEffect(() => seen.push(chat.state))
    createEffect(() => seen.push(ids()))
    return end
  })
  client.setState(1)
  client.setMessages([user('a')])
  client.setMessages([user('a')])
  expect(seen).toEqual([0, [], 1, ['a']])
  dispose()
  client.setState(2)
  expect(seen).toHaveLength(4)
})
