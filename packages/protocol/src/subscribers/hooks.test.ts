/** Subscribers: order, what they see, what they may change, and what happens when they throw. */
import { describe, expect, it } from 'vitest'
import { applyEvents, HookError, SubscribedThread, ThreadBuilder, type Event, type Message, type Subscriber, type Thread, type VerifiedEvent } from '../index.ts'

const start: Event = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const say: VerifiedEvent[] = [
  { type: 'TEXT_MESSAGE_START', messageId: 'm' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Hello ' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'you' },
  { type: 'TEXT_MESSAGE_END', messageId: 'm' },
]

function fold(events: readonly VerifiedEvent[], ...subscribers: Subscriber[]): Thread {
  const thread = new ThreadBuilder()
  const subscribed = new SubscribedThread(thread, subscribers)
  for (const event of [start, ...events]) expect(subscribed.apply(event as VerifiedEvent)).toBeUndefined()
  return thread.snapshot()
}

async function foldAsync(events: readonly VerifiedEvent[], ...subscribers: Subscriber[]): Promise<Thread | undefined> {
  let last: Thread | undefined
  for await (const thread of applyEvents([start as VerifiedEvent, ...events], { subscribers })) last = thread
  return last
}

describe('subscribers', () => {
  it('onEvent of all comes first, then the event’s own hook, then the fold, then the news', () => {
    const calls: string[] = []
    const named = (name: string): Subscriber => ({
      onEvent: ({ event }) => void calls.push(`${name} onEvent ${event.type}`),
      onTextMessageStartEvent: ({ messages }) => void calls.push(`${name} start, ${messages.length} messages`),
      onMessagesChanged: ({ messages }) => void calls.push(`${name} changed, ${messages.length} messages`),
    })
    fold(say.slice(0, 1), named('a'), named('b'))
    expect(calls.slice(2)).toEqual([
      'a onEvent TEXT_MESSAGE_START',
      'b onEvent TEXT_MESSAGE_START',
      'a start, 0 messages',
      'b start, 0 messages',
      'a changed, 1 messages',
      'b changed, 1 messages',
    ])
  })

  it('buffers hold what came before the event', () => {
    const buffers: string[] = []
    fold(say, {
      onTextMessageContentEvent: ({ textMessageBuffer, event }) => void buffers.push(`${textMessageBuffer}|${event.delta}`),
      onTextMessageEndEvent: ({ textMessageBuffer }) => void buffers.push(`${textMessageBuffer}|end`),
    })
    expect(buffers).toEqual(['|Hello ', 'Hello |you', 'Hello you|end'])
  })

  it.each(['at once', 'later'])('what a hook was given stays as it was when the next one sees something else (%s)', async (when) => {
    const seen: { readonly messages: readonly Message[]; readonly state: unknown }[] = []
    const changing = (state: number): Subscriber => ({
      onTextMessageStartEvent: (params) => {
        seen.push(params)
        const change = { state }
        return when === 'later' ? Promise.resolve(change) : change
      },
    })
    await foldAsync(say.slice(0, 1), changing(1), changing(2), changing(3))
    expect(seen.map(({ state }) => state)).toEqual([{}, 1, 2])
  })

  it('a hook may put other messages and state in the place of those here; the fold goes on from them', () => {
    const { messages, state } = fold(say, {
      onTextMessageEndEvent: ({ messages: before }) => ({
        messages: before.map((message) => ({ ...message, content: 'redacted' }) as Message),
        state: { redacted: true },
      }),
    })
    expect(messages).toEqual([{ id: 'm', role: 'assistant', content: 'redacted' }])
    expect(state).toEqual({ redacted: true })
  })

  it('a later subscriber sees what an earlier one changed', () => {
    const seen: unknown[] = []
    fold(say.slice(0, 1), { onEvent: () => ({ state: 'one' }) }, { onEvent: ({ state }) => void seen.push(state) })
    expect(seen).toEqual(['one', 'one'])
  })

  it('stopPropagation keeps the event from later subscribers, its own hook (from onEvent) and the fold', () => {
    const calls: string[] = []
    const first: Subscriber = { onTextMessageContentEvent: ({ event }) => ({ stopPropagation: event.delta === 'you' }) }
    const second: Subscriber = { onTextMessageContentEvent: ({ event }) => void calls.push(event.delta) }
    expect(fold(say, first, second).messages).toMatchObject([{ content: 'Hello ' }])
    expect(calls).toEqual(['Hello '])
    expect(fold(say, { onEvent: ({ event }) => ({ stopPropagation: event.type !== 'RUN_STARTED' }), onTextMessageStartEvent: () => expect.unreachable() }).messages).toEqual([])
  })

  it('complete messages and calls are told', () => {
    const news: string[] = []
    fold(
      [
        ...say,
        { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'f' },
        { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{"a":1}' },
        { type: 'TOOL_CALL_END', toolCallId: 'c' },
        { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: '1' },
      ],
      {
        onToolCallEndEvent: ({ toolCallName, toolCallArgs }) => void news.push(`${toolCallName} ${JSON.stringify(toolCallArgs)}`),
        onNewMessage: ({ message }) => void news.push(`message ${message.id}`),
        onNewToolCall: ({ toolCall }) => void news.push(`call ${toolCall.function.arguments}`),
      },
    )
    expect(news).toEqual(['message m', 'f {"a":1}', 'call {"a":1}', 'message x'])
  })

  it('hooks that answer later keep the order', async () => {
    const order: string[] = []
    const slow: Subscriber = {
      onTextMessageContentEvent: async ({ event }) => {
        await new Promise((resolve) => setTimeout(resolve, event.delta === 'you' ? 0 : 3))
        order.push(event.delta)
      },
    }
    expect(await foldAsync(say, slow)).toMatchObject({ messages: [{ content: 'Hello you' }] })
    expect(order).toEqual(['Hello ', 'you'])
    // And without waiting between events.
    const thread = new ThreadBuilder()
    const subscribed = new SubscribedThread(thread, [slow])
    await Promise.all([start as VerifiedEvent, ...say].map((event) => subscribed.apply(event)))
    expect(thread.snapshot().messages).toMatchObject([{ content: 'Hello you' }])
  })

  it('what a hook throws comes as an error that names the hook, and the event is not folded', async () => {
    const failing: Subscriber = {
      onTextMessageStartEvent: () => {
        throw new Error('no')
      },
    }
    const thread = new ThreadBuilder()
    expect(() => new SubscribedThread(thread, [failing]).apply(say[0] as VerifiedEvent)).toThrow(HookError)
    expect(thread.snapshot().messages).toEqual([])
    await expect(foldAsync(say, { onTextMessageEndEvent: () => Promise.reject(new Error('later')) })).rejects.toMatchObject({
      code: 'hook-failed',
      hook: 'onTextMessageEndEvent',
      cause: { message: 'later' },
    })
  })
})
