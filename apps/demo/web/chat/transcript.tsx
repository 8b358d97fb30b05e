import type { Interrupt, UIMessage } from '@millrace/protocol'
import type { ReactNode } from 'react'
import { useMemo } from 'react'
import { Race } from '../icons.tsx'
import type { Answered } from '../parts/message.tsx'
import { Message } from '../parts/message.tsx'
import type { Answer } from './interrupt-card.tsx'
import { InterruptCard } from './interrupt-card.tsx'

export interface TranscriptProps {
  readonly messages: readonly UIMessage[]
  readonly busy: boolean
  /** Nothing comes just now. */
  readonly lost: boolean
  readonly answers: readonly Answered[]
  readonly interrupt: Interrupt | undefined
  readonly onAnswer: (interruptId: string, answer: Answer) => void
  readonly onReload: (() => void) | undefined
  readonly onEdit: ((messageId: string, text: string) => void) | undefined
}

const none: readonly Answered[] = []

export function Transcript({ messages, busy, lost, answers, interrupt, onAnswer, onReload, onEdit }: TranscriptProps): ReactNode {
  const lastIndex = messages.length - 1
  // Grouped once, so that a message without a new answer keeps its props.
  const byMessage = useMemo(() => {
    const groups = new Map<string, Answered[]>()
    for (const answered of answers) {
      const { messageId } = answered
      groups.set(messageId, [...(groups.get(messageId) ?? []), answered])
    }
    return groups
  }, [answers])
  return (
    <div className="transcript" aria-busy={busy} data-lost={lost || undefined}>
      {messages.map((message, index) => {
        const answer = message.role === 'assistant' && index === lastIndex
        return (
          <Message
            key={message.id}
            message={message}
            live={busy && answer}
            answers={byMessage.get(message.id) ?? none}
            onReload={answer ? onReload : undefined}
            onEdit={onEdit}
          />
        )
      })}
      {busy && <Race />}
      {interrupt && <InterruptCard key={interrupt.id} interrupt={interrupt} onAnswer={(given) => onAnswer(interrupt.id, given)} />}
    </div>
  )
}
