/**
 * What a user interface renders: messages made of parts, in the order in which they came. Names and shapes of the
 * parts are those of the field (TanStack AI's `UIMessage`), so that renderers and adapters carry over.
 */
import type { ContentPart, Metadata, PartSource } from '../events/event.ts'

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

/** A call of a tool, and its answer once there is one. */
export interface ToolCallPart extends Part {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  /** Arguments as text: JSON, incomplete while `state` is `input-streaming`. `toolInput(part)` gives them as a value. */
  readonly arguments: string
  readonly state: ToolCallState
  readonly approval?: { readonly id: string; readonly needsApproval: boolean; readonly approved?: boolean }
  /** The result's content, parsed if it is JSON. */
  readonly output?: unknown
  /** The tool message that answers this call. */
  readonly result?: ToolOutcome
  readonly encryptedValue?: string
  readonly metadata?: Metadata
}

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

/** An answer in the form of a JSON value, as far as it came. */
export interface StructuredOutputPart extends Part {
  readonly type: 'structured-output'
  readonly status: 'streaming' | 'complete' | 'error'
  /** The JSON text as it came. */
  readonly raw: string
  readonly partial?: unknown
  readonly data?: unknown
  readonly errorMessage?: string
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
export interface UIMessage {
  readonly id: string
  readonly role: 'system' | 'developer' | 'user' | 'assistant'
  readonly parts: readonly UIPart[]
  readonly name?: string
  readonly createdAt?: Date
  readonly metadata?: Metadata
}
