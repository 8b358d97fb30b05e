/** What a chat client takes and gives: options, results and the snapshot. Types only. */
import type {
  ContentPart,
  Context,
  Diagnostic,
  Interrupt,
  Limits,
  Metadata,
  Mode,
  Run,
  Step,
  Subagent,
  Tool,
  UIMessage,
  VerifiedEvent,
} from '@millrace/protocol'
import type { ConnectionAdapter } from '../connection/adapter.ts'
import type { ChatFetcher } from '../connection/stream.ts'
import type { Ending } from '../ending.ts'
import type { GenerateId } from '../ids.ts'

/** A UI message as storage gives it back: JSON has no dates, so `createdAt` may be text or a number. */
export type StoredMessage = Omit<UIMessage, 'createdAt'> & { readonly createdAt?: Date | string | number }

/** Where a client writes what it has no other place for. `console` fits. */
export interface Logger {
  warn(message: string, data?: unknown): void
  error(message: string, data?: unknown): void
}

/** How one turn ended. */
export type TurnResult = Ending

/** Options that may change while a client lives; see `ChatClient.updateOptions`. */
export interface ChatClientSettings {
  /** How the agent is reached. Either this or `fetcher`. */
  readonly connection?: ConnectionAdapter
  /** A function that makes the request itself. */
  readonly fetcher?: ChatFetcher
  /** Sent with every run, over the connection's `body`. */
  readonly forwardedProps?: Record<string, unknown>
  /** Declarations of the tools that this client can run. */
  readonly tools?: readonly Tool[]
  readonly context?: readonly Context[]
  readonly logger?: Logger
  /** Called once for each turn, however it ended. */
  readonly onFinish?: (result: TurnResult & { readonly messages: readonly UIMessage[] }) => void
  /** Called once for each turn that failed, before `onFinish`. */
  readonly onError?: (error: Error) => void
  /** Called for each event after it was folded. `index` counts the turn's events as they arrive. */
  readonly onEvent?: (event: VerifiedEvent, index: number) => void
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void
}

export interface ChatClientOptions extends ChatClientSettings {
  /** Default: made at the first send, so that rendering on a server makes none. */
  readonly threadId?: string
  readonly initialMessages?: readonly StoredMessage[]
  readonly initialState?: unknown
  /** How deviations of the peer are treated. Default `tolerant`. */
  readonly mode?: Mode
  readonly limits?: Partial<Limits>
  readonly generateId?: GenerateId
  /** Milliseconds since 1970; decides whether an interrupt has expired. Default `Date.now`. */
  readonly now?: () => number
}

export interface MessageInput {
  readonly content: string | readonly ContentPart[]
  readonly id?: string
  readonly metadata?: Metadata
}

export interface SendOptions {
  /** Values of this send, over `forwardedProps` and the connection's `body`. */
  readonly body?: Record<string, unknown>
}

/** The answer to an interrupt. */
export interface InterruptAnswer {
  readonly status: 'resolved' | 'cancelled'
  readonly payload?: unknown
  readonly metadata?: Metadata
}

/**
 * `ready`: nothing runs. `submitted`: sent, no event yet. `streaming`: events come. `error`: the last turn failed, and
 * nothing runs.
 */
export type ChatStatus = 'ready' | 'submitted' | 'streaming' | 'error'

/** Everything a view needs, as one immutable value. Parts that did not change keep their identity. */
export interface ChatSnapshot {
  /** Absent until the first send if none was given. */
  readonly threadId: string | undefined
  readonly messages: readonly UIMessage[]
  readonly status: ChatStatus
  /** Why the last turn failed; gone with the next one. */
  readonly error: Error | undefined
  /** State shared with the agent. */
  readonly state: unknown
  /** Questions of the agent that wait for `respond()`. */
  readonly interrupts: readonly Interrupt[]
  readonly runs: readonly Run[]
  readonly steps: readonly Step[]
  readonly subagents: readonly Subagent[]
}
