/**
 * Runs subscribers around a fold: before each event their hooks in order, each seeing what the ones before it changed;
 * then the fold, unless one stopped the event; then those who want to hear what changed. Without subscribers nothing here
 * runs. Synchronous as long as every hook is.
 */
import { HookError } from '../errors.ts'
import type { EventType, VerifiedEvent } from '../events/event.ts'
import { isObject } from '../json-value.ts'
import type { ThreadBuilder } from '../state/builder.ts'
import { CallTally, completedCall, completedMessage, extrasOf } from './extras.ts'
import type { HookContext, Mutation, Subscriber } from './subscriber.ts'

type AnyHook = (params: object) => unknown

function hookName(type: EventType): string {
  const words = type.split('_').map((word) => word[0] + word.slice(1).toLowerCase())
  return `on${words.join('')}Event`
}

const HOOK_NAMES = new Map<EventType, string>()

function nameOf(type: EventType): string {
  let name = HOOK_NAMES.get(type)
  if (name === undefined) HOOK_NAMES.set(type, (name = hookName(type)))
  return name
}

/**
 * A thread whose subscribers are asked around each event. One for each stream, whose life they see as that of a run:
 * initialized, its events, failed if reading fails, finalized. `foldSubscribed` leads it through that for an iterable.
 */
export class SubscribedThread {
  readonly #thread: ThreadBuilder
  readonly #subscribers: readonly Subscriber[]
  /** The subscribers' hooks by name, looked up when one of that name is due for the first time. */
  readonly #hooks = new Map<string, readonly AnyHook[]>()
  readonly #calls = new CallTally()
  #pending: Promise<unknown> | undefined
  #phase: 'new' | 'begun' | 'over' = 'new'
  /** What reading failed with, unless a hook dealt with it. */
  #failure: Error | undefined

  /**
   * @param thread is folded into; hooks may change what it holds.
   * @param subscribers are asked in this order.
   */
  constructor(thread: ThreadBuilder, subscribers: readonly Subscriber[]) {
    this.#thread = thread
    this.#subscribers = subscribers
  }

  /**
   * Runs `onRunInitialized`, once; the first event does it if nobody has. Gives a promise only if a hook did.
   * @throws HookError (or rejects with it) if a hook throws.
   */
  initialize(): void | Promise<void> {
    if (this.#phase !== 'new') return
    this.#phase = 'begun'
    return this.#inTurn(() => then(this.#tell('onRunInitialized', {}), nothing))
  }

  /**
   * Folds one event through the subscribers. Gives a promise only if a hook did; an event given before it settles waits.
   * @throws HookError (or rejects with it) if a hook throws; the event is then not folded.
   */
  apply(event: VerifiedEvent): void | Promise<void> {
    if (this.#subscribers.length === 0) return this.#thread.apply(event)
    // If it gives a promise, the event waits for it like for any other.
    void this.initialize()
    return this.#inTurn(() => this.#run(event))
  }

  /**
   * Runs `onRunFailed`: because of `error` nothing more will come. What is still under way settles first.
   * @returns whether a hook dealt with it, so that it need not be thrown.
   * @throws HookError (or rejects with it) if a hook throws; its cause is an AggregateError of that and of `error`.
   */
  fail(error: unknown): boolean | Promise<boolean> {
    const failure = error instanceof Error ? error : new Error(String(error), { cause: error })
    this.#failure = failure
    return this.#last(() =>
      then(this.#tell('onRunFailed', { error: failure }), (dealtWith) => {
        if (dealtWith) this.#failure = undefined
        return dealtWith
      }),
    )
  }

  /**
   * Runs `onRunFinalized`, once, after everything else. Gives a promise only if something does.
   * @throws HookError (or rejects with it) if a hook throws; after a failure its cause is an AggregateError of both.
   */
  finalize(): void | Promise<void> {
    if (this.#phase === 'over') return
    this.#phase = 'over'
    return this.#last(() => then(this.#tell('onRunFinalized', {}), nothing))
  }

  /** Does what has to wait for what came before, and does not happen if that failed. */
  #inTurn<Out>(work: () => Out | Promise<Out>): Out | Promise<Out> {
    return this.#hold(this.#pending === undefined ? work() : this.#pending.then(work))
  }

  /** Does what has to wait for what came before, and happens however that went; a failure is not lost on the way. */
  #last<Out>(work: () => Out | Promise<Out>): Out | Promise<Out> {
    const told = (): Out | Promise<Out> => alongside(this.#failure, work)
    return this.#hold(this.#pending === undefined ? told() : this.#pending.then(told, told))
  }

  #hold<Out>(running: Out | Promise<Out>): Out | Promise<Out> {
    if (!(running instanceof Promise)) return running
    const settled = running.finally(() => {
      if (this.#pending === settled) this.#pending = undefined
    })
    this.#pending = settled
    return settled
  }

