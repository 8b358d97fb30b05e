import type { ReactNode, Ref } from 'react'
import { useImperativeHandle, useState } from 'react'
import { onFieldKeys, useAutosize } from '../hooks/use-text-field.ts'
import { Icon } from '../icons.tsx'

export interface ComposerHandle {
  focus: () => void
}

export interface ComposerProps {
  readonly busy: boolean
  /** Why nothing can be sent now, if so. */
  readonly blocked: string | undefined
  readonly onSend: (text: string) => void
  readonly onStop: () => void
  readonly ref: Ref<ComposerHandle>
}

/** Enter sends, Shift+Enter starts a line, Escape stops. The field stays usable while an answer streams. */
export function Composer({ busy, blocked, onSend, onStop, ref }: ComposerProps): ReactNode {
  const [text, setText] = useState('')
  const field = useAutosize(text)
  useImperativeHandle(ref, () => ({ focus: () => focusUnlessTouch(field.current) }), [field])

  const sendable = !busy && blocked === undefined && text.trim() !== ''

  const send = (): void => {
    if (!sendable) return
    onSend(text.trim())
    setText('')
    focusUnlessTouch(field.current)
  }

  const stop = (): void => {
    if (!busy) return
    onStop()
    focusUnlessTouch(field.current)
  }

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <label className="visually-hidden" htmlFor="composer-field">
        Message
      </label>
      <textarea
        id="composer-field"
        ref={field}
        rows={1}
        value={text}
        placeholder={blocked ?? 'Ask the travel desk…'}
        aria-describedby="composer-hint"
        autoComplete="off"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => onFieldKeys(event, { enter: send, escape: stop })}
      />
      {/* One button in two roles, so that focus is not lost when they change. */}
      <button
        type="button"
        className="round"
        data-kind={busy ? 'stop' : 'send'}
        aria-label={busy ? 'Stop' : 'Send'}
        title={busy ? 'Stop (Esc)' : 'Send (Enter)'}
        disabled={!busy && !sendable}
        onClick={busy ? stop : send}
      >
        <Icon name={busy ? 'stop' : 'send'} />
      </button>
      <span id="composer-hint" className="visually-hidden">
        Enter sends, Shift and Enter start a new line, Escape stops an answer.
      </span>
    </form>
  )
}

/** On a touch screen the focus would open the keyboard over the answer that one wants to read. */
function focusUnlessTouch(field: HTMLElement | null): void {
  if (window.matchMedia('(pointer: fine)').matches) field?.focus({ preventScroll: true })
}
