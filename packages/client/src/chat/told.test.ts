import { expect, it } from 'vitest'
import { ChatClient, defineTool, stream } from '../index.ts'

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
