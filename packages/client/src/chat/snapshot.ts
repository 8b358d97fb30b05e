/** What a client holds → the snapshot that views read. Nothing changed, same object. */
import type { Interrupt, Thread, UIMessage } from '@millrace/protocol'
import type { ChatSnapshot, QueuedMessage } from './options.ts'
import { statusOf, type Phase } from './phase.ts'

export interface SnapshotSource {
  readonly threadId: string | undefined
  readonly messages: readonly UIMessage[]
  readonly phase: Phase
  readonly interrupts: readonly Interrupt[]
  readonly queue: readonly QueuedMessage[]
  readonly thread: Thread
  readonly storageError: Error | undefined
}

export function buildSnapshot(
  previous: ChatSnapshot | undefined,
  { threadId, messages, phase, interrupts, queue, thread, storageError }: SnapshotSource,
): ChatSnapshot {
  const next: ChatSnapshot = {
    threadId,
    messages,
    status: statusOf(phase),
    error: phase.kind === 'failed' ? phase.error : undefined,
    state: thread.state,
    interrupts,
    queue,
    runs: thread.runs,
    steps: thread.steps,
    subagents: thread.subagents,
    storageError,
  }
  if (previous === undefined) return next
  const keys = Object.keys(next) as (keyof ChatSnapshot)[]
  return keys.every((key) => previous[key] === next[key]) ? previous : next
}
