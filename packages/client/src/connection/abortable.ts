/** Makes an iterable that ignores signals stop at once when one aborts. It knows nothing of events. */

import { UsageError } from '@millrace/protocol'

/** Whether a value can be read item by item. Text can too, and is never meant. */
export function isIterable<Item>(value: unknown): value is AsyncIterable<Item> | Iterable<Item> {
  const candidate = Object(value)
  return typeof value !== 'string' && (Symbol.asyncIterator in candidate || Symbol.iterator in candidate)
}

/**
 * The items of `source` until `signal` aborts. The item in flight is given up, nothing more is pulled, and the source
 * is told by `return()`; its answer is not waited for, since a source that ignores signals may never give one.
 */
export async function* abortableIterable<Item>(
  source: AsyncIterable<Item> | Iterable<Item>,
  signal?: AbortSignal,
): AsyncGenerator<Item, void, undefined> {
  if (signal?.aborted) return
  const iterator = requireIterator(Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]())
  // One listener for the whole iteration; a race against one long-lived promise would gather a reaction per item.
  let giveUp: (() => void) | undefined
  const onAbort = (): void => giveUp?.()
  signal?.addEventListener('abort', onAbort, { once: true })
  let ended = false
  try {
    for (;;) {
      const result = await next(iterator, (callback) => {
        giveUp = callback
      })
      if (result === GIVEN_UP) return
      if (result.done === true) {
        ended = true
        return
      }
      // Async generators await what they yield, so it cannot be a promise here.
      yield await result.value
      if (signal?.aborted) return
    }
  } catch (error) {
    ended = true
    throw error
  } finally {
    signal?.removeEventListener('abort', onAbort)
    if (!ended) {
      const closing = Promise.resolve(iterator.return?.())
      if (signal?.aborted) closing.catch(() => {})
      else await closing
    }
  }
}

const GIVEN_UP: unique symbol = Symbol('given up')

function requireIterator<Iterator extends { next: unknown }>(iterator: Iterator): Iterator {
  if (typeof (Object(iterator) as Partial<Iterator>).next === 'function') return iterator
  throw new UsageError('not-an-iterator', 'The source of events has [Symbol.asyncIterator](), but what that gives has no next().')
}

// Without this an answer such as undefined would pass for an end, and a broken source for one that is done.
function requireResult<Item>(result: IteratorResult<Item>): IteratorResult<Item> {
  if (typeof result === 'object' && result !== null) return result
  throw new UsageError('not-an-iterator', 'next() of the source of events has to give { done, value }, or a promise of it.')
}

function next<Item>(
  iterator: AsyncIterator<Item> | Iterator<Item>,
  onGiveUp: (callback: () => void) => void,
): Promise<IteratorResult<Item> | typeof GIVEN_UP> {
  return new Promise((resolve, reject) => {
    onGiveUp(() => resolve(GIVEN_UP))
    Promise.resolve(iterator.next()).then(requireResult).then(resolve, reject)
  })
}
