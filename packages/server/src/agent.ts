/**
 * The author's contract: what an agent is and what it is given. Types only; how events get out is known to
 * `emit.ts` and `producer.ts`.
 */
import type {
  ContentPart,
  Event,
  Interrupt,
  JsonPatch,
  Message,
  ResumeEntry,
  RunAgentInput,
  TextMessageRole,
  TokenUsage,
} from '@millrace/protocol'
import type { Logger } from './logger.ts'

/**
 * Answers one run. Two forms, which mix freely: an async function that awaits helpers of `run`, and an async
 * generator (or anything iterable) that yields events. Either way order is that of the program: a yielded event
 * is out before the generator goes on, and a helper is out when its promise settles.
 *
 *     const agent: Agent = async (input, run) => {
 *       await run.text('Let me look.')
 *       const call = await run.toolCall('search', { query: 'millrace' })
 *       await call.result(await search('millrace'))
 *     }
 *
 * RUN_STARTED, RUN_FINISHED and RUN_ERROR are added. What is left open is closed. What is thrown becomes RUN_ERROR, as
 * does what a helper rejects with that nobody ever listens to; only an `AgentError` shows its code and message to the
 * client.
 */
export type Agent = (input: RunAgentInput, run: RunContext) => Events | Promise<Events | void>

/** Events in the order they are to be sent. */
type Events = AsyncIterable<Event> | Iterable<Event>

/** Text that is there, or comes in pieces. */
export type Streamed = string | AsyncIterable<string>

export interface TextOptions {
  readonly messageId?: string
  readonly role?: TextMessageRole
  readonly name?: string
}

export interface ReasoningOptions {
  readonly messageId?: string
}

export interface ToolCallOptions {
  readonly toolCallId?: string
  /** The assistant message the call belongs to, such as the `messageId` of a text before it. */
  readonly parentMessageId?: string
}

export interface ResultOptions {
  readonly messageId?: string
}

export interface ActivityOptions {
  readonly messageId?: string
  /** false keeps an activity that exists under this id as it is. */
  readonly replace?: boolean
}

export interface SubagentOptions {
  readonly subagentRunId?: string
  readonly description?: string
  readonly parentToolCallId?: string
  readonly parentMessageId?: string
}

/** A message in the making. */
export interface TextWriter {
  readonly messageId: string
  write(delta: string): Promise<void>
  /** May be left out: what is open when the run ends is closed. Ending twice is one end. */
  end(): Promise<void>
}

/** A tool call in the making, then a place for its result. */
export interface ToolCallWriter {
  readonly toolCallId: string
  /** A piece of the arguments' JSON text. */
  write(delta: string): Promise<void>
  end(): Promise<void>
  /** Ends the call if it is open, then sends what the tool said; an object is sent as JSON text. */
  result(content: string | ContentPart[] | Readonly<Record<string, unknown>>, options?: ResultOptions): Promise<void>
}

export interface StepWriter {
  end(): Promise<void>
}

export interface ActivityWriter {
  readonly messageId: string
  set(content: Record<string, unknown>): Promise<void>
  /** RFC 6902. The content must stay an object. */
  patch(patch: JsonPatch): Promise<void>
}

export interface StateWriter {
  /** The state as the client has it now. Not to be changed in place. */
  readonly value: unknown
  /** Replaces the shared state. */
  set(snapshot: unknown): Promise<void>
  /** RFC 6902, on {@link value}. A patch that does not apply there is refused by clients too, and logged here. */
  patch(patch: JsonPatch): Promise<void>
}

/**
 * Helpers that write events. Each promise settles when the agent may go on (backpressure) and rejects with
 * `RunEndedError` when the run is over, so that an agent which awaits them stops by itself. One rule holds for all:
 * give the content and the item is closed when the promise is fulfilled; leave it out and you hold it open. If the
 * content fails, the item stays open: an end would say that it is complete.
 */
export interface Emitter {
  /** Any event, as it is. */
  emit(event: Event): Promise<void>
  text(content?: Streamed, options?: TextOptions): Promise<TextWriter>
  reasoning(content?: Streamed, options?: ReasoningOptions): Promise<TextWriter>
  /** `args` as an object, or as JSON text (in pieces). */
  toolCall(name: string, args?: Streamed | Readonly<Record<string, unknown>>, options?: ToolCallOptions): Promise<ToolCallWriter>
  step(name: string): Promise<StepWriter>
  /** A step around `body`, which is finished also when `body` throws. */
  step<Result>(name: string, body: () => Promise<Result>): Promise<Result>
  readonly state: StateWriter
  activity(activityType: string, content: Record<string, unknown>, options?: ActivityOptions): Promise<ActivityWriter>
  /** Restates the whole history. */
  messages(messages: readonly Message[]): Promise<void>
  custom(name: string, value: unknown): Promise<void>
  /** Runs `body` as a subagent: what its emitter writes is marked as the subagent's. A throw is SUBAGENT_ERROR, then thrown on. */
  subagent<Result>(name: string, body: (sub: Emitter) => Promise<Result>, options?: SubagentOptions): Promise<Result>
}

/** An interrupt to ask; without an id it gets one. */
export type InterruptRequest = Omit<Interrupt, 'id'> & { readonly id?: string }

/** What RUN_FINISHED shall say, if the agent does not send it itself. */
export interface FinishDetails {
  readonly result?: unknown
  /** One entry for each provider and model; entries of several calls add up in a list. */
  readonly usage?: readonly TokenUsage[]
  /** Calls the front end has to answer. By default: those without a result, in their order. */
  readonly pendingToolCallIds?: readonly string[]
}

export interface RunContext extends Emitter {
  readonly threadId: string
  readonly runId: string
  /** Aborts when the run is cancelled, times out or was ended by an error: pass it on to what you call. */
  readonly signal: AbortSignal
  /** The request that started the run, its body consumed. It may be gone while the run goes on. */
  readonly request: Request
  readonly logger: Logger
  /** A fresh id. */
  createId(): string
  /** Asks the user: the run ends with these interrupts when the agent returns. May be called several times. */
  interrupt(...interrupts: readonly InterruptRequest[]): void
  /** The client's answer to an interrupt of the run before, if this run brings it. */
  answer(interruptId: string): ResumeEntry | undefined
  finish(details: FinishDetails): void
}
