/**
 * Runs subscribers around a fold: before each event their hooks in order, each seeing what the ones before it changed;
 * then the fold, unless one stopped the event; then those who want to hear what changed. Without subscribers nothing here
 * runs. Synchronous as long as every hook is.
 */
import { HookError } from '../errors.ts'
import type { EventOf, EventType, Message, VerifiedEvent } from '../events/event.ts'
import { isObject } from '../json-value.ts'
import type { ThreadBuilder } from '../state/builder.ts'
import type { HookContext, HookExtras, Mutation, Subscriber } from './subscriber.ts'

type AnyHook = (params: object) => unknown

interface Step {
  readonly name: string
  readonly hook: AnyHook
  readonly extras: object
}

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

export class SubscribedThread {
  readonly #thread: ThreadBuilder
  readonly #subscribers: readonly Subscriber[]
  #pending: Promise<void> | undefined

  constructor(thread: ThreadBuilder, subscribers: readonly Subscriber[]) {
    this.#thread = thread
    this.#subscribers = subscribers
  }

  /**
   * Folds one event through the subscribers. Gives a promise only if a hook did; an event given before it settles waits.
   * @throws HookError (or rejects with it) if a hook throws; the event is then not folded.
   */
  apply(event: VerifiedEvent): void | Promise<void> {
    if (this.#subscribers.length === 0) return this.#thread.apply(event)
    if (this.#pending !== undefined) return this.#hold(this.#pending.then(() => this.#run(event)))
    const running = this.#run(event)
    return running instanceof Promise ? this.#hold(running) : undefined
  }

  #hold(running: Promise<void>): Promise<void> {
    const settled = running.finally(() => {
      if (this.#pending === settled) this.#pending = undefined
    })
    this.#pending = settled
    return settled
  }

  #run(event: VerifiedEvent): void | Promise<void> {
    const before = this.#context()
    return then(this.#each(this.#before(event), 0), (stopped) => {
      if (!stopped) this.#thread.apply(event)
      return then(this.#each(this.#after(event, before), 0), () => undefined)
    })
  }

  #context(): HookContext {
    const { messages, state } = this.#thread.snapshot()
    return { messages, state }
  }

