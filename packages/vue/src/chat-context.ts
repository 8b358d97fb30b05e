/** A client for all components below one. */
import { UsageError, type ChatClient, type ChatTypes } from '@millrace/client'
import { computed, inject, provide, toRaw, toValue, type ComputedRef, type InjectionKey, type MaybeRefOrGetter } from 'vue'

const key: InjectionKey<ComputedRef<ChatClient>> = Symbol('@millrace/vue')

/** Hands a client to all components below: `provideChatClient(chat.client)`. It ends no client. */
export function provideChatClient(client: MaybeRefOrGetter<ChatClient>): void {
  provide(
    key,
    computed(() => toRaw(toValue(client))),
  )
}

/**
 * The client that a component above provides. What types it has is for the caller to say:
 * `useChatClient<ChatTypesOf<typeof tools>>()`.
 * @throws UsageError `no-client` if none does.
 */
export function useChatClient<Types extends ChatTypes = ChatTypes>(): ComputedRef<ChatClient<Types>> {
  const client = inject(key, undefined)
  if (client === undefined) throw new UsageError('no-client', 'No component above this one called provideChatClient().')
  return client as ComputedRef<ChatClient<Types>>
}
