import type { UIMessage } from '@millrace/protocol'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { useCopy } from '../hooks/use-copy.ts'
import { onFieldKeys, useAutosize } from '../hooks/use-text-field.ts'
import { Icon } from '../icons.tsx'
import { textOf } from './text-of.ts'

export interface OwnMessageProps {
  readonly message: UIMessage
  /** Absent while nothing can be sent. */
  readonly onEdit: ((messageId: string, text: string) => void) | undefined
}

/** What the user wrote. Edited, it takes its place in the past: all that followed goes, and the agent answers anew. */
export function OwnMessage({ message, onEdit }: OwnMessageProps): ReactNode {
  const { copied, copy } = useCopy()
  const [editor, setEditor] = useState<'closed' | 'open' | 'left'>('closed')
  const text = textOf(message)
  if (editor === 'open') {
    const send = (changed: string): void => {
      setEditor('closed')
      onEdit?.(message.id, changed)
    }
    // An editor stays while nothing can be sent: what is being written is not taken away.
    return <Editor text={text} onSend={onEdit && send} onCancel={() => setEditor('left')} />
  }
  return (
    <>
      <div className="bubble">{text}</div>
      {onEdit && (
        <button
          type="button"
          className="quiet small icon-only own-action"
          aria-label="Edit your message"
          title="Edit"
          // Whoever leaves the editor is back where they came from.
          autoFocus={editor === 'left'}
          onClick={() => setEditor('open')}
        >
          <Icon name="pencil" />
        </button>
      )}
      <button
        type="button"
        className="quiet small icon-only own-action copy-own"
        aria-label={copied ? 'Copied' : 'Copy your message'}
        title="Copy"
        onClick={() => copy(text)}
      >
        <Icon name={copied ? 'check' : 'copy'} />
      </button>
    </>
  )
}

interface EditorProps {
  readonly text: string
  /** Absent while nothing can be sent. */
  readonly onSend: ((text: string) => void) | undefined
  readonly onCancel: () => void
}

function Editor({ text, onSend, onCancel }: EditorProps): ReactNode {
  const [changed, setChanged] = useState(text)
  const field = useAutosize(changed)
  const send = (): void => {
    if (changed.trim() !== '') onSend?.(changed.trim())
  }
  return (
    <form
      className="editor"
      aria-label="Edit your message"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <textarea
        ref={field}
        rows={1}
        aria-label="Your message"
        autoComplete="off"
        autoFocus
        value={changed}
        onFocus={({ target }) => target.setSelectionRange(text.length, text.length)}
        onChange={({ target }) => setChanged(target.value)}
        onKeyDown={(event) => onFieldKeys(event, { enter: send, escape: onCancel })}
      />
      <div className="editor-actions">
        <button type="button" className="quiet small" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" className="strong small" disabled={onSend === undefined || changed.trim() === ''}>
          Ask again
        </button>
      </div>
    </form>
  )
}
