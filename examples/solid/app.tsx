import { fetchServerSentEvents, persisted, sharedTabs, webStorage } from '@millrace/client'
import { createChat } from '@millrace/solid'
import { createMemo, createSignal, For, Index, Show, type JSX } from 'solid-js'
import { threadOfPage } from '../shared/thread.ts'
import { choicesOf, suggestions, unlessAnswered } from '../shared/view.ts'
import { Message } from './message.tsx'

export function App(): JSX.Element {
  const chat = createChat({
    connection: fetchServerSentEvents('/api/chat'),
    threadId: threadOfPage(),
    // The server has the thread. What it does not tell is stored here, and tabs on the thread are kept in step.
    persistence: persisted(webStorage(() => localStorage), { mode: 'server', tabs: sharedTabs() }),
    attach: true,
  })
  const [draft, setDraft] = createSignal('')
  const busy = createMemo(() => chat.status === 'submitted' || chat.status === 'streaming')
  const question = createMemo(() => (busy() ? undefined : chat.interrupts[0]))

  const send = (text: string): void => {
    if (text.trim() === '' || busy() || question()) return
    setDraft('')
    void chat.sendMessage(text)
  }
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    send(draft())
  }

  return (
    <main class="page">
      <header>
        <h1>Travel desk</h1>
        <span class="made-with">made with Solid</span>
        <a class="new" href="/">
          New chat
        </a>
      </header>
      <div class="log" role="log" aria-label="Conversation" tabindex="0">
        <div class="column">
          <Index each={chat.messages}>{(message) => <Message message={message()} />}</Index>
          <Show when={question()} keyed>
            {(asked) => (
              <section class="question" aria-label="Question">
                <p>{asked.message}</p>
                <div class="buttons">
                  <For each={choicesOf(asked)}>
                    {({ label, answer }) => (
                      <button type="button" onClick={() => void chat.respond(asked.id, answer).catch(unlessAnswered)}>
                        {label}
                      </button>
                    )}
                  </For>
                </div>
              </section>
            )}
          </Show>
          <Show when={chat.error}>
            {(error) => (
              <div class="error" role="alert">
                <span>{error().message}</span>
                <button type="button" onClick={() => void chat.reload()}>
                  Try again
                </button>
              </div>
            )}
          </Show>
        </div>
      </div>
      <div class="dock">
        <Show when={chat.messages.length === 0}>
          <div class="buttons">
            <For each={suggestions}>
              {(text) => (
                <button type="button" onClick={() => send(text)}>
                  {text}
                </button>
              )}
            </For>
          </div>
        </Show>
        <form class="composer" onSubmit={submit}>
          <input aria-label="Message" placeholder="Ask something" value={draft()} onInput={(event) => setDraft(event.target.value)} />
          <Show
            when={busy()}
            fallback={
              <button type="submit" class="strong" disabled={question() !== undefined}>
                Send
              </button>
            }
          >
            <button type="button" onClick={() => chat.stop()}>
              Stop
            </button>
          </Show>
        </form>
      </div>
    </main>
  )
}
