/** A client for all components below one. */
import { UsageError, type ChatClient, type ChatTypes } from '@millrace/client'
import { createContext, createElement, useContext, type ReactElement, type ReactNode } from 'react'

const ChatContext = createContext<ChatClient | undefined>(undefined)

/** What `ChatProvider` takes. */
export interface ChatProviderProps {
  readonly client: ChatClient
  readonly children?: ReactNode
}

/** Hands a client to all components below: `<ChatProvider client={chat.client}>`. It ends no client. */
export function ChatProvider({ client, children }: ChatProviderProps): ReactElement {
  return createElement(ChatContext.Provider, { value: client }, children)
}

/**
 * The client of the nearest provider above. What types it has is for the caller to say: `useChatClient<ChatTypesOf<typeof tools>>()`.
 * @throws UsageError `no-client` if there is none.
 */
export function useChatClient<Types extends ChatTypes = ChatTypes>(): ChatClient<Types> {
  const client = useContext(ChatContext)
  if (client === undefined) throw new UsageError('no-client', 'No ChatProvider is above this component.')
  return client as ChatClient<Types>
}
