import type { ReactNode } from 'react'

/** Line icons on a 24 grid. Always beside a label or inside a labelled button, so they are hidden from readers. */
const paths = {
  send: <path d="M12 19V5m0 0-6 6m6-6 6 6" />,
  stop: <rect x="7" y="7" width="10" height="10" rx="2" fill="currentColor" stroke="none" />,
  reload: <path d="M20 11a8 8 0 1 0-2.3 6.3M20 5v6h-6" />,
  copy: (
    <>
      <rect x="9" y="9" width="11" height="11" rx="2.5" />
      <path d="M15 9V6.5A2.5 2.5 0 0 0 12.5 4h-6A2.5 2.5 0 0 0 4 6.5v6A2.5 2.5 0 0 0 6.5 15H9" />
    </>
  ),
  check: <path d="m5 12.5 4.5 4.5L19 7.5" />,
  chevron: <path d="m9 6 6 6-6 6" />,
  down: <path d="M12 5v14m0 0 6-6m-6 6-6-6" />,
  sun: (
    <>
      <circle cx="12" cy="12" r="4" />
      <path d="M12 3v1.5M12 19.5V21M3 12h1.5M19.5 12H21M5.6 5.6l1.1 1.1M17.3 17.3l1.1 1.1M5.6 18.4l1.1-1.1M17.3 6.7l1.1-1.1" />
    </>
  ),
  moon: <path d="M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5Z" />,
  plus: <path d="M12 5v14M5 12h14" />,
  pencil: <path d="m5 19 .9-3.8L15.6 5.5a1.8 1.8 0 0 1 2.5 0l.4.4a1.8 1.8 0 0 1 0 2.5L8.8 18.1 5 19Zm9-12 3 3" />,
  cut: <path d="M3 12h6m6 0h6M14.5 6.5l-5 11" />,
  clock: <path d="M12 7.5V12l3 2m6-2a9 9 0 1 1-18 0 9 9 0 0 1 18 0Z" />,
  close: <path d="m6 6 12 12M18 6 6 18" />,
  panel: (
    <>
      <rect x="3.5" y="5" width="17" height="14" rx="2.5" />
      <path d="M14.5 5v14" />
    </>
  ),
  tool: <path d="M14.5 6.5a4 4 0 0 1 5.2-.8l-2.7 2.7.4 1.7 1.7.4 2.1-2.6a4 4 0 0 1-5.5 4.6l-6.5 6.7a2 2 0 0 1-2.9-2.9l6.7-6.5a4 4 0 0 1 1.5-3.3Z" />,
  alert: <path d="M12 8v5m0 3.2v.1M10.3 4.4 2.9 17.3A2 2 0 0 0 4.6 20.3h14.8a2 2 0 0 0 1.7-3L13.7 4.4a2 2 0 0 0-3.4 0Z" />,
  question: <path d="M9 9.2a3 3 0 1 1 4.3 2.7c-.9.45-1.3 1-1.3 2.1m0 3v.1M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0Z" />,
  search: <path d="m20 20-4.2-4.2M17.5 11a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0Z" />,
  map: <path d="M9 5 3.5 7v12L9 17m0-12 6 2m-6-2v12m6-10 5.5-2v12L15 19m0-12v12m0 0-6-2" />,
  weather: <path d="M7 18h9.5a4 4 0 0 0 .6-7.95A6 6 0 0 0 5.6 11.3 3.5 3.5 0 0 0 7 18Z" />,
  coins: <path d="M4 7.5h16v11H4zM4 11h16M8 15h3" />,
  list: <path d="m4 6.5 1.3 1.3L7.7 5.5M4 13l1.3 1.3L7.7 12M11 7h9M11 13.5h9M11 20h9M4 19.5l1.3 1.3 2.4-2.3" />,
  bed: <path d="M3.5 18.5V6.5m0 9h17v3m0-3v-2a3 3 0 0 0-3-3H10v5m-3-4.2v.1" />,
  text: <path d="M4 6.5h16M4 11.5h16M4 16.5h10" />,
  book: <path d="M12 6.5C10 5 7 4.5 3.5 4.8v13.5c3.5-.3 6.5.2 8.5 1.7 2-1.5 5-2 8.5-1.7V4.8C17 4.5 14 5 12 6.5Zm0 0V20" />,
  bolt: <path d="M13 3.5 5.5 13.5H11l-1 7 7.5-10H12l1-7Z" />,
} satisfies Record<string, ReactNode>

export type IconName = keyof typeof paths

export function Icon({ name }: { name: IconName }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      {paths[name]}
    </svg>
  )
}

/** Running water: the agent is at work. */
export function Race(): ReactNode {
  return (
    <svg className="race" viewBox="0 0 64 16" aria-hidden="true" focusable="false">
      <path d="M-16 8q4-6 8 0t8 0 8 0 8 0 8 0 8 0 8 0 8 0 8 0 8 0 8 0 8 0" />
    </svg>
  )
}

/** The calm water above the dock while nothing has been said. */
export function Water(): ReactNode {
  return (
    <div className="water" aria-hidden="true">
      {['M-240 28q60-14 120 0', 'M-240 50q60-20 120 0', 'M-240 74q60-26 120 0'].map((start) => (
        <svg key={start} viewBox="0 0 2400 96" preserveAspectRatio="xMidYMid slice" focusable="false">
          <path d={start + 't120 0'.repeat(32)} />
        </svg>
      ))}
    </div>
  )
}

/** The wheel over the race. */
export function Logo(): ReactNode {
  return (
    <svg className="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <circle cx="16" cy="13" r="6.5" />
      <path d="M16 4v3.5M16 18.5v3M7 13h3.5M21.5 13h3.5M9.6 6.6l2.5 2.5M22.4 6.6l-2.5 2.5" />
      <path d="M5 26c2.2-1.8 4.4-1.8 6.6 0s4.4 1.8 6.6 0 4.4-1.8 6.6 0c.8.65 1.5 1 2.2 1.15" />
    </svg>
  )
}
