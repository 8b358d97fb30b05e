/** The life of a run as subscribers see it: what comes when, what is thrown, and that it ends however the reading ends. */
import { describe, expect, it } from 'vitest'
import { foldSubscribed, HookError, SubscribedThread, ThreadBuilder, verifyEvents, type Event, type Message, type Subscriber, type Thread, type VerifiedEvent } from '../index.ts'

const start: VerifiedEvent = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const finish: VerifiedEvent = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }
const custom: VerifiedEvent = { type: 'CUSTOM', name: 'app.n', value: 1 }

/** Notes the names of the hooks in the order in which they are called; `later` answers each with a promise. */
function recorder(calls: string[], name = '', how: 'now' | 'later' = 'now'): Subscriber {
  const note = (what: string) => (params: object): void | Promise<void> => {
    const said = `${name}${what}${'error' in params ? ` ${(params.error as Error).message}` : ''}`
    if (how === 'now') return void calls.push(said)
    return Promise.resolve().then(() => void calls.push(said))
  }
  const hooks = ['onRunInitialized', 'onRunStartedEvent', 'onCustomEvent', 'onRunFinishedEvent', 'onRunFailed', 'onRunFinalized', 'onMessagesChanged', 'onStateChanged']
  return Object.fromEntries(hooks.map((hook) => [hook, note(hook)]))
}

async function all(events: AsyncIterable<VerifiedEvent> | Iterable<VerifiedEvent>, subscribers: readonly Subscriber[], thread = new ThreadBuilder()): Promise<{ threads: Thread[]; error: unknown }> {
  const threads: Thread[] = []
  try {
    for await (const snapshot of foldSubscribed(events, thread, subscribers)) threads.push(snapshot)
  } catch (error) {
    return { threads, error }
  }
  return { threads, error: undefined }
}

const boom = (): never => {
  throw new Error('boom')
}

