/** What a contender does over a real connection: it asks a server for the stream, with all messages, and settles when it has the thread. */
import type { Stream } from '../workloads/stream.ts'
import type { Outcome, Run } from './contender.ts'

export interface ConnectionJob {
  readonly stream: Stream
  /** Where the server is asked; chunks of `ai` are at `/ai` of it. */
  readonly url: string
  /** How often it cuts the connection of a run that can be resumed. Absent: runs cannot be, and are not cut. */
  readonly breaks?: number
}

/**
 * Prepares a job, once for a process. What it gives makes a new client before every round, outside of the clock; a round sends
 * `QUESTION`. Each client has one listener that looks at the messages, as a page has.
 */
export type Connect = (job: ConnectionJob) => () => Run

/** What every contender must say, but for what it lacks. */
export function expectedOfConnection({ stream, breaks }: ConnectionJob): Partial<Outcome> {
  return { ...stream.answer, ...(breaks !== undefined && { seen: resumed(breaks) }) }
}

/** What somebody has seen whose connection was cut. */
export function resumed(times: number): string {
  return `resumed ${times} times`
}
