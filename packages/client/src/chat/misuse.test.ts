/** What a chat refuses of its caller: with a code, before anything has changed. */
import { ChatClient, stream, type ChatClientOptions } from '@millrace/client'
import { UsageError } from '@millrace/protocol'
import { describe, expect, it } from 'vitest'
import { caught, hello, interrupted, iterate, recording, userMessage } from '../../test/events.ts'
import { scripted, texts } from '../../test/scripted.ts'

const connection = stream(() => iterate(hello()))

/** Holds `act` to a UsageError that changes nothing and tells nobody. */
async function refused(chat: ChatClient, act: () => unknown): Promise<UsageError> {
  const before = chat.getSnapshot()
  let told = 0
  const off = chat.subscribe(() => told++)
  const error = await caught(act)
  off()
  expect(error).toBeInstanceOf(UsageError)
  expect(chat.getSnapshot()).toBe(before)
  expect(told).toBe(0)
  return error
}

const cycle: Record<string, unknown> = {}
cycle['self'] = cycle

describe('messages of the user', () => {
  it.each([
    [{ content: [null] }, 'content[0]'],
    [{ content: ['x'] }, 'content[0]'],
    [{ content: [{ type: 'text', text: 'a' }, { type: 'text' }] }, 'content[1].text'],
    [{ content: [{ type: 'text', text: 5 }] }, 'content[0].text'],
    [{ content: [{ type: 'hologram' }] }, 'content[0].type'],
    [{ content: [{ type: 'constructor' }] }, 'content[0].type'],
    [{ content: [{ type: 'image' }] }, 'content[0].source'],
    [{ content: [{ type: 'image', source: { type: 'url' } }] }, 'content[0].source.value'],
    [{ content: [{ type: 'image', source: { type: 'data', value: 'AA' } }] }, 'content[0].source.mimeType'],
    [{ content: 'x', id: 7 }, 'id'],
    [{ content: 'x', metadata: 'm' }, 'metadata'],
    [{ content: 'x', metadata: { at: 1n } }, 'metadata'],
    [{ content: 'x', metadata: cycle }, 'metadata'],
    [{ content: {} }, 'content'],
    [null, 'it'],
    [5, 'it'],
  ])('sendMessage(%o) is malformed-message and names %s', async (input, field) => {
    const { chat, calls } = scripted([hello()])
    const error = await refused(chat, () => chat.sendMessage(input as never))
    expect(error.code).toBe('malformed-message')
    expect(error.message).toContain(`${field} has to be`)
    expect(calls).toEqual([])
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
  })
})

describe('stored messages', () => {
  const assistant = (part: unknown): unknown => ({ id: 'a', role: 'assistant', parts: [part] })

  it.each<[unknown, string]>([
    [null, 'it'],
    [{ role: 'user', parts: [] }, 'id'],
    [{ id: 'x', role: 'wizard', parts: [] }, 'role'],
    [{ id: 'x', role: 'user', parts: 'abc' }, 'parts'],
    [{ id: 'x', role: 'user', parts: [], metadata: 1 }, 'metadata'],
    [assistant(null), 'parts[0]'],
    [assistant({ type: 'text' }), 'parts[0].content'],
    [assistant({ type: 'thinking', content: 1 }), 'parts[0].content'],
    [assistant({ type: 'tool-call', name: 'f', arguments: '{}' }), 'parts[0].id'],
    [assistant({ type: 'tool-call', id: 'c', arguments: '{}' }), 'parts[0].name'],
    [assistant({ type: 'tool-call', id: 'c', name: 'f', arguments: {} }), 'parts[0].arguments'],
    [assistant({ type: 'tool-call', id: 'c', name: 'f', arguments: '', result: { messageId: 'm' } }), 'parts[0].result.content'],
    [assistant({ type: 'tool-result', content: 'x' }), 'parts[0].toolCallId'],
    [assistant({ type: 'structured-output', status: 'complete' }), 'parts[0].raw'],
    [assistant({ type: 'activity', activityType: 'PLAN', content: 'x' }), 'parts[0].content'],
    [assistant({ type: 'document', source: null }), 'parts[0].source'],
    [assistant({ type: 'text', content: 'x', origin: {} }), 'parts[0].origin.messageId'],
    [assistant({ type: 'unheard-of' }), 'parts[0].type'],
  ])('%j is malformed-message and names %s', async (message, field) => {
    const { chat, calls } = scripted([hello()])
    const good = userMessage('Earlier', 'e1')
    const errors = [
      await refused(chat, () => chat.append(message as never)),
      await refused(chat, () => chat.setMessages([good, message] as never)),
      await caught(() => new ChatClient({ connection, initialMessages: [good, message] as never })),
    ]
    expect(errors.map(({ code }) => code)).toEqual(['malformed-message', 'malformed-message', 'malformed-message'])
    for (const { message: text } of errors) expect(text).toContain(`${field} has to be`)
    expect(errors[2].message).toContain('Message 1')
    expect(calls).toEqual([])
  })

  it.each([['abc'], [{}], [5]])('messages that are no list, as %j', async (messages) => {
    const { chat } = scripted([])
    expect(await caught(() => new ChatClient({ connection, initialMessages: messages as never }))).toMatchObject({ code: 'malformed-message' })
    expect((await refused(chat, () => chat.setMessages(messages as never))).code).toBe('malformed-message')
  })

  it.each(['copilotkit-tools', 'copilotkit-reasoning', 'tanstack-tools', 'tanstack-reasoning'])('what a chat shows of %s is taken back as JSON', async (name) => {
    const chat = new ChatClient({ connection: stream(() => new Response(recording(`${name}.sse`))) })
    await chat.sendMessage({ content: [{ type: 'text', text: 'Look' }, { type: 'image', source: { type: 'url', value: 'https://x/y.png' } }] })
    const stored = JSON.parse(JSON.stringify(chat.getSnapshot().messages))
    const other = new ChatClient({ connection, initialMessages: stored })
    expect(JSON.parse(JSON.stringify(other.getSnapshot().messages))).toEqual(stored)
  })
})

