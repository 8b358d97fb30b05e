/** What a run is started with, beside its messages. */
import { UsageError, withOutputSchema, type ResumeEntry, type RunAgentInputContext } from '@millrace/protocol'
import { checkOptions, isRecord } from '../checks.ts'
import type { GenerateId } from '../ids.ts'
import { declarationOf } from '../tools/define-tool.ts'
import { jsonSchemaOf } from '../tools/standard-schema.ts'
import type { Conversation } from './conversation.ts'
import type { ChatClientSettings, SendOptions } from './options.ts'

/** What a turn is sent with, apart from what the client holds. */
export interface Start {
  readonly threadId: string
  readonly runId: string
  readonly body: SendOptions['body']
}

/**
 * All of a turn's start that may fail, for before anything has changed.
 * @throws UsageError `bad-options`, and whatever `generateId` throws.
 */
export function prepareStart(options: SendOptions, threadId: string | undefined, generateId: GenerateId): Start {
  checkOptions(options, 'The options of a send')
  const { body } = options
  if (body !== undefined && !isRecord(body)) throw new UsageError('bad-options', 'The `body` of a send has to be an object.')
  return { threadId: threadId ?? generateId('thread'), runId: generateId('run'), body }
}

/** `resume` answers the last interrupted run, which becomes the parent. */
export function makeRunContext(
  { forwardedProps, tools, context, output }: ChatClientSettings,
  { thread: { runs, state }, approvals }: Pick<Conversation, 'thread' | 'approvals'>,
  { threadId, runId }: Start,
  resume: readonly ResumeEntry[] | undefined,
): RunAgentInputContext {
  const outputSchema = output?.schema && jsonSchemaOf(output.schema)
  const props = outputSchema === undefined ? forwardedProps : withOutputSchema(forwardedProps, outputSchema)
  const parentRunId = resume && runs.findLast((run) => run.outcome === 'interrupted')?.runId
  return {
    threadId,
    runId,
    state,
    ...(parentRunId !== undefined && { parentRunId }),
    ...(resume !== undefined && { resume }),
    ...(tools !== undefined && { clientTools: tools.map(declarationOf) }),
    ...(context !== undefined && { context }),
    ...(props !== undefined && { forwardedProps: props }),
    ...(approvals.byCustom && { wire: 'parts' as const }),
  }
}
