/** `@tanstack/ai-react`: its `useChat` with its `fetchServerSentEvents`. */
import { fetchServerSentEvents, useChat, type UIMessage } from '@tanstack/ai-react'
import { useMemo } from 'react'
import type { Client, Readable } from '../client.ts'

export const tanstack: Client<UIMessage> = {
  historyOf: (said) =>
    said.map(({ id, role, text, call }): UIMessage => {
      const parts: UIMessage['parts'] = [{ type: 'text', content: text }]
      if (call !== undefined) {
        parts.push(
          { type: 'tool-call', id: call.id, name: call.name, arguments: JSON.stringify(call.input), input: call.input, state: 'complete', output: call.output },
          { type: 'tool-result', toolCallId: call.id, content: JSON.stringify(call.output), state: 'complete' },
        )
      }
      return { id, role, parts }
    }),
  useChat(history, query) {
    const connection = useMemo(() => fetchServerSentEvents(`/agent?${query}`), [query])
    const { messages, isLoading, error, sendMessage } = useChat({ connection, initialMessages: history })
    return { messages, busy: isLoading, error, send: sendMessage }
  },
  read({ role, parts }) {
    let text = ''
    const calls: Readable['calls'][number][] = []
    for (const part of parts) {
      if (part.type === 'text') text += part.content
      else if (part.type === 'tool-call') calls.push({ id: part.id, name: part.name, input: part.arguments, output: JSON.stringify(part.output) ?? '' })
    }
    return { role, text, calls }
  },
}