  /** `onEvent` of all, then the event's own hook of all. */
  #before(event: VerifiedEvent): Step[] {
    const extras = this.#extras(event)
    return [
      ...this.#steps('onEvent', { event }),
      ...this.#steps(nameOf(event.type), { event, ...extras }),
    ]
  }

  /** Who wants to hear of the effect. What has changed is asked when its turn comes: earlier ones may have changed more. */
  #after(event: VerifiedEvent, before: HookContext): Step[] {
    const { messages, state } = this.#context()
    const message = completedMessage(event, messages)
    const toolCall = event.type === 'TOOL_CALL_END' ? findCall(messages, event.toolCallId) : undefined
    return [
      ...(message === undefined ? [] : this.#steps('onNewMessage', { message })),
      ...(toolCall === undefined ? [] : this.#steps('onNewToolCall', { toolCall })),
      ...(messages === before.messages ? [] : this.#steps('onMessagesChanged', {})),
      ...(state === before.state ? [] : this.#steps('onStateChanged', {})),
    ]
  }

  #steps(name: string, extras: object): Step[] {
    return this.#subscribers.flatMap((subscriber) => {
      const hook = (subscriber as Record<string, AnyHook | undefined>)[name]
      return hook === undefined ? [] : [{ name, hook: hook.bind(subscriber), extras }]
    })
  }

  /** Runs hooks from `index` on; gives whether one stopped the event. Recursion goes through promises only. */
  #each(steps: readonly Step[], index: number): boolean | Promise<boolean> {
    for (let next = index; next < steps.length; next++) {
      const { name, hook, extras } = steps[next] as Step
      let answer: unknown
      try {
        answer = hook({ ...extras, ...this.#context() })
      } catch (error) {
        throw new HookError(name, error)
      }
      if (isThenable(answer)) {
        return Promise.resolve(answer).then(
          (settled) => this.#adopt(settled as Mutation | undefined) || this.#each(steps, next + 1),
          (error: unknown) => {
            throw new HookError(name, error)
          },
        )
      }
      if (this.#adopt(answer as Mutation | undefined)) return true
    }
    return false
  }

  /** Takes over what a hook changed; true if it stopped the event. */
  #adopt(mutation: Mutation | undefined): boolean {
    if (!isObject(mutation)) return false
    const { messages, state, stopPropagation } = mutation as Mutation
    if (messages !== undefined) this.#thread.setMessages(messages)
    if (state !== undefined) this.#thread.setState(state)
    return stopPropagation === true
  }

  #extras(event: VerifiedEvent): object {
    const { messages } = this.#thread.snapshot()
    switch (event.type) {
      case 'TEXT_MESSAGE_CONTENT':
      case 'TEXT_MESSAGE_END':
        return { textMessageBuffer: textOf(messages, event.messageId) } satisfies HookExtras['TEXT_MESSAGE_END']
      case 'REASONING_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_END':
        return { reasoningMessageBuffer: textOf(messages, event.messageId) } satisfies HookExtras['REASONING_MESSAGE_END']
      case 'TOOL_CALL_ARGS': {
        const call = findCall(messages, event.toolCallId)?.function
        return { toolCallBuffer: call?.arguments ?? '', toolCallName: call?.name ?? '' } satisfies HookExtras['TOOL_CALL_ARGS']
      }
      case 'TOOL_CALL_END': {
        const call = findCall(messages, event.toolCallId)?.function
        return { toolCallName: call?.name ?? '', toolCallArgs: parsed(call?.arguments) } satisfies HookExtras['TOOL_CALL_END']
      }
      case 'ACTIVITY_SNAPSHOT':
        return optional('existingMessage', messages.find(({ id }) => id === event.messageId))
      case 'ACTIVITY_DELTA':
        return optional('activityMessage', messages.find(({ id, role }) => id === event.messageId && role === 'activity'))
      case 'RUN_FINISHED':
        return finished(event)
      default:
        return {}
    }
  }
}

function finished({ outcome, result }: EventOf<'RUN_FINISHED'>): HookExtras['RUN_FINISHED'] {
  switch (outcome?.type) {
    case 'interrupt':
      return { outcome: 'interrupt', interrupts: outcome.interrupts }
    case 'cancelled':
      return { outcome: 'cancelled' }
    default:
      return { outcome: 'success', ...(result !== undefined && { result }) }
  }
}

function optional(key: string, value: unknown): object {
  return value === undefined ? {} : { [key]: value }
}

function textOf(messages: readonly Message[], id: string): string {
  const content = messages.findLast((message) => message.id === id)?.content
  return typeof content === 'string' ? content : ''
}

function findCall(messages: readonly Message[], id: string): Extract<Message, { role: 'assistant' }>['toolCalls'] extends (infer Call)[] | undefined ? Call | undefined : never {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index] as Message
    const call = message.role === 'assistant' ? message.toolCalls?.find((one) => one.id === id) : undefined
    if (call !== undefined) return call
  }
  return undefined
}

/** Arguments as an object; text that is none gives no arguments. */
function parsed(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function completedMessage(event: VerifiedEvent, messages: readonly Message[]): Message | undefined {
  switch (event.type) {
    case 'TEXT_MESSAGE_END':
    case 'REASONING_MESSAGE_END':
    case 'ACTIVITY_SNAPSHOT':
      return messages.findLast(({ id }) => id === event.messageId)
    case 'TOOL_CALL_RESULT':
      return messages.findLast((message) => message.role === 'tool' && message.toolCallId === event.toolCallId)
    default:
      return undefined
  }
}

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
