/** A client for all components below one. */
import { UsageError, type ChatClient } from '@millrace/client'
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
 * A function that gives the client that a component above set.
 * @throws UsageError `no-client` if none did.
 */
export function getChatClient(): () => ChatClient {
  const client = getContext<(() => ChatClient) | undefined>(key)
  if (client === undefined) throw new UsageError('no-client', 'No component above this one called setChatClient().')
  return client
}
