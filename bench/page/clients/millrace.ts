/** Ours: `useChat` of `@millrace/react` with `fetchServerSentEvents`. */
import { fetchServerSentEvents } from '@millrace/client'
import type { UIMessage, UIPart } from '@millrace/protocol'
import { useChat } from '@millrace/react'
import { useMemo } from 'react'
import type { Client, Readable } from '../client.ts'

export const millrace: Client<UIMessage> = {
  historyOf: (said) =>
    said.map(({ id, role, text, call }): UIMessage => {
      const parts: UIPart[] = [{ type: 'text', content: text }]
      if (call !== undefined) {
        const content = JSON.stringify(call.output)
        parts.push({
          type: 'tool-call',
          id: call.id,
          name: call.name,
          arguments: JSON.stringify(call.input),
          state: 'complete',
          output: call.output,
          result: { messageId: `${call.id}-result`, content },
        })
      }
      return { id, role, parts }
    }),
  useChat(history, query) {
    const connection = useMemo(() => fetchServerSentEvents(`/agent?${query}`), [query])
    const { messages, status, error, sendMessage } = useChat({ connection, initialMessages: history })
    return { messages, busy: status === 'submitted' || status === 'streaming', error, send: sendMessage }
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
