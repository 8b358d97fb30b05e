/** The page: messages, a field, a button. A client is all that differs. */
import { useLayoutEffect, useState, type FormEvent, type ReactNode } from 'react'
import type { Client } from './client.ts'
import { conversation, QUESTION } from './conversation.ts'
import { queryOf, type Plan } from './plan.ts'
import { probe } from './probe.ts'
import { Rows } from './rows.tsx'

export interface ChatPageProps<Message> {
  readonly client: Client<Message>
  readonly plan: Plan
}

export function ChatPage<Message extends { readonly id: string }>({ client, plan }: ChatPageProps<Message>): ReactNode {
  const [history] = useState(() => client.historyOf(conversation(plan.messages)))
  const { messages, busy, error, send } = client.useChat(history, queryOf(plan))

  useLayoutEffect(() => {
    const last = messages.at(-1)
    const { role, text } = last === undefined ? { role: '', text: '' } : client.read(last)
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
      <Rows kind={plan.list} messages={messages} read={client.read} />
      <form onSubmit={submit}>
        <input name="text" aria-label="Message" defaultValue={QUESTION} />
        <button type="submit">{busy ? 'Answering' : 'Send'}</button>
      </form>
    </main>
  )
}
