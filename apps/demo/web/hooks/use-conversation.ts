/**
 * The page's side of Millrace, all of it: one conversation that outlives broken connections and reloads. What it looks
 * like is everybody else's.
 */
import { fetchServerSentEvents, TransportError } from '@millrace/client'
import type { VerifiedEvent } from '@millrace/protocol'
import type { UseChatResult } from '@millrace/react'
import { useChat } from '@millrace/react'
import { useCallback, useEffect, useState } from 'react'
import type { Answered } from '../parts/message.tsx'
import { readSession, writeSession } from '../session.ts'
import { tools } from '../tools.ts'

/**
 * One rather waits some seconds than clicks. Where a cable is pulled further away nothing breaks, it is only silent; our
 * server gives a sign of life every two seconds.
 */
const reconnect = { maxAttempts: 8, maxDelayMs: 2000, idleMs: 6000 }

export interface Conversation {
  readonly chat: UseChatResult
  readonly busy: boolean
  /** The connection broke; it is opened again, and the answer will go on where it was. */
  readonly lost: boolean
  /** The server is being asked for the conversation that this tab had. */
  readonly restoring: boolean
  /** Goes on after a failure. */
  readonly retry: () => Promise<unknown>
  readonly answers: readonly Answered[]
  readonly addAnswer: (answer: Answered) => void
}

export function useConversation(onEvent: (event: VerifiedEvent) => void): Conversation {
  const [before] = useState(readSession)
  const [lost, setLost] = useState(false)
  const [connection] = useState(() => fetchServerSentEvents('/api/chat', { reconnect, onReconnect: () => setLost(true) }))
  const chat = useChat({
    connection,
    tools,
    // It goes with "New chat" alone: the run is nobody's then.
    onUnmount: 'stop',
    ...(before.threadId !== undefined && { threadId: before.threadId }),
    onEvent: (event) => {
      setLost(false)
      onEvent(event)
    },
  })
  const { client, attach, reload, threadId, status } = chat
  const busy = status === 'submitted' || status === 'streaming'
  if (lost && !busy) setLost(false)

  const [restoring, setRestoring] = useState(before.threadId !== undefined)
  useEffect(() => {
    if (before.threadId !== undefined) void attach().finally(() => setRestoring(false))
  }, [attach, before])

  const [answers, setAnswers] = useState(before.answers)
  const addAnswer = useCallback((answer: Answered) => setAnswers((all) => [...all, answer]), [])
  useEffect(() => {
    if (threadId !== undefined) writeSession({ threadId, answers })
  }, [threadId, answers])

  const retry = useCallback(async () => {
    const { error, messages } = client.getSnapshot()
    const cut = error instanceof TransportError && (error.code === 'network' || error.code === 'truncated')
    // If an answer had begun, the run may have gone on at the server.
    if (cut && messages.at(-1)?.role === 'assistant') await attach()
    // The server knows nothing of it, or the agent itself failed: it is asked again.
    if (client.getSnapshot().error === error) await reload()
  }, [client, attach, reload])

  return { chat, busy, lost, restoring, retry, answers, addAnswer }
}
