/** The public names of @millrace/protocol, in the order of the path. */
export { HookError, ProtocolError, UsageError, type ProtocolErrorCode, type ProtocolErrorData } from './errors.ts'
export { DEFAULT_LIMITS, type Limits } from './limits.ts'
export type { Diagnostic, Finding, Reporter } from './diagnostics.ts'
export { RULES, type Rule } from './rules.ts'
export type { RuleId, Severity } from './severities.ts'

export type { Frame, FrameDecoder, FrameSink } from './frames/frame.ts'
export { SseDecoder } from './frames/sse-decode.ts'
export { encodeSse, encodeSseComment } from './frames/sse-encode.ts'
export { NdjsonDecoder, encodeNdjson } from './frames/ndjson.ts'

export * from './events/event.ts'
export { DONE, parseFrame, parseNdjsonFrame, type RawEvent, type UpgradeFactory } from './events/parse.ts'
export { parseRunAgentInput } from './events/parse-run-input.ts'
export { oldSpellings } from './events/upgrade.ts'
export { PROTOCOL_VERSION } from './events/version.ts'

export type { Leniency, Verdict } from './verified/leniency.ts'
export { reportMode } from './verified/report.ts'
export { ChunkExpander } from './verified/expander.ts'
export { hygieneRules, type Watch, type WatchFactory } from './verified/hygiene.ts'
export { TOLERANCES, tolerantMode, type Tolerance } from './verified/tolerance.ts'

export { EMPTY_THREAD, type Run, type RunError, type RunOutcome, type Step, type Subagent, type Thread } from './state/thread.ts'
export { ThreadBuilder } from './state/builder.ts'
export { applyPatch } from './state/json-patch.ts'
export { JsonPatchError, type JsonPatchErrorCode } from './state/json-patch-error.ts'
export { PartialJson, type PartialJsonError } from './state/partial-json.ts'
export { compact } from './state/compact.ts'
export { snapshotOf } from './state/snapshot-of.ts'
export { usageTotals, type ModelUsage, type UsageCount, type UsageSum, type UsageTotals } from './state/usage.ts'

export { foldSubscribed } from './subscribers/fold-subscribed.ts'
export { SubscribedThread } from './subscribers/hooks.ts'
export type { Hook, HookContext, HookExtras, HookName, LifeHook, Mutation, Subscriber } from './subscribers/subscriber.ts'

export type { DeepPartial } from './view/deep-partial.ts'
export type * from './view/ui-message.ts'
export { approvalIn, approvalsOf, isToolApproval, isToolRequest, type CallApproval } from './view/approvals.ts'
export { toolInput } from './view/tool-input.ts'
export { toUIMessages } from './view/ui-messages.ts'

export {
  deriveReasoningId,
  deriveToolMessageId,
  toMessages,
  uiMessagesToWire,
  type WireMessage,
  type WireOptions,
} from './wire/ui-messages-to-wire.ts'
export { wireToUiMessages } from './wire/wire-to-ui-messages.ts'
export {
  buildRunAgentInput,
  type RunAgentInputBody,
  type RunAgentInputContext,
  type RunAgentInputOptions,
} from './wire/run-agent-input.ts'
export { outputSchemaOf, withOutputSchema } from './wire/output-schema.ts'
export { translateFor, type Loss, type Translation } from './wire/translate.ts'
export { approvalReply, checkDecision, decisionIn, type ApprovalDecision } from './wire/approval-reply.ts'
export { checkPayload } from './wire/payload-check.ts'
export { buildResume, isExpired, resumeEntry, type InterruptReply, type PayloadCheck } from './wire/resume.ts'

export { compatible, requireMode, type Mode } from './pipeline/compatible.ts'
export { EventVerifier, type VerifyOptions } from './pipeline/event-verifier.ts'
export { ThreadReader, type ThreadReaderOptions } from './pipeline/thread-reader.ts'
export { applyEvents, defaultApplyEvents, expandChunks, verifyEvents, type ApplyOptions, type VerifyEventsOptions } from './pipeline/operators.ts'
