import type { ReactNode } from 'react'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { Conversation } from '../hooks/use-conversation.ts'
import { useStickToBottom } from '../hooks/use-stick-to-bottom.ts'
import { Icon, Water } from '../icons.tsx'
import { Announcer } from './announcer.tsx'
import type { ComposerHandle } from './composer.tsx'
import { Composer } from './composer.tsx'
import { ConnectionLine } from './connection-line.tsx'
import { EmptyState, SuggestionChips } from './empty-state.tsx'
import { ErrorBanner } from './error-banner.tsx'
import type { Answer } from './interrupt-card.tsx'
import { Transcript } from './transcript.tsx'

export interface ChatViewProps {
  readonly conversation: Conversation
  /** Whether the message field takes the focus at the beginning. */
  readonly focused: boolean
}

/** The conversation and what one can do about it. */
export function ChatView({ conversation, focused }: ChatViewProps): ReactNode {
  const { chat, busy, lost, restoring, retry, answers, addAnswer } = conversation
  const { messages, error, interrupts, sendMessage, stop, reload, edit, respond } = chat
  const { scroller, content, stuck, jump } = useStickToBottom(messages.length > 0)
  const composer = useRef<ComposerHandle>(null)
  const [dismissed, setDismissed] = useState<Error>()

  const last = messages.at(-1)
  const asked = busy ? undefined : interrupts[0]
  const failure = error !== undefined && error !== dismissed ? error : undefined

  /** Follows a turn that was begun here. A run that fails is told by `error`; what rejects is a request that came too late. */
  const follow = useCallback(
    (turn: Promise<unknown>) => {
      turn.catch(() => undefined)
      jump()
      composer.current?.focus()
    },
    [jump],
  )
  const send = useCallback((text: string) => follow(sendMessage(text)), [follow, sendMessage])
  const again = useCallback(() => follow(reload()), [follow, reload])
  // Under its old id, so that the server knows it for the same message.
  const change = useCallback((id: string, content: string) => follow(edit(id, content)), [follow, edit])
  const answer = useCallback(
    (interruptId: string, { text, ...entry }: Answer) => {
      if (last) addAnswer({ messageId: last.id, after: last.parts.length, text })
      follow(respond(interruptId, entry))
    },
    [follow, respond, addAnswer, last],
  )

  // A button that goes away when it is used hands its focus on.
  const toLatest = (): void => {
    jump()
    composer.current?.focus()
  }
  const cut = (): void => {
    fetch('/demo/cut', { method: 'POST' }).catch(() => undefined)
    composer.current?.focus()
  }
  const dismiss = (): void => {
    setDismissed(failure)
    composer.current?.focus()
  }

  useFocusOnQuestion(asked?.id)
  useEffect(() => {
    if (focused) composer.current?.focus()
  }, [focused])

  return (
    <>
      {/* A log, but a silent one: the announcer speaks, once per answer and not per token. */}
      <div className="scroller" ref={scroller} role="log" aria-live="off" aria-label="Conversation" tabIndex={0}>
        <div className="column" ref={content}>
          {messages.length === 0 ? (
            !restoring && <EmptyState onPick={send} />
          ) : (
            <Transcript
              messages={messages}
              busy={busy}
              lost={lost}
              answers={answers}
              interrupt={asked}
              onAnswer={answer}
              onReload={busy || asked || failure ? undefined : again}
              onEdit={asked ? undefined : change}
            />
          )}
        </div>
      </div>
      <div className="dock">
        {messages.length === 0 && <Water />}
        {!stuck && (
          <button type="button" className="jump" onClick={toLatest}>
            <Icon name="down" />
            Jump to latest
          </button>
        )}
        <div className="column">
          {failure && <ErrorBanner error={failure} onRetry={() => follow(retry())} onDismiss={dismiss} />}
          {busy && <ConnectionLine lost={lost} onCut={cut} />}
          {messages.length > 0 && !busy && !asked && !failure && <SuggestionChips onPick={send} />}
          <Composer
            ref={composer}
            busy={busy}
            blocked={asked ? 'Answer the question above to go on' : undefined}
            onSend={send}
            onStop={stop}
          />
        </div>
      </div>
      <Announcer busy={busy} lost={lost} failed={failure !== undefined} last={last} interrupt={asked} />
    </>
  )
}

/** Takes the focus to a new question, but not from someone who is typing or reading elsewhere. */
function useFocusOnQuestion(id: string | undefined): void {
  useEffect(() => {
    if (id === undefined) return
    const { activeElement: active } = document
    const idle = active === null || active === document.body || (active instanceof HTMLTextAreaElement && active.value === '')
    if (idle) document.querySelector<HTMLElement>('.interrupt input, .interrupt button')?.focus({ preventScroll: true })
  }, [id])
}
