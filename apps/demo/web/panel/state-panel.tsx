import type { ReactNode } from 'react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { readTrip } from '../../src/trip.ts'
import { changedPaths } from './changed-paths.ts'
import { jsonLines } from './json-lines.ts'
import { TripView } from './trip-view.tsx'

/** How long a change stays marked. */
const markedFor = 2200

type View = 'trip' | 'json'

/** The shared state as the agent moves it; what just changed is marked. */
export function StatePanel({ state }: { state: unknown }): ReactNode {
  const [view, setView] = useState<View>('trip')
  const changed = useChanged(state)
  const trip = readTrip(state)
  const empty = typeof state !== 'object' || state === null || Object.keys(state).length === 0
  return (
    <section className="panel-section state" aria-labelledby="state-title">
      <header className="panel-head">
        <h2 id="state-title">Shared state</h2>
        {!empty && (
          <div className="segmented" role="group" aria-label="View of the state">
            <button type="button" aria-pressed={view === 'trip'} onClick={() => setView('trip')}>
              Trip
            </button>
            <button type="button" aria-pressed={view === 'json'} onClick={() => setView('json')}>
              JSON
            </button>
          </div>
        )}
      </header>
      {empty ? (
        <p className="panel-empty">The agent and this page share one JSON value. It is still empty.</p>
      ) : (
        <div className="state-body" tabIndex={0} role="group" aria-label="State">
          {view === 'trip' && trip ? <TripView trip={trip} changed={changed} /> : <JsonView state={state} changed={changed} />}
        </div>
      )}
    </section>
  )
}

function JsonView({ state, changed }: { state: unknown; changed: ReadonlySet<string> }): ReactNode {
  const lines = useMemo(() => jsonLines(state), [state])
  return (
    <pre className="json-lines">
      {lines.map(({ path, text, key }) => (
        <span key={key} className="json-line" data-changed={changed.has(path) || undefined}>
          {text}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}

const nothing: ReadonlySet<string> = new Set()

/** Pointers that changed a moment ago; each mark lasts its own time. */
function useChanged(state: unknown): ReadonlySet<string> {
  const [changed, setChanged] = useState(nothing)
  const before = useRef(state)
  const timers = useRef(new Set<ReturnType<typeof setTimeout>>())
  useEffect(() => {
    const paths = changedPaths(before.current, state)
    before.current = state
    if (paths.size === 0) return
    setChanged((marked) => new Set([...marked, ...paths]))
    const timer = setTimeout(() => {
      timers.current.delete(timer)
      setChanged((marked) => new Set([...marked].filter((path) => !paths.has(path))))
    }, markedFor)
    timers.current.add(timer)
  }, [state])
  useEffect(() => {
    const { current } = timers
    return () => {
      for (const timer of current) clearTimeout(timer)
      current.clear()
    }
  }, [])
  return changed
}
