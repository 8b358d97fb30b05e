/** `ai`: its `AbstractChat` with `DefaultChatTransport`, over a list that copies nothing, which is less than what its bindings do. */
import { AbstractChat, DefaultChatTransport, type ChatState, type UIMessage } from 'ai'
import type { Message } from '@millrace/protocol'
import { QUESTION } from '../../workloads/text.ts'
import { outcome } from '../ai-sdk.ts'
import type { Connect } from '../connection.ts'
import type { Run } from '../contender.ts'

class PlainState implements ChatState<UIMessage> {
  status: ChatState<UIMessage>['status'] = 'ready'
  error: Error | undefined = undefined
  messages: UIMessage[]

  constructor(messages: UIMessage[]) {
    this.messages = messages
  }

  readonly pushMessage = (message: UIMessage): void => void this.messages.push(message)
  readonly popMessage = (): void => void this.messages.pop()
  readonly replaceMessage = (index: number, message: UIMessage): void => void (this.messages[index] = message)
  readonly snapshot = <T>(thing: T): T => structuredClone(thing)
}

class Chat extends AbstractChat<UIMessage> {}

function uiMessages(history: readonly Message[]): UIMessage[] {
  return history.map(({ id, role, content }) => ({ id, role: role as 'user' | 'assistant', parts: [{ type: 'text', text: content as string }] }))
}

export const aiSdkConnection: Connect = ({ stream, url }) => {
  const api = new URL('/ai', url).href
  return (): Run => {
    const state = new PlainState(uiMessages(stream.history))
    const chat = new Chat({ id: 'thread', state, transport: new DefaultChatTransport({ api }) })
    return async () => {
      await chat.sendMessage({ text: QUESTION })
      if (state.error !== undefined) throw state.error
      return () => outcome('', state.messages, '')
    }
  }
}
