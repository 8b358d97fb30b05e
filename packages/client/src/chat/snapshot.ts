/** What a client holds → the snapshot that views read. Nothing changed, same object. */
import type { Interrupt, Thread, UIMessage } from '@millrace/protocol'
import type { OutputReader } from '../output/reader.ts'
import type { LiveState } from './line.ts'
import type { ChatSnapshot, QueuedMessage } from './options.ts'
import { statusOf, type Phase } from './phase.ts'

const NONE: readonly string[] = []

export interface SnapshotSource {
  readonly threadId: string | undefined
  readonly messages: readonly UIMessage[]
  readonly outputs: OutputReader | undefined
  readonly phase: Phase
  readonly interrupts: readonly Interrupt[]
  readonly queue: readonly QueuedMessage[]
  readonly thread: Thread
  readonly storageError: Error | undefined
  readonly live: LiveState
}

export function buildSnapshot(
  previous: ChatSnapshot | undefined,
  { threadId, messages, outputs, phase, interrupts, queue, thread, storageError, live }: SnapshotSource,
): ChatSnapshot {
  const output = outputs?.current(messages)
  const next: ChatSnapshot = {
    threadId,
    messages,
    partial: output?.partial,
    final: output?.data,
    outputError: output && outputs?.errorOf(output),
    status: statusOf(phase),
    error: phase.kind === 'failed' ? phase.error : undefined,
    unsent: phase.kind === 'failed' ? phase.unsent : NONE,
    state: thread.state,
    interrupts,
    queue,
    runs: thread.runs,
    steps: thread.steps,
    subagents: thread.subagents,
    storageError,
    live,
  }
  if (previous === undefined) return next
  const keys = Object.keys(next) as (keyof ChatSnapshot)[]
  return keys.every((key) => previous[key] === next[key]) ? previous : next
}
