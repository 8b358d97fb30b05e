/** What a server in memory tells of a thread: its runs, folded in the order in which they were begun. */
import { reportMode, ThreadBuilder, ThreadReader, type Interrupt, type Message } from '@millrace/protocol'
import type { Run } from './model-runs.ts'

export interface ModelThread {
  readonly messages: readonly Message[]
  readonly state: unknown
  readonly activeRun: { readonly runId: string } | null
  readonly interrupts: readonly Interrupt[]
}

/** Undefined if no run was begun. The history that a run was asked with counts, and nothing is told of what a run has said before it is over. */
export function threadOf(runs: readonly Run[]): ModelThread | undefined {
  const begun = runs.filter((run) => run.begun)
  if (begun.length === 0) return undefined
  const thread = new ThreadBuilder()
  const reader = new ThreadReader({ mode: reportMode, thread })
  for (const run of begun) {
    const { messages, state } = run.asked
    const known = new Set(thread.snapshot().messages.map(({ id }) => id))
    if (messages.some(({ id }) => known.has(id))) thread.apply({ type: 'MESSAGES_SNAPSHOT', messages: [...messages] })
    else for (const message of messages) thread.addMessage(message)
    thread.setState(state)
    if (isOver(run)) for (const event of run.script) reader.accept(event)
  }
  const { messages, state, interrupts } = reader.snapshot()
  const active = begun.findLast((run) => !isOver(run))
  return { messages, state, activeRun: active === undefined ? null : { runId: active.runId }, interrupts }
}

function isOver({ released, script }: Run): boolean {
  return released === script.length
}
