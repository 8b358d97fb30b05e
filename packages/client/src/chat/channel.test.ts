/** Chats over connections that have subscribe() and send() of their own: one channel, many turns. */
import { ChatClient, type StreamChunk } from '@millrace/client'
import { expect, it } from 'vitest'
import { channel } from '../../test/channel.ts'
import { finished, hello, started, text, tick, until } from '../../test/events.ts'
import { texts } from '../../test/scripted.ts'

it('settles when send has resolved and the last run has ended, and lets the channel go', async () => {
  const { chat, emit, subscribers } = channel()
  const sending = chat.sendMessage('Hi')
  await until(() => subscribers() === 1)
  emit(...hello())
  expect(await sending).toEqual({ outcome: 'finished' })
  expect(texts(chat)).toEqual(['Hi', 'Hello'])
  await until(() => subscribers() === 0)
})

it('waits for send if the events come first', async () => {
  const { chat, emit, onSend } = channel()
  let release: () => void = () => {}
  onSend(async () => {
    emit(...hello())
    await new Promise<void>((resolve) => {
      release = resolve
    })
  })
  let settled = false
  const sending = chat.sendMessage('Hi').finally(() => {
    settled = true
  })
  await tick(20)
  expect(settled).toBe(false)
  expect(texts(chat)).toEqual(['Hi', 'Hello'])
  release()
  expect(await sending).toEqual({ outcome: 'finished' })
})

const toolTurn: StreamChunk[] = [
  started(),
  { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'f' },
  { type: 'TOOL_CALL_END', toolCallId: 'c1' },
  { ...finished(), metadata: { tanstack: { finishReason: 'tool_calls' } } },
]

it('does not settle at a RUN_FINISHED that says that server tools are running', async () => {
  const { chat, emit, subscribers } = channel()
  const sending = chat.sendMessage('Hi')
  await until(() => subscribers() === 1)
  emit(...toolTurn)
  await tick(20)
  expect(chat.getSnapshot().status).toBe('streaming')
  emit({ type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c1', content: '1' }, ...text('Done'), finished())
  expect(await sending).toEqual({ outcome: 'finished' })
  expect(texts(chat)).toEqual(['Hi', '[tool-call]|Done'])
})

it('settles there if the tool is ours', async () => {
  const { chat, emit, subscribers } = channel({ tools: [{ name: 'f', description: '', parameters: {} }] })
  const sending = chat.sendMessage('Hi')
  await until(() => subscribers() === 1)
  emit(...toolTurn)
  expect(await sending).toEqual({ outcome: 'finished' })
  expect(chat.getSnapshot().runs.at(-1)?.pendingToolCallIds).toEqual(['c1'])
})

it('a channel that closes while the run is open is truncated, not a promise that hangs', async () => {
  const { chat, emit, close, subscribers } = channel()
  const sending = chat.sendMessage('Hi')
  await until(() => subscribers() === 1)
  emit(started(), ...text('Half'))
  close()
  expect(await sending).toMatchObject({ outcome: 'truncated', error: { code: 'truncated' } })
  expect(texts(chat)).toEqual(['Hi', 'Half'])
})

it('a channel that closes and says why through send gives the reason', async () => {
  const { chat, close, onSend } = channel()
  onSend(async () => {
    close()
    throw new Error('socket gone')
  })
  expect(await chat.sendMessage('Hi')).toMatchObject({ outcome: 'error', error: { message: 'socket gone' } })
})

it('a send that fails ends the turn though the channel stays open', async () => {
  const { chat, onSend, subscribers } = channel()
  onSend(() => Promise.reject(new Error('offline')))
  expect(await chat.sendMessage('Hi')).toMatchObject({ outcome: 'error', error: { message: 'offline' } })
  await until(() => subscribers() === 0)
})

it('what a stopped turn still sends does not get into the next one', async () => {
  const { chat, emit, subscribers } = channel()
  const first = chat.sendMessage('One')
  await until(() => subscribers() === 1)
  emit(started('server-1'), ...text('ab', 'm1').slice(0, 2))
  await until(() => texts(chat)[1] === 'a')
  chat.stop()
  expect(await first).toEqual({ outcome: 'cancelled' })
  const second = chat.sendMessage('Two')
  await until(() => subscribers() === 1)
  emit(...text('ab', 'm1').slice(2), finished('server-1'), started('server-1'), finished('server-1'))
  emit(...hello('server-2', 'Fresh'))
  expect(await second).toEqual({ outcome: 'finished' })
  expect(texts(chat)).toEqual(['One', 'a', 'Two', 'Fresh'])
})

it('a turn that waits can be stopped', async () => {
  const { chat, subscribers } = channel()
  const sending = chat.sendMessage('Hi')
  await until(() => subscribers() === 1)
  chat.stop()
  expect(await sending).toEqual({ outcome: 'cancelled' })
  await until(() => subscribers() === 0)
})

it('a subscribe that throws is a failed turn', async () => {
  const chat = new ChatClient({
    connection: {
      subscribe() {
        throw new Error('no channel')
      },
      send: async () => {},
    },
  })
  expect(await chat.sendMessage('Hi')).toMatchObject({ outcome: 'error', error: { message: 'no channel' } })
})
