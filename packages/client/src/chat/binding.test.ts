import { expect, it } from 'vitest'
import { stream } from '../connection/stream.ts'
import { chatMethods, chatSelector, followClient, holdClient, isHeldBy, type ChatSource } from './binding.ts'
import { ChatClient } from './chat-client.ts'

const connection = stream(() => [])
const user = (id: string) => ({ id, role: 'user' as const, parts: [{ type: 'text' as const, content: id }] })

it('makes a client, or takes the one given', () => {
  const own = holdClient({ connection, threadId: 'a' })
  expect(own.client).toBe(own.own)
  expect(own.client.threadId).toBe('a')
  const client = new ChatClient({ connection })
  expect(holdClient({ client })).toMatchObject({ client, own: undefined, shared: client, threadId: undefined })
  for (const none of [{}, undefined, null]) {
    expect(() => holdClient(none as unknown as ChatSource)).toThrow(expect.objectContaining({ code: 'no-connection' }))
  }
})

it('goes on with the same client for the same conversation, and with another for another', async () => {
  const held = holdClient({ connection })
  const seen: string[] = []
  expect(followClient(held, { connection, onFinish: () => seen.push('told') })).toBe(held)
  await held.client.sendMessage('Hi')
  expect(seen).toEqual(['told'])
  expect(isHeldBy(held, { connection })).toBe(true)
  expect(isHeldBy(held, { connection, threadId: 'a' })).toBe(false)
  expect(followClient(held, { connection, threadId: 'a' }).client).not.toBe(held.client)
  const client = new ChatClient({ connection })
  expect(followClient(held, { client }).client).toBe(client)
})

it('ends the client before, if it was made here, and not while others render', async () => {
  const turns: AbortSignal[] = []
  const waiting = stream(async (_messages, _data, signal) => {
    turns.push(signal as AbortSignal)
    await new Promise(() => undefined)
    return []
  })
  const own = holdClient({ connection: waiting })
  void own.client.sendMessage('Hi')
  const client = new ChatClient({ connection: waiting })
  void client.sendMessage('Hi')
  await Promise.resolve()
  const next = followClient(own, { client })
  expect(turns.map(({ aborted }) => aborted)).toEqual([false, false])
  followClient(next, { connection })
  await Promise.resolve()
  expect(turns.map(({ aborted }) => aborted)).toEqual([true, false])
})

it('changes nothing for options that cannot work', async () => {
  const held = holdClient({ connection })
  expect(() => followClient(held, { threadId: 'b' })).toThrow(expect.objectContaining({ code: 'no-connection' }))
  await Promise.resolve()
  await expect(held.client.sendMessage('Hi')).resolves.toBeDefined()
})

it('hands out methods that go to the client of the moment', () => {
  let client = new ChatClient({ connection })
  const { setMessages } = chatMethods(() => client)
  const before = client
  client = new ChatClient({ connection })
  setMessages([user('a')])
  expect(before.getSnapshot().messages).toEqual([])
  expect(client.getSnapshot().messages).toHaveLength(1)
})

it('selects once for each snapshot, and keeps the first of equal values', () => {
  const client = new ChatClient({ connection, initialMessages: [user('a')] })
  let selections = 0
  const ids = chatSelector(
    client,
    ({ messages }) => {
      selections++
      return messages.map(({ id }) => id)
    },
    (a, b) => a.join() === b.join(),
  )
  const first = ids()
  expect(ids()).toBe(first)
  expect(selections).toBe(1)
  client.setMessages([user('a')])
  expect(ids()).toBe(first)
  expect(selections).toBe(2)
  client.setMessages([user('b')])
  expect(ids()).toEqual(['b'])
  const shown = { value: ['b'] }
  expect(chatSelector(client, ({ messages }) => messages.map(({ id }) => id), (a, b) => a.join() === b.join(), shown)()).toBe(shown.value)
})
