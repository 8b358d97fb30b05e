/** The halves of the inbound path as operators over iterables, under the names of the AG-UI client. */
import type { Event, Message, VerifiedEvent } from '../events/event.ts'
import { ChunkExpander } from '../verified/expander.ts'
import { ThreadBuilder } from '../state/builder.ts'
import type { Thread } from '../state/thread.ts'
import { foldSubscribed } from '../subscribers/fold-subscribed.ts'
import type { Subscriber } from '../subscribers/subscriber.ts'
import { compatible, type Mode } from './compatible.ts'
import { EventVerifier, type VerifyOptions } from './event-verifier.ts'

/** As {@link VerifyOptions}, with the mode by its name. */
export interface VerifyEventsOptions extends Omit<VerifyOptions, 'mode' | 'upgrade'> {
  /** `strict` by default. */
  readonly mode?: Mode
}

/**
 * The order rules as a stream operator: raw events in, verified events out. Old spellings are read, as by {@link compatible}.
 * @throws UsageError `bad-mode`; ProtocolError after all that was valid has been given.
 */
export async function* verifyEvents(
  source: AsyncIterable<unknown> | Iterable<unknown>,
  { mode, ...options }: VerifyEventsOptions = {},
): AsyncGenerator<VerifiedEvent, void, void> {
  const verifier = new EventVerifier({ ...options, ...compatible(mode) })
  const ready: VerifiedEvent[] = []
  for await (const event of source) {
    verifier.accept(event, (verified) => ready.push(verified))
    yield* ready.splice(0)
  }
  verifier.finish()
}

/**
 * Chunk expansion as a stream operator: *_CHUNK events become START, CONTENT and END, all others pass. No order rule is
 * checked beside those of chunks.
 * @throws ProtocolError `violation` (`chunk.*`) after all that was valid has been given.
 */
export async function* expandChunks(source: AsyncIterable<Event> | Iterable<Event>): AsyncGenerator<VerifiedEvent, void, void> {
  const expander = new ChunkExpander()
  const ready: VerifiedEvent[] = []
  for await (const event of source) {
    expander.accept(event, (expanded) => ready.push(expanded))
    yield* ready.splice(0)
  }
}

/** What the fold begins with, and who is asked before each event. */
export interface ApplyOptions {
  /** What the thread holds before. */
  readonly messages?: readonly Message[]
  readonly state?: unknown
  /** Asked before each event; see `Subscriber`. */
  readonly subscribers?: readonly Subscriber[]
}

/**
 * The fold as a stream operator: verified events in, a snapshot after each out.
 * @throws UsageError `chunk-not-expanded` for a *_CHUNK event; HookError if a subscriber's hook throws; see `foldSubscribed`.
 */
export async function* applyEvents(
  source: AsyncIterable<VerifiedEvent> | Iterable<VerifiedEvent>,
  options: ApplyOptions = {},
): AsyncGenerator<Thread, void, void> {
  yield* foldSubscribed(source, new ThreadBuilder(options), options.subscribers ?? [])
}

/** The name the AG-UI client gives {@link applyEvents}. */
export const defaultApplyEvents: typeof applyEvents = applyEvents
