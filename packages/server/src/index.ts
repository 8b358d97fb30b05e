/** The public interface of @millrace/server, by name. `@millrace/server/node` has the bridge to node:http. */
export type {
  ActivityOptions,
  ActivityWriter,
  Agent,
  Emitter,
  FinishDetails,
  InterruptRequest,
  ReasoningOptions,
  ResultOptions,
  RunContext,
  StateWriter,
  StepWriter,
  Streamed,
  SubagentOptions,
  TextOptions,
  TextWriter,
  ToolCallOptions,
  ToolCallWriter,
} from './agent.ts'
export type { Asked, Authorize } from './authorize.ts'
export { systemClock, type Clock } from './clock.ts'
export { AgentError, LogError, RunEndedError, ServerLimitError, type LogErrorCode } from './errors.ts'
export type { RunHandlerOptions } from './check-options.ts'
export { createRunHandler, type RunHandler } from './handler.ts'
export type { HydratedRun, HydratedThread } from './hydrate.ts'
export { DEFAULT_SERVER_LIMITS, type ServerLimits } from './limits.ts'
export {
  START,
  type Created,
  type EventLog,
  type Lease,
  type LeaseState,
  type LogEntry,
  type LogPage,
  type NewRun,
  type Offset,
  type ReadOptions,
  type RunEnd,
  type RunEndOutcome,
  type RunInfo,
  type TrimSelection,
} from './log/contract.ts'
export { DEFAULT_MEMORY_LOG_LIMITS, MemoryLog, type MemoryLogLimits } from './log/memory.ts'
export type { Logger } from './logger.ts'
export { outputSchemaOf } from '@millrace/protocol'
