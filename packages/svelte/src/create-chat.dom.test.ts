import { ChatClient, stream, type StreamChunk } from '@millrace/client'
import { flushSync } from 'svelte'
import { createSubscriber } from 'svelte/reactivity'
import { expect, it, vi } from 'vitest'
import { createChat, createChatSelector } from './index.ts'
import { observing } from '../test/observing.svelte.ts'

const user = (id: string) => ({ id, role: 'user' as const, parts: [{ type: 'text' as const, content: id }] })
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it('tells of one member only when that changes, and of nothing when nobody looks', async () => {
  const client = new ChatClient({ connection: stream(() => []), initialState: 0 })
  const chat = createChat({ client })
  const states: unknown[] = []
  const counts: number[] = []
  const stop = observing([() => void states.push(chat.state), () => void counts.push(chat.messages.length)])
  chat.setState(1)
  flushSync()
  chat.setMessages([user('a')])
  flushSync()
  expect(states).toEqual([0, 1])
  expect(counts).toEqual([0, 1])
  stop()
  await turn()
  chat.setState(2)
  flushSync()
  expect(states).toEqual([0, 1])
})

it('misses nothing when somebody else looks before listeners are told', async () => {
  let say: (() => void) | undefined
  const connection = stream(async function* () {
    yield { type: 'RUN_STARTED', threadId: 't', runId: 'r' } as StreamChunk
    yield { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' } as StreamChunk
    for (;;) {
      await new Promise<void>((resolve) => {
        say = resolve
      })
      say = undefined
      yield { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x' } as StreamChunk
    }
  })
  const client = new ChatClient({ connection })
  const chat = createChat({ client })
  const length = createChatSelector(client, ({ messages }) => messages.at(-1)?.parts.length ?? 0)
  const texts: string[] = []
  const stop = observing([() => void texts.push(`${length.current} ${JSON.stringify(chat.messages).length}`)])
  void chat.sendMessage('Hi')
  for (let at = 0; at < 5; at++) {
    await vi.waitFor(() => expect(say).toBeDefined())
    say?.()
    // Read at each step, with no effect around: what is seen here must still be told.
    for (let step = 0; step < 20; step++) {
      void chat.messages
      void length.current
      await Promise.resolve()
    }
    await vi.waitFor(() => expect(chat.messages.at(-1)?.parts).toMatchObject([{ content: 'x'.repeat(at + 1) }]))
    await vi.waitFor(() => {
      flushSync()
      expect(texts.at(-1)).toBe(`1 ${JSON.stringify(chat.messages).length}`)
    })
  }
  chat.stop()
  stop()
})

it('takes options with getters, as those of state are', () => {
  let id = 'a'
  let update: () => void = () => undefined
  const track = createSubscriber((tell) => {
    update = tell
  })
  const client = new ChatClient({ connection: stream(() => []) })
  const threads: unknown[] = []
  const other = new ChatClient({ connection: stream(() => []), threadId: 'b' })
  const chat = createChat({
    get client() {
      track()
      return id === 'a' ? client : other
    },
  })
  const stop = observing([() => void threads.push(chat.threadId)])
  id = 'b'
  update()
  flushSync()
  expect(threads).toEqual([undefined, 'b'])
  expect(chat.client).toBe(other)
  stop()
  let runs = 0
  const end = observing([
    () => {
      runs++
      chat.setState(1)
    },
  ])
  id = 'a'
  update()
  flushSync()
  // An effect that calls a method does not depend on the options.
  expect(runs).toBe(1)
  end()
})
