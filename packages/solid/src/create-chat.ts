/**
 * A chat client as an object whose members are reactive in Solid. The client keeps all state; this binds its lifetime and
 * its snapshot to an owner.
 */
import {
  attachHeld,
  chatMethods,
  endHeld,
  followClient,
  holdClient,
  type AnswerSchemas,
  type ChatClient,
  type ChatMethods,
  type ChatSnapshot,
  type ChatSource,
  type ChatTypes,
  type ChatTypesOf,
  type HeldClient,
  type NewChat,
  type OutputSchema,
  type SharedChat,
  type ToolList,
} from '@millrace/client'
import { createEffect, createMemo, onCleanup, untrack, type Accessor } from 'solid-js'
import { createSnapshot } from './snapshot.ts'

/** Either what to make a client of, or a client that lives elsewhere and is shared. */
export type CreateChatOptions = ChatSource

/** The members of the snapshot, each reactive by itself, the methods, which may be taken apart, and the client. */
export interface Chat<Types extends ChatTypes = ChatTypes> extends ChatSnapshot<Types>, ChatMethods<Types> {
  readonly client: ChatClient<Types>
}

/**
 * Binds a conversation to the current owner, which as a rule is a component.
 *
 * Options that change are given as an accessor, or by getters. The client is made anew only when `threadId` changes; other
 * changes reach the client there is. A client made here is disposed of with the owner (a run may go on at the server, see
 * `onUnmount`); one given as `client` is not. With `attach`, the client is attached when the owner is on the page.
 *
 * Show messages and parts with `<Index>`: a message that grows is another object at each step, for which `<For>` would
 * make its elements anew.
 * Types follow from `tools`, `output` and `answers`, or from the client.
 * @throws UsageError as the constructor of `ChatClient`.
 */
export function createChat<const Tools extends ToolList = ToolList, Output extends OutputSchema = OutputSchema, Reasons extends AnswerSchemas = AnswerSchemas>(
  options: NewChat<Tools, Output, Reasons> | Accessor<NewChat<Tools, Output, Reasons>>,
): Chat<ChatTypesOf<Tools, Output, Reasons>>
export function createChat<Types extends ChatTypes>(options: SharedChat<Types> | Accessor<SharedChat<Types>>): Chat<Types>
export function createChat(options: CreateChatOptions | Accessor<CreateChatOptions>): Chat
export function createChat(options: CreateChatOptions | Accessor<CreateChatOptions>): Chat {
  const read = (): CreateChatOptions => ({ ...(typeof options === 'function' ? options() : options) })
  const held = createMemo<HeldClient>((before) => (before === undefined ? holdClient(read()) : followClient(before, read())))
  onCleanup(() => endHeld(held()))
  // On a server no effect runs.
  createEffect(() => {
    read()
    const now = held()
    untrack(() => attachHeld(now))
  })
  const client = (): ChatClient => held().client
  const snapshot = createSnapshot(client)

  const chat = chatMethods(() => untrack(client))
  Object.defineProperty(chat, 'client', { enumerable: true, get: client })
  for (const key of Object.keys(untrack(snapshot)) as (keyof ChatSnapshot)[]) {
    Object.defineProperty(chat, key, { enumerable: true, get: createMemo(() => snapshot()[key]) })
  }
  return chat as Chat
}
