/** What a chat that listens missed while its link was down: when it is asked for, and what stays as it is. */
import { type ChatClient, memoryStorage, persisted, type ChatClientOptions, type HydratedThread, type StreamChunk, type SubscribeConnectionAdapter } from '@millrace/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { channel } from '../../test/channel.ts'
import { failed, hello, interrupted, started, text, tick, until } from '../../test/events.ts'
import { texts } from '../../test/scripted.ts'

const said = (id: string, content: string) => ({ id, role: 'user', content })
const answered = (id: string, content: string) => ({ id, role: 'assistant', content })

/** A chat over a link that the test cuts; the server tells what the test says, or `fail`s. */
function cutOff(options: Partial<ChatClientOptions> = {}, offered: Partial<SubscribeConnectionAdapter> = {}) {
  let link: (state: 'open' | 'connecting') => void = () => {}
  let thread: Partial<HydratedThread> | Error = {}
  let asked = 0
  const all = channel({ threadId: 't1', live: true, ...options }, {
    watchLink: (listener) => {
      link = listener
      listener('open')
      return () => {}
    },
    hydrate: async () => {
      asked++
      if (thread instanceof Error) throw thread
      return { messages: [], activeRun: null, interrupts: null, ...thread }
    },
    ...offered,
  })
  all.chat.subscribe(() => {})
  onTestFinished(() => all.chat.dispose())
  return {
    ...all,
    asked: () => asked,
    tells: (next: typeof thread) => void (thread = next),
    down: () => link('connecting'),
    up: () => link('open'),
  }
}

const status = (chat: ChatClient): string => chat.getSnapshot().status

describe('what was missed', () => {
  it('is asked for when the link opens, and when it is back', async () => {
    const { chat, asked, tells, down, up, emit, subscribers } = cutOff()
    tells({ messages: [said('u0', 'Long ago')] })
    await until(() => texts(chat).length === 1)
    emit(...hello('r1'))
    await until(() => texts(chat).length === 2 && status(chat) === 'ready')
    const [first] = chat.getSnapshot().messages
    down()
    tells({ messages: [said('u0', 'Long ago'), answered('m-r1', 'Hello'), said('u2', 'Missed'), answered('m-r2', 'Answered')] })
    up()
    await until(() => texts(chat).length === 4)
    expect(texts(chat)).toEqual(['Long ago', 'Hello', 'Missed', 'Answered'])
    // What did not change is the object that it was.
    expect(chat.getSnapshot().messages[0]).toBe(first)
    expect([asked(), subscribers(), status(chat)]).toEqual([2, 1, 'ready'])
  })

  it('changes nothing if it is nothing', async () => {
    const { chat, asked, tells, down, up, emit } = cutOff()
    await until(() => asked() === 1)
    emit(...hello('r1'))
    await until(() => texts(chat).length === 1 && status(chat) === 'ready')
    tells({ messages: [answered('m-r1', 'Hello')], state: {} })
    const { messages, runs } = chat.getSnapshot()
    down()
    up()
    await until(() => asked() === 2)
    await tick(5)
    expect(chat.getSnapshot().messages).toBe(messages)
    expect(chat.getSnapshot().runs).toBe(runs)
  })

  it('is asked for when a run of ours that streams is over', async () => {
    const { chat, asked, tells, down, up, emit, onSend } = cutOff()
    await until(() => asked() === 1)
    let ours = ''
    onSend((runId) => void emit(started((ours = runId)), ...text('Ours', 'm1').slice(0, 3)))
    const sending = chat.sendMessage({ content: 'Hi', id: 'u1' })
    await until(() => texts(chat)[1] === 'Ou')
    down()
    up()
    await tick(5)
    expect([asked(), status(chat)]).toEqual([1, 'streaming'])
    tells({ messages: [said('u0', 'Missed'), answered('m0', 'Answered'), said('u1', 'Hi'), answered('m1', 'Ours')] })
    emit(...text('Ours', 'm1').slice(3), { type: 'RUN_FINISHED', threadId: 't1', runId: ours })
    expect(await sending).toEqual({ outcome: 'finished' })
    await until(() => texts(chat).length === 4)
    expect(texts(chat)).toEqual(['Missed', 'Answered', 'Hi', 'Ours'])
  })

  it('is asked for at the end of a run whose start was not heard, if that cannot be joined', async () => {
    const { chat, asked, tells, emit } = cutOff()
    tells({ messages: [said('u0', 'Asked')], activeRun: { runId: 'r0' } })
    await until(() => texts(chat).length === 1)
    emit(...text('Under way', 'm0').slice(3))
    await until(() => asked() === 2)
    tells({ messages: [said('u0', 'Asked'), answered('m0', 'Under way')] })
    emit({ type: 'RUN_FINISHED', threadId: 't1', runId: 'r0' })
    await until(() => texts(chat).length === 2)
    expect(texts(chat)).toEqual(['Asked', 'Under way'])
  })

  it('may be a question, which is asked once', async () => {
    const { chat, asked, tells, down, up, emit, onSend } = cutOff()
    await until(() => asked() === 1)
    down()
    const interrupts = { runId: 'r1', pending: [{ id: 'q', reason: 'confirm' }] }
    tells({ messages: [said('u0', 'Do')], interrupts })
    up()
    await until(() => chat.getSnapshot().interrupts.length === 1)
    // It is told again, late.
    emit(...interrupted('r1', { id: 'q', reason: 'confirm' }), ...hello('r2'))
    await until(() => texts(chat).length === 2)
    onSend((runId) => emit(...hello(runId, 'More')))
    expect(await chat.sendMessage('Go on')).toEqual({ outcome: 'finished' })
  })

  it('a run that others began and is under way there is read, and its calls are not ours', async () => {
    let ran = 0
    const tools = [{ name: 'f', description: '', parameters: {}, execute: () => ++ran }]
    const run: StreamChunk[] = [started('r0'), { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'f' }, { type: 'TOOL_CALL_END', toolCallId: 'c1' }, { type: 'RUN_FINISHED', threadId: 't1', runId: 'r0' }]
    const { chat, tells, down, up, asked } = cutOff({ tools }, {
      async *joinRun() {
        yield* run
      },
    })
    await until(() => asked() === 1)
    down()
    tells({ messages: [said('u0', 'Do')], activeRun: { runId: 'r0' } })
    up()
    await until(() => texts(chat).length === 2 && status(chat) === 'ready')
    await tick(5)
    expect([texts(chat), ran]).toEqual([['Do', '[tool-call]'], 0])
  })
})

