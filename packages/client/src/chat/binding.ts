/**
 * What bindings to view frameworks share: which client a component has and for how long, and which methods a view is
 * handed. It knows no framework.
 */
import { UsageError } from '@millrace/protocol'
import type { AnswerSchemas, ChatTypes, OutputSchema, ToolList } from '../tools/tool-types.ts'
import { ChatClient } from './chat-client.ts'
import type { ChatClientOptions, ChatClientSettings, ChatSnapshot } from './options.ts'

/** The one list of what a view may call. */
const METHODS = [
  'addToolResult',
  'append',
  'approve',
  'attach',
  'cancelQueued',
  'clear',
  'detach',
  'edit',
  'reload',
  'respond',
  'resume',
  'retry',
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

/** What a component does with its client when it comes, and when it goes. */
export interface LifetimeOptions {
  /**
   * Whether `attach()` is called once the component is on the page: once for each client, so once for each thread. Never while
   * rendering on a server. Default false.
   */
  readonly attach?: boolean
  /**
   * What becomes of the run that is under way when the component goes, or shows another thread. `leave` (default): it goes on at a
   * server where it can be joined again, as it does when a page is closed, and is stopped elsewhere. `stop`: it is stopped.
   */
  readonly onUnmount?: 'leave' | 'stop'
}

/** Either what to make a client of, or a client that lives elsewhere and is shared. */
export type ChatSource = NewChat | SharedChat

/** What to make a client of. */
export type NewChat<
  Tools extends ToolList = ToolList,
  Output extends OutputSchema = OutputSchema,
  Reasons extends AnswerSchemas = AnswerSchemas,
> = ChatClientOptions<Tools, Output, Reasons> & LifetimeOptions & { readonly client?: undefined }

/** A client that lives elsewhere and is shared. */
export type SharedChat<Types extends ChatTypes = ChatTypes> = { readonly client: ChatClient<Types> } & Pick<LifetimeOptions, 'attach'> & {
    readonly [Key in keyof ChatClientOptions | Exclude<keyof LifetimeOptions, 'attach'>]?: undefined
  }

/** The client a component has. */
export interface HeldClient {
  readonly client: ChatClient
  /** The client, if it was made for the component, which then ends it. */
  readonly own: ChatClient | undefined
  readonly shared: ChatClient | undefined
  readonly threadId: string | undefined
  /** As the component says it now. */
  lifetime: LifetimeOptions
}

/**
 * Takes the client given, or makes one. Opens nothing, so it may be called while rendering.
 * @throws UsageError as the constructor of `ChatClient`; `bad-options` for an `attach` or `onUnmount` that is none.
 */
export function holdClient(source: ChatSource): HeldClient {
  // No options at all lack a connection, which the client says better than a TypeError does.
  const options: ChatSource = Object(source)
  const { client: shared, threadId } = options
  const lifetime = lifetimeOf(options)
  if (shared !== undefined) return { client: shared, own: undefined, shared, threadId, lifetime }
  const own = new ChatClient(options)
  return { client: own, own, shared, threadId, lifetime }
}

function lifetimeOf({ attach = false, onUnmount = 'leave' }: ChatSource): LifetimeOptions {
  if (typeof attach !== 'boolean') throw new UsageError('bad-options', '`attach` is true or false.')
  if (onUnmount !== 'leave' && onUnmount !== 'stop') throw new UsageError('bad-options', "`onUnmount` is 'leave' or 'stop'.")
  return { attach, onUnmount }
}

/**
 * Hands the options of the moment to a client that is held.
 * @throws UsageError as `holdClient`, changing nothing.
 */
export function updateHeld(held: HeldClient, source: ChatSource): void {
  const lifetime = lifetimeOf(source)
  held.own?.updateOptions(source as ChatClientSettings)
  held.lifetime = lifetime
}

/** Clients that were attached by a component. */
const attached = new WeakSet<ChatClient>()

/** Threads with a run that was left before the server was heard of it, by their ids. */
const departing = new Map<string, Promise<void>>()

/** The component is on the page: attaches its client, if it is to be and was not. May be called again and again. */
export function attachHeld({ client, lifetime }: HeldClient): void {
  if (lifetime.attach !== true || attached.has(client)) return
  attached.add(client)
  // A component in whose place this one came is ended by then.
  queueMicrotask(() => void attachArrived(client))
}

/** A server that is asked before it knows of the run would tell of a thread without it. */
async function attachArrived(client: ChatClient): Promise<void> {
  const { threadId } = client.getSnapshot()
  if (threadId !== undefined) await departing.get(threadId)
  // The component may be gone again.
  if (attached.has(client)) await client.attach()
}

/** The component is gone, or has another client now: ends its client if it was made for it. */
export function endHeld({ own, lifetime }: HeldClient): void {
  if (own === undefined) return
  // A component that is hidden for a while comes back with the same client.
  attached.delete(own)
  void depart(own, lifetime.onUnmount)
}

async function depart(client: ChatClient, run: LifetimeOptions['onUnmount']): Promise<void> {
  const { threadId } = client.getSnapshot()
  const departed = client.dispose(run)
  if (threadId === undefined) return
  departing.set(threadId, departed)
  await departed
  if (departing.get(threadId) === departed) departing.delete(threadId)
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
    updateHeld(held, source)
    return held
  }
  const next = holdClient(source)
  // Not at once: views follow while they render, and what the end of a turn calls may change what they show.
  queueMicrotask(() => endHeld(held))
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
