/** What all connections of one server share. */
import type { Bell } from './bell.ts'
import type { Fault } from './fault.ts'
import type { Ids } from './ids.ts'
import type { Entry } from './request-log.ts'
import type { Run, RunInput, Runs } from './runs.ts'
import { Spout, type Pipe, type Stop, type Timer } from './spout.ts'

/**
 * `get`: GET with the runId. `post`: the same POST again, with Last-Event-ID. `none`: a run is streamed once; asked for again
 * it runs again.
 */
export type ResumeBy = 'get' | 'post' | 'none'

export interface Context {
  readonly bell: Bell
  readonly runs: Runs
  readonly ids: Ids
  readonly resume: ResumeBy
  readonly timer: Timer
  readonly entries: Entry[]
  readonly unstalled: () => number
  /** The fault of this request; `attempt` says whether it opens a stream, which is what a list of faults counts. */
  faultOf(entry: Entry, attempt: boolean): Fault
}

export function spoutOf(context: Context, pipe: Pipe, entry: Entry, fault: Fault, stop: Stop | undefined): Spout {
  const { bell, timer, unstalled } = context
  return new Spout(pipe, { stop, chop: fault.chop, progress: entry, bell, timer, unstalled })
}

/** A run input as far as a server needs it; undefined if it is none. */
export function parseInput(text: string): RunInput | undefined {
  try {
    const value = JSON.parse(text) as Partial<RunInput> | null
    return typeof value?.threadId === 'string' && typeof value.runId === 'string' ? (value as RunInput) : undefined
  } catch {
    return undefined
  }
}

export interface Refusal {
  readonly status: number
  readonly code: string
}

/** Which events of which run a request is about. */
export interface Target {
  readonly run: Run
  readonly from: number
}

/** Behind the cursor; from the start without one. */
export function resumeAt({ runs, ids }: Context, runId: string, cursor: string | undefined): Target | Refusal {
  const run = runs.find(runId)
  if (run === undefined) return { status: 404, code: 'run.unknown' }
  const from = cursor === undefined ? 0 : ids.find(runId, cursor, run.available)
  return from === undefined ? { status: 400, code: 'run.offset' } : { run, from }
}
