/** A client for all components below one. */
import { UsageError, type ChatClient, type ChatTypes } from '@millrace/client'
import { createComponent, createContext, useContext, type Accessor, type JSX } from 'solid-js'

const ChatContext = createContext<Accessor<ChatClient>>()

/** What `ChatProvider` takes. */
export interface ChatProviderProps {
  readonly client: ChatClient
  readonly children?: JSX.Element
}

/** Hands a client to all components below: `<ChatProvider client={chat.client}>`. It ends no client. */
export function ChatProvider(props: ChatProviderProps): JSX.Element {
  return createComponent(ChatContext.Provider, {
    value: () => props.client,
    get children() {
      return props.children
    },
  })
}

/**
 * Gives the client of the nearest provider above. What types it has is for the caller to say:
 * `useChatClient<ChatTypesOf<typeof tools>>()`.
 * @throws UsageError `no-client` if there is none.
 */
export function useChatClient<Types extends ChatTypes = ChatTypes>(): Accessor<ChatClient<Types>> {
  const client = useContext(ChatContext)
  if (client === undefined) throw new UsageError('no-client', 'No ChatProvider is above this component.')
  return client as Accessor<ChatClient<Types>>
}
