/** Joins batches that come before the event loop turns. It knows nothing of what they hold. */
import { macrotask } from '../scheduler.ts'

/** The items of `batches`, those of one turn of the event loop together. Nothing is read ahead of the consumer's pace. */
export async function* gatherTurns<Item>(
  batches: AsyncIterable<readonly Item[]>,
): AsyncGenerator<readonly Item[], void, undefined> {
  const iterator = batches[Symbol.asyncIterator]()
  let ended = false
  let pending = iterator.next()
  try {
    for (;;) {
      const first = await pending
      const gathered: Item[] = []
      let result: IteratorResult<readonly Item[]> | undefined = first
      const turn = nextTurn()
      while (result !== undefined && result.done !== true) {
        // One by one: a spread is an argument list, and one network read may hold more than the stack can.
        for (const item of result.value) gathered.push(item)
        pending = iterator.next()
        result = await turn.before(pending).catch(() => undefined)
      }
      turn.cancel()
      if (gathered.length > 0) yield gathered
      if (result?.done === true) {
        ended = true
        return
      }
    }
  } catch (error) {
    ended = true
    throw error
  } finally {
    // Not waited for: a read that is under way may never end, and the consumer has gone.
    if (!ended) Promise.resolve(iterator.return?.()).catch(() => {})
  }
}

/** The turn of the event loop that has begun: `before` gives what settles in it, else undefined. */
function nextTurn(): { before<Value>(promise: Promise<Value>): Promise<Value | undefined>; cancel(): void } {
  let over = false
  let wake: (() => void) | undefined
  const cancel = macrotask(() => {
    over = true
    wake?.()
  })
  return {
    before: (promise) =>
      new Promise((resolve, reject) => {
        promise.then(resolve, reject)
        wake = () => resolve(undefined)
        if (over) wake()
      }),
    cancel,
  }
}
