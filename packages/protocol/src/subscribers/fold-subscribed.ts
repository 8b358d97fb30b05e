/** Leads subscribers through the life of one stream: initialized, its events, failed if it fails, finalized. */
import type { VerifiedEvent } from '../events/event.ts'
import type { ThreadBuilder } from '../state/builder.ts'
import type { Thread } from '../state/thread.ts'
import { SubscribedThread } from './hooks.ts'
import type { Subscriber } from './subscriber.ts'

/**
 * Folds the events of one stream into a thread through its subscribers, and gives a snapshot after each.
 *
 * `onRunInitialized` comes before the first event is asked for. If the source throws, an event cannot be folded or a
 * hook throws, `onRunFailed` is told, and the error is thrown unless a hook answers `stopPropagation`. `onRunFinalized`
 * comes last, also when the reader stops early.
 * @param thread is folded into.
 * @throws what the source threw; UsageError `chunk-not-expanded`; HookError if a hook threw. A HookError from
 * `onRunFailed` or `onRunFinalized` that hides another error has both in its cause, an AggregateError.
 */
export async function* foldSubscribed(
  source: AsyncIterable<VerifiedEvent> | Iterable<VerifiedEvent>,
  thread: ThreadBuilder,
  subscribers: readonly Subscriber[],
): AsyncGenerator<Thread, void, void> {
  const subscribed = new SubscribedThread(thread, subscribers)
  try {
    await subscribed.initialize()
    for await (const event of source) {
      const applied = subscribed.apply(event)
      if (applied !== undefined) await applied
      yield thread.snapshot()
    }
  } catch (error) {
    if (!(await subscribed.fail(error))) throw error
  } finally {
    await subscribed.finalize()
  }
}
