/** `@ai-sdk/react`: its `useChat` with `DefaultChatTransport`. It is answered in its own chunks. */
import { useChat, type UIMessage } from '@ai-sdk/react'
import { DefaultChatTransport, getToolName, isToolUIPart } from 'ai'
import { useMemo } from 'react'
import type { Client, Readable } from '../client.ts'

export const aiSdk: Client<UIMessage> = {
  historyOf: (said) =>
    said.map(({ id, role, text, call }): UIMessage => {
      const parts: UIMessage['parts'] = [{ type: 'text', text, state: 'done' }]
      if (call !== undefined) {
        parts.push({ type: 'dynamic-tool', toolName: call.name, toolCallId: call.id, state: 'output-available', input: call.input, output: call.output })
      }
      return { id, role, parts }
    }),
  useChat(history, query) {
    const transport = useMemo(() => new DefaultChatTransport<UIMessage>({ api: `/ai?${query}` }), [query])
    const { messages, status, error, sendMessage } = useChat<UIMessage>({ transport, messages: history })
    return { messages, busy: status === 'submitted' || status === 'streaming', error, send: (text) => sendMessage({ text }) }
  },
  read({ role, parts }) {
    let text = ''
    const calls: Readable['calls'][number][] = []
    for (const part of parts) {
      if (part.type === 'text') text += part.text
      else if (isToolUIPart(part)) {
        const output = part.state === 'output-available' ? JSON.stringify(part.output) : ''
        calls.push({ id: part.toolCallId, name: getToolName(part), input: JSON.stringify(part.input), output })
      }
    }
    return { role, text, calls }
  },
}
