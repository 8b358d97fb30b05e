/** Chats that listen to their thread all the time: runs of others, and their own, over one subscription. */
import { ChatClient, memoryStorage, persisted, stream, type ChatClientOptions, type StreamChunk, type SubscribeConnectionAdapter } from '@millrace/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { channel } from '../../test/channel.ts'
import { caught, failed, finished, hello, interrupted, iterate, started, text, tick, until } from '../../test/events.ts'
import { texts as turns } from '../../test/scripted.ts'

/** A chat that is watched and listens. */
function live(options: Partial<ChatClientOptions> = {}, offered: Partial<SubscribeConnectionAdapter> = {}) {
  const all = channel({ threadId: 't1', live: true, ...options }, offered)
  const { chat } = all
  const statuses: string[] = []
  const note = (): void => {
    const { status } = chat.getSnapshot()
    if (statuses.at(-1) !== status) statuses.push(status)
  }
  const leave = chat.subscribe(note)
  onTestFinished(() => chat.dispose())
  return { ...all, leave, statuses }
}

/** Texts and calls in order, whoever's turn they are of. */
const texts = (chat: ChatClient): string[] => turns(chat).flatMap((turn) => turn.split('|'))
const status = (chat: ChatClient): string => chat.getSnapshot().status

describe('runs of others', () => {
  it('show as they come, with the user message that their start echoes, once', async () => {
    const { chat, emit, subscribers, statuses } = live()
    await until(() => subscribers() === 1)
    const input = { threadId: 't1', runId: 'theirs', messages: [{ id: 'u9', role: 'user', content: 'From afar' }] }
    emit({ ...started('theirs'), input }, ...text('Hello', 'm1').slice(0, 2))
    await until(() => texts(chat)[1] === 'H')
    expect([status(chat), texts(chat)]).toEqual(['streaming', ['From afar', 'H']])
    emit(...text('Hello', 'm1').slice(2), finished('theirs'))
    await until(() => status(chat) === 'ready')
    expect(texts(chat)).toEqual(['From afar', 'Hello'])
    // Once more, by one who goes on from there.
    emit({ ...started('next'), input: { ...input, runId: 'next' } }, ...text('More', 'm2'), finished('next'))
    await until(() => texts(chat).length === 3)
    expect(texts(chat)).toEqual(['From afar', 'Hello', 'More'])
    expect(chat.getSnapshot().runs.map(({ runId, outcome }) => [runId, outcome])).toEqual([['theirs', 'finished'], ['next', 'finished']])
    expect(statuses).toEqual(['ready', 'streaming', 'ready', 'streaming', 'ready'].slice(0, statuses.length))
    expect(subscribers()).toBe(1)
  })

  it('and ours come over the same subscription, each exactly once', async () => {
    const { chat, emit, onSend, subscribers, sent } = live()
    onSend((runId) => emit(...hello(runId, 'Ours')))
    await until(() => subscribers() === 1)
    emit(...hello('a', 'Theirs'))
    await until(() => texts(chat).length === 1)
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    emit(...hello('b', 'Theirs again'))
    await until(() => texts(chat).length === 4)
    expect(await chat.sendMessage('Hi again')).toEqual({ outcome: 'finished' })
    expect(texts(chat)).toEqual(['Theirs', 'Hi', 'Ours', 'Theirs again', 'Hi again', 'Ours'])
    expect([subscribers(), sent.length]).toEqual([1, 2])
  })

  it('that stand in line before ours are theirs all the same', async () => {
    const { chat, emit, onSend, subscribers } = live()
    await until(() => subscribers() === 1)
    onSend((runId) => emit(...hello(runId, 'First')))
    await chat.sendMessage('One')
    let ours = ''
    onSend((runId) => void (ours = runId))
    const sending = chat.sendMessage('Two')
    await until(() => ours !== '')
    emit(...hello('theirs', 'Between'))
    await until(() => texts(chat).includes('Between'))
    expect(status(chat)).not.toBe('ready')
    emit(...hello(ours, 'Second'))
    expect(await sending).toEqual({ outcome: 'finished' })
    expect(texts(chat)).toEqual(['One', 'First', 'Two', 'Between', 'Second'])
    expect(chat.getSnapshot().runs.map(({ outcome }) => outcome)).toEqual(['finished', 'finished', 'finished'])
  })

  it.each([
    ['before ours began', 0],
    ['in the middle of ours', 3],
    ['when ours is over and the next of theirs runs', hello('', 'Ours').length + 3],
  ])('do not end ours when a send settles late, %s', async (_, settlesBehind) => {
    const { chat, emit, onSend, subscribers } = live()
    await until(() => subscribers() === 1)
    onSend((runId) => emit(...hello(runId, 'First')))
    await chat.sendMessage('One')
    let ours = ''
    let handedOver: () => void = () => {}
    onSend((runId) => {
      ours = runId
      return new Promise((resolve) => (handedOver = resolve))
    })
    const sending = chat.sendMessage('Two')
    await until(() => ours !== '')
    emit(...hello('theirs', 'Between'))
    await until(() => texts(chat).includes('Between'))
    const events = [...hello(ours, 'Ours'), started('next'), ...text('Next', 'mn').slice(0, 2)]
    emit(...events.slice(0, settlesBehind))
    await tick(5)
    handedOver()
    await tick(5)
    emit(...events.slice(settlesBehind), ...text('Next', 'mn').slice(2), finished('next'))
    expect(await sending).toEqual({ outcome: 'finished' })
    await until(() => status(chat) === 'ready' && texts(chat).includes('Next'))
    expect(texts(chat)).toEqual(['One', 'First', 'Two', 'Between', 'Ours', 'Next'])
    expect(chat.getSnapshot().runs.map(({ outcome }) => outcome)).toEqual(['finished', 'finished', 'finished', 'finished'])
  })

  it('are told from ours before anything of ours was heard, if their start says what was asked', async () => {
    const { chat, emit, onSend, subscribers } = live()
    await until(() => subscribers() === 1)
    onSend((runId) => {
      const asked = { threadId: 't1', runId: 'theirs', messages: [] }
      emit({ ...started('theirs'), input: asked }, ...text('Theirs', 'm1'), finished('theirs'), ...hello(runId, 'Ours'))
    })
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    expect(texts(chat)).toEqual(['Hi', 'Theirs', 'Ours'])
  })

  it('a server that names runs itself is heard', async () => {
    const { chat, emit, onSend } = live()
    onSend(() => emit(...hello('server-1')))
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    expect(texts(chat)).toEqual(['Hi', 'Hello'])
  })

  it('of another thread are not shown', async () => {
    const { chat, emit, subscribers } = live()
    await until(() => subscribers() === 1)
    emit(started('x', 'elsewhere'), ...text('No'), finished('x', 'elsewhere'), ...hello('y', 'Yes'))
    await until(() => texts(chat).length === 1)
    expect(texts(chat)).toEqual(['Yes'])
  })

  it('that fail show it, until the next', async () => {
    const { chat, emit, subscribers } = live()
    await until(() => subscribers() === 1)
    emit(started('x'), failed('broken'))
    await until(() => status(chat) === 'error')
    expect(chat.getSnapshot().error).toMatchObject({ message: 'broken' })
    emit(...hello('y'))
    await until(() => status(chat) === 'ready')
  })

  it('that are never ended are ended by the next', async () => {
    const { chat, emit, subscribers } = live()
    await until(() => subscribers() === 1)
    emit(started('x'), ...text('Half', 'mx').slice(0, 3), ...hello('y', 'Whole'))
    await until(() => texts(chat)[1] === 'Whole' && status(chat) === 'ready')
    expect(texts(chat)).toEqual(['Ha', 'Whole'])
    expect(chat.getSnapshot().runs.map(({ outcome }) => outcome)).toEqual(['truncated', 'finished'])
  })

  it('whose start was not heard are not shown, which is logged', async () => {
    const warnings: string[] = []
    const { chat, emit, subscribers } = live({ logger: { warn: (message) => warnings.push(message), error: () => {} } })
    await until(() => subscribers() === 1)
    emit(...text('Lost').slice(2), finished('before'), ...hello('y', 'Whole'))
    await until(() => texts(chat).length === 1)
    expect([texts(chat), warnings]).toEqual([['Whole'], [expect.stringContaining('attach()')]])
  })

  it('do not get into a run of ours that is sent meanwhile, if their start was not heard', async () => {
    const { chat, emit, onSend, subscribers } = live()
    await until(() => subscribers() === 1)
    emit(...text('Lost').slice(1, 3))
    await tick()
    onSend((runId) => emit(...text('Lost').slice(3), finished('before'), ...hello(runId, 'Ours')))
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    expect(texts(chat)).toEqual(['Hi', 'Ours'])
  })

  it('go on over the RUN_FINISHED of a model turn', async () => {
    const { chat, emit, subscribers } = live()
    await until(() => subscribers() === 1)
    const call: StreamChunk[] = [{ type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'look' }, { type: 'TOOL_CALL_END', toolCallId: 'c1' }]
    emit(started('x'), ...call, { ...finished('x'), finishReason: 'tool_calls' })
    await until(() => texts(chat)[0] === '[tool-call]')
    await tick(10)
    expect(status(chat)).toBe('streaming')
    emit({ type: 'TOOL_CALL_RESULT', messageId: 'r', toolCallId: 'c1', content: '4' }, started('x'), ...text('Done', 'm2'), finished('x'))
    await until(() => status(chat) === 'ready')
    expect(texts(chat)).toEqual(['[tool-call]', 'Done'])
  })
})

