import type { ReactNode } from 'react'
import { memo } from 'react'
import { useTheme } from './hooks/use-theme.ts'
import { Icon, Logo } from './icons.tsx'

/** Parts of the page: beside each other on a wide screen, one at a time on a narrow one. */
export type View = 'chat' | 'state' | 'events'

export interface HeaderProps {
  readonly view: View
  readonly onView: (view: View) => void
  /** Whether the state changed since it was last looked at. */
  readonly news: boolean
  readonly panel: boolean
  readonly onPanel: (open: boolean) => void
  /** Nothing has been said yet. */
  readonly fresh: boolean
  readonly onNew: () => void
}

const views: readonly (readonly [View, string])[] = [
  ['chat', 'Chat'],
  ['state', 'State'],
  ['events', 'Events'],
]

export const Header = memo(function Header({ view, onView, news, panel, onPanel, fresh, onNew }: HeaderProps): ReactNode {
  const { theme, toggle } = useTheme()
  const other = theme === 'dark' ? 'light' : 'dark'
  return (
    <header className="top">
      <a className="skip" href="#composer-field">
        Skip to the message field
      </a>
      <p className="brand">
        <Logo />
        <span className="brand-name">Millrace</span>
      </p>
      {/* Shown on narrow screens only, where one part is seen at a time. */}
      <nav className="views" aria-label="Parts of the page">
        {views.map(([name, label]) => (
          <button key={name} type="button" aria-current={view === name ? 'true' : undefined} onClick={() => onView(name)}>
            {label}
            {name === 'state' && news && (
              <span className="news">
                <span className="visually-hidden">changed</span>
              </span>
            )}
          </button>
        ))}
      </nav>
      <div className="top-actions">
        <button type="button" className="quiet new-chat" onClick={onNew} disabled={fresh} aria-label="New chat" title="New chat">
          <Icon name="plus" />
          <span className="wide-only">New chat</span>
        </button>
        <button
          type="button"
          className="quiet icon-only"
          onClick={toggle}
          aria-label={`Switch to the ${other} theme`}
          title={`Switch to the ${other} theme`}
        >
          <Icon name={theme === 'dark' ? 'sun' : 'moon'} />
        </button>
        <button
          type="button"
          className="quiet icon-only panel-toggle"
          aria-pressed={panel}
          onClick={() => onPanel(!panel)}
          aria-label="Side panel"
          title={panel ? 'Hide the side panel' : 'Show the side panel'}
        >
          <Icon name="panel" />
        </button>
      </div>
    </header>
  )
})
