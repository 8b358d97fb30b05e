/** Calls that are told of and answered at once, never, or after they have gone; callbacks that fail later. */
import { toMessages, type UIMessage } from '@millrace/protocol'
import { describe, expect, it } from 'vitest'
import { ChatClient, defineTool, stream, type ChatClientOptions } from '@millrace/client'
import { tick, until } from '../../test/events.ts'

it.each([0, 1, 2, 3, 8])('a call that is answered %i microtasks after it was told is gone on with, once', async (ticks) => {
  let requests = 0
  const chat: ChatClient = new ChatClient({
    tools: [defineTool({ name: 'ask', description: 'Asks the user' })],
    onToolCall: (call) => {
      const answer = (): void => void chat.addToolResult({ ...call, output: 1 })
      if (ticks === 0) return answer()
      let left = ticks
      const tick = (): void => (--left === 0 ? answer() : queueMicrotask(tick))
      queueMicrotask(tick)
    },
    connection: stream(async function* (_m, _d, _s, context) {
      const { threadId = 't', runId = 'r' } = context ?? {}
      yield { type: 'RUN_STARTED', threadId, runId }
      if (++requests === 1) {
        yield { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'ask' }
        yield { type: 'TOOL_CALL_END', toolCallId: 'c1' }
      }
      yield { type: 'RUN_FINISHED', threadId, runId }
    }),
  })
  await chat.sendMessage('go')
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(requests).toBe(2)
})

describe('calls of ours that nobody has answered', () => {
  const asking = (requests: (readonly UIMessage[])[], connectionOf: Partial<ChatClientOptions> = {}): ChatClient =>
    new ChatClient({
      tools: [defineTool({ name: 'ask', description: 'Asks the user' })],
      connection: stream(async function* (messages, _d, _s, context) {
        const { threadId = 't', runId = 'r' } = context ?? {}
        requests.push(messages as readonly UIMessage[])
        yield { type: 'RUN_STARTED', threadId, runId }
        if (requests.length === 1) {
          yield { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'ask' }
          yield { type: 'TOOL_CALL_END', toolCallId: 'c1' }
        }
        yield { type: 'RUN_FINISHED', threadId, runId }
      }),
      ...connectionOf,
    })

  it.each(['sendMessage', 'append'] as const)('are answered by what is said instead (%s)', async (method) => {
    const requests: (readonly UIMessage[])[] = []
    const chat = asking(requests)
    await chat.sendMessage('go')
    await (method === 'append' ? chat.append({ id: 'u2', role: 'user', parts: [{ type: 'text', content: 'no' }] }) : chat.sendMessage('no'))
    const input = toMessages(requests[1] ?? [])
    expect(input.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
    expect(input[2]).toMatchObject({ toolCallId: 'c1', error: 'The user said something else instead.' })
  })

  it('and a tool whose call was taken out meanwhile gives nothing, and nothing is gone on with', async () => {
    const requests: (readonly UIMessage[])[] = []
    let finish: () => void = () => {}
    const slow = defineTool({ name: 'ask', description: 'Asks the user', execute: () => new Promise<number>((resolve) => (finish = () => resolve(1))) })
    const chat = asking(requests, { tools: [slow] })
    const sent = chat.sendMessage('go')
    await until(() => chat.getSnapshot().messages.length === 2)
    await tick()
    chat.setMessages([])
    finish()
    expect(await sent).toEqual({ outcome: 'finished' })
    expect(chat.getSnapshot().messages).toEqual([])
    expect(requests).toHaveLength(1)
  })
})

it('what an asynchronous callback fails with is told to the logger, as that of any other', async () => {
  const told: unknown[] = []
  const chat = new ChatClient({
    connection: stream(async function* (_m, _d, _s, { threadId = 't', runId = 'r' } = { threadId: 't', runId: 'r' }) {
      yield { type: 'RUN_STARTED', threadId, runId }
      yield { type: 'RUN_FINISHED', threadId, runId }
    }),
    logger: { warn: () => {}, error: (_, error) => told.push(error) },
    onFinish: async () => {
      throw new RangeError('mine')
    },
  })
  await chat.sendMessage('go')
  await until(() => told.length === 1)
  expect(told[0]).toBeInstanceOf(RangeError)
})
