import { ChatClient, fetchServerSentEvents, stream, type StreamChunk } from '@millrace/client'
import { describe, expect, it } from 'vitest'
import { caught, failed, finished, hello, recording, started, text, tick } from '../../test/events.ts'
import { scripted, texts } from '../../test/scripted.ts'

describe('sendMessage', () => {
  it('shows the message at once, then the answer, and resolves with the outcome', async () => {
    const { chat, calls } = scripted([hello()])
    const seen: string[] = []
    chat.subscribe(() => seen.push(chat.getSnapshot().status))
    expect(chat.getSnapshot()).toMatchObject({ status: 'ready', messages: [], error: undefined, state: {}, interrupts: [] })
    const sent = chat.sendMessage('Hi')
    expect(chat.getSnapshot()).toMatchObject({ status: 'submitted', messages: [{ role: 'user', parts: [{ type: 'text', content: 'Hi' }] }] })
    expect(await sent).toEqual({ outcome: 'finished' })
    expect(chat.getSnapshot().status).toBe('ready')
    expect(texts(chat)).toEqual(['Hi', 'Hello'])
    expect(seen[0]).toBe('submitted')
    expect(seen).toContain('streaming')
    expect(seen.at(-1)).toBe('ready')
    expect(calls[0]?.[3]).toMatchObject({ threadId: 't1', runId: expect.stringMatching(/^run-/), state: {} })
  })

  it('sends content parts, an id, metadata, and values of this send', async () => {
    const { chat, calls } = scripted([hello()], { forwardedProps: { a: 1 }, context: [{ description: 'd', value: 'v' }] })
    await chat.sendMessage(
      { content: [{ type: 'text', text: 'Look' }, { type: 'image', source: { type: 'url', value: 'https://x/y.png' } }], id: 'mine', metadata: { k: 1 } },
      { body: { b: 2 } },
    )
    const [messages, data, , context] = calls[0] as (typeof calls)[0]
    expect(messages).toMatchObject([{ id: 'mine', metadata: { k: 1 }, parts: [{ type: 'text', content: 'Look' }, { type: 'image' }] }])
    expect(data).toEqual({ b: 2 })
    expect(context).toMatchObject({ forwardedProps: { a: 1 }, context: [{ description: 'd', value: 'v' }] })
  })

  it.each([
    ['', 'empty-message'],
    [' \n', 'empty-message'],
    [{ content: [] }, 'empty-message'],
    [undefined, 'malformed-message'],
    [{ content: 5 }, 'malformed-message'],
  ])('refuses %j as %s and sends nothing', async (input, code) => {
    const { chat, calls } = scripted([hello()])
    const before = chat.getSnapshot()
    expect(await caught(() => chat.sendMessage(input as string))).toMatchObject({ name: 'UsageError', code })
    expect(calls).toEqual([])
    expect(chat.getSnapshot()).toBe(before)
  })

  it('refuses a second message while a turn runs', async () => {
    const { chat, calls } = scripted([hello()])
    const first = chat.sendMessage('One')
    expect(await caught(() => chat.sendMessage('Two'))).toMatchObject({ name: 'UsageError', code: 'busy' })
    expect(await first).toEqual({ outcome: 'finished' })
    expect(texts(chat)).toEqual(['One', 'Hello'])
    expect(calls).toHaveLength(1)
  })

  it('carries the conversation and the state over turns', async () => {
    const { chat, calls } = scripted([
      [started('r1'), { type: 'STATE_SNAPSHOT', snapshot: { n: 1 } }, ...text('A', 'a1'), finished('r1')],
      [started('r2'), { type: 'STATE_DELTA', delta: [{ op: 'replace', path: '/n', value: 2 }] }, ...text('B', 'a2'), finished('r2')],
    ])
    await chat.sendMessage('One')
    await chat.sendMessage('Two')
    expect(calls[1]?.[0].map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(calls[1]?.[3]).toMatchObject({ state: { n: 1 } })
    expect(chat.getSnapshot().state).toEqual({ n: 2 })
    expect(chat.getSnapshot().runs.map(({ runId, outcome }) => [runId, outcome])).toEqual([
      ['r1', 'finished'],
      ['r2', 'finished'],
    ])
  })
})

describe('snapshots', () => {
  it('keep their identity while nothing changes, and that of messages that did not', async () => {
    const { chat } = scripted([hello('r1', 'One'), hello('r2', 'Two')])
    await chat.sendMessage('Hi')
    const before = chat.getSnapshot()
    expect(chat.getSnapshot()).toBe(before)
    chat.setState(before.state)
    await chat.sendMessage('Again')
    const after = chat.getSnapshot()
    expect(after).not.toBe(before)
    expect(after.messages[0]).toBe(before.messages[0])
    expect(after.messages[1]).toBe(before.messages[1])
    expect(after.state).toBe(before.state)
  })

  it('a burst tells listeners a few times, and the event loop turns while it is folded', async () => {
    const many = text('x'.repeat(60_000), 'm1')
    const { chat } = scripted([[started(), ...many, finished()]])
    let told = 0
    let turns = 0
    chat.subscribe(() => {
      told++
      chat.getSnapshot()
    })
    const timer = setInterval(() => turns++, 1)
    await chat.sendMessage('Hi')
    clearInterval(timer)
    expect(texts(chat)[1]).toHaveLength(60_000)
    expect(turns).toBeGreaterThan(3)
    expect(told).toBeLessThan(600)
  })
})

describe('what is left behind', () => {
  const immediates = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Immediate').length

  it('nothing is scheduled and no signal is open after a turn, however it ends', async () => {
    const signals: AbortSignal[] = []
    const chat = new ChatClient({
      connection: stream((_messages, _data, signal) => {
        signals.push(signal as AbortSignal)
        return [hello(), [started(), failed()], [{ type: 'TEXT_MESSAGE_END', messageId: 'x' }]][signals.length - 1] as StreamChunk[]
      }),
    })
    chat.subscribe(() => {})
    for (let turn = 0; turn < 3; turn++) await chat.sendMessage('Hi')
    // The sending side learns of the end a few microtasks later; an immediate would still be there then.
    for (let n = 0; n < 50; n++) await Promise.resolve()
    expect(immediates()).toBe(0)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true])
  })

  it('a listener that stops the turn at its first notice keeps it from being sent', async () => {
    const { chat, calls } = scripted([hello()])
    const off = chat.subscribe(() => {
      off()
      chat.stop()
    })
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'cancelled' })
    await tick()
    expect(calls).toEqual([])
  })

  it('dispose stops the turn and tells nobody', async () => {
    const { chat } = scripted([hello()])
    let told = 0
    const sent = chat.sendMessage('Hi')
    chat.subscribe(() => told++)
    chat.dispose()
    expect(await sent).toEqual({ outcome: 'cancelled' })
    expect(told).toBe(0)
  })
})

it('logs a deviation of the peer once', async () => {
  const warnings: string[] = []
  const chat = new ChatClient({
    connection: fetchServerSentEvents('/x', { fetchClient: async () => new Response(recording('tanstack-reasoning.sse')) }),
    logger: { warn: (message) => warnings.push(message), error: () => {} },
  })
  expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
  expect(await chat.reload()).toEqual({ outcome: 'finished' })
  expect(warnings.filter((message) => message.startsWith('tolerated.step-closed-twice'))).toHaveLength(1)
})
