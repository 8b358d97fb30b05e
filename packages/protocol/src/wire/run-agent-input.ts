/** What a client sends to start a run (AG-UI 1.0, RunAgentInput), built from UI messages and the run's context. */
import type { Context, ResumeEntry, RunAgentInput, Tool } from '../events/event.ts'
import { PROTOCOL_VERSION } from '../events/version.ts'
import type { UIMessage } from '../view/ui-message.ts'
import { uiMessagesToWire, type WireMessage, type WireOptions } from './ui-messages-to-wire.ts'

/** What a run is started with, beside its messages. */
export interface RunAgentInputContext {
  readonly threadId: string
  readonly runId: string
  readonly parentRunId?: string
  readonly resume?: readonly ResumeEntry[]
  /** Tools that the client runs: name, description and JSON Schema of the arguments. */
  readonly clientTools?: readonly Tool[]
  readonly forwardedProps?: Readonly<Record<string, unknown>>
  /** Headers for this run alone; they are the transport's and not part of the input. */
  readonly headers?: Readonly<Record<string, string>>
  readonly state?: unknown
  readonly context?: readonly Context[]
  /** How messages are written where the connection does not say: see {@link WireOptions}. */
  readonly wire?: 'spec' | 'parts'
}

/** What {@link buildRunAgentInput} builds from. */
export interface RunAgentInputOptions extends WireOptions {
  readonly messages: readonly UIMessage[]
  readonly runContext: RunAgentInputContext
  /** Properties set with the connection; the weakest. */
  readonly body?: Readonly<Record<string, unknown>>
  /** Properties of this message; the strongest. */
  readonly data?: Readonly<Record<string, unknown>>
  /** Send the forwarded properties a second time as `data`, for servers that know the old name. Default true. */
  readonly mirrorData?: boolean
}

/** A run input, with the mirror of `forwardedProps` under its old name. */
export type RunAgentInputBody = Omit<RunAgentInput, 'messages' | 'forwardedProps'> & {
  messages: WireMessage[]
  forwardedProps: Record<string, unknown>
  data?: Record<string, unknown>
}

/** Builds a run input. Later properties win: `body`, then the run's `forwardedProps`, then `data`. */
export function buildRunAgentInput(options: RunAgentInputOptions): RunAgentInputBody {
  const { messages, runContext, body, data, mirrorData = true } = options
  const wire = options.wire ?? runContext.wire ?? 'spec'
  const { threadId, runId, parentRunId, resume, clientTools, state, context } = runContext
  const forwardedProps = { ...body, ...runContext.forwardedProps, ...data }
  return {
    threadId,
    runId,
    ...(parentRunId !== undefined && { parentRunId }),
    protocolVersion: PROTOCOL_VERSION,
    // An input cannot say null: both ends read an absent state as `{}`.
    state: state ?? {},
    messages: uiMessagesToWire(messages, { wire }),
    tools: [...(clientTools ?? [])],
    context: [...(context ?? [])],
    forwardedProps,
    ...(resume !== undefined && resume.length > 0 && { resume: [...resume] }),
    ...(mirrorData && { data: { ...forwardedProps } }),
  }
}
