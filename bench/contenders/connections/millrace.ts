/** Ours: `ChatClient` with `fetchServerSentEvents`. */
import { ChatClient, fetchServerSentEvents, type ChatSnapshot } from '@millrace/client'
import { toUIMessages } from '@millrace/protocol'
import { QUESTION } from '../../workloads/text.ts'
import { resumed, type Connect } from '../connection.ts'
import type { Outcome, Run } from '../contender.ts'

function outcome({ messages, state }: ChatSnapshot, seen: string): Outcome {
  const text = messages.flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.content : ''))).join('')
  return { text, reasoning: '', calls: '', results: '', state: JSON.stringify(state) ?? '', seen }
}

export const millraceConnection: Connect = ({ stream, url }) => (): Run => {
  let resumes = 0
  let looked: ChatSnapshot | undefined
  const client = new ChatClient({
    // What resuming costs is asked for, not how long one waits before it.
    connection: fetchServerSentEvents(url, { reconnect: { delayMs: 0 }, onReconnect: () => void resumes++ }),
    threadId: 'thread',
    initialMessages: toUIMessages(stream.history),
  })
  client.subscribe(() => {
    looked = client.getSnapshot()
  })
  return async () => {
    const { error } = await client.sendMessage(QUESTION)
    if (error !== undefined) throw error
    return () => outcome(looked as ChatSnapshot, resumed(resumes))
  }
}
