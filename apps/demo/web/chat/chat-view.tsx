import type { UseChatResult } from '@millrace/react'
import type { ReactNode } from 'react'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useStickToBottom } from '../hooks/use-stick-to-bottom.ts'
import { Icon, Water } from '../icons.tsx'
import type { Answered } from '../parts/message.tsx'
import { Announcer } from './announcer.tsx'
import type { ComposerHandle } from './composer.tsx'
import { Composer } from './composer.tsx'
import { EmptyState, SuggestionChips } from './empty-state.tsx'
import { ErrorBanner } from './error-banner.tsx'
import type { Answer } from './interrupt-card.tsx'
import { Transcript } from './transcript.tsx'

export interface ChatViewProps {
  readonly chat: UseChatResult
  /** Whether the message field takes the focus at the beginning. */
  readonly focused: boolean
}

/** The conversation and what one can do about it. */
export function ChatView({ chat, focused }: ChatViewProps): ReactNode {
  const { messages, status, error, interrupts, sendMessage, stop, reload, respond } = chat
  const { scroller, content, stuck, jump } = useStickToBottom(messages.length > 0)
  const composer = useRef<ComposerHandle>(null)
  const [dismissed, setDismissed] = useState<Error>()
  const [answers, setAnswers] = useState<readonly Answered[]>([])

  const busy = status === 'submitted' || status === 'streaming'
  const last = messages.at(-1)
  const asked = busy ? undefined : interrupts[0]
  const failure = error !== undefined && error !== dismissed ? error : undefined

  const send = useCallback(
    (text: string) => {
      quietly(sendMessage(text))
      jump()
      composer.current?.focus()
    },
    [sendMessage, jump],
  )
  const again = useCallback(() => {
    quietly(reload())
    jump()
    composer.current?.focus()
  }, [reload, jump])
  
  const answer = useCallback(
    (interruptId: string, { text, ...entry }: Answer) => {
      if (last) setAnswers((before) => [...before, { messageId: last.id, after: last.parts.length, text }])
      quietly(respond(interruptId, entry))
      jump()
      composer.current?.focus()
    },
    [respond, last, jump],
  )

  // A button that goes away when it is used hands its focus on.
  const toLatest = (): void => {
    jump()
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
            <EmptyState onPick={send} />
          ) : (
            <Transcript
              messages={messages}
              busy={busy}
              answers={answers}
              interrupt={asked}
              onAnswer={answer}
              onReload={busy || asked ? undefined : again}
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
          {failure && <ErrorBanner error={failure} onRetry={again} onDismiss={dismiss} />}
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
      <Announcer busy={busy} failed={failure !== undefined} last={last} interrupt={asked} />
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

/** A run that fails is told by `error`. What rejects here is a request that came too late, such as a second click. */
function quietly(turn: Promise<unknown>): void {
  turn.catch(() => undefined)
}
