import { useCallback, useSyncExternalStore } from 'react'

/** Light or dark: the system's, unless the user chose the other one. `theme.js` applies the choice before first paint. */
export type Theme = 'light' | 'dark'

const storageKey = 'millrace-theme'
const dark = window.matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

const systemTheme = (): Theme => (dark.matches ? 'dark' : 'light')

function currentTheme(): Theme {
  const chosen = document.documentElement.dataset['theme']
  return chosen === 'light' || chosen === 'dark' ? chosen : systemTheme()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  dark.addEventListener('change', listener)
  return () => {
    listeners.delete(listener)
    dark.removeEventListener('change', listener)
  }
}

/** Choosing what the system has anyway means following the system again. */
function choose(theme: Theme): void {
  const follows = theme === systemTheme()
  if (follows) delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
  try {
    if (follows) localStorage.removeItem(storageKey)
    else localStorage.setItem(storageKey, theme)
  } catch {
    // Storage may be forbidden; the choice then lasts as long as the page.
  }
  for (const listener of listeners) listener()
}

export function useTheme(): { theme: Theme; toggle: () => void } {
  const theme = useSyncExternalStore(subscribe, currentTheme)
  const toggle = useCallback(() => choose(currentTheme() === 'dark' ? 'light' : 'dark'), [])
  return { theme, toggle }
}
