import type { UIMessage, UIPart } from '@millrace/protocol'
import { memo, type ReactNode } from 'react'
import { resultText, toolLabels } from '../shared/view.ts'

/** Memoised: a message that did not change is the same object, and is not rendered again. */
export const Message = memo(function Message({ message }: { readonly message: UIMessage }) {
  return (
    <article className="message" data-role={message.role} aria-label={message.role === 'user' ? 'You' : 'Agent'}>
      {message.parts.map((part, index) => (
        <Part key={index} part={part} />
      ))}
    </article>
  )
})

const Part = memo(function Part({ part }: { readonly part: UIPart }): ReactNode {
  switch (part.type) {
    case 'text':
      return <p className="text">{part.content}</p>
    case 'thinking':
      return <p className="text thinking">{part.content}</p>
    case 'tool-call': {
      const result = resultText(part)
      return (
        <section className="tool" data-state={part.state} aria-label={`Tool call ${part.name}`}>
          <header>
            <code>{part.name}</code>
            <span>{toolLabels[part.state]}</span>
          </header>
          <pre className="arguments">{part.arguments}</pre>
          {result !== undefined && <pre className="result">{result}</pre>}
        </section>
      )
    }
    default:
      return null
  }
})
