/** What a contender is: it takes a job, and gives what it arrived at, so that a figure is printed only for the right answer. */
import type { Answer, Stream } from '../workloads/stream.ts'
import { sseBytes, type Cuts } from '../workloads/wire.ts'

/** How the stream comes in: JSON texts of events, bytes pushed in pieces, or a `Response` that is read. */
export type Entry = 'texts' | 'push' | 'response'

/** What is done with the stream while it comes, beside looking at the end. */
export type Watch =
  | { readonly kind: 'end' }
  /** Takes a snapshot after so many events. */
  | { readonly kind: 'snapshots'; readonly every: number }
  /** Reads the arguments of the open call after each delta, as a value. */
  | { readonly kind: 'arguments' }
  /** So many subscribers hear of every event, and of every text delta again with the text before it. */
  | { readonly kind: 'subscribers'; readonly count: number }

export interface Job {
  readonly stream: Stream
  readonly entry: Entry
  readonly cuts: Cuts
  readonly watch: Watch
}

/** An answer, and what whoever watched has seen: see `expectedOf`. */
export interface Outcome extends Answer {
  readonly seen: string
}

/** What is timed. The function it gives puts the answer together, which is not. */
export type Run = () => Promise<() => Outcome>

/** Prepares a job, once for a process. What it gives is called before every round, outside of the clock. */
export type Prepare = (job: Job) => () => Run

/** What every contender must say, but for what it lacks. */
export function expectedOf({ stream: { answer, events, history }, watch }: Job): Partial<Outcome> {
  switch (watch.kind) {
    case 'end':
      return answer
    case 'snapshots':
      // The last look is well within the message.
      return { ...answer, seen: seenBy(Math.floor(events.length / watch.every), { length: history.length + 1 }) }
    case 'arguments':
      return { ...answer, seen: answer.calls?.slice(answer.calls.indexOf(' ') + 1, -1) ?? '' }
    case 'subscribers': {
      const deltas = events.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT').length
      return { ...answer, seen: String(watch.count * (events.length + deltas)) }
    }
  }
}

/** What somebody who takes snapshots has seen: how many, and how many messages the last one had. */
export function seenBy(looks: number, last: { readonly length: number }): string {
  return `${looks} looks, ${last.length} messages`
}

/** JSON texts of events, or of what a contender has in their place. */
export function textsOf(events: readonly object[]): string[] {
  return events.map((event) => JSON.stringify(event))
}

export function piecesOf(job: Job, events: readonly object[] = job.stream.events): Uint8Array<ArrayBuffer>[] {
  return sseBytes(events, job.cuts)
}

/** Parses one at a time, when it is asked for. */
export function* parsed(texts: readonly string[]): Generator<unknown, void, undefined> {
  for (const text of texts) yield JSON.parse(text)
}

export class NotOffered extends Error {
  constructor({ entry, watch }: Job) {
    super(`not offered: ${watch.kind} over ${entry}`)
  }
}
