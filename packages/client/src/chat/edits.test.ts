import { ChatClient, fetchServerSentEvents, stream } from '@millrace/client'
import { describe, expect, it } from 'vitest'
import { caught, hello, iterate, sse, started, text, tick, until, userMessage } from '../../test/events.ts'
import { scripted, texts } from '../../test/scripted.ts'
import { answerWith, serve } from '../../test/serve.ts'

describe('stop, reload, clear and edits', () => {
  it('a stopped turn changes nothing later, and the next one is clean', async () => {
    let release: () => void = () => {}
    let count = 0
    const chat = new ChatClient({
      connection: {
        async *connect() {
          if (++count > 1) return yield* hello('r2', 'Two')
          yield* [started('r1'), ...text('One', 'm1').slice(0, 2)]
          // Ignores the signal, as many sources do.
          await new Promise<void>((resolve) => {
            release = resolve
          })
          yield* text('late', 'm9')
        },
      },
    })
    const first = chat.sendMessage('Hi')
    await until(() => texts(chat).length === 2)
    chat.stop()
    const second = chat.sendMessage('Again')
    release()
    expect(await first).toEqual({ outcome: 'cancelled' })
    expect(await second).toEqual({ outcome: 'finished' })
    await tick(20)
    expect(texts(chat)).toEqual(['Hi', 'O', 'Again', 'Two'])
    expect(chat.getSnapshot().messages[1]?.parts).toMatchObject([{ state: 'done' }])
    expect(chat.getSnapshot().runs.map(({ outcome }) => outcome)).toEqual(['cancelled', 'finished'])
  })

  it('stop before the first event is a cancelled turn; stop without a turn does nothing', async () => {
    const server = await serve(() => {})
    const chat = new ChatClient({ connection: fetchServerSentEvents(server.url) })
    const before = chat.getSnapshot()
    chat.stop()
    expect(chat.getSnapshot()).toBe(before)
    const sent = chat.sendMessage('Hi')
    await until(() => server.requests.length === 1)
    chat.stop()
    expect(await sent).toEqual({ outcome: 'cancelled' })
    expect(chat.getSnapshot()).toMatchObject({ status: 'ready', error: undefined, runs: [{ outcome: 'cancelled' }] })
  })

  it('stop from within a callback stops at that event', async () => {
    const { chat } = scripted([hello()])
    chat.updateOptions({ connection: stream(() => iterate(hello())), onEvent: ({ type }) => type === 'TEXT_MESSAGE_CONTENT' && chat.stop() })
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'cancelled' })
    expect(texts(chat)).toEqual(['Hi', 'H'])
  })

  it('stop from within a callback stops at that event, also when more came in the same read', async () => {
    const server = await serve(answerWith(sse(hello())))
    const chat = new ChatClient({
      connection: fetchServerSentEvents(server.url),
      onEvent: ({ type }) => type === 'TEXT_MESSAGE_CONTENT' && chat.stop(),
    })
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'cancelled' })
    expect(texts(chat)).toEqual(['Hi', 'H'])
  })

  it('what a stopped turn had received and not shown does not get into the next one', async () => {
    const encoder = new TextEncoder()
    let count = 0
    const burn = (): void => {
      const end = performance.now() + 1
      while (performance.now() < end);
    }
    const chat: ChatClient = new ChatClient({
      connection: fetchServerSentEvents('/x', {
        fetchClient: async () => {
          const [head, tail] = ++count === 1 ? [[started('r1'), ...text('x'.repeat(400), 'm1')], text('y'.repeat(100), 'm2')] : [hello('r2', 'Two'), []]
          const body = new ReadableStream({
            start(sink) {
              sink.enqueue(encoder.encode(sse(head as object[])))
              sink.enqueue(encoder.encode(sse(tail as object[])))
              if (count > 1) sink.close()
            },
          })
          return new Response(body)
        },
      }),
      onEvent: (_, index) => {
        if (count > 1) return
        burn()
        // While the fold rests, the next read is in the queue.
        if (index === 70) setTimeout(() => chat.stop())
      },
    })
    expect(await chat.sendMessage('One')).toEqual({ outcome: 'cancelled' })
    expect(await chat.sendMessage('Two')).toEqual({ outcome: 'finished' })
    const [, stopped, ...rest] = texts(chat)
    expect(stopped).toMatch(/^x+$/)
    expect(rest).toEqual(['Two', 'Two'])
  })

  it('an abort by the connection itself is a cancelled turn without error', async () => {
    const own = new AbortController()
    const server = await serve(() => setTimeout(() => own.abort(), 10))
    const chat = new ChatClient({ connection: fetchServerSentEvents(server.url, { signal: own.signal }) })
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'cancelled' })
    expect(chat.getSnapshot()).toMatchObject({ status: 'ready', error: undefined })
  })

  it('reload drops what follows the last user message and runs again', async () => {
    const { chat, calls } = scripted([hello('r1', 'One'), hello('r2', 'Two')])
    await chat.sendMessage('Hi')
    expect(await chat.reload()).toEqual({ outcome: 'finished' })
    expect(texts(chat)).toEqual(['Hi', 'Two'])
    expect(calls[1]?.[0].map(({ role }) => role)).toEqual(['user'])
  })

  it('reload without a user message is refused', async () => {
    expect(await caught(() => scripted([]).chat.reload())).toMatchObject({ code: 'nothing-to-reload' })
  })

  it('clear stops, empties and goes back to the initial state; the thread id stays', async () => {
    const { chat } = scripted([[started(), { type: 'STATE_SNAPSHOT', snapshot: 5 }, ...text('x')]], { initialState: { a: 1 } })
    chat.updateOptions({
      connection: {
        async *connect() {
          yield* [started(), { type: 'STATE_SNAPSHOT', snapshot: 5 } as const, ...text('x')]
          await new Promise(() => {})
        },
      },
    })
    const sent = chat.sendMessage('Hi')
    await until(() => texts(chat).length === 2)
    chat.clear()
    expect(chat.getSnapshot()).toEqual({
      threadId: 't1', messages: [], status: 'ready', error: undefined, live: 'closed', state: { a: 1 }, interrupts: [],
      queue: [], unsent: [], runs: [], steps: [], subagents: [],
    })
    expect(await sent).toEqual({ outcome: 'cancelled' })
    expect(chat.getSnapshot().messages).toEqual([])
  })

  it('setMessages and setState show at once and go along with the next run', async () => {
    const { chat, calls } = scripted([hello()])
    let told = 0
    chat.subscribe(() => told++)
    chat.setMessages([userMessage('Earlier', 'e1')])
    chat.setState({ n: 7 })
    expect(told).toBe(2)
    expect(chat.getSnapshot()).toMatchObject({ messages: [{ id: 'e1' }], state: { n: 7 } })
    await chat.append(userMessage('Now', 'e2'))
    expect(calls[0]?.[0].map(({ id }) => id)).toEqual(['e1', 'e2'])
    expect(calls[0]?.[3]?.state).toEqual({ n: 7 })
  })

  it('makes no thread id before it is needed', async () => {
    const { chat } = scripted([hello()], { threadId: undefined as never })
    expect(chat.getSnapshot().threadId).toBeUndefined()
    await chat.sendMessage('Hi')
    expect(chat.getSnapshot().threadId).toMatch(/^thread-/)
  })
})
