import type { KeyboardEvent, ReactNode } from 'react'
import { memo, useCallback, useDeferredValue, useMemo, useState, useSyncExternalStore } from 'react'
import { useStickToBottom } from '../hooks/use-stick-to-bottom.ts'
import { Icon } from '../icons.tsx'
import { jsonText } from '../json-text.ts'
import type { EventStore, Family, LoggedEvent } from './event-store.ts'
import { families } from './event-store.ts'

const familyNames: Record<Family, string> = {
  run: 'Run',
  text: 'Text',
  reasoning: 'Thought',
  tool: 'Tool',
  state: 'State',
  activity: 'Activity',
  other: 'Other',
}

/** The stream, one verified event per row, newest at the end. */
export function EventsPanel({ store }: { store: EventStore }): ReactNode {
  const { events, total } = useSyncExternalStore(store.subscribe, store.getSnapshot)
  const [hidden, setHidden] = useState<ReadonlySet<Family>>(new Set())
  const [query, setQuery] = useState('')
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set())
  const { scroller, content, stuck, jump } = useStickToBottom()

  const wanted = useDeferredValue(query.trim().toLowerCase())
  const shown = useMemo(
    () => events.filter((entry) => !hidden.has(entry.family) && matches(entry, wanted)),
    [events, hidden, wanted],
  )
  // Rare kinds are offered when there are some.
  const others = events.some(({ family }) => family === 'other')
  const offered = others ? families : families.filter((family) => family !== 'other')
  // Hundreds of rows are one stop for the Tab key: the row last used, else the newest. Arrows move on from there.
  const [current, setCurrent] = useState<number>()
  const tabStop = shown.find(({ serial }) => serial === current) ?? shown.at(-1)
  const toggleRow = useCallback((serial: number) => setOpen((before) => toggled(before, serial)), [])

  return (
    <section className="panel-section events" aria-labelledby="events-title">
      <header className="panel-head">
        <h2 id="events-title">Events</h2>
        <span className="count">{shown.length === total ? total : `${shown.length} of ${total}`}</span>
        {!stuck && (
          <button type="button" className="quiet small" onClick={jump}>
            <Icon name="down" />
            Follow
          </button>
        )}
        <button type="button" className="quiet small" onClick={store.clear} disabled={total === 0}>
          Clear
        </button>
      </header>
      <div className="filter">
        <label className="search">
          <Icon name="search" />
          <span className="visually-hidden">Filter events</span>
          <input type="search" placeholder="Filter by type or content" value={query} onChange={(event) => setQuery(event.target.value)} />
        </label>
        <div className="families" role="group" aria-label="Kinds of events">
          {offered.map((family) => (
            <button
              key={family}
              type="button"
              className="family"
              data-family={family}
              aria-pressed={!hidden.has(family)}
              onClick={() => setHidden((before) => toggled(before, family))}
            >
              {familyNames[family]}
            </button>
          ))}
        </div>
      </div>
      <div className="event-scroll" ref={scroller}>
        {shown.length === 0 ? (
          <p className="panel-empty">{total === 0 ? 'Every event of the stream shows up here as it arrives.' : 'Nothing matches.'}</p>
        ) : (
          <ol ref={content} className="event-list" onKeyDown={moveFocus}>
            {shown.map((entry) => (
              <Row
                key={entry.serial}
                entry={entry}
                open={open.has(entry.serial)}
                tabbable={entry === tabStop}
                onToggle={toggleRow}
                onFocus={setCurrent}
              />
            ))}
          </ol>
        )}
      </div>
    </section>
  )
}

function moveFocus(event: KeyboardEvent<HTMLOListElement>): void {
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('.event-row > button')]
  const at = rows.indexOf(document.activeElement as HTMLElement)
  const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: rows.length - 1 }[event.key]
  const row = at < 0 || to === undefined ? undefined : rows[to]
  if (row === undefined) return
  event.preventDefault()
  row.focus()
}

function matches({ event, detail }: LoggedEvent, wanted: string): boolean {
  return wanted === '' || event.type.toLowerCase().includes(wanted) || detail.toLowerCase().includes(wanted)
}

function toggled<Item>(set: ReadonlySet<Item>, item: Item): ReadonlySet<Item> {
  const next = new Set(set)
  if (!next.delete(item)) next.add(item)
  return next
}

interface RowProps {
  readonly entry: LoggedEvent
  readonly open: boolean
  /** Whether the Tab key stops here. */
  readonly tabbable: boolean
  readonly onToggle: (serial: number) => void
  readonly onFocus: (serial: number) => void
}

const Row = memo(function Row({ entry: { serial, event, family, detail }, open, tabbable, onToggle, onFocus }: RowProps) {
  return (
    <li className="event-row" data-family={family}>
      <button
        type="button"
        aria-expanded={open}
        tabIndex={tabbable ? 0 : -1}
        onClick={() => onToggle(serial)}
        onFocus={() => onFocus(serial)}
      >
        <span className="event-index">{serial}</span>
        <span className="event-type">{event.type}</span>
        <span className="event-detail">{detail}</span>
      </button>
      {open && (
        <div role="group" aria-label={`Event ${serial} as JSON`}>
          <pre>{jsonText(event)}</pre>
        </div>
      )}
    </li>
  )
})