describe('the life of a run', () => {
  it.each(['now', 'later'] as const)('initialized, events, finalized; hooks that answer %s', async (how) => {
    const calls: string[] = []
    const { threads, error } = await all([start, custom, finish], [recorder(calls, 'a ', how), recorder(calls, 'b ', how)])
    expect(error).toBeUndefined()
    expect(threads.map(({ runs }) => runs[0]?.outcome)).toEqual(['running', 'running', 'finished'])
    expect(calls).toEqual(['onRunInitialized', 'onRunStartedEvent', 'onCustomEvent', 'onRunFinishedEvent', 'onRunFinalized'].flatMap((hook) => [`a ${hook}`, `b ${hook}`]))
  })

  it('is initialized before the first event is asked for, and may give the run another beginning', async () => {
    const calls: string[] = []
    const source = (function* () {
      calls.push('asked')
      yield start
    })()
    const messages: Message[] = [{ id: 'u', role: 'user', content: 'hi' }]
    const { threads } = await all(source, [{ onRunInitialized: () => ({ messages, state: { n: 1 } }) }, recorder(calls)])
    expect(calls).toEqual(['onRunInitialized', 'onMessagesChanged', 'onStateChanged', 'asked', 'onRunStartedEvent', 'onRunFinalized'])
    expect(threads[0]).toMatchObject({ messages, state: { n: 1 } })
  })

  it.each(['now', 'later'] as const)('a stream that is rejected has failed; what came before stays (%s)', async (how) => {
    const calls: string[] = []
    const thread = new ThreadBuilder()
    const { error } = await all(verifyEvents([start, start] as Event[]), [recorder(calls, '', how)], thread)
    expect(error).toMatchObject({ code: 'violation', rule: 'run.nested' })
    expect(calls.map((call) => call.split(' ')[0])).toEqual(['onRunInitialized', 'onRunStartedEvent', 'onRunFailed', 'onRunFinalized'])
    expect(thread.snapshot().runs).toHaveLength(1)
  })

  it('RUN_ERROR is an event, not a failure', async () => {
    const calls: string[] = []
    expect((await all([start, { type: 'RUN_ERROR', message: 'm' }], [recorder(calls)])).error).toBeUndefined()
    expect(calls).toEqual(['onRunInitialized', 'onRunStartedEvent', 'onRunFinalized'])
  })

  it('a hook that throws is a failure', async () => {
    const calls: string[] = []
    const { error } = await all([start, custom, finish], [recorder(calls), { onCustomEvent: boom }])
    expect(error).toMatchObject({ name: 'HookError', hook: 'onCustomEvent', cause: { message: 'boom' } })
    expect(calls).toEqual(['onRunInitialized', 'onRunStartedEvent', 'onCustomEvent', 'onRunFailed onCustomEvent threw: boom', 'onRunFinalized'])
  })

  it('what is thrown and is no error comes as one', async () => {
    const seen: Error[] = []
    const source = (function* (): Generator<VerifiedEvent> {
      yield start
      throw 'text' // eslint-disable-line no-throw-literal
    })()
    expect((await all(source, [{ onRunFailed: ({ error }) => void seen.push(error) }])).error).toBe('text')
    expect(seen[0]).toMatchObject({ message: 'text', cause: 'text' })
  })

  it('a failure that a hook deals with is not thrown, and later subscribers are not told', async () => {
    const calls: string[] = []
    const source = (function* (): Generator<VerifiedEvent> {
      yield start
      boom()
    })()
    const { error, threads } = await all(source, [{ onRunFailed: () => Promise.resolve({ stopPropagation: true, state: { failed: true } }) }, recorder(calls)])
    expect(error).toBeUndefined()
    expect(threads).toHaveLength(1)
    expect(calls).toEqual(['onRunInitialized', 'onRunStartedEvent', 'onStateChanged', 'onRunFinalized'])
  })

  it('a reader who stops early ends it without a failure', async () => {
    const calls: string[] = []
    for await (const _ of foldSubscribed([start, custom, finish], new ThreadBuilder(), [recorder(calls)])) break
    expect(calls).toEqual(['onRunInitialized', 'onRunStartedEvent', 'onRunFinalized'])
  })

  it.each<[string, Subscriber, unknown]>([
    ['onRunInitialized', { onRunInitialized: boom }, { cause: { message: 'boom' } }],
    ['onRunFinalized', { onRunFinalized: boom }, { cause: { message: 'boom' } }],
    ['onRunFinalized', { onRunFinalized: () => Promise.reject(new Error('boom')) }, { cause: { message: 'boom' } }],
    ['onRunFailed', { onCustomEvent: () => Promise.reject(new Error('first')), onRunFailed: boom }, { cause: { errors: [{ message: 'boom' }, { hook: 'onCustomEvent' }] } }],
    ['onRunFailed', { onCustomEvent: () => { throw new Error('first') }, onRunFailed: () => Promise.reject(new Error('boom')) }, { cause: { errors: [{ message: 'boom' }, { hook: 'onCustomEvent' }] } }],
    ['onRunFinalized', { onCustomEvent: () => { throw new Error('first') }, onRunFinalized: boom }, { cause: { errors: [{ message: 'boom' }, { hook: 'onCustomEvent' }] } }],
    ['onRunFinalized', { onCustomEvent: () => { throw new Error('first') }, onRunFailed: () => ({ stopPropagation: true }), onRunFinalized: boom }, { cause: { message: 'boom' } }],
    ['onMessagesChanged', { onRunInitialized: () => ({ messages: [{ id: 'u', role: 'user', content: '' }] }), onMessagesChanged: boom }, { cause: { message: 'boom' } }],
  ])('%s that throws is named, and no error is lost', async (hook, subscriber, wanted) => {
    const { error } = await all([start, custom, finish], [subscriber])
    expect(error).toBeInstanceOf(HookError)
    expect(error).toMatchObject({ hook, ...(wanted as object) })
  })

  it('without subscribers nothing of it runs', async () => {
    expect((await all([start, finish], [])).threads).toHaveLength(2)
  })
})

