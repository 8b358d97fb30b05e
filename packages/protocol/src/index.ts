/** The public names of @millrace/protocol, in the order of the path. */
export { ProtocolError, UsageError, type ProtocolErrorCode, type ProtocolErrorData } from './errors.ts'
export { DEFAULT_LIMITS, type Limits } from './limits.ts'
export type { Diagnostic } from './diagnostics.ts'
export { RULES, ruleOf, type Rule, type RuleId, type Severity } from './rules.ts'

export type { Frame, FrameDecoder, FrameSink } from './frames/frame.ts'
export { SseDecoder } from './frames/sse-decode.ts'
export { encodeSse, encodeSseComment } from './frames/sse-encode.ts'
export { NdjsonDecoder, encodeNdjson } from './frames/ndjson.ts'

export * from './events/event.ts'
export { DONE, parseFrame, parseNdjsonFrame, parseRunAgentInput } from './events/parse.ts'
export { PROTOCOL_VERSION } from './events/version.ts'

export type { Mode } from './verified/verifier.ts'
export { TOLERANCES, type Tolerance } from './verified/tolerance.ts'

export { EMPTY_THREAD, type Run, type RunError, type RunOutcome, type Step, type Subagent, type Thread } from './state/thread.ts'
export { ThreadBuilder } from './state/builder.ts'
export { applyPatch, JsonPatchError, type JsonPatchErrorCode } from './state/json-patch.ts'

export type * from './view/ui-message.ts'
export { toUIMessages } from './view/ui-messages.ts'

export {
  deriveReasoningId,
  deriveToolMessageId,
  toMessages,
  uiMessagesToWire,
  type WireMessage,
  type WireOptions,
} from './wire/ui-messages-to-wire.ts'
export {
  buildRunAgentInput,
  type RunAgentInputBody,
  type RunAgentInputContext,
  type RunAgentInputOptions,
} from './wire/run-agent-input.ts'

export {
  applyEvents,
  defaultApplyEvents,
  EventVerifier,
  ThreadReader,
  verifyEvents,
  type ThreadReaderOptions,
  type VerifyOptions,
} from './pipeline.ts'
