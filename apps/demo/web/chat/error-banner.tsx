import type { ReactNode } from 'react'
import { Icon } from '../icons.tsx'

export interface ErrorBannerProps {
  readonly error: Error
  readonly onRetry: () => void
  readonly onDismiss: () => void
}

export function ErrorBanner({ error, onRetry, onDismiss }: ErrorBannerProps): ReactNode {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return (
    <div className="banner" role="alert">
      <Icon name="alert" />
      <p>
        {error.message}
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
