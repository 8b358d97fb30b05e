/**
 * The 31 events of AG-UI 1.0 as types. The shapes are those of `@ag-ui/core`, with two differences: an event's
 * `type` is a string literal, so that plain JSON type-checks, and what is open JSON is `unknown`, not `any`.
 */
import type * as Core from '@ag-ui/core'

type IsAny<T> = 0 extends 1 & T ? true : false

/** A type of `@ag-ui/core`, its enums spelled as literals and its `any` as `unknown`. */
export type Plain<T> = IsAny<T> extends true
  ? unknown
  : T extends Core.EventType
    ? `${T}`
    : T extends string | number | boolean | null | undefined
      ? T
      : T extends (infer Item)[]
        ? Plain<Item>[]
        : T extends object
          ? { [Key in keyof T]: Plain<T[Key]> }
          : T

export type RunStartedEvent = Plain<Core.RunStartedEvent>
export type RunFinishedEvent = Plain<Core.RunFinishedEvent>
export type RunErrorEvent = Plain<Core.RunErrorEvent>
export type StepStartedEvent = Plain<Core.StepStartedEvent>
export type StepFinishedEvent = Plain<Core.StepFinishedEvent>
export type TextMessageStartEvent = Plain<Core.TextMessageStartEvent>
export type TextMessageContentEvent = Plain<Core.TextMessageContentEvent>
export type TextMessageEndEvent = Plain<Core.TextMessageEndEvent>
export type TextMessageChunkEvent = Plain<Core.TextMessageChunkEvent>
export type ToolCallStartEvent = Plain<Core.ToolCallStartEvent>
export type ToolCallArgsEvent = Plain<Core.ToolCallArgsEvent>
export type ToolCallEndEvent = Plain<Core.ToolCallEndEvent>
export type ToolCallChunkEvent = Plain<Core.ToolCallChunkEvent>
export type ToolCallResultEvent = Plain<Core.ToolCallResultEvent>
export type StateSnapshotEvent = Plain<Core.StateSnapshotEvent>
export type StateDeltaEvent = Plain<Core.StateDeltaEvent>
export type MessagesSnapshotEvent = Plain<Core.MessagesSnapshotEvent>
export type ActivitySnapshotEvent = Plain<Core.ActivitySnapshotEvent>
export type ActivityDeltaEvent = Plain<Core.ActivityDeltaEvent>
export type ReasoningStartEvent = Plain<Core.ReasoningStartEvent>
export type ReasoningEndEvent = Plain<Core.ReasoningEndEvent>
export type ReasoningMessageStartEvent = Plain<Core.ReasoningMessageStartEvent>
export type ReasoningMessageContentEvent = Plain<Core.ReasoningMessageContentEvent>
export type ReasoningMessageEndEvent = Plain<Core.ReasoningMessageEndEvent>
export type ReasoningMessageChunkEvent = Plain<Core.ReasoningMessageChunkEvent>
export type ReasoningEncryptedValueEvent = Plain<Core.ReasoningEncryptedValueEvent>
export type SubagentStartedEvent = Plain<Core.SubagentStartedEvent>
export type SubagentFinishedEvent = Plain<Core.SubagentFinishedEvent>
export type SubagentErrorEvent = Plain<Core.SubagentErrorEvent>
export type RawEvent = Plain<Core.RawEvent>
export type CustomEvent = Plain<Core.CustomEvent>

/** Any event of AG-UI 1.0. */
export type Event =
  | RunStartedEvent
  | RunFinishedEvent
  | RunErrorEvent
  | StepStartedEvent
  | StepFinishedEvent
  | TextMessageStartEvent
  | TextMessageContentEvent
  | TextMessageEndEvent
  | TextMessageChunkEvent
  | ToolCallStartEvent
  | ToolCallArgsEvent
  | ToolCallEndEvent
  | ToolCallChunkEvent
  | ToolCallResultEvent
  | StateSnapshotEvent
  | StateDeltaEvent
  | MessagesSnapshotEvent
  | ActivitySnapshotEvent
  | ActivityDeltaEvent
  | ReasoningStartEvent
  | ReasoningEndEvent
  | ReasoningMessageStartEvent
  | ReasoningMessageContentEvent
  | ReasoningMessageEndEvent
  | ReasoningMessageChunkEvent
  | ReasoningEncryptedValueEvent
  | SubagentStartedEvent
  | SubagentFinishedEvent
  | SubagentErrorEvent
  | RawEvent
  | CustomEvent

export type EventType = Event['type']

/** The shorthand events that expansion turns into START, CONTENT and END. */
export type ChunkEvent = TextMessageChunkEvent | ToolCallChunkEvent | ReasoningMessageChunkEvent

/** What comes out of verification: every event but the shorthand. */
export type VerifiedEvent = Exclude<Event, ChunkEvent>

export type EventOf<Type extends EventType> = Extract<Event, { type: Type }>

export type Message = Plain<Core.Message>
export type AssistantMessage = Plain<Core.AssistantMessage>
export type UserMessage = Plain<Core.UserMessage>
export type ToolMessage = Plain<Core.ToolMessage>
export type ActivityMessage = Plain<Core.ActivityMessage>
export type ReasoningMessage = Plain<Core.ReasoningMessage>
export type SystemMessage = Plain<Core.SystemMessage>
export type DeveloperMessage = Plain<Core.DeveloperMessage>
export type ToolCall = Plain<Core.ToolCall>
export type ContentPart = Plain<Core.ContentPart>
export type PartSource = Plain<Core.PartSource>
export type JsonPatch = Plain<Core.JsonPatch>
export type JsonPatchOperation = Plain<Core.JsonPatchOperation>
export type RunAgentInput = Plain<Core.RunAgentInput>
export type Tool = Plain<Core.Tool>
export type Context = Plain<Core.Context>
export type ResumeEntry = Plain<Core.ResumeEntry>
export type Interrupt = Plain<Core.Interrupt>
export type RunFinishedOutcome = Plain<Core.RunFinishedOutcome>
export type TokenUsage = Plain<Core.TokenUsage>
export type TextMessageRole = Core.TextMessageRole
export type Metadata = Record<string, unknown>

/**
 * Gives an event to code typed by `@ag-ui/core`, whose `type` is an enum. Same object, no cost.
 */
export function toCoreEvent(event: Event): Core.Event {
  return event as unknown as Core.Event
}
