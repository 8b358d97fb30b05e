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

/** A run begins. `input` may echo what it was started with; `protocolVersion` is the producer’s. */
export type RunStartedEvent = Plain<Core.RunStartedEvent>
/** A run ends well: with success (also without `outcome`), with questions to the user, or cancelled. */
export type RunFinishedEvent = Plain<Core.RunFinishedEvent>
/** A run fails. It may come at any time and ends whatever is open; it carries no ids. */
export type RunErrorEvent = Plain<Core.RunErrorEvent>
/** A named step begins; the name is free for its owner. */
export type StepStartedEvent = Plain<Core.StepStartedEvent>
/** The step of this name and owner ends. */
export type StepFinishedEvent = Plain<Core.StepFinishedEvent>
/** A message begins, or one that was closed goes on. Without `role` it is the assistant’s. */
export type TextMessageStartEvent = Plain<Core.TextMessageStartEvent>
/** More text of an open message; `delta` may be empty. */
export type TextMessageContentEvent = Plain<Core.TextMessageContentEvent>
/** A message is complete. */
export type TextMessageEndEvent = Plain<Core.TextMessageEndEvent>
/** Short for START, CONTENT and END of a message: the first chunk needs its `messageId`. */
export type TextMessageChunkEvent = Plain<Core.TextMessageChunkEvent>
/** A call begins, in the assistant message `parentMessageId` if there is one. */
export type ToolCallStartEvent = Plain<Core.ToolCallStartEvent>
/** More of the arguments of an open call, as text: JSON only once the call is complete, if then. */
export type ToolCallArgsEvent = Plain<Core.ToolCallArgsEvent>
/** The arguments of a call are complete. Nobody may act on them before. */
export type ToolCallEndEvent = Plain<Core.ToolCallEndEvent>
/** Short for START, ARGS and END of a call: the first chunk needs `toolCallId` and `toolCallName`. */
export type ToolCallChunkEvent = Plain<Core.ToolCallChunkEvent>
/** The answer to a call, which becomes a message of its own. */
export type ToolCallResultEvent = Plain<Core.ToolCallResultEvent>
/** The shared state, whole: any JSON value, null included. */
export type StateSnapshotEvent = Plain<Core.StateSnapshotEvent>
/** A change of the shared state (RFC 6902), applied whole or not at all. */
export type StateDeltaEvent = Plain<Core.StateDeltaEvent>
/**
 * The conversation as the producer has it: listed messages are restated, others go, but for activities and thoughts that
 * it does not track.
 */
export type MessagesSnapshotEvent = Plain<Core.MessagesSnapshotEvent>
/** An activity, whole. With `replace: false` one that is there stays. */
export type ActivitySnapshotEvent = Plain<Core.ActivitySnapshotEvent>
/** A change of an activity’s content (RFC 6902), which stays an object. */
export type ActivityDeltaEvent = Plain<Core.ActivityDeltaEvent>
/** A span of reasoning begins; it shows nothing by itself. */
export type ReasoningStartEvent = Plain<Core.ReasoningStartEvent>
/** A span of reasoning ends. */
export type ReasoningEndEvent = Plain<Core.ReasoningEndEvent>
/** A thought begins; it needs no span. */
export type ReasoningMessageStartEvent = Plain<Core.ReasoningMessageStartEvent>
/** More text of an open thought. */
export type ReasoningMessageContentEvent = Plain<Core.ReasoningMessageContentEvent>
/** A thought is complete. */
export type ReasoningMessageEndEvent = Plain<Core.ReasoningMessageEndEvent>
/** Short for START, CONTENT and END of a thought. */
export type ReasoningMessageChunkEvent = Plain<Core.ReasoningMessageChunkEvent>
/** A sealed value of a message or a call, which goes back to its producer unread. */
export type ReasoningEncryptedValueEvent = Plain<Core.ReasoningEncryptedValueEvent>
/** A subagent begins: events with its `subagentRunId` are its own. */
export type SubagentStartedEvent = Plain<Core.SubagentStartedEvent>
/** A subagent ends well, or is suspended until an answer comes. */
export type SubagentFinishedEvent = Plain<Core.SubagentFinishedEvent>
/** A subagent fails; the run goes on. */
export type SubagentErrorEvent = Plain<Core.SubagentErrorEvent>
/** An event of another system, beside those of AG-UI that say the same. Consumers may ignore it. */
export type RawEvent = Plain<Core.RawEvent>
/** An event of the application’s own. Names without a prefix are reserved. */
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

