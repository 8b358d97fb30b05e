/**
 * A chat client as an object whose members are reactive in Svelte. The client keeps all state; this binds its lifetime
 * and its snapshot to a component. Plain TypeScript: it needs no compiler.
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
  type NewChat,
  type OutputSchema,
  type SharedChat,
  type ToolList,
} from '@millrace/client'
import { onDestroy, onMount, untrack } from 'svelte'
import { observe } from './observe.ts'

/** Either what to make a client of, or a client that lives elsewhere and is shared. */
export type CreateChatOptions = ChatSource

/** The members of the snapshot, each reactive by itself, the methods, which may be taken apart, and the client. */
export interface Chat<Types extends ChatTypes = ChatTypes> extends ChatSnapshot<Types>, ChatMethods<Types> {
  readonly client: ChatClient<Types>
}

/**
 * Binds a conversation to the component that is being initialised.
 *
 * Options that change are given as a function. The client is made anew only when `threadId` changes; other changes reach
 * the client there is, at the next read or call. A client made here is disposed of with the component (a run may go on at the
 * server, see `onUnmount`). With `attach`, the client is attached when the component is mounted. One given as `client` is not
 * disposed of, and without `attach` this may then be called anywhere.
 * Types follow from `tools`, `output` and `answers`, or from the client.
 * @throws UsageError as the constructor of `ChatClient`; Svelte's `lifecycle_outside_component`.
 */
export function createChat<const Tools extends ToolList = ToolList, Output extends OutputSchema = OutputSchema, Reasons extends AnswerSchemas = AnswerSchemas>(
  options: NewChat<Tools, Output, Reasons> | (() => NewChat<Tools, Output, Reasons>),
): Chat<ChatTypesOf<Tools, Output, Reasons>>
export function createChat<Types extends ChatTypes>(options: SharedChat<Types> | (() => SharedChat<Types>)): Chat<Types>
export function createChat(options: CreateChatOptions | (() => CreateChatOptions)): Chat
export function createChat(options: CreateChatOptions | (() => CreateChatOptions)): Chat {
  const read = (): CreateChatOptions => ({ ...(typeof options === 'function' ? options() : options) })
  let held = holdClient(read())
  let members = observeMembers(held.client)
  let mounted = false
  let attached: ChatClient | undefined
  const attach = (): void => {
    if (!mounted || held.lifetime.attach !== true) return
    attached = held.client
    attachHeld(held)
  }
  // Options are read whenever something else is, so that who depends on a member depends on the options, too.
  const current = (): ChatClient => {
    const before = held
    held = followClient(held, read())
    if (held !== before) members = observeMembers(held.client)
    // Not at once: this is read in templates, which may change nothing.
    if (mounted && held.lifetime.attach === true && held.client !== attached) queueMicrotask(attach)
    return held.client
  }
  if (held.own !== undefined || held.lifetime.attach === true || typeof options === 'function') {
    onMount(() => {
      mounted = true
      attach()
    })
    onDestroy(() => {
      mounted = false
      endHeld(held)
    })
  }

  // An effect that calls a method does not depend on the options.
  const chat = chatMethods(() => untrack(current))
  Object.defineProperty(chat, 'client', { enumerable: true, get: current })
  for (const key of Object.keys(members) as (keyof ChatSnapshot)[]) {
    const get = (): unknown => {
      current()
      return members[key]()
    }
    Object.defineProperty(chat, key, { enumerable: true, get })
  }
  return chat as Chat
}

type Members = { readonly [Key in keyof ChatSnapshot]: () => ChatSnapshot[Key] }

function observeMembers(client: ChatClient): Members {
  const keys = Object.keys(client.getSnapshot()) as (keyof ChatSnapshot)[]
  return Object.fromEntries(keys.map((key) => [key, observe(client, (snapshot) => snapshot[key])])) as Members
}
