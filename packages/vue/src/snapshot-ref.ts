/** The snapshot of a client as a ref. */
import type { ChatClient, ChatSnapshot, ChatTypes } from '@millrace/client'
import {
  computed,
  hasInjectionContext,
  inject,
  shallowRef,
  ssrContextKey,
  toRaw,
  toValue,
  watch,
  type ComputedRef,
  type MaybeRefOrGetter,
  type ShallowRef,
} from 'vue'

/** Whether the component at work is rendered to a string: nothing is disposed of there, so nothing is subscribed to. */
export function isServerRendering(): boolean {
  return hasInjectionContext() && inject(ssrContextKey, undefined) !== undefined
}

/** The present snapshot, until the scope ends. Shallow: what it holds is immutable and stays as it is. */
export function snapshotRef<Types extends ChatTypes>(source: MaybeRefOrGetter<ChatClient<Types>>): Readonly<ShallowRef<ChatSnapshot<Types>>> {
  // A client that lies in a reactive object comes as a proxy, which its private fields refuse.
  const current = (): ChatClient<Types> => toRaw(toValue(source))
  const snapshot = shallowRef(current().getSnapshot())
  if (isServerRendering()) return snapshot
  const follow = (client: ChatClient<Types>, _: unknown, onCleanup: (end: () => void) => void): void => {
    const take = (): void => {
      snapshot.value = client.getSnapshot()
    }
    take()
    onCleanup(client.subscribe(take))
  }
  watch(current, follow, { immediate: true, flush: 'sync' })
  return snapshot
}

/**
 * What `selector` makes of the present snapshot, as a ref that changes only when that is another value.
 * @param isEqual whether two values show the same; the first of them is then kept. Default `Object.is`.
 */
export function useChatSelector<Value, Types extends ChatTypes = ChatTypes>(
  client: MaybeRefOrGetter<ChatClient<Types>>,
  selector: (snapshot: ChatSnapshot<Types>) => Value,
  isEqual: (a: Value, b: Value) => boolean = Object.is,
): ComputedRef<Value> {
  const snapshot = snapshotRef(client)
  let last: { readonly value: Value } | undefined
  return computed(() => {
    const value = selector(snapshot.value)
    if (last === undefined || !isEqual(last.value, value)) last = { value }
    return last.value
  })
}
