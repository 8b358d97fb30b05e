/** The page: messages, a field, a button. A client is all that differs. */
import { useLayoutEffect, type ComponentType, type FormEvent } from 'react'
import type { Client } from './client.ts'
import { QUESTION } from './conversation.ts'
import { queryOf, type Plan } from './plan.ts'
import { probe } from './probe.ts'
import { Rows } from './rows.tsx'

export interface ChatPageProps<Message> {
  readonly history: Message[]
  readonly plan: Plan
}

/** The page of one client: its hook is the same in every render. */
export function chatPageOf<Message extends { readonly id: string }>({ useChat, read }: Client<Message>): ComponentType<ChatPageProps<Message>> {
  return function ChatPage({ history, plan }) {
    const { messages, busy, error, send } = useChat(history, queryOf(plan))

    useLayoutEffect(() => {
      const last = messages.at(-1)
      const { role, text } = last === undefined ? { role: '', text: '' } : read(last)
      probe.committed({ messages: messages.length, busy, error, answer: role === 'assistant' ? text : '' })
    })

    const submit = (event: FormEvent<HTMLFormElement>): void => {
      event.preventDefault()
      probe.sent(send(String(new FormData(event.currentTarget).get('text'))))
    }

    return (
      <main>
        <header>
          {plan.client} · {messages.length.toLocaleString('en')} messages · {plan.list}
        </header>
        <Rows kind={plan.list} messages={messages} read={read} />
        <form onSubmit={submit}>
          <input name="text" aria-label="Message" defaultValue={QUESTION} />
          <button type="submit">{busy ? 'Answering' : 'Send'}</button>
        </form>
      </main>
    )
  }
}
