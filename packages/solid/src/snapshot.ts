/** The snapshot of a client as a signal. */
import type { ChatClient, ChatSnapshot } from '@millrace/client'
import { createMemo, createSignal, onCleanup, type Accessor } from 'solid-js'
import { isServer } from 'solid-js/web'

/** The present snapshot, until the owner is disposed of. On a server, where nothing is, it is read once. */
export function createSnapshot(client: Accessor<ChatClient>): Accessor<ChatSnapshot> {
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
export function createChatSelector<Value>(
  client: ChatClient | Accessor<ChatClient>,
  selector: (snapshot: ChatSnapshot) => Value,
  isEqual: (a: Value, b: Value) => boolean = Object.is,
): Accessor<Value> {
  const snapshot = createSnapshot(typeof client === 'function' ? client : () => client)
  return createMemo(() => selector(snapshot()), undefined, { equals: isEqual })
}
