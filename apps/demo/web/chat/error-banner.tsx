import type { TransportErrorCode } from '@millrace/client'
import { TransportError } from '@millrace/client'
import type { ReactNode } from 'react'
import { Icon } from '../icons.tsx'

export interface ErrorBannerProps {
  readonly error: Error
  readonly onRetry: () => void
  readonly onDismiss: () => void
}

/** Errors of the network are written for developers; these are for whoever chats. An agent's own are shown as they are. */
const plainly: Partial<Record<TransportErrorCode, string>> = {
  network: 'The agent cannot be reached. Is the server still running?',
  truncated: 'The connection broke before the answer was complete. What came is kept.',
}

export function ErrorBanner({ error, onRetry, onDismiss }: ErrorBannerProps): ReactNode {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const text = error instanceof TransportError ? plainly[error.code] : undefined
  return (
    <div className="banner" role="alert">
      <Icon name="alert" />
      <p>
        {text ?? error.message}
        {code && <code>{code}</code>}
      </p>
      <button type="button" className="strong small" onClick={onRetry}>
        <Icon name="reload" />
        Try again
      </button>
      <button type="button" className="quiet icon-only" aria-label="Dismiss" onClick={onDismiss}>
        <Icon name="close" />
      </button>
    </div>
  )
}
