/** The snapshot of a client as a signal. */
import type { ChatClient, ChatSnapshot, ChatTypes } from '@millrace/client'
import { createMemo, createSignal, onCleanup, type Accessor } from 'solid-js'
import { isServer } from 'solid-js/web'

/** The present snapshot, until the owner is disposed of. On a server, where nothing is, it is read once. */
export function createSnapshot<Types extends ChatTypes>(client: Accessor<ChatClient<Types>>): Accessor<ChatSnapshot<Types>> {
  const signal = createMemo(() => {
    const current = client()
    const [snapshot, setSnapshot] = createSignal(current.getSnapshot())
    if (!isServer) onCleanup(current.subscribe(() => setSnapshot(current.getSnapshot())))
    return snapshot
  })
  return () => signal()()
}

/**
 * What `selector` makes of the present snapshot; it changes only when that is another value.
 * @param client as an accessor, if it may become another one.
 * @param isEqual whether two values show the same; the first of them is then kept. Default `Object.is`.
 */
export function createChatSelector<Value, Types extends ChatTypes = ChatTypes>(
  client: ChatClient<Types> | Accessor<ChatClient<Types>>,
  selector: (snapshot: ChatSnapshot<Types>) => Value,
  isEqual: (a: Value, b: Value) => boolean = Object.is,
): Accessor<Value> {
  const snapshot = createSnapshot(typeof client === 'function' ? client : () => client)
  return createMemo(() => selector(snapshot()), undefined, { equals: isEqual })
}
