import { memo } from 'react'
import type { EventStore } from './event-store.ts'
import { EventsPanel } from './events-panel.tsx'
import { StatePanel } from './state-panel.tsx'

/** What the agent sends, and what that builds beside the messages. */
export const SidePanel = memo(function SidePanel({ state, events }: { state: unknown; events: EventStore }) {
  return (
    <aside className="panel" aria-label="State and events">
      <StatePanel state={state} />
      <EventsPanel store={events} />
    </aside>
  )
})
