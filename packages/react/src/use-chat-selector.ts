/** A part of a snapshot as a React hook: a component that shows only that renders only when that changes. */
import { chatSelector, type ChatClient, type ChatSnapshot, type ChatTypes } from '@millrace/client'
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react'

/**
 * What `selector` makes of the present snapshot. The component renders again when that is another value.
 * @param selector pure; it may be written inline, and is then called once more for each render.
 * @param isEqual whether two values show the same; the first of them is then kept. Default `Object.is`.
 */
export function useChatSelector<Value, Types extends ChatTypes = ChatTypes>(
  client: ChatClient<Types>,
  selector: (snapshot: ChatSnapshot<Types>) => Value,
  isEqual: (a: Value, b: Value) => boolean = Object.is,
): Value {
  /** What was shown last: a selector written inline is another function at each render, its value is not. */
  const shown = useRef<{ readonly value: Value } | undefined>(undefined)
  // oxlint-disable-next-line react/refs -- It decides which of two equal values is kept, never what is shown.
  const getValue = useMemo(() => chatSelector(client, selector, isEqual, shown.current), [client, selector, isEqual])
  const value = useSyncExternalStore(client.subscribe, getValue, getValue)
  useEffect(() => {
    shown.current = { value }
  }, [value])
  return value
}
