/**
 * A chat client as a React hook. The client keeps all state; this binds its lifetime and its snapshot to a component.
 */
import {
  attachHeld,
  chatMethods,
  endHeld,
  holdClient,
  isHeldBy,
  updateHeld,
  type AnswerSchemas,
  type ChatClient,
  type ChatMethods,
  type ChatSnapshot,
  type ChatSource,
  type ChatTypes,
  type ChatTypesOf,
  type NewChat,
  type OutputSchema,
  type SharedChat,
  type ToolList,
  type HeldClient,
} from '@millrace/client'
import { useEffect, useInsertionEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'

/** Either what to make a client of, or a client that lives elsewhere and is shared. */
export type UseChatOptions = ChatSource

/** The present snapshot, the methods, which keep their identity as long as the client does, and the client. */
export interface UseChatResult<Types extends ChatTypes = ChatTypes> extends ChatSnapshot<Types>, ChatMethods<Types> {
  readonly client: ChatClient<Types>
}

/**
 * Binds a conversation to a component.
 *
 * The client is made anew only when `threadId` changes. Connection, callbacks and other settings are those of the last
 * render, without a new client. A client made here is disposed of when the component goes (a run may go on at the server, see
 * `onUnmount`); one given as `client` is not. With `attach`, the client is attached once it is on the page.
 * Types follow from `tools`, `output` and `answers`, or from the client.
 * @throws UsageError as the constructor of `ChatClient`.
 */
export function useChat<const Tools extends ToolList = ToolList, Output extends OutputSchema = OutputSchema, Reasons extends AnswerSchemas = AnswerSchemas>(
  options: NewChat<Tools, Output, Reasons>,
): UseChatResult<ChatTypesOf<Tools, Output, Reasons>>
export function useChat<Types extends ChatTypes>(options: SharedChat<Types>): UseChatResult<Types>
export function useChat(options: UseChatOptions): UseChatResult
export function useChat(options: UseChatOptions): UseChatResult {
  const client = useClient(options)
  const snapshot = useSyncExternalStore(client.subscribe, client.getSnapshot, client.getSnapshot)
  const methods = useMemo(() => chatMethods(() => client), [client])
  return { ...snapshot, ...methods, client }
}

function useClient(options: UseChatOptions): ChatClient {
  // State and not a memo, which React may drop. Making a client opens nothing, so one that Strict Mode makes and
  // throws away leaves nothing behind.
  const [held, setHeld] = useState(() => holdClient(options))
  let current = held
  if (!isHeldBy(held, options)) {
    current = holdClient(options)
    setHeld(current)
  }
  // Before all other effects, so that one that sends already has the settings of this render.
  useInsertionEffect(() => updateHeld(current, options))
  useLifetime(current)
  return current.client
}

/** Attaches a client when its component is on the page, and ends it when that is gone for good: Strict Mode runs effects again. */
function useLifetime(held: HeldClient): void {
  const mounted = useRef<HeldClient | undefined>(undefined)
  useEffect(() => {
    mounted.current = held
    return () => {
      mounted.current = undefined
      queueMicrotask(() => {
        if (mounted.current !== held) endHeld(held)
      })
    }
  }, [held])
  // At each render: whether it is wanted may change.
  useEffect(() => attachHeld(held))
}
