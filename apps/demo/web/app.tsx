import type { ReactNode } from 'react'
import { useCallback, useState } from 'react'
import { ChatView } from './chat/chat-view.tsx'
import type { View } from './header.tsx'
import { Header } from './header.tsx'
import { useConversation } from './hooks/use-conversation.ts'
import { EventStore } from './panel/event-store.ts'
import { SidePanel } from './panel/side-panel.tsx'
import { writeSession } from './session.ts'

/** A new conversation is a new client: nothing of the old one can leak into it. */
export function App(): ReactNode {
  const [count, setCount] = useState(0)
  const startAnew = useCallback(() => {
    writeSession(undefined)
    setCount((before) => before + 1)
  }, [])
  return <Conversation key={count} first={count === 0} onNew={startAnew} />
}

function Conversation({ first, onNew }: { first: boolean; onNew: () => void }): ReactNode {
  const [events] = useState(() => new EventStore())
  const conversation = useConversation(events.push)
  const { chat } = conversation
  const [view, setView] = useState<View>('chat')
  const [panel, setPanel] = useState(true)
  // What the narrow page has not shown yet.
  const [seen, setSeen] = useState(chat.state)
  if (view === 'state' && seen !== chat.state) setSeen(chat.state)
  return (
    <div className="page" data-view={view} data-panel={panel ? 'open' : 'closed'}>
      <Header
        view={view}
        onView={setView}
        news={seen !== chat.state}
        panel={panel}
        onPanel={setPanel}
        fresh={chat.messages.length === 0}
        onNew={onNew}
      />
      <main className="chat" aria-labelledby="page-title">
        <h1 id="page-title" className="visually-hidden">
          Chat with the travel desk
        </h1>
        <ChatView conversation={conversation} focused={!first} />
      </main>
      <SidePanel state={chat.state} events={events} />
    </div>
  )
}
