/** Every action of the user is one commit: listeners see it whole, and what they start in turn is in order. */
import { ChatClient, stream, type StreamChunk } from '@millrace/client'
import { expect, it } from 'vitest'
import { finished, hello, iterate, started, text, tick, until } from '../../test/events.ts'
import { scripted, texts } from '../../test/scripted.ts'

/** A chat whose first turn never ends; later ones answer with their number. */
function hanging() {
  let count = 0
  const asked: string[][] = []
  const chat: ChatClient = new ChatClient({
    connection: {
      async *connect(messages) {
        asked.push(messages.map(({ id }) => id))
        const turn = ++count
        if (turn > 1) return yield* hello(`r${turn}`, `answer ${turn}`)
        yield* [started('r1'), ...text('One', 'm1').slice(0, 2)]
        await new Promise(() => {})
      },
    },
  })
  return { chat, asked }
}

/** Sends once, as soon as the chat is ready. */
function sendWhenReady(chat: ChatClient, content: string): { readonly sent: () => Promise<unknown> | undefined } {
  let sent: Promise<unknown> | undefined
  chat.subscribe(() => {
    if (sent === undefined && chat.getSnapshot().status === 'ready') sent = chat.sendMessage(content)
  })
  return { sent: () => sent }
}

it('reload of a turn that runs is one commit: no listener sees it stopped and not yet sent again', async () => {
  const { chat } = hanging()
  const first = chat.sendMessage('Hi')
  await until(() => texts(chat).length === 2)
  const seen: unknown[] = []
  const off = chat.subscribe(() => seen.push([chat.getSnapshot().status, texts(chat)]))
  const second = chat.reload()
  off()
  expect(seen).toEqual([['submitted', ['Hi']]])
  expect([await first, await second]).toEqual([{ outcome: 'cancelled' }, { outcome: 'finished' }])
  expect(texts(chat)).toEqual(['Hi', 'answer 2'])
})

it('a listener that sends when the chat is ready loses no message to reload', async () => {
  const { chat } = hanging()
  const first = chat.sendMessage('Hi')
  await until(() => texts(chat).length === 2)
  const listener = sendWhenReady(chat, 'More')
  expect(await chat.reload()).toEqual({ outcome: 'finished' })
  expect(await first).toEqual({ outcome: 'cancelled' })
  expect(await listener.sent()).toEqual({ outcome: 'finished' })
  expect(texts(chat)).toEqual(['Hi', 'answer 2', 'More', 'answer 3'])
})

it('a listener that sends when clear tells of it sends into the cleared chat, and its turn shows', async () => {
  const { chat, asked } = hanging()
  const first = chat.sendMessage('Hi')
  await until(() => texts(chat).length === 2)
  let told = 0
  chat.subscribe(() => told++)
  const listener = sendWhenReady(chat, 'Anew')
  chat.clear()
  // One for the clearing, one for what the listener sent.
  expect(told).toBe(2)
  expect(chat.getSnapshot()).toMatchObject({ status: 'submitted', messages: [{ role: 'user' }], runs: [] })
  expect(await first).toEqual({ outcome: 'cancelled' })
  expect(await listener.sent()).toEqual({ outcome: 'finished' })
  expect(texts(chat)).toEqual(['Anew', 'answer 2'])
  expect(asked[1]).toHaveLength(1)
})

it('a listener that sends when stop tells of it goes on in order', async () => {
  const { chat } = hanging()
  const first = chat.sendMessage('Hi')
  await until(() => texts(chat).length === 2)
  const listener = sendWhenReady(chat, 'More')
  chat.stop()
  expect([await first, await listener.sent()]).toEqual([{ outcome: 'cancelled' }, { outcome: 'finished' }])
  expect(texts(chat)).toEqual(['Hi', 'O', 'More', 'answer 2'])
  expect(chat.getSnapshot().runs.map(({ outcome }) => outcome)).toEqual(['cancelled', 'finished'])
})

it('onFinish has the messages of its own turn, though a listener sends at the end of it', async () => {
  const finishes: number[] = []
  const { chat } = scripted([hello('r1', 'One'), hello('r2', 'Two')], { onFinish: ({ messages }) => finishes.push(messages.length) })
  const first = chat.sendMessage('Hi')
  const listener = sendWhenReady(chat, 'More')
  await first
  await listener.sent()
  expect(finishes).toEqual([2, 4])
})

it('stop at the first of the events that a chunk becomes leaves the others out', async () => {
  const chunks: StreamChunk[] = [started(), { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm1', role: 'assistant', delta: 'Hello' }, finished()]
  const chat: ChatClient = new ChatClient({
    connection: stream(() => iterate(chunks)),
    onEvent: ({ type }) => type === 'TEXT_MESSAGE_START' && chat.stop(),
  })
  expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'cancelled' })
  await tick()
  expect(chat.getSnapshot()).toMatchObject({ status: 'ready', runs: [{ outcome: 'cancelled' }] })
  expect(texts(chat).join()).not.toContain('Hello')
})

it('reload from within onEvent leaves nothing of the old turn in the new one', async () => {
  let count = 0
  let again: Promise<unknown> | undefined
  const chat: ChatClient = new ChatClient({
    connection: stream(() => {
      const id = `m${++count}`
      return iterate<StreamChunk>([started(`r${count}`), { type: 'TEXT_MESSAGE_CHUNK', messageId: id, role: 'assistant', delta: `answer ${count}` }, finished(`r${count}`)])
    }),
    onEvent: ({ type }) => {
      if (type === 'TEXT_MESSAGE_START') again ??= chat.reload()
    },
  })
  expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'cancelled' })
  expect(await again).toEqual({ outcome: 'finished' })
  expect(texts(chat)).toEqual(['Hi', 'answer 2'])
  expect(chat.getSnapshot().runs.map(({ outcome }) => outcome)).toEqual(['cancelled', 'finished'])
})
