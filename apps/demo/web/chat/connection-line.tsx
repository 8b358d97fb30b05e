import type { ReactNode } from 'react'
import { Icon } from '../icons.tsx'

/** While an answer streams: how its connection is, and a way to break it. */
export function ConnectionLine({ lost, onCut }: { lost: boolean; onCut: () => void }): ReactNode {
  return (
    <div className="connection">
      {lost ? (
        <p className="connection-lost">Connection lost, trying again…</p>
      ) : (
        <button type="button" className="chip-button" title="The server closes its sockets for a moment; the agent goes on" onClick={onCut}>
          <Icon name="cut" />
          Cut the connection
        </button>
      )}
    </div>
  )
}
