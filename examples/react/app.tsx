import { fetchServerSentEvents, persisted, sharedTabs, webStorage } from '@millrace/client'
import { useChat } from '@millrace/react'
import { useState, type FormEvent, type ReactNode } from 'react'
import { threadOfPage } from '../shared/thread.ts'
import { choicesOf, suggestions, unlessAnswered } from '../shared/view.ts'
import { Message } from './message.tsx'

const connection = fetchServerSentEvents('/api/chat')
const threadId = threadOfPage()
// The server has the thread. What it does not tell is stored here, and tabs on the thread are kept in step.
const persistence = persisted(webStorage(() => localStorage), { mode: 'server', tabs: sharedTabs() })

export function App(): ReactNode {
  const { messages, status, error, interrupts, sendMessage, stop, reload, respond } = useChat({
    connection,
    threadId,
    persistence,
    attach: true,
  })
  const [draft, setDraft] = useState('')
  const busy = status === 'submitted' || status === 'streaming'
  const question = busy ? undefined : interrupts[0]

  const send = (text: string): void => {
    if (text.trim() === '' || busy || question) return
    setDraft('')
    void sendMessage(text)
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    send(draft)
  }

  return (
    <main className="page">
      <header>
        <h1>Travel desk</h1>
        <span className="made-with">made with React</span>
        <a className="new" href="/">
          New chat
        </a>
      </header>
      <div className="log" role="log" aria-label="Conversation" tabIndex={0}>
        <div className="column">
          {messages.map((message) => (
            <Message key={message.id} message={message} />
          ))}
          {question && (
            <section className="question" aria-label="Question">
              <p>{question.message}</p>
              <div className="buttons">
                {choicesOf(question).map(({ label, answer }) => (
                  <button key={label} type="button" onClick={() => void respond(question.id, answer).catch(unlessAnswered)}>
                    {label}
                  </button>
                ))}
              </div>
            </section>
          )}
          {error && (
            <div className="error" role="alert">
              <span>{error.message}</span>
              <button type="button" onClick={() => void reload()}>
                Try again
              </button>
            </div>
          )}
        </div>
      </div>
      <div className="dock">
        {messages.length === 0 && (
          <div className="buttons">
            {suggestions.map((text) => (
              <button key={text} type="button" onClick={() => send(text)}>
                {text}
              </button>
            ))}
          </div>
        )}
        <form className="composer" onSubmit={submit}>
          <input aria-label="Message" placeholder="Ask something" value={draft} onChange={(event) => setDraft(event.target.value)} />
          {busy ? (
            <button type="button" onClick={stop}>
              Stop
            </button>
          ) : (
            <button type="submit" className="strong" disabled={question !== undefined}>
              Send
            </button>
          )}
        </form>
      </div>
    </main>
  )
}
