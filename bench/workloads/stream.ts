/** What a workload is: a stream of events that is made from nothing but numbers, and what it has to come to. It knows no contender. */
import type { Event, Message } from '@millrace/protocol'

/** What is left of a conversation when the shapes that clients keep it in are taken away. */
export interface Answer {
  /** Text of users and of the assistant, one message after the other. */
  readonly text: string
  readonly reasoning: string
  /** A line for each call: its name and its arguments as JSON. */
  readonly calls: string
  /** Contents of tool results, one after the other. */
  readonly results: string
  /** Shared state as JSON. */
  readonly state: string
}

export interface Stream {
  /** What the thread holds before. */
  readonly history: readonly Message[]
  readonly state?: unknown
  readonly events: readonly Event[]
  /** What every contender must arrive at. */
  readonly answer: Partial<Answer>
}

export interface Workload {
  /** As the head of its column says it. */
  readonly size: string
  make(): Stream
}

/** A stream of one run. */
export function oneRun(events: readonly Event[]): Event[] {
  return [{ type: 'RUN_STARTED', threadId: 'thread', runId: 'run' }, ...events, { type: 'RUN_FINISHED', threadId: 'thread', runId: 'run' }]
}

export function callLine(name: string, argumentsText: string): string {
  return `${name} ${argumentsText}\n`
}
