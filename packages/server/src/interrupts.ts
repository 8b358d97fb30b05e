/**
 * Which answers to interrupts a new run may bring, by what the log knows of its thread. It reads the log and refuses; it knows
 * nothing of HTTP.
 */
import type { RunAgentInput } from '@millrace/protocol'
import type { EventLog, RunInfo } from './log/contract.ts'

/** Why the answers of a run input are not taken, and for which interrupt. */
export interface RefusedAnswers {
  readonly why: 'uncovered' | 'answered'
  readonly interruptId: string
}

/**
 * Undefined if the run may start. `uncovered`: a question of the thread stays without an answer, which only status `cancelled`
 * abandons (AG-UI 1.0, interrupts). `answered`: another run brought the answer, and goes on or came to its end; one that failed or
 * was cancelled did not. Interrupts that the log does not know are left to the agent.
 */
export async function refusedAnswers(log: EventLog, { threadId, runId, resume = [] }: RunAgentInput): Promise<RefusedAnswers | undefined> {
  const runs = await log.list(threadId)
  const given = new Set(resume.map(({ interruptId }) => interruptId))
  const uncovered = openInterrupts(runs).find((id) => !given.has(id))
  if (uncovered !== undefined) return { why: 'uncovered', interruptId: uncovered }
  for (const interruptId of given) {
    const asked = runs.findLastIndex(({ interruptIds }) => interruptIds?.includes(interruptId))
    if (asked === -1) continue
    for (const run of runs.slice(asked + 1)) {
      if (run.runId !== runId && isDone(run) && (await answersOf(log, run.runId)).has(interruptId)) return { why: 'answered', interruptId }
    }
  }
  return undefined
}

/** It goes on, or came to its end. */
function isDone({ status, cancelRequested, outcome }: RunInfo): boolean {
  return status === 'running' ? !cancelRequested : outcome === 'finished' || outcome === 'interrupted'
}

async function answersOf(log: EventLog, runId: string): Promise<ReadonlySet<string>> {
  const input = await log.input(runId)
  const { resume = [] } = input === undefined ? {} : (JSON.parse(input) as RunAgentInput)
  return new Set(resume.map(({ interruptId }) => interruptId))
}

/** Each end replaces (interrupt) or clears (success, cancelled) what is open; an error leaves it (AG-UI 1.0, interrupts). */
function openInterrupts(runs: readonly RunInfo[]): readonly string[] {
  const ended = runs
    .filter((run) => run.status === 'closed' && run.outcome !== 'error')
    .sort((a, b) => (a.closedAt ?? 0) - (b.closedAt ?? 0))
  return ended.at(-1)?.interruptIds ?? []
}

/** Lets one at a time through for each key: between the look at a log and the start of a run nobody else starts one. */
export class Gate {
  readonly #last = new Map<string, Promise<unknown>>()

  /** What `work` gives or rejects with, once all that came before it for this key has settled. */
  async pass<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key)
    const mine = before === undefined ? work() : before.then(work, work)
    this.#last.set(key, mine)
    try {
      return await mine
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key)
    }
  }
}
