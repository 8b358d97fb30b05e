/** What a chat client takes and gives: options, results and the snapshot. Types only. */
import type {
  ContentPart,
  Context,
  Diagnostic,
  Limits,
  Metadata,
  Mode,
  Run,
  Step,
  Subagent,
  UIMessage,
  UserMessage,
  VerifiedEvent,
} from '@millrace/protocol'
import type { ConnectionAdapter } from '../connection/adapter.ts'
import type { ChatFetcher } from '../connection/stream.ts'
import type { Ending } from '../ending.ts'
import type { GenerateId } from '../ids.ts'
import type { Coalesce } from '../scheduler.ts'
import type { OutputError } from '../output/output-error.ts'
import type { StructuredOutput } from '../output/reader.ts'
import type { AnswerSchemas, ChatTypes, ChatTypesOf, OutputSchema, ToolList } from '../tools/tool-types.ts'
import type { Persistence } from './keeper.ts'
import type { LiveState } from './line.ts'

export type { InterruptAnswer, OpenToolCall, ToolResultInput } from './asked.ts'

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
export interface ChatClientSettings<Types extends ChatTypes = ChatTypes> {
  /** How the agent is reached. Either this or `fetcher`. */
  readonly connection?: ConnectionAdapter
  /** A function that makes the request itself. */
  readonly fetcher?: ChatFetcher
  /** Sent with every run, over the connection's `body`. */
  readonly forwardedProps?: Record<string, unknown>
  /**
   * Tools of this client, and bare declarations of such. What has `execute` is run when the agent calls it, and the agent
   * goes on with what it gives; the rest is answered by `addToolResult`.
   */
  readonly tools?: ToolList
  /**
   * `structured(schema)`: the agent is to answer a value, as JSON text. It streams as `partial` of the snapshot, is `final` once it is whole
   * and fits, and takes the place of the text as a `structured-output` part. The agent is told of it by `outputSchema` in the
   * run's `forwardedProps`: its JSON Schema, if its library can make one. What an agent answers wrongly is no failure of the
   * send; see `outputError` of the snapshot.
   */
  readonly output?: StructuredOutput
  /** Schemas of what is answered to interrupts, by their `reason`: a payload is held against its schema, and goes as that gives it. */
  readonly answers?: AnswerSchemas
  readonly context?: readonly Context[]
  readonly logger?: Logger
  /**
   * Listens to the thread all the time that somebody watches the chat (`subscribe`), over a connection with a subscription of its
   * own, such as `webSocket()`: runs that others begin on the thread, or the server by itself, show as they come. What was said while the
   * link was down is asked for by `hydrate` of the connection. Give `threadId`.
   */
  readonly live?: boolean
  /** A call of a tool of this client that has no `execute`: the application answers it by `addToolResult`. */
  readonly onToolCall?: (call: Types['call']) => void
  /** Called once for each send, when all of it is over, however it ended. */
  readonly onFinish?: (result: TurnResult & { readonly messages: readonly UIMessage<Types['part']>[] }) => void
  /** Called once for each send that failed, before `onFinish`, and when listening to the thread (`live`) fails. */
  readonly onError?: (error: Error) => void
  /** Called for each event after it was folded. `index` counts the turn's events as they arrive. */
  readonly onEvent?: (event: VerifiedEvent, index: number) => void
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void
}

/**
 * What becomes of a message that is sent while a turn runs. `refuse`: UsageError `busy`. `queue`: it waits for its turn.
 * `drop`: it is not sent. `interrupt`: the turn that runs is stopped for it.
 */
export type WhenBusy = 'refuse' | 'queue' | 'drop' | 'interrupt'

export interface OutboxOptions {
  /** `fifo` (default): each waiting message has a turn of its own. `batch`: all that wait go into the next one. */
  readonly drain?: 'fifo' | 'batch'
  /** Messages that may wait. Default 100. */
  readonly maxSize?: number
  /** `refuse` (default): UsageError `queue-full`. `drop-oldest`: the one that waits longest is let go. */
  readonly onOverflow?: 'refuse' | 'drop-oldest'
}

