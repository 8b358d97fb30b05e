/** A part of a snapshot that effects and templates of Svelte can depend on. Outside of them it is simply read. */
import { chatSelector, type ChatClient, type ChatSnapshot, type ChatTypes } from '@millrace/client'
import { createSubscriber } from 'svelte/reactivity'

/** Reads what `selector` makes of the present snapshot; who reads it in an effect is run again when it is another value. */
export function observe<Value, Types extends ChatTypes = ChatTypes>(
  client: ChatClient<Types>,
  selector: (snapshot: ChatSnapshot<Types>) => Value,
  isEqual?: (a: Value, b: Value) => boolean,
): () => Value {
  const read = chatSelector(client, selector, isEqual)
  const track = createSubscriber((update) => {
    let told = read()
    return client.subscribe(() => {
      const value = read()
      if (Object.is(told, value)) return
      told = value
      update()
    })
  })
  return () => {
    track()
    return read()
  }
}

/**
 * What `selector` makes of the present snapshot, as `.current`, which changes only when that is another value.
 * @param client as a function, if it may become another one.
 * @param isEqual whether two values show the same; the first of them is then kept. Default `Object.is`.
 */
export function createChatSelector<Value, Types extends ChatTypes = ChatTypes>(
  client: ChatClient<Types> | (() => ChatClient<Types>),
  selector: (snapshot: ChatSnapshot<Types>) => Value,
  isEqual?: (a: Value, b: Value) => boolean,
): { readonly current: Value } {
  let observed: ChatClient<Types> | undefined
  let read: () => Value
  return {
    get current(): Value {
      const now = typeof client === 'function' ? client() : client
      if (now !== observed) {
        observed = now
        read = observe(now, selector, isEqual)
      }
      return read()
    },
  }
}