describe('options', () => {
  it.each<[unknown, string]>([
    [undefined, 'no-connection'],
    [null, 'no-connection'],
    ['/api', 'no-connection'],
    [{ connection, mode: 'foo' }, 'bad-mode'],
    [{ connection, limits: { frameLength: -1 } }, 'bad-limit'],
    [{ connection, limits: { jsonDepth: Number.NaN } }, 'bad-limit'],
    [{ connection, limits: 5 }, 'bad-limit'],
    [{ connection, tools: [{ name: 'a', description: '' }, { name: 'b', description: '' }, { name: 'a', description: '' }] }, 'bad-tool'],
  ])('new ChatClient(%o) is %s', async (options, code) => {
    expect(await caught(() => new ChatClient(options as ChatClientOptions))).toMatchObject({ name: 'UsageError', code })
  })

  const settings: readonly [string, unknown][] = [
    ['forwardedProps', 'x'],
    ['tools', {}],
    ['output', { type: 'object' }],
    ['context', 'x'],
    ['logger', {}],
    ['logger', 'console'],
    ['onToolCall', 5],
    ['onFinish', {}],
    ['onError', 'x'],
    ['onEvent', true],
    ['onDiagnostic', null],
  ]

  it.each<[string, unknown]>([
    ...settings,
    ['whenBusy', 'zork'],
    ['queue', 5],
    ['drain', 'lifo'],
    ['maxSize', 'x'],
    ['onOverflow', 'zork'],
    ['coalesce', 'zork'],
    ['threadId', 5],
    ['maxContinuations', 'x'],
    ['maxContinuations', Number.NaN],
    ['persistence', 'x'],
    ['generateId', 5],
    ['now', 3],
  ])('new ChatClient() is told of `%s` that is %j by its name', async (name, value) => {
    const queue = ['drain', 'maxSize', 'onOverflow'].includes(name)
    const error = await caught(() => new ChatClient({ connection, ...(queue ? { queue: { [name]: value } } : { [name]: value }) } as never))
    expect(error).toMatchObject({ name: 'UsageError', code: 'bad-options' })
    expect(error.message).toContain(name)
  })

  it.each(settings)('so is updateOptions() of `%s` that is %j, and nothing has changed', async (name, value) => {
    const { chat } = scripted([hello()])
    const error = await refused(chat, () => chat.updateOptions({ connection, [name]: value } as never))
    expect(error.code).toBe('bad-options')
    expect(error.message).toContain(name)
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
  })

  it('what is undefined is left out, and what is unknown is nobody\'s concern', () => {
    const names = [...settings.map(([name]) => name), 'whenBusy', 'queue', 'coalesce', 'threadId', 'maxContinuations', 'persistence', 'generateId', 'now', 'mode', 'limits', 'initialMessages']
    expect(() => new ChatClient({ connection, zork: 5, ...Object.fromEntries(names.map((name) => [name, undefined])) } as never)).not.toThrow()
  })

  it('a listener that is no function is refused', async () => {
    const { chat } = scripted([])
    expect(await caught(() => chat.subscribe(undefined as never))).toMatchObject({ name: 'UsageError', code: 'bad-options' })
    expect(() => chat.stop()).not.toThrow()
  })

  it('updateOptions(null) is refused and the old connection stays', async () => {
    const { chat } = scripted([hello()])
    expect((await refused(chat, () => chat.updateOptions(null as never))).code).toBe('no-connection')
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
  })

  it.each([[null], [{ body: 'x' }], [5]])('options of a send that are %j change nothing', async (options) => {
    const { chat } = scripted([hello()])
    await chat.sendMessage('Hi')
    for (const act of [() => chat.sendMessage('x', options as never), () => chat.append(userMessage(), options as never), () => chat.reload(options as never)]) {
      expect((await refused(chat, act)).code).toBe('bad-options')
    }
    expect(texts(chat)).toEqual(['Hi', 'Hello'])
  })

  it.each([[null], [{}], [{ status: 'maybe' }]])('an answer that is %j notes nothing', async (answer) => {
    const { chat } = scripted([interrupted('r1', { id: 'i1', reason: 'x' })])
    await chat.sendMessage('Hi')
    expect((await refused(chat, () => chat.respond('i1', answer as never))).code).toBe('malformed-answer')
    expect((await refused(chat, () => chat.resume([answer] as never))).code).toBe('malformed-answer')
    expect((await refused(chat, () => chat.resume(answer as never))).code).toBe('malformed-answer')
  })
})