/** A message that waits for its turn. */
export interface QueuedMessage {
  readonly id: string
  readonly content: UserMessage['content']
  readonly createdAt: Date
}

/** What a client is made of. Its types follow from `tools`, `output` and `answers`. */
export interface ChatClientOptions<
  Tools extends ToolList = ToolList,
  Output extends OutputSchema = OutputSchema,
  Reasons extends AnswerSchemas = AnswerSchemas,
> extends ChatClientSettings<ChatTypesOf<Tools, Output, Reasons>> {
  readonly tools?: Tools
  readonly output?: StructuredOutput<Output>
  readonly answers?: Reasons
  /** Default `refuse`. A function decides for each message. */
  readonly whenBusy?: WhenBusy | ((message: UserMessage, queue: readonly QueuedMessage[]) => WhenBusy)
  readonly queue?: OutboxOptions
  /**
   * How often listeners are told of what streams: at most once for each turn of the event loop (`turn`, the default), for each
   * animation frame (`frame`), or in so many milliseconds. What the user does is told at once.
   */
  readonly coalesce?: Coalesce
  /** Default: made at the first send, so that rendering on a server makes none. */
  readonly threadId?: string
  readonly initialMessages?: readonly StoredMessage[]
  readonly initialState?: unknown
  /** How deviations of the peer are treated. Default `tolerant`. */
  readonly mode?: Mode
  readonly limits?: Partial<Limits>
  /** Times in a row that the agent may be gone on with by itself after calling tools of ours. Default 25. */
  readonly maxContinuations?: number
  /** Keeps the thread over a reload: `persisted(webStorage(() => localStorage))`. `attach()` restores it. */
  readonly persistence?: Persistence
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
  /** What becomes of this message while a turn runs; see `ChatClientOptions.whenBusy`. */
  readonly whenBusy?: WhenBusy
}

/**
 * `ready`: nothing runs. `submitted`: sent, no event yet. `streaming`: events come. `error`: the last turn failed, and
 * nothing runs.
 */
export type ChatStatus = 'ready' | 'submitted' | 'streaming' | 'error'

/** Everything a view needs, as one immutable value. Parts that did not change keep their identity. */
export interface ChatSnapshot<Types extends ChatTypes = ChatTypes> {
  /** Absent until the first send if none was given. */
  readonly threadId: string | undefined
  readonly messages: readonly UIMessage<Types['part']>[]
  /** What there is of the value that the agent answers to the last message of the user; see `ChatClientOptions.output`. */
  readonly partial: Types['partial'] | undefined
  /** That value, once it is whole and fits its schema, as the schema gives it. */
  readonly final: Types['final'] | undefined
  /** Why that answer is none; its part has status `error`. Not known of an answer that was stored. */
  readonly outputError: OutputError | undefined
  readonly status: ChatStatus
  /** Why the last turn failed; gone with the next one. */
  readonly error: Error | undefined
  /**
   * Ids of the user's messages that the last turn was to bring and of which nothing was heard: whether they arrived is not
   * known. `retry()` sends them again, and so does any other send. Empty unless `error` is there.
   */
  readonly unsent: readonly string[]
  /** State shared with the agent. */
  readonly state: unknown
  /** Questions of the agent that wait for `respond()`. */
  readonly interrupts: readonly Types['interrupt'][]
  /** Messages that wait for their turn; they are not in `messages` yet. */
  readonly queue: readonly QueuedMessage[]
  readonly runs: readonly Run[]
  readonly steps: readonly Step[]
  readonly subagents: readonly Subagent[]
  /** Why the thread is not stored at present; see `ChatClientOptions.persistence`. It is tried again at the next change. */
  readonly storageError: Error | undefined
  /**
   * Whether the thread is listened to. `closed`: it is not, or the subscription has ended. `connecting`: also while the connection
   * opens its link again; what runs meanwhile is not heard. `error`: the connection has given up. The next send tries again.
   */
  readonly live: LiveState
}
