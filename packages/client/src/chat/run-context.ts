/** What a run is started with, beside its messages. */
import type { ResumeEntry, RunAgentInputContext, Thread } from '@millrace/protocol'
import type { ChatClientSettings } from './options.ts'

/** `resume` answers the last interrupted run, which becomes the parent. */
export function makeRunContext(
  { forwardedProps, tools, context }: ChatClientSettings,
  { runs, state }: Thread,
  threadId: string,
  runId: string,
  resume: readonly ResumeEntry[] | undefined,
): RunAgentInputContext {
  const parentRunId = resume && runs.findLast((run) => run.outcome === 'interrupted')?.runId
  return {
    threadId,
    runId,
    state,
    ...(parentRunId !== undefined && { parentRunId }),
    ...(resume !== undefined && { resume }),
    ...(tools !== undefined && { clientTools: tools }),
    ...(context !== undefined && { context }),
    ...(forwardedProps !== undefined && { forwardedProps }),
  }
}