describe('functions of the caller that throw', () => {
  it.each([undefined, 5, ''])('generateId that gives %j changes nothing', async (id) => {
    const { chat, calls } = scripted([hello()], { generateId: () => id as never })
    const error = await refused(chat, () => chat.sendMessage('x'))
    expect(error.code).toBe('bad-options')
    expect(error.message).toContain('generateId')
    expect(calls).toEqual([])
  })

  it.each(['message', 'thread', 'run'])('generateId throwing for the %s id changes nothing', async (broken) => {
    const boom = new Error('no ids')
    const made: string[] = []
    const { chat, calls } = scripted([hello()], {
      threadId: undefined as never,
      initialMessages: [userMessage('Old', 'e1')],
      generateId: (kind) => {
        if (kind === broken) throw boom
        made.push(kind)
        return kind
      },
    })
    const acts = broken === 'message' ? [() => chat.sendMessage('x')] : [() => chat.sendMessage('x'), () => chat.append(userMessage('y', 'e2')), () => chat.reload()]
    for (const act of acts) {
      const before = chat.getSnapshot()
      expect(await caught(act)).toBe(boom)
      expect(chat.getSnapshot()).toBe(before)
      // Not only unseen: a later change does not bring it to light either.
      chat.setState({ n: made.length })
      expect(texts(chat)).toEqual(['Old'])
      expect(chat.getSnapshot()).toMatchObject({ status: 'ready', threadId: undefined })
    }
    expect(calls).toEqual([])
  })

  it('generateId throwing at the last answer leaves the question open', async () => {
    let broken = false
    const { chat } = scripted([interrupted('r1', { id: 'i1', reason: 'x' }), hello('r2')], {
      generateId: (kind) => {
        if (broken) throw new Error('no ids')
        return `${kind}-${Math.random()}`
      },
    })
    await chat.sendMessage('Hi')
    broken = true
    expect(await caught(() => chat.respond('i1', { status: 'resolved' }))).toMatchObject({ message: 'no ids' })
    chat.setState(1)
    expect(chat.getSnapshot().interrupts).toMatchObject([{ id: 'i1' }])
    broken = false
    expect(await chat.respond('i1', { status: 'resolved' })).toEqual({ outcome: 'finished' })
  })

  it('a clock that throws changes nothing', async () => {
    const { chat } = scripted([hello()], {
      now: () => {
        throw new Error('no time')
      },
    })
    expect(await caught(() => chat.sendMessage('x'))).toMatchObject({ message: 'no time' })
    chat.setState(1)
    expect(texts(chat)).toEqual([])
  })
})
