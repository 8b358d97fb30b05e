import type { ToolCallPart, UIMessage, UIPart } from '@millrace/protocol'
import type { ReactNode } from 'react'
import { memo } from 'react'
import { useCopy } from '../hooks/use-copy.ts'
import { Icon } from '../icons.tsx'
import { jsonText } from '../json-text.ts'
import { Markdown } from './markdown.tsx'
import { OwnMessage } from './own-message.tsx'
import { Activity } from './plan-card.tsx'
import { Reasoning } from './reasoning.tsx'
import { textOf } from './text-of.ts'
import { ToolCard } from './tool-card.tsx'

/** What the user answered to a question, shown where in the turn it was given. */
export interface Answered {
  readonly messageId: string
  /** Number of parts that the turn had by then. */
  readonly after: number
  readonly text: string
}

export interface MessageProps {
  readonly message: UIMessage
  /** Whether the agent is still at work on this message. */
  readonly live: boolean
  readonly answers: readonly Answered[]
  /** Present on the last answer, when it can be asked for again. */
  readonly onReload: (() => void) | undefined
  readonly onEdit: ((messageId: string, text: string) => void) | undefined
}

/** Memoised: while an answer streams, only that answer renders. */
export const Message = memo(function Message({ message, live, answers, onReload, onEdit }: MessageProps) {
  const { copied, copy } = useCopy()
  if (message.role === 'user') {
    return (
      <article className="message" data-role="user" aria-label="You">
        <OwnMessage message={message} onEdit={onEdit} />
      </article>
    )
  }
  const text = textOf(message)
  return (
    <article className="message" data-role={message.role} aria-label="Agent">
      <Turn message={message} live={live} answers={answers} />
      {!live && (text !== '' || onReload) && (
        <footer className="actions">
          {text !== '' && (
            <button type="button" className="quiet small" onClick={() => copy(text)}>
              <Icon name={copied ? 'check' : 'copy'} />
              {copied ? 'Copied' : 'Copy'}
            </button>
          )}
          {onReload && (
            <button type="button" className="quiet small" onClick={onReload}>
              <Icon name="reload" />
              Answer again
            </button>
          )}
        </footer>
      )}
    </article>
  )
})

/** Parts in the order in which they came; calls made at once stand side by side. */
function Turn({ message: { parts }, live, answers }: Pick<MessageProps, 'message' | 'live' | 'answers'>): ReactNode {
  const rows: ReactNode[] = []
  let calls: ToolCallPart[] = []
  const flush = (): void => {
    const [first] = calls
    if (first === undefined) return
    const cards = calls.map((call) => <ToolCard key={call.id} part={call} live={live} />)
    rows.push(
      <div className="tool-grid" key={first.id}>
        {cards}
      </div>,
    )
    calls = []
  }
  parts.forEach((part, index) => {
    rows.push(...answersAt(answers, index, flush))
    if (part.type === 'tool-call') return calls.push(part)
    flush()
    return rows.push(<Part key={index} part={part} live={live} last={index === parts.length - 1} />)
  })
  flush()
  rows.push(...answersAt(answers, parts.length, flush))
  return rows
}

function answersAt(answers: readonly Answered[], index: number, flush: () => void): ReactNode[] {
  const here = answers.filter(({ after }) => after === index)
  if (here.length > 0) flush()
  return here.map(({ text }, at) => (
    <p className="answered" key={`answer-${index}-${at}`}>
      <span className="answered-label">You answered</span> {text}
    </p>
  ))
}

interface PartProps {
  readonly part: Exclude<UIPart, ToolCallPart>
  readonly live: boolean
  readonly last: boolean
}

function Part({ part, live, last }: PartProps): ReactNode {
  switch (part.type) {
    case 'text':
      return <Markdown text={part.content} streaming={live && last && part.state === 'streaming'} />
    case 'thinking':
      return <Reasoning part={part} live={live && last} />
    case 'activity':
      return <Activity part={part} live={live} />
    case 'structured-output':
      return <pre className="tool-result">{part.raw}</pre>
    case 'tool-result':
      return <pre className="tool-result">{jsonText(part.content)}</pre>
    default:
      // Media would be fetched from elsewhere; the demo's agent sends none.
      return <p className="image-alt">{part.type}</p>
  }
}