describe('SubscribedThread by hand', () => {
  it('is synchronous as long as the hooks are, and each end of its life comes once', () => {
    const calls: string[] = []
    const subscribed = new SubscribedThread(new ThreadBuilder(), [recorder(calls)])
    expect(subscribed.apply(start)).toBeUndefined()
    expect(subscribed.initialize()).toBeUndefined()
    expect(subscribed.fail(new Error('x'))).toBe(false)
    expect(subscribed.finalize()).toBeUndefined()
    expect(subscribed.finalize()).toBeUndefined()
    expect(calls).toEqual(['onRunInitialized', 'onRunStartedEvent', 'onRunFailed x', 'onRunFinalized'])
  })

  it('what is given without waiting keeps its order, also behind a hook that failed', async () => {
    const calls: string[] = []
    const subscribed = new SubscribedThread(new ThreadBuilder(), [recorder(calls, '', 'later'), { onCustomEvent: () => Promise.reject(new Error('boom')) }])
    const settled = await Promise.allSettled([subscribed.initialize(), subscribed.apply(start), subscribed.apply(custom), subscribed.apply(finish), subscribed.fail(new Error('x')), subscribed.finalize()])
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected', 'fulfilled', 'fulfilled'])
    expect(calls).toEqual(['onRunInitialized', 'onRunStartedEvent', 'onCustomEvent', 'onRunFailed x', 'onRunFinalized'])
  })

  it('a later beginning that fails is told to whoever gave the event', async () => {
    const subscribed = new SubscribedThread(new ThreadBuilder(), [{ onRunInitialized: () => Promise.reject(new Error('boom')) }])
    await expect(subscribed.apply(start)).rejects.toMatchObject({ hook: 'onRunInitialized' })
  })
})

describe('what hooks are given', () => {
  const call: VerifiedEvent[] = [
    { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'f' },
    { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{"city":"Ber' },
    { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: 'lin","n":[1' },
    { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: ']}' },
    { type: 'TOOL_CALL_END', toolCallId: 'c' },
  ]

  it('arguments as far as they came', async () => {
    const seen: unknown[] = []
    await all([start, ...call], [{ onToolCallArgsEvent: ({ partialToolCallArgs, toolCallBuffer }) => void seen.push([toolCallBuffer.length, partialToolCallArgs]) }])
    expect(seen).toEqual([[0, {}], [12, { city: 'Ber' }], [23, { city: 'Berlin', n: [] }]])
  })

  it('the calls that a success leaves open', async () => {
    const seen: unknown[] = []
    const watch: Subscriber = { onRunFinishedEvent: (params) => void seen.push(params.outcome === 'success' ? params.pendingToolCallIds : params.outcome) }
    const result: VerifiedEvent = { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: '' }
    await all([start, ...call, finish], [watch])
    await all([start, ...call, result, finish, start, finish], [watch])
    await all([start, ...call, { ...finish, outcome: { type: 'success', pendingToolCallIds: ['d'] } } as VerifiedEvent], [watch])
    await all([start, ...call, { ...finish, outcome: { type: 'cancelled' } } as VerifiedEvent], [watch])
    expect(seen).toEqual([['c'], [], [], ['d'], 'cancelled'])
  })

  it('the activity that is there', async () => {
    const seen: unknown[] = []
    const activity: VerifiedEvent = { type: 'ACTIVITY_SNAPSHOT', messageId: 'p', activityType: 'PLAN', content: {} }
    await all([start, activity, activity], [{ onActivitySnapshotEvent: ({ activityMessage, existingMessage }) => void seen.push([activityMessage?.id, existingMessage?.id]) }])
    expect(seen).toEqual([[undefined, undefined], ['p', 'p']])
  })

  it('what onEvent has changed', async () => {
    const buffers: string[] = []
    const events: VerifiedEvent[] = [start, { type: 'TEXT_MESSAGE_START', messageId: 'm' }, { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x' }]
    await all(events, [
      {
        onEvent: ({ event }) => (event.type === 'TEXT_MESSAGE_CONTENT' ? { messages: [{ id: 'm', role: 'assistant', content: 'other' }] } : undefined),
        onTextMessageContentEvent: ({ textMessageBuffer }) => void buffers.push(textMessageBuffer),
      },
    ])
    expect(buffers).toEqual(['other'])
  })
})
