/**
 * What a client that comes back is told of its thread: the log, folded. It reads the log and the protocol's fold; it
 * knows nothing of HTTP.
 */
import { compatible, ThreadBuilder, ThreadReader, type Interrupt, type Message, type Run, type RunAgentInput } from '@millrace/protocol'
import { LogError } from './errors.ts'
import type { EventLog } from './log/contract.ts'

export interface HydratedThread {
  readonly messages: readonly Message[]
  readonly state: unknown
  /**
   * The run that is under way. Its events are not in `messages`, since a stream can only be read from its start:
   * join it at offset -1. What it was asked (its input) is there.
   */
  readonly activeRun: { readonly runId: string } | null
  /** Open questions of the last interrupted run. */
  readonly interrupts: readonly Interrupt[]
  /** Runs that are over, whose events are in `messages`; oldest first. */
  readonly runs: readonly HydratedRun[]
}

/** How a run ended, and the calls that it left without a result. */
export type HydratedRun = Pick<Run, 'threadId' | 'runId' | 'parentRunId' | 'outcome' | 'pendingToolCallIds'>

/** Folds what the log has of a thread; undefined if it has nothing. */
export async function hydrate(log: EventLog, threadId: string): Promise<HydratedThread | undefined> {
  const runs = await log.list(threadId)
  if (runs.length === 0) return undefined
  const builder = new ThreadBuilder()
  const reader = new ThreadReader({ ...compatible('report'), thread: builder })
  for (const run of runs) {
    const input = await log.input(run.runId)
    if (input === undefined) continue
    // What it was asked says nothing of the run before.
    builder.beginStream()
    takeInput(builder, JSON.parse(input) as RunAgentInput)
    if (run.status === 'closed') await takeEvents(reader, log, run.runId)
  }
  const { messages, state, interrupts, runs: ended } = reader.snapshot()
  const active = runs.findLast(({ status }) => status === 'running')
  return { messages, state, activeRun: active === undefined ? null : { runId: active.runId }, interrupts, runs: ended.map(told) }
}

function told({ threadId, runId, parentRunId, outcome, pendingToolCallIds }: Run): HydratedRun {
  return {
    ...(threadId !== undefined && { threadId }),
    ...(runId !== undefined && { runId }),
    ...(parentRunId !== undefined && { parentRunId }),
    outcome,
    ...(pendingToolCallIds !== undefined && { pendingToolCallIds }),
  }
}

/**
 * Clients send the history as they have it, which counts: edits and regenerations show in it. A client that leaves
 * the history to the server sends messages that are all new; those are added.
 */
function takeInput(builder: ThreadBuilder, input: RunAgentInput): void {
  const known = new Set(builder.snapshot().messages.map(({ id }) => id))
  if (input.messages.some(({ id }) => known.has(id))) {
    builder.apply({ type: 'MESSAGES_SNAPSHOT', messages: input.messages })
  } else {
    for (const message of input.messages) builder.addMessage(message)
  }
  if (input.state !== undefined) builder.setState(input.state)
}

async function takeEvents(reader: ThreadReader, log: EventLog, runId: string): Promise<void> {
  try {
    const { entries } = await log.read(runId)
    for (const { data } of entries) reader.accept(JSON.parse(data))
  } catch (error) {
    // Trimmed between the list and the read: as if it had been trimmed before.
    if (!(error instanceof LogError)) throw error
  }
}
