/** `@ag-ui/client`: `runAgent` of its `HttpAgent`. */
import { HttpAgent } from '@ag-ui/client'
import type { Message } from '@millrace/protocol'
import { QUESTION } from '../../workloads/text.ts'
import type { Connect } from '../connection.ts'
import type { Run } from '../contender.ts'
import { outcomeOf } from '../messages-answer.ts'

export const agUiConnection: Connect = ({ stream, url }) => (): Run => {
  const agent = new HttpAgent({ url, threadId: 'thread', initialMessages: structuredClone(stream.history) as never })
  let looked: readonly object[] = []
  agent.subscribe({
    onMessagesChanged: ({ messages }) => {
      looked = messages
    },
  })
  return async () => {
    agent.addMessage({ id: 'question', role: 'user', content: QUESTION })
    await agent.runAgent({ runId: 'run' })
    return () => outcomeOf(looked as Message[], agent.state)
  }
}
