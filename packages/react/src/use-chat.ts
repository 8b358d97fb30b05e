/**
 * A chat client as a React hook. The client keeps all state; this binds its lifetime and its snapshot to a component.
 */
import { ChatClient, type ChatClientOptions, type ChatClientSettings, type ChatSnapshot } from '@millrace/client'
import { useEffect, useInsertionEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'

/** The methods of a client that a view calls; they keep their identity as long as the client does. */
export type ChatMethods = Pick<
  ChatClient,
  'append' | 'clear' | 'reload' | 'respond' | 'resume' | 'sendMessage' | 'setMessages' | 'setState' | 'stop'
>

/** Either what to make a client of, or a client that lives elsewhere and is shared. */
export type UseChatOptions =
  | (ChatClientOptions & { readonly client?: undefined })
  | ({ readonly client: ChatClient } & { readonly [Key in keyof ChatClientOptions]?: undefined })

export interface UseChatResult extends ChatSnapshot, ChatMethods {
  readonly client: ChatClient
}

/**
 * Binds a conversation to a component.
 *
 * The client is made anew only when `threadId` changes. Connection, callbacks and other settings are those of the last
 * render, without a new client. A client made here is stopped when the component goes; one given as `client` is not.
 * @throws UsageError as the constructor of `ChatClient`.
 */
export function useChat(given: UseChatOptions): UseChatResult {
  // No options at all lack a connection, which the client says better than a TypeError does.
  const options: UseChatOptions = Object(given)
  const client = useClient(options)
  const snapshot = useSyncExternalStore(client.subscribe, client.getSnapshot, client.getSnapshot)
  const methods = useMemo(() => methodsOf(client), [client])
  return { ...snapshot, ...methods, client }
}

function useClient(options: UseChatOptions): ChatClient {
  const { client: shared, threadId } = options
  // State and not a memo, which React may drop. Making a client opens nothing, so one that Strict Mode makes and
  // throws away leaves nothing behind.
  const [held, setHeld] = useState(() => holding(options))
  let current = held
  if (held.shared !== shared || held.threadId !== threadId) {
    current = holding(options)
    setHeld(current)
  }
  const { own } = current
  // Before all other effects, so that one that sends already has the settings of this render.
  useInsertionEffect(() => own?.updateOptions(options as ChatClientSettings))
  useStopAtEnd(own)
  return current.client
}

interface Held {
  readonly client: ChatClient
  /** The client, if it was made here. */
  readonly own: ChatClient | undefined
  readonly shared: ChatClient | undefined
  readonly threadId: string | undefined
}

function holding(options: UseChatOptions): Held {
  if (options.client !== undefined) {
    return { client: options.client, own: undefined, shared: options.client, threadId: undefined }
  }
  const own = new ChatClient(options)
  return { client: own, own, shared: undefined, threadId: options.threadId }
}

/** Stops a client when its component is gone for good, but not when an effect is only run again (Strict Mode). */
function useStopAtEnd(client: ChatClient | undefined): void {
  const mounted = useRef<ChatClient | undefined>(undefined)
  useEffect(() => {
    mounted.current = client
    return () => {
      mounted.current = undefined
      queueMicrotask(() => {
        if (mounted.current !== client) client?.stop()
      })
    }
  }, [client])
}

function methodsOf(client: ChatClient): ChatMethods {
  return {
    append: (...args) => client.append(...args),
    clear: () => client.clear(),
    reload: (...args) => client.reload(...args),
    respond: (...args) => client.respond(...args),
    resume: (...args) => client.resume(...args),
    sendMessage: (...args) => client.sendMessage(...args),
    setMessages: (...args) => client.setMessages(...args),
    setState: (...args) => client.setState(...args),
    stop: () => client.stop(),
  }
}