  #run(event: VerifiedEvent): void | Promise<void> {
    const before = this.#context()
    return then(this.#before(event), (stopped) => {
      if (!stopped) {
        this.#thread.apply(event)
        this.#calls.see(event)
      }
      return this.#news(event, before)
    })
  }

  /** `onEvent` of all, then the event's own hook of all, which is given what the messages are by then. */
  #before(event: VerifiedEvent): boolean | Promise<boolean> {
    const own = (): object => ({ event, ...extrasOf(event, this.#context().messages, this.#calls) })
    return then(this.#ask('onEvent', () => ({ event })), (stopped) => stopped || this.#ask(nameOf(event.type), own))
  }

  /** Tells what an event has completed and changed, until one stops it. */
  #news(event: VerifiedEvent, before: HookContext): void | Promise<void> {
    const { messages } = this.#context()
    const message = completedMessage(event, messages)
    const toolCall = completedCall(event, messages)
    return then(
      then(message !== undefined && this.#ask('onNewMessage', () => ({ message })), (stopped) =>
        then(stopped || (toolCall !== undefined && this.#ask('onNewToolCall', () => ({ toolCall }))), (stoppedToo) =>
          stoppedToo ? true : this.#changes(before),
        ),
      ),
      nothing,
    )
  }

  /** Runs a hook that is about no event; gives whether one of them stopped it. */
  #tell(name: string, extras: object): boolean | Promise<boolean> {
    const before = this.#context()
    return then(this.#ask(name, () => extras), (stopped) => then(this.#changes(before), () => stopped))
  }

  #context(): HookContext {
    return this.#thread.snapshot()
  }

  /** Tells who wants to hear of it what is other than before. */
  #changes(before: HookContext): boolean | Promise<boolean> {
    const { messages, state } = this.#context()
    return then(messages !== before.messages && this.#ask('onMessagesChanged', nothing), (stopped) =>
      stopped ? true : state !== before.state && this.#ask('onStateChanged', nothing),
    )
  }

  /** Runs all hooks of a name; `extras` is asked only if there are any. Gives whether one stopped the event. */
  #ask(name: string, extras: () => object | void): boolean | Promise<boolean> {
    const hooks = this.#named(name)
    return hooks.length > 0 && this.#each(name, hooks, extras() ?? {}, 0)
  }

  #named(name: string): readonly AnyHook[] {
    let hooks = this.#hooks.get(name)
    if (hooks === undefined) {
      hooks = this.#subscribers.flatMap((subscriber) => {
        const hook = (subscriber as Record<string, AnyHook | undefined>)[name]
        return hook === undefined ? [] : [hook.bind(subscriber)]
      })
      this.#hooks.set(name, hooks)
    }
    return hooks
  }

  /** Recursion goes through promises only. */
  #each(name: string, hooks: readonly AnyHook[], extras: object, from: number): boolean | Promise<boolean> {
    // One for all that see the same: making one for each costs more than most hooks do.
    let params = this.#seenNow(extras)
    for (let next = from; next < hooks.length; next++) {
      let answer: unknown
      try {
        answer = (hooks[next] as AnyHook)(params)
      } catch (error) {
        throw new HookError(name, error)
      }
      if (answer === undefined) continue
      if (isThenable(answer)) {
        return Promise.resolve(answer).then(
          (settled) => this.#adopt(settled as Mutation | undefined) || this.#each(name, hooks, { ...extras }, next + 1),
          (error: unknown) => {
            throw new HookError(name, error)
          },
        )
      }
      if (this.#adopt(answer as Mutation | undefined)) return true
      params = this.#seenNow({ ...extras })
    }
    return false
  }

  /** Adds what the thread holds by now. Set, not spread: this is done at every event. */
  #seenNow(extras: object): object {
    const { messages, state } = this.#thread.snapshot()
    const params = extras as { -readonly [Key in keyof HookContext]: HookContext[Key] }
    params.messages = messages
    params.state = state
    return params
  }

  /** Takes over what a hook changed; true if it stopped the event. */
  #adopt(mutation: Mutation | undefined): boolean {
    if (!isObject(mutation)) return false
    const { messages, state, stopPropagation } = mutation as Mutation
    if (messages !== undefined) this.#thread.setMessages(messages)
    if (state !== undefined) this.#thread.setState(state)
    return stopPropagation === true
  }
}

const nothing = (): void => {}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

async function later<In, Out>(value: Promise<In>, next: (value: In) => Out | Promise<Out>): Promise<Out> {
  return next(await value)
}

/** Goes on at once with a value, later with a promise. */
function then<In, Out>(value: In | Promise<In>, next: (value: In) => Out | Promise<Out>): Out | Promise<Out> {
  return value instanceof Promise ? later(value, next) : next(value)
}

/** Runs a hook while a failure is on its way out: if the hook throws, its error carries both. */
function alongside<Out>(failure: Error | undefined, work: () => Out | Promise<Out>): Out | Promise<Out> {
  if (failure === undefined) return work()
  const both = (error: unknown): never => {
    if (!(error instanceof HookError)) throw error
    const { hook, cause } = error
    const thrown = cause instanceof Error ? cause.message : String(cause)
    throw new HookError(hook, new AggregateError([cause, failure], `${thrown}; before it: ${failure.message}`))
  }
  try {
    const out = work()
    return out instanceof Promise ? out.catch(both) : out
  } catch (error) {
    return both(error)
  }
}