describe('what is theirs to answer', () => {
  const calls: StreamChunk[] = [started('x'), { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'f' }, { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{}' }, { type: 'TOOL_CALL_END', toolCallId: 'c1' }, finished('x')]

  it('calls of tools are not run here, and may be answered by hand', async () => {
    let ran = 0
    const told: unknown[] = []
    const tool = { name: 'f', description: '', parameters: {}, execute: () => ++ran }
    const { chat, emit, onSend, subscribers, sent } = live({ tools: [tool], onToolCall: (call) => told.push(call) })
    await until(() => subscribers() === 1)
    emit(...calls)
    await until(() => chat.getSnapshot().runs[0]?.outcome === 'finished')
    await tick(10)
    expect([ran, told, sent, status(chat)]).toEqual([0, [], [], 'ready'])
    onSend((runId) => emit(...hello(runId, 'Thanks')))
    expect(await chat.addToolResult({ toolCallId: 'c1', output: 4 })).toEqual({ outcome: 'finished' })
    expect(texts(chat)).toEqual(['[tool-call]', 'Thanks'])
  })

  it('questions are shown and may be answered by anybody', async () => {
    const { chat, emit, onSend, subscribers } = live()
    await until(() => subscribers() === 1)
    emit(...interrupted('x', { id: 'q', reason: 'confirm' }))
    await until(() => chat.getSnapshot().interrupts.length === 1)
    expect(await caught(() => chat.sendMessage('Hi'))).toMatchObject({ code: 'interrupts-pending' })
    emit(...hello('answered-elsewhere'))
    await until(() => chat.getSnapshot().interrupts.length === 0)
    emit(...interrupted('y', { id: 'q2', reason: 'confirm' }))
    await until(() => chat.getSnapshot().interrupts.length === 1)
    onSend((runId) => emit(...hello(runId, 'Go on')))
    expect(await chat.respond('q2', { status: 'resolved' })).toEqual({ outcome: 'finished' })
    expect(texts(chat).at(-1)).toBe('Go on')
  })

  it.each([
    ['over', 5],
    ['under way', 2],
  ])('neither are they after a reload, of a run that was %s', async (_, count) => {
    const disk = memoryStorage()
    let crashed = false
    const persistence = persisted({ ...disk, save: (key, thread) => (crashed ? undefined : disk.save(key, thread)) }, { throttleMs: 0 })
    let ran = 0
    const tools = [{ name: 'f', description: '', parameters: {}, execute: () => ++ran }]
    const first = live({ tools, persistence })
    await first.chat.attach()
    await until(() => first.subscribers() === 1)
    first.emit(...calls.slice(0, count))
    await until(() => texts(first.chat)[0] === '[tool-call]' && (count < 5 || status(first.chat) === 'ready'))
    await tick()
    crashed = true
    first.chat.dispose()
    crashed = false
    const second = live({ tools, persistence }, { joinRun: () => iterate(calls) })
    await second.chat.attach()
    await tick(10)
    expect([texts(second.chat), second.chat.getSnapshot().runs.at(-1)?.outcome, ran, second.sent]).toEqual([['[tool-call]'], 'finished', 0, []])
  })

  it('ours go on being ours: what we call is run and sent', async () => {
    const tool = { name: 'f', description: '', parameters: {}, execute: () => 4 }
    const { chat, emit, onSend, sent } = live({ tools: [tool] })
    onSend((runId) => emit(...(sent.length === 1 ? calls.map((event) => ('runId' in event ? { ...event, runId } : event)) : hello(runId, 'Four'))))
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    expect([texts(chat), sent.length]).toEqual([['Hi', '[tool-call]', 'Four'], 2])
  })
})

describe('while a run of others comes', () => {
  async function underway(options: Partial<ChatClientOptions> = {}, offered: Partial<SubscribeConnectionAdapter> = {}) {
    const all = live(options, offered)
    await until(() => all.subscribers() === 1)
    all.emit(started('x'), ...text('Theirs', 'mx').slice(0, 4))
    await until(() => texts(all.chat)[0] === 'The')
    return all
  }
  const rest = [...text('Theirs', 'mx').slice(4), finished('x')]

  it('a message is refused, or waits for its end', async () => {
    const { chat, emit, onSend, sent } = await underway()
    expect(await caught(() => chat.sendMessage('Hi'))).toMatchObject({ code: 'busy' })
    onSend((runId) => emit(...hello(runId, 'Ours')))
    const sending = chat.sendMessage('Hi', { whenBusy: 'queue' })
    await tick()
    expect([sent, chat.getSnapshot().queue.length]).toEqual([[], 1])
    emit(...rest)
    expect(await sending).toEqual({ outcome: 'finished' })
    expect(texts(chat)).toEqual(['Theirs', 'Hi', 'Ours'])
  })

  it('stop ends its showing here; it is not cancelled, and what still comes is dead', async () => {
    const cancelled: string[] = []
    const { chat, emit } = await underway({}, { cancelRun: async (runId) => (cancelled.push(runId), 'closed') })
    chat.stop()
    expect(status(chat)).toBe('ready')
    emit(...rest, ...hello('y', 'Next'))
    await until(() => texts(chat).length === 2)
    expect([texts(chat), cancelled]).toEqual([['The', 'Next'], []])
  })

  it('a message may be sent in its place', async () => {
    const { chat, emit, onSend } = await underway()
    onSend((runId) => emit(...rest, ...hello(runId, 'Ours')))
    expect(await chat.sendMessage('Hi', { whenBusy: 'interrupt' })).toEqual({ outcome: 'finished' })
    expect(texts(chat)).toEqual(['The', 'Hi', 'Ours'])
  })

  it('clear begins anew, and goes on listening', async () => {
    const { chat, emit } = await underway()
    chat.clear()
    emit(...rest, ...hello('y', 'Next'))
    await until(() => texts(chat).length === 1)
    expect(texts(chat)).toEqual(['Next'])
  })

  it('a subscription that fails ends it', async () => {
    const { chat, close, subscribers } = await underway()
    close(new Error('gone'))
    await until(() => status(chat) === 'error')
    expect([chat.getSnapshot().live, chat.getSnapshot().runs[0]?.outcome, texts(chat), subscribers()]).toEqual(['error', 'error', ['The'], 0])
  })

  it('what is detached is read again by attach', async () => {
    const { chat, emit } = await underway({}, { joinRun: () => iterate([started('x'), ...text('Theirs', 'mx'), finished('x')]) })
    chat.detach()
    expect(status(chat)).toBe('ready')
    emit(...rest)
    expect(await chat.attach()).toEqual({ outcome: 'finished' })
    expect(texts(chat)).toEqual(['Theirs'])
  })
})

describe('stopped turns of ours', () => {
  it('stay dead, also one that had not begun, and one of others comes between', async () => {
    const { chat, emit, onSend, subscribers } = live()
    await until(() => subscribers() === 1)
    onSend((runId) => emit(...hello(runId, 'First')))
    await chat.sendMessage('One')
    let dead = ''
    onSend((runId) => void (dead = runId))
    const sending = chat.sendMessage('Two')
    await until(() => dead !== '')
    chat.stop()
    expect(await sending).toEqual({ outcome: 'cancelled' })
    emit(...hello('theirs', 'Between'), ...hello(dead, 'Dead'), ...hello('later', 'After'))
    await until(() => texts(chat).includes('After'))
    expect(texts(chat)).toEqual(['One', 'First', 'Two', 'Between', 'After'])
  })
})

describe('coming to a thread', () => {
  it('what comes while the server is asked waits for its answer; a run that is joined is shown once', async () => {
    let answer: (thread: object) => void = () => {}
    const hydrate = () => new Promise<any>((resolve) => (answer = resolve))
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    async function* joinRun() {
      yield* [started('r9'), ...text('Active', 'm9').slice(0, 3)]
      await held
      yield* [...text('Active', 'm9').slice(3), finished('r9')]
    }
    const { chat, emit, subscribers } = live({}, { hydrate, joinRun })
    await until(() => subscribers() === 1)
    const attached = chat.attach()
    emit(...hello('r9', 'Active', 'm9'), ...hello('next', 'Next'))
    await tick(10)
    expect(texts(chat)).toEqual([])
    answer({ messages: [{ id: 'u1', role: 'user', content: 'Before' }], activeRun: { runId: 'r9' }, interrupts: null })
    await until(() => texts(chat)[1] === 'Ac')
    release()
    expect(await attached).toEqual({ outcome: 'finished' })
    await until(() => texts(chat).length === 3)
    expect(texts(chat)).toEqual(['Before', 'Active', 'Next'])
  })
})

describe('listening', () => {
  it('is on while somebody watches, and leaves nothing behind', async () => {
    const { chat, leave, subscribers, emit } = live()
    await until(() => subscribers() === 1)
    expect(chat.getSnapshot().live).toBe('open')
    // Back at once, as a view that is mounted twice.
    leave()
    const again = chat.subscribe(() => {})
    await tick(5)
    expect(subscribers()).toBe(1)
    emit(started('x'), ...text('Half').slice(0, 2))
    await until(() => texts(chat).length === 1)
    again()
    await until(() => subscribers() === 0)
    expect([chat.getSnapshot().live, status(chat)]).toEqual(['closed', 'ready'])
  })

  it('a turn of ours is read to its end when nobody watches any more', async () => {
    const { chat, emit, leave, onSend, subscribers } = live()
    await until(() => subscribers() === 1)
    let ours = ''
    onSend((runId) => void (ours = runId))
    const sending = chat.sendMessage('Hi')
    await until(() => ours !== '')
    leave()
    await tick(5)
    emit(...hello(ours))
    expect(await sending).toEqual({ outcome: 'finished' })
    await until(() => subscribers() === 0)
  })

  it('can be turned on and off, and dispose ends it', async () => {
    const { chat, connection, subscribers } = live({ live: false })
    await tick(5)
    expect([subscribers(), chat.getSnapshot().live]).toEqual([0, 'closed'])
    chat.updateOptions({ connection, live: true })
    await until(() => subscribers() === 1)
    chat.updateOptions({ connection })
    await until(() => subscribers() === 0)
    chat.updateOptions({ connection, live: true })
    await until(() => subscribers() === 1)
    chat.dispose()
    await until(() => subscribers() === 0)
  })

  it('another connection is taken up when listening begins anew', async () => {
    const { chat, connection, subscribers } = live()
    const other = channel()
    await until(() => subscribers() === 1)
    chat.updateOptions({ connection: other.connection, live: true })
    await tick(5)
    expect([subscribers(), other.subscribers()]).toEqual([1, 0])
    chat.updateOptions({ connection: other.connection, live: false })
    chat.updateOptions({ connection: other.connection, live: true })
    await until(() => other.subscribers() === 1 && subscribers() === 0)
    expect(connection).not.toBe(other.connection)
  })

  it('tells how the link is, if the connection does', async () => {
    let tell: (state: 'connecting' | 'open') => void = () => {}
    let watchers = 0
    const { chat, leave } = live({}, {
      watchLink(listener) {
        watchers++
        tell = listener
        listener('connecting')
        return () => watchers--
      },
    })
    expect(chat.getSnapshot().live).toBe('connecting')
    tell('open')
    expect(chat.getSnapshot().live).toBe('open')
    tell('connecting')
    expect(chat.getSnapshot().live).toBe('connecting')
    leave()
    await until(() => watchers === 0)
  })

  it.each([
    ['error', new Error('gone')],
    ['closed', undefined],
  ] as const)('a subscription that ends is %s, and the next send takes it up again', async (state, why) => {
    const errors: string[] = []
    const { chat, close, emit, onSend, subscribers } = live({ onError: ({ message }) => errors.push(message) })
    await until(() => subscribers() === 1)
    close(why)
    await until(() => chat.getSnapshot().live === state)
    await tick(10)
    expect([subscribers(), errors]).toEqual([0, why === undefined ? [] : ['gone']])
    onSend((runId) => emit(...hello(runId)))
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    expect([subscribers(), chat.getSnapshot().live]).toEqual([1, 'open'])
    emit(...hello('theirs', 'Theirs'))
    await until(() => texts(chat).length === 3)
  })

  it('a turn of ours is truncated by a subscription that ends, and does not hang', async () => {
    const { chat, close, emit, onSend } = live()
    onSend((runId) => emit(started(runId), ...text('Half').slice(0, 3)))
    const sending = chat.sendMessage('Hi')
    await until(() => texts(chat)[1] === 'Ha')
    close()
    expect(await sending).toMatchObject({ outcome: 'truncated' })
  })

  it('a subscribe that throws is an error, and a send is told', async () => {
    const connection = {
      subscribe() {
        throw new Error('no channel')
      },
      send: async () => {},
    }
    const chat = new ChatClient({ connection, threadId: 't1', live: true })
    onTestFinished(() => chat.dispose())
    chat.subscribe(() => {})
    await until(() => chat.getSnapshot().live === 'error')
    expect(await chat.sendMessage('Hi')).toMatchObject({ outcome: 'error', error: { message: 'no channel' } })
  })

  it('needs a connection that can be listened to', async () => {
    const connection = stream(() => [])
    expect(await caught(() => new ChatClient({ connection, live: true }))).toMatchObject({ code: 'live-needs-subscribe' })
    const chat = new ChatClient({ connection })
    expect(await caught(() => chat.updateOptions({ connection, live: true }))).toMatchObject({ code: 'live-needs-subscribe' })
    expect(await caught(() => chat.updateOptions({ connection, live: 'yes' as never }))).toMatchObject({ code: 'bad-options' })
  })
})