/** The 31 types of events. */
export type EventType = Event['type']

/** The shorthand events that expansion turns into START, CONTENT and END. */
export type ChunkEvent = TextMessageChunkEvent | ToolCallChunkEvent | ReasoningMessageChunkEvent

/** What comes out of verification: every event but the shorthand. */
export type VerifiedEvent = Exclude<Event, ChunkEvent>

/** The event of a type: `EventOf<'RUN_ERROR'>`. */
export type EventOf<Type extends EventType> = Extract<Event, { type: Type }>

/** Any message of a conversation, told apart by `role`. */
export type Message = Plain<Core.Message>
/** What the agent says and calls; without `content` if it only calls. */
export type AssistantMessage = Plain<Core.AssistantMessage>
/** What the user says: text, or a list of parts where there is media. */
export type UserMessage = Plain<Core.UserMessage>
/** The answer to the call `toolCallId`; with `error` if it failed or was declined. */
export type ToolMessage = Plain<Core.ToolMessage>
/** An activity of the agent. It is the client’s to show and is not sent back. */
export type ActivityMessage = Plain<Core.ActivityMessage>
/** A thought of the model. */
export type ReasoningMessage = Plain<Core.ReasoningMessage>
/** Instructions to the model from the system. */
export type SystemMessage = Plain<Core.SystemMessage>
/** Instructions to the model from the developer. */
export type DeveloperMessage = Plain<Core.DeveloperMessage>
/** A call in an assistant message; `function.arguments` is text, which should be JSON. */
export type ToolCall = Plain<Core.ToolCall>
/** A part of a message’s content: text, an image, audio, video or a document. */
export type ContentPart = Plain<Core.ContentPart>
/** Where the bytes of a part are: here in base64 (`data`), at a `url`, or in a provider’s `file`, which nobody else may fetch. */
export type PartSource = Plain<Core.PartSource>
/** A list of operations of RFC 6902; an empty one changes nothing. */
export type JsonPatch = Plain<Core.JsonPatch>
/** One operation of RFC 6902. Its paths are JSON pointers (RFC 6901). */
export type JsonPatchOperation = Plain<Core.JsonPatchOperation>
/** What a run is started with. Absent `tools` and `context` are empty; an absent `state` is `{}`. */
export type RunAgentInput = Plain<Core.RunAgentInput>
/** A tool the agent may call: name, description, and `parameters`, a JSON Schema of its arguments. */
export type Tool = Plain<Core.Tool>
/** A thing the model should know: what it is and what it says. */
export type Context = Plain<Core.Context>
/** The answer to one interrupt; `payload` is what was asked for, if it is `resolved`. */
export type ResumeEntry = Plain<Core.ResumeEntry>
/** A question to the user, at which a run has ended. `responseSchema` says what the answer has to be like. */
export type Interrupt = Plain<Core.Interrupt>
/** How a run ended well. */
export type RunFinishedOutcome = Plain<Core.RunFinishedOutcome>
/** Tokens that a run used with one model of one provider. A count that is absent is not zero. */
export type TokenUsage = Plain<Core.TokenUsage>
/** Roles of messages whose text is streamed. */
export type TextMessageRole = Core.TextMessageRole
/** Data of the application’s own, under keys of its choice. */
export type Metadata = Record<string, unknown>

/**
 * Gives an event to code typed by `@ag-ui/core`, whose `type` is an enum. Same object, no cost.
 */
export function toCoreEvent(event: Event): Core.Event {
  return event as unknown as Core.Event
}
