/** A chat client as a Vue composable. The client keeps all state; this binds its lifetime and its snapshot to a scope. */
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
import {
  computed,
  getCurrentInstance,
  getCurrentScope,
  onMounted,
  onScopeDispose,
  shallowRef,
  toRaw,
  toValue,
  watch,
  type ComputedRef,
  type MaybeRefOrGetter,
} from 'vue'
import { isServerRendering, snapshotRef } from './snapshot-ref.ts'

/** Either what to make a client of, or a client that lives elsewhere and is shared. */
export type UseChatOptions = ChatSource

/** Each member of the snapshot as a readonly ref of its own, the methods, and the client as a ref. */
export type UseChatResult<Types extends ChatTypes = ChatTypes> = {
  readonly [Key in keyof ChatSnapshot]: ComputedRef<ChatSnapshot<Types>[Key]>
} & ChatMethods<Types> & {
    readonly client: ComputedRef<ChatClient<Types>>
  }

/**
 * Binds a conversation to the current scope, which as a rule is that of a component.
 *
 * Options may be a value, a ref or a getter. The client is made anew only when `threadId` changes; other changes reach the
 * client there is. A client made here is disposed of with the scope (a run may go on at the server, see `onUnmount`); one given
 * as `client` is not. With `attach`, the client is attached when the component is mounted, or at once where there is none.
 * Types follow from `tools`, `output` and `answers`, or from the client.
 * @throws UsageError as the constructor of `ChatClient`.
 */
export function useChat<const Tools extends ToolList = ToolList, Output extends OutputSchema = OutputSchema, Reasons extends AnswerSchemas = AnswerSchemas>(
  options: MaybeRefOrGetter<NewChat<Tools, Output, Reasons>>,
): UseChatResult<ChatTypesOf<Tools, Output, Reasons>>
export function useChat<Types extends ChatTypes>(options: MaybeRefOrGetter<SharedChat<Types>>): UseChatResult<Types>
export function useChat(options: MaybeRefOrGetter<UseChatOptions>): UseChatResult
export function useChat(options: MaybeRefOrGetter<UseChatOptions>): UseChatResult {
  const read = (): UseChatOptions => rawMembers(toValue(options))
  let held = holdClient(read())
  const current = shallowRef(held.client)
  if (!isServerRendering()) {
    let mounted = false
    const attach = (): void => {
      mounted = true
      attachHeld(held)
    }
    const follow = (next: UseChatOptions): void => {
      held = followClient(held, next)
      current.value = held.client
      if (mounted) attachHeld(held)
    }
    watch(read, follow, { flush: 'sync' })
    if (getCurrentInstance() === null) attach()
    else onMounted(attach)
    if (getCurrentScope() !== undefined) onScopeDispose(() => endHeld(held))
  }
  const client = computed(() => current.value)
  const snapshot = snapshotRef(client)
  const keys = Object.keys(snapshot.value) as (keyof ChatSnapshot)[]
  const members = Object.fromEntries(keys.map((key) => [key, computed(() => snapshot.value[key])]))
  // Not by the ref: an effect that calls a method does not depend on which client there is.
  return { ...members, ...chatMethods(() => held.client), client } as UseChatResult
}

/** Reads, and so tracks, each member. What lies in a reactive object comes as a proxy, which private fields refuse. */
function rawMembers(options: UseChatOptions): UseChatOptions {
  const members = Object.entries({ ...options }).map(([key, value]) => [key, toRaw(value)])
  return Object.fromEntries(members) as UseChatOptions
}
