/**
 * What may watch and change a fold: the hooks of an AG-UI client, by the names it gives them. Types only; `hooks.ts` runs
 * them.
 */
import type { ActivityMessage, EventOf, EventType, Interrupt, Message, ToolCall, VerifiedEvent } from '../events/event.ts'

/** What a hook may answer: other messages or state for the fold to go on from, and whether the event goes on at all. */
export interface Mutation {
  readonly messages?: readonly Message[]
  readonly state?: unknown
  /** Later subscribers are not asked and the event is not folded. */
  readonly stopPropagation?: boolean
}

/** What every hook is given: the conversation as it stands before the event, earlier subscribers' changes included. */
export interface HookContext {
  readonly messages: readonly Message[]
  readonly state: unknown
}

/** A hook answers at once or later; the next event waits for it. */
export type Hook<Params> = (params: Params & HookContext) => Mutation | void | Promise<Mutation | void>

type Pascal<Text extends string> = Text extends `${infer Head}_${infer Tail}`
  ? `${Capitalize<Lowercase<Head>>}${Pascal<Tail>}`
  : Capitalize<Lowercase<Text>>

/** Name of the hook of an event type: `TEXT_MESSAGE_START` → `onTextMessageStartEvent`. */
export type HookName<Type extends EventType> = `on${Pascal<Type>}Event`

/** What some hooks are given beside their event. Buffers hold what came before this event. */
export interface HookExtras {
  TEXT_MESSAGE_CONTENT: { readonly textMessageBuffer: string }
  TEXT_MESSAGE_END: { readonly textMessageBuffer: string }
  REASONING_MESSAGE_CONTENT: { readonly reasoningMessageBuffer: string }
  REASONING_MESSAGE_END: { readonly reasoningMessageBuffer: string }
  /** `partialToolCallArgs`: the best reading of the buffer, an object; `{}` as long as it is none. */
  TOOL_CALL_ARGS: {
    readonly toolCallBuffer: string
    readonly toolCallName: string
    readonly partialToolCallArgs: Readonly<Record<string, unknown>>
  }
  TOOL_CALL_END: { readonly toolCallName: string; readonly toolCallArgs: Readonly<Record<string, unknown>> }
  /** `existingMessage` has the id, whatever its role; `activityMessage` is the same if it is an activity. */
  ACTIVITY_SNAPSHOT: { readonly existingMessage?: Message; readonly activityMessage?: ActivityMessage }
  ACTIVITY_DELTA: { readonly activityMessage?: ActivityMessage }
  RUN_FINISHED:
    | {
        readonly outcome: 'success'
        readonly result?: unknown
        /** Calls that are left to the front end, in order: those the event lists, or those of the run without result. */
        readonly pendingToolCallIds: readonly string[]
      }
    | { readonly outcome: 'interrupt'; readonly interrupts: readonly Interrupt[] }
    | { readonly outcome: 'cancelled' }
}

type Extras<Type extends EventType> = Type extends keyof HookExtras ? HookExtras[Type] : unknown

type EventHooks = {
  readonly [Type in VerifiedEvent['type'] as HookName<Type>]?: Hook<{ readonly event: EventOf<Type> } & Extras<Type>>
}

type Change = Mutation & { readonly stopPropagation?: never }

/** A hook at the beginning or the end of a reading, where there is nothing to stop. */
export type LifeHook = (params: HookContext) => Change | void | Promise<Change | void>

/** Watches a fold; all hooks are optional and called in the order of the subscribers. */
export interface Subscriber extends EventHooks {
  /** Once, before the first event. */
  readonly onRunInitialized?: LifeHook
  /**
   * Reading failed: the stream was rejected or could not be read, or a hook threw. (RUN_ERROR is no such failure, but an
   * event.) With `stopPropagation` it is dealt with: later subscribers are not told, and it is not thrown.
   */
  readonly onRunFailed?: Hook<{ readonly error: Error }>
  /** Once, at the end: after the last event, after a failure, and when the reader stops early. */
  readonly onRunFinalized?: LifeHook
  /** Before the event's own hook. Stopping here skips that one too. */
  readonly onEvent?: Hook<{ readonly event: VerifiedEvent }>
  /** After the fold: a message is complete. */
  readonly onNewMessage?: Hook<{ readonly message: Message }>
  /** After the fold: a call is complete. */
  readonly onNewToolCall?: Hook<{ readonly toolCall: ToolCall }>
  /** After the fold: the messages are others than before the event. */
  readonly onMessagesChanged?: Hook<unknown>
  /** After the fold: the state is another than before the event. */
  readonly onStateChanged?: Hook<unknown>
}
