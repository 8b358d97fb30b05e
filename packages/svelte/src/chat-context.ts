/** A client for all components below one. */
import { UsageError, type ChatClient, type ChatTypes } from '@millrace/client'
import { getContext, setContext } from 'svelte'

const key = Symbol('@millrace/svelte')

/**
 * Hands a client to all components below: `setChatClient(() => chat.client)`. It ends no client.
 * @param client as a function, if it may become another one.
 */
export function setChatClient(client: ChatClient | (() => ChatClient)): void {
  setContext(key, typeof client === 'function' ? client : () => client)
}

/**
 * A function that gives the client that a component above set. What types it has is for the caller to say:
 * `getChatClient<ChatTypesOf<typeof tools>>()`.
 * @throws UsageError `no-client` if none did.
 */
export function getChatClient<Types extends ChatTypes = ChatTypes>(): () => ChatClient<Types> {
  const client = getContext<(() => ChatClient<Types>) | undefined>(key)
  if (client === undefined) throw new UsageError('no-client', 'No component above this one called setChatClient().')
  return client
}
