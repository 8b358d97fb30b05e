/** `@tanstack/ai-client`: its `ChatClient` with its `fetchServerSentEvents`. */
import { ChatClient, fetchServerSentEvents, type UIMessage } from '@tanstack/ai-client'
import { QUESTION } from '../../workloads/text.ts'
import type { Connect } from '../connection.ts'
import type { Run } from '../contender.ts'
import { outcome, uiMessages } from '../tanstack.ts'

export const tanstackConnection: Connect = ({ stream, url }) => (): Run => {
  let looked: readonly UIMessage[] = []
  let failure: Error | undefined
  const client = new ChatClient({
    connection: fetchServerSentEvents(url),
    threadId: 'thread',
    initialMessages: uiMessages(stream.history) as UIMessage[],
    onMessagesChange: (messages) => {
      looked = messages
    },
    onError: (error) => {
      failure = error
    },
  })
  return async () => {
    await client.sendMessage(QUESTION)
    if (failure !== undefined) throw failure
    return () => outcome(looked as Parameters<typeof outcome>[0], '')
  }
}