describe('what stays', () => {
  it('a message that was never delivered, which can be sent again', async () => {
    const { chat, asked, tells, down, up, emit, onSend } = cutOff()
    await until(() => asked() === 1)
    down()
    onSend(() => {
      throw new Error('no network')
    })
    expect(await chat.sendMessage({ content: 'Unheard', id: 'u1' })).toMatchObject({ outcome: 'error' })
    tells({ messages: [said('u0', 'Missed'), answered('m0', 'Answered')] })
    up()
    await until(() => texts(chat).length === 3)
    expect([texts(chat), status(chat), chat.getSnapshot().unsent]).toEqual([['Missed', 'Answered', 'Unheard'], 'error', ['u1']])
    onSend((runId) => emit(...hello(runId, 'Heard')))
    expect(await chat.retry()).toEqual({ outcome: 'finished' })
    expect(texts(chat)).toEqual(['Missed', 'Answered', 'Unheard', 'Heard'])
  })

  it('what failed is made good by what the server has', async () => {
    const { chat, asked, tells, down, up, emit, onSend } = cutOff()
    await until(() => asked() === 1)
    onSend((runId) => emit(started(runId), ...text('Half', 'm1').slice(0, 3), failed('cut')))
    expect(await chat.sendMessage({ content: 'Hi', id: 'u1' })).toMatchObject({ outcome: 'error' })
    down()
    tells({ messages: [said('u1', 'Hi'), answered('m1', 'Half and whole')] })
    up()
    await until(() => texts(chat)[1] === 'Half and whole')
    expect([texts(chat), status(chat)]).toEqual([['Hi', 'Half and whole'], 'ready'])
  })

  it('what came since the link is back, if the server does not have it yet; not what it has no more', async () => {
    const { chat, asked, tells, down, up, emit } = cutOff()
    await until(() => asked() === 1)
    emit(...hello('r0', 'Edited away', 'm0'))
    await until(() => texts(chat).length === 1 && status(chat) === 'ready')
    down()
    tells(new Error('not yet'))
    up()
    await until(() => asked() === 2)
    emit(...hello('r1', 'New', 'm1'))
    await until(() => texts(chat).join('|') === 'Edited away|New' && status(chat) === 'ready')
    tells({ messages: [answered('m9', 'Instead')] })
    emit(...hello('r2', 'Newer', 'm2'))
    await until(() => texts(chat).join('|') === 'Instead|New|Newer')
  })

  it('a run that was left on purpose', async () => {
    const { chat, asked, down, up, emit } = cutOff()
    await until(() => asked() === 1)
    emit(started('x'), ...text('Theirs', 'mx').slice(0, 4))
    await until(() => texts(chat)[0] === 'The')
    chat.detach()
    down()
    up()
    await tick(5)
    expect([asked(), texts(chat)]).toEqual([1, ['The']])
  })
})

describe('that it cannot be told', () => {
  it('is no failure of the chat; it is asked for again when something was done', async () => {
    const warnings: string[] = []
    const { chat, asked, tells, emit, onSend } = cutOff({ logger: { warn: (message) => warnings.push(message), error: () => {} } })
    tells(new Error('no'))
    await until(() => asked() === 1)
    await tick(5)
    expect([asked(), status(chat), warnings.length]).toEqual([1, 'ready', 1])
    onSend((runId) => emit(...hello(runId)))
    expect(await chat.sendMessage({ content: 'Hi', id: 'u1' })).toEqual({ outcome: 'finished' })
    await until(() => asked() === 2)
    expect(texts(chat)).toEqual(['Hi', 'Hello'])
  })

  it('a connection that has no hydrate is not asked, nor one where what is stored here is the thread', async () => {
    const stored = cutOff({ persistence: persisted(memoryStorage()) })
    const without = cutOff({}, { hydrate: undefined as never })
    for (const { chat, emit, up, down } of [stored, without]) {
      down()
      up()
      emit(...hello('r1'))
      await until(() => texts(chat).length === 1)
    }
    expect([stored.asked(), without.asked()]).toEqual([0, 0])
  })

  it('nobody is asked when nobody listens', async () => {
    const { chat, asked } = cutOff({ live: false })
    await tick(5)
    await chat.dispose()
    expect(asked()).toBe(0)
  })
})
