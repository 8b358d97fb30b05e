/**
 * What a user interface renders: messages made of parts, in the order in which they came. Names and shapes of the
 * parts are those of the field (TanStack AI's `UIMessage`), so that renderers and adapters carry over.
 */
import type { ContentPart, Metadata, PartSource } from '../events/event.ts'
import type { DeepPartial } from './deep-partial.ts'

/** The AG-UI message a part was read from: what it needs to go back there. */
export interface MessageOrigin {
  readonly messageId: string
  /** The subagent that wrote it; absent for the agent itself. */
  readonly subagentRunId?: string
  readonly name?: string
  readonly encryptedValue?: string
  readonly metadata?: Metadata
}

interface Part {
  /** Absent on parts that were made here. */
  readonly origin?: MessageOrigin
}

/** Text that is shown. */
export interface TextPart extends Part {
  readonly type: 'text'
  readonly content: string
  /** `streaming` while its message is open. */
  readonly state?: 'streaming' | 'done'
  readonly metadata?: unknown
}

/** A thought of the model. */
export interface ThinkingPart extends Part {
  readonly type: 'thinking'
  readonly content: string
  readonly state?: 'streaming' | 'done'
  /** The provider's sealed form of the thought; it goes back unread. */
  readonly encryptedValue?: string
}

/** How far a call is. */
export type ToolCallState =
  /** Named, no arguments yet. */
  | 'awaiting-input'
  | 'input-streaming'
  /** All arguments are here; nobody has answered. */
  | 'input-complete'
  /** The user is asked before it runs. */
  | 'approval-requested'
  | 'approval-responded'
  /** There is a result. */
  | 'complete'
  /** There is a result and it is an error. */
  | 'error'

/** The answer to a call, as the tool message carries it. */
export interface ToolOutcome {
  /** Id of the tool message. */
  readonly messageId: string
  readonly subagentRunId?: string
  readonly content: string | ContentPart[]
  readonly error?: string
  readonly encryptedValue?: string
  readonly metadata?: Metadata
}

/** The user's word on a call that does not run without it. */
export interface ToolApproval {
  /** What it is answered by: id of the interrupt, or of the request. */
  readonly id: string
  readonly needsApproval: boolean
  /** What the user said. Absent: nothing yet, or in words of the agent's own. */
  readonly approved?: boolean
  /** Arguments to run it with, as the user changed them; those of the part are the model's. */
  readonly input?: unknown
}

declare const INPUT: unique symbol

/**
 * A call of a tool, and its answer once there is one. Its types are known where the tools are: by `Name` and `State` a union of
 * these is told apart, `Input` is what `toolInput(part)` gives.
 */
export interface ToolCallPart<
  Name extends string = string,
  Input = unknown,
  Output = unknown,
  State extends ToolCallState = ToolCallState,
> extends Part {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: Name
  /** Arguments as text: JSON, incomplete while `state` is `input-streaming`. `toolInput(part)` gives them as a value, as the user changed them. */
  readonly arguments: string
  readonly state: State
  readonly approval?: ToolApproval
  /** The result's content, parsed if it is a JSON list or object. */
  readonly output?: Output
  /** The tool message that answers this call. */
  readonly result?: ToolOutcome
  readonly encryptedValue?: string
  readonly metadata?: Metadata
  /** For the type checker alone: no part has it. */
  readonly [INPUT]?: Input
}

/** What `toolInput` gives of a part: `undefined` where there is nothing to read. */
export type ToolInputOf<Call extends ToolCallPart> = Call extends { readonly [INPUT]?: infer Input } ? Input | undefined : never

/** A tool result whose call is not in the same UI message. */
export interface ToolResultPart extends Part {
  readonly type: 'tool-result'
  readonly toolCallId: string
  readonly content: string | ContentPart[]
  readonly state: 'complete' | 'error'
  readonly error?: string
  readonly encryptedValue?: string
  readonly metadata?: Metadata
}

/** A picture, a recording, a film or a document that a user sent. */
export interface MediaPart extends Part {
  readonly type: 'image' | 'audio' | 'video' | 'document'
  readonly source: PartSource
  readonly id?: string
  readonly metadata?: unknown
}

/** An answer in the form of a JSON value, as far as it came. `Raw` is the type of what is sent, `Data` of what a schema makes of it. */
export interface StructuredOutputPart<Data = unknown, Raw = Data> extends Part {
  readonly type: 'structured-output'
  readonly status: 'streaming' | 'complete' | 'error'
  /** The JSON text as it came. */
  readonly raw: string
  /** The best reading of `raw`; absent where there is nothing to read. */
  readonly partial?: DeepPartial<Raw>
  /** The whole value, once the answer is complete. */
  readonly data?: Data
  /** What is wrong, for people, if `status` is `error`. */
  readonly errorMessage?: string
  /** What the model thought of it, where a server says that here. It does not go back. */
  readonly reasoning?: string
}

/** Something the agent is about: its kind, and what there is to show of it. The agent never gets it back. */
export interface ActivityPart extends Part {
  readonly type: 'activity'
  readonly activityType: string
  readonly content: Record<string, unknown>
  readonly metadata?: Metadata
}

/** Any part of a message, told apart by `type`. */
export type UIPart =
  | TextPart
  | ThinkingPart
  | ToolCallPart
  | ToolResultPart
  | MediaPart
  | StructuredOutputPart
  | ActivityPart

/** A message as it is shown: one turn, its parts in the order in which they came. */
export interface UIMessage<Shown extends UIPart = UIPart> {
  readonly id: string
  readonly role: 'system' | 'developer' | 'user' | 'assistant'
  readonly parts: readonly Shown[]
  readonly name?: string
  readonly createdAt?: Date
  readonly metadata?: Metadata
}
