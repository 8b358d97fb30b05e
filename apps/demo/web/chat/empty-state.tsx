import type { ReactNode } from 'react'
import { Icon } from '../icons.tsx'
import type { Suggestion } from '../suggestions.ts'
import { suggestions, tourSuggestion } from '../suggestions.ts'

export function EmptyState({ onPick }: { onPick: (prompt: string) => void }): ReactNode {
  return (
    <div className="empty">
      <h2>Where to, this weekend?</h2>
      <p className="lead">
        A scripted travel agent answers here, with no key and no network. Cut the connection or reload the page in the
        middle of an answer: no letter is missing, and none comes twice.
      </p>
      <ul className="suggestions" aria-label="Suggestions">
        <li className="suggestion-wide">
          <Card {...tourSuggestion} onPick={onPick} />
        </li>
        {suggestions.map((suggestion) => (
          <li key={suggestion.prompt}>
            <Card {...suggestion} onPick={onPick} />
          </li>
        ))}
      </ul>
    </div>
  )
}

function Card({ prompt, label, hint, icon, onPick }: Suggestion & { onPick: (prompt: string) => void }): ReactNode {
  return (
    <button type="button" className="suggestion" onClick={() => onPick(prompt)}>
      <Icon name={icon} />
      <span className="suggestion-text">
        <span className="suggestion-label">{label}</span>
        <span className="suggestion-hint">{hint}</span>
      </span>
    </button>
  )
}

/** The same suggestions in one line, for later. */
export function SuggestionChips({ onPick }: { onPick: (prompt: string) => void }): ReactNode {
  return (
    <ul className="chips" aria-label="Suggestions">
      {[tourSuggestion, ...suggestions].map(({ prompt, label, icon }) => (
        <li key={prompt}>
          <button type="button" className="chip-button" onClick={() => onPick(prompt)}>
            <Icon name={icon} />
            {label}
          </button>
        </li>
      ))}
    </ul>
  )
}
