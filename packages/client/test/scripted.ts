/** Chats over turns that are given in advance, and a short way to say what they show. */
import { ChatClient, stream, type ChatClientOptions, type StreamChunk } from '@millrace/client'
import { iterate } from './events.ts'

/** A chat over turns given in advance; `calls` are the arguments of each `connect`. */
export function scripted(turns: readonly (readonly StreamChunk[])[], options: Partial<ChatClientOptions> = {}) {
  const calls: Parameters<Parameters<typeof stream>[0]>[] = []
  let id = 0
  const chat = new ChatClient({
    threadId: 't1',
    generateId: (kind) => `${kind}-${++id}`,
    connection: stream((...args) => {
      calls.push(args)
      return iterate(turns[calls.length - 1] ?? [])
    }),
    ...options,
  })
  return { chat, calls }
}

export const texts = (chat: ChatClient): string[] =>
  chat.getSnapshot().messages.map(({ parts }) => parts.map((part) => ('content' in part ? String(part.content) : `[${part.type}]`)).join('|'))
