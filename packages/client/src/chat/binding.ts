/**
 * What bindings to view frameworks share: which client a component has and for how long, and which methods a view is
 * handed. It knows no framework.
 */
import type { AnswerSchemas, ChatTypes, OutputSchema, ToolList } from '../tools/tool-types.ts'
import { ChatClient } from './chat-client.ts'
import type { ChatClientOptions, ChatClientSettings, ChatSnapshot } from './options.ts'

/** The one list of what a view may call. */
const METHODS = [
  'addToolResult',
  'append',
  'attach',
  'cancelQueued',
  'clear',
  'detach',
  'edit',
  'reload',
  'respond',
  'resume',
  'sendMessage',
  'setMessages',
  'setState',
  'stop',
] as const

/** The methods of a client that a view calls. */
export type ChatMethods<Types extends ChatTypes = ChatTypes> = Pick<ChatClient<Types>, (typeof METHODS)[number]>

/**
 * The methods by themselves, so that they can be taken apart.
 * @param current gives the client that a call goes to; asked at each call.
 */
export function chatMethods(current: () => ChatClient): ChatMethods {
  const entries = METHODS.map((name) => {
    const method = (...args: unknown[]): unknown => {
      const client = current()
      return Reflect.apply(client[name], client, args)
    }
    return [name, method] as const
  })
  return Object.fromEntries(entries) as unknown as ChatMethods
}

/** Either what to make a client of, or a client that lives elsewhere and is shared. */
export type ChatSource = NewChat | SharedChat

/** What to make a client of. */
export type NewChat<
  Tools extends ToolList = ToolList,
  Output extends OutputSchema = OutputSchema,
  Reasons extends AnswerSchemas = AnswerSchemas,
> = ChatClientOptions<Tools, Output, Reasons> & { readonly client?: undefined }

/** A client that lives elsewhere and is shared. */
export type SharedChat<Types extends ChatTypes = ChatTypes> = { readonly client: ChatClient<Types> } & {
  readonly [Key in keyof ChatClientOptions]?: undefined
}

/** The client a component has. */
export interface HeldClient {
  readonly client: ChatClient
  /** The client, if it was made for the component, which then ends it. */
  readonly own: ChatClient | undefined
  readonly shared: ChatClient | undefined
  readonly threadId: string | undefined
}

/**
 * Takes the client given, or makes one. Opens nothing, so it may be called while rendering.
 * @throws UsageError as the constructor of `ChatClient`.
 */
export function holdClient(source: ChatSource): HeldClient {
  // No options at all lack a connection, which the client says better than a TypeError does.
  const options: ChatSource = Object(source)
  const { client: shared, threadId } = options
  if (shared !== undefined) return { client: shared, own: undefined, shared, threadId }
  const own = new ChatClient(options)
  return { client: own, own, shared, threadId }
}

/** Whether the client goes on with these options: another thread, or another shared client, is another conversation. */
export function isHeldBy(held: HeldClient, source: ChatSource): boolean {
  const { client, threadId } = Object(source) as ChatSource
  return held.shared === client && held.threadId === threadId
}

/**
 * Takes over options that changed: settings go to the client there is; for another conversation there is another
 * client, and the one before is ended if it was made here.
 * @throws UsageError as the constructor of `ChatClient`, changing nothing.
 */
export function followClient(held: HeldClient, source: ChatSource): HeldClient {
  if (isHeldBy(held, source)) {
    held.own?.updateOptions(source as ChatClientSettings)
    return held
  }
  const next = holdClient(source)
  // Not at once: views follow while they render, and what the end of a turn calls may change what they show.
  queueMicrotask(() => held.own?.dispose())
  return next
}

/**
 * Reads what `selector` makes of the present snapshot; selects once for each snapshot.
 * @param isEqual whether two values show the same; the first of them is then kept. Default `Object.is`.
 * @param before a value that was shown already.
 */
export function chatSelector<Value, Types extends ChatTypes = ChatTypes>(
  client: ChatClient<Types>,
  selector: (snapshot: ChatSnapshot<Types>) => Value,
  isEqual: (a: Value, b: Value) => boolean = Object.is,
  before?: { readonly value: Value },
): () => Value {
  let seen: ChatSnapshot<Types> | undefined
  let last = before
  return () => {
    const snapshot = client.getSnapshot()
    if (last === undefined || snapshot !== seen) {
      const value = selector(snapshot)
      if (last === undefined || !isEqual(last.value, value)) last = { value }
      seen = snapshot
    }
    return last.value
  }
}
