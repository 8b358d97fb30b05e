/**
 * What every binding to a view framework keeps, in one suite. A binding brings a page made with it: one section for each
 * view, in it a `p` for each message (a component of its own), the status in `i`, the error in `b` and what a selector
 * gives in `u`.
 */
import { ChatClient, structured, UsageError, type ChatMethods, type ChatSnapshot, type ChatSource, type ConnectConnectionAdapter, type StandardSchema } from '@millrace/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lifetimeContract } from './lifetime-contract.ts'
import { agent, counted, thread, turns, user } from './spoken-agent.ts'

export interface ViewProps {
  readonly options: ChatSource
  /** What `u` shows, by the binding's selector. */
  readonly select: (snapshot: ChatSnapshot) => { readonly text: string }
  readonly isEqual: (a: { readonly text: string }, b: { readonly text: string }) => boolean
  /** To be called whenever the component of a message renders. */
  readonly onMessage: (id: string) => void
  /** To be called whenever what the selector gives is rendered by itself. */
  readonly onSelected: (value: { readonly text: string }) => void
  /** To be given what the binding gives; called again when that is another object. */
  readonly expose: (chat: Exposed) => void
}

export type Exposed = ChatMethods & { readonly client: ChatClient }

export interface Mounted {
  /** As many views as before. */
  update(views: readonly ViewProps[]): Promise<void>
  unmount(): Promise<void>
}

export interface Binding {
  readonly name: string
  mount(page: HTMLElement, views: readonly ViewProps[]): Promise<Mounted>
  /** Does `work` and lets the framework do what follows from it. */
  act(work: () => unknown): Promise<void>
  /** A component that asks for a provided client where there is none: mounts it, and gives the error. */
  mountWithoutProvider(page: HTMLElement): Promise<unknown>
  /** Mounts a component that provides `client`, and below it one that shows its status in an `i`. */
  mountProvided(page: HTMLElement, client: ChatClient): Promise<Pick<Mounted, 'unmount'>>
}

export const textOf = ({ parts }: ChatSnapshot['messages'][number]): string =>
  parts.map((part) => (part.type === 'text' ? part.content : '')).join('')

export function bindingContract(binding: Binding): void {
  lifetimeContract(binding)
  describe(`${binding.name}: the contract of bindings`, () => {
    let page: HTMLElement
    let mounted: Mounted | undefined
    let chats: (Exposed | undefined)[]
    let rendered: string[]
    let selected: { readonly text: string }[]
    const rejections: unknown[] = []
    const onRejection = (reason: unknown): void => void rejections.push(reason)

    beforeEach(() => {
      page = document.createElement('div')
      document.body.append(page)
      chats = []
      rendered = []
      selected = []
      rejections.length = 0
      process.on('unhandledRejection', onRejection)
    })
    afterEach(async () => {
      await unmount()
      page.remove()
      await turns()
      process.off('unhandledRejection', onRejection)
      expect(rejections).toEqual([])
    })

    const view = (options: ChatSource, index: number): ViewProps => ({
      options,
      select: ({ messages }) => ({ text: `${messages.length} messages` }),
      isEqual: (a, b) => a.text === b.text,
      onMessage: (id) => void rendered.push(id),
      onSelected: (value) => void selected.push(value),
      expose: (chat) => {
        chats[index] = chat
      },
    })
    const mount = async (...options: ChatSource[]): Promise<void> => {
      mounted = await binding.mount(page, options.map(view))
    }
    const update = async (...options: ChatSource[]): Promise<void> => {
      await mounted?.update(options.map(view))
      await binding.act(turns)
    }
    const unmount = async (): Promise<void> => {
      const last = mounted
      mounted = undefined
      await last?.unmount()
    }
    /** Does something and lets all of it arrive. */
    const doing = (work: () => unknown): Promise<void> =>
      binding.act(async () => {
        work()
        await turns()
      })
    const chat = (index = 0): Exposed => chats[index] as Exposed
    const all = (tag: string, within: Element = page): string[] => [...within.querySelectorAll(tag)].map((each) => each.textContent ?? '')
    const texts = (): string[] => all('p')
    const status = (): string => all('i').join()

    it('shows the initial snapshot at the first render, and asks for nothing', async () => {
      const { connection, runs } = agent()
      await mount({ connection, initialMessages: [user('u', 'Earlier')] })
      expect(texts()).toEqual(['Earlier'])
      expect(status()).toBe('ready')
      expect(all('u')).toEqual(['1 messages'])
      expect(rendered).toEqual(['u'])
      await doing(() => undefined)
      expect(runs).toHaveLength(0)
      expect(rendered).toEqual(['u'])
    })

    it('shows what is sent at once, and each piece of the answer', async () => {
      const { connection, last } = agent()
      await mount({ connection })
      await doing(() => void chat().sendMessage('Hi'))
      expect(texts()).toEqual(['Hi'])
      expect(status()).toBe('submitted')
      await doing(() => last().start())
      expect(status()).toBe('streaming')
      for (const so of ['He', 'Hello', 'Hello!']) {
        await doing(() => last().delta(so.slice((texts()[1] ?? '').length)))
        expect(texts()).toEqual(['Hi', so])
      }
      await doing(() => last().finish())
      expect(status()).toBe('ready')
    })

    it('renders for one piece of text the one message it belongs to, and nothing that selects something else', async () => {
      const { connection, last } = agent()
      await mount({ connection, initialMessages: Array.from({ length: 20 }, (_, at) => user(`u${at}`, `${at}`)) })
      await doing(() => void chat().sendMessage({ content: 'Hi', id: 'mine' }))
      await doing(() => last().start())
      await doing(() => last().delta('One'))
      const before = selected.at(-1)
      const elements = [...page.querySelectorAll('p')]
      rendered.length = 0
      selected.length = 0
      for (const piece of [' two', ' three', ' four']) await doing(() => last().delta(piece))
      expect(texts().at(-1)).toBe('One two three four')
      expect(rendered).toEqual(['answer', 'answer', 'answer'])
      expect([...page.querySelectorAll('p')].every((element, at) => element === elements[at])).toBe(true)
      expect(selected.every((value) => value === before)).toBe(true)
      await doing(() => last().finish())
      await doing(() => void chat().sendMessage('Next'))
      expect(all('u')).toEqual(['23 messages'])
      expect(new Set(rendered.slice(3))).toEqual(new Set(['answer', chat().client.getSnapshot().messages.at(-1)?.id]))
    })

    it('shows the value that the agent answers, as it streams', async () => {
      const { connection, last } = agent()
      const output: StandardSchema<unknown> = { '~standard': { version: 1, vendor: 'x', validate: (value) => ({ value }) } }
      const select: ViewProps['select'] = ({ partial, final }) => ({ text: `${JSON.stringify(partial)} ${JSON.stringify(final)}` })
      mounted = await binding.mount(page, [{ ...view({ connection, output: structured(output) }, 0), select }])
      await doing(() => void chat().sendMessage('Hi'))
      await doing(() => last().start())
      await doing(() => last().delta('{"a":[1,'))
      expect(all('u')).toEqual(['{"a":[1]} undefined'])
      await doing(() => last().delta('2]}'))
      await doing(() => last().finish())
      expect(all('u')).toEqual(['{"a":[1,2]} {"a":[1,2]}'])
    })

    it('shows a call that waits for the user, and what became of it', async () => {
      const { connection, last } = agent()
      const select: ViewProps['select'] = ({ messages }) => ({
        text: messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-call' ? [`${part.state} ${part.approval?.approved ?? '-'}`] : []))).join(),
      })
      mounted = await binding.mount(page, [{ ...view({ connection }, 0), select, isEqual: (a, b) => a.text === b.text }])
      await doing(() => void chat().sendMessage('Hi'))
      await doing(() => {
        last().start()
        last().say(
          { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'wipe', parentMessageId: 'answer' },
          { type: 'TOOL_CALL_END', toolCallId: 'c1' },
          { type: 'CUSTOM', name: 'approval-requested', value: { toolCallId: 'c1', approval: { id: 'a1', needsApproval: true } } },
        )
        last().finish()
      })
      expect(all('u')).toEqual(['approval-requested -'])
      await doing(() => void chat().approve('a1', { approved: false }))
      expect(all('u')).toEqual(['approval-responded false'])
    })

    it('sends a turn that failed again: the message stays, and is told while it was not heard of', async () => {
      const { connection, runs, last } = agent()
      const { connect } = connection as ConnectConnectionAdapter
      let online = false
      const away: ConnectConnectionAdapter = { connect: (...given) => (online ? connect(...given) : (Promise.reject(new Error('offline')) as never)) }
      const select: ViewProps['select'] = ({ unsent }) => ({ text: unsent.join() })
      mounted = await binding.mount(page, [{ ...view({ connection: away }, 0), select, isEqual: (a, b) => a.text === b.text }])
      await doing(() => void chat().sendMessage({ content: 'Hi', id: 'mine' }))
      expect([texts(), status(), all('u')]).toEqual([['Hi'], 'error', ['mine']])
      online = true
      await doing(() => void chat().retry())
      expect([texts(), status(), all('u')]).toEqual([['Hi'], 'submitted', ['']])
      await doing(() => {
        last().start()
        last().delta('Hello')
        last().finish()
      })
      expect([texts(), runs.length]).toEqual([['Hi', 'Hello'], 1])
    })

    it('renders a burst a few times, not once for each piece', async () => {
      const { connection, last } = agent()
      await mount({ connection })
      await doing(() => void chat().sendMessage('Hi'))
      await doing(() => last().start())
      rendered.length = 0
      await binding.act(async () => {
        for (let piece = 0; piece < 2000; piece++) last().delta('x')
        last().finish()
        while (chat().client.getSnapshot().status === 'streaming') await turns()
        await turns()
      })
      expect(texts()[1]).toHaveLength(2000)
      expect(rendered.length).toBeLessThan(100)
    })

    it('shows what is sent while it is mounted', async () => {
      const { connection, runs, last } = agent()
      const options: ChatSource = { connection }
      let sent = false
      const sending: ViewProps = {
        ...view(options, 0),
        expose(chat) {
          chats[0] = chat
          if (!sent) void chat.sendMessage('At once')
          sent = true
        },
      }
      mounted = await binding.mount(page, [sending])
      await doing(() => undefined)
      expect(texts()).toEqual(['At once'])
      expect(runs).toHaveLength(1)
      await doing(() => last().start())
      await doing(() => last().delta('Here'))
      expect(texts()).toEqual(['At once', 'Here'])
    })

    it('listens to the thread while it is mounted, if told to', async () => {
      const { connection, say, listeners } = thread()
      await mount({ connection, threadId: 't', live: true })
      await doing(() => undefined)
      expect(listeners()).toBe(1)
      await doing(() => say({ type: 'RUN_STARTED', threadId: 't', runId: 'theirs' }, { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' }, { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Hello' }))
      expect([texts(), status()]).toEqual([['Hello'], 'streaming'])
      await doing(() => say({ type: 'TEXT_MESSAGE_END', messageId: 'm' }, { type: 'RUN_FINISHED', threadId: 't', runId: 'theirs' }))
      expect(status()).toBe('ready')
      await update({ connection, threadId: 't', live: false })
      expect(listeners()).toBe(0)
      await update({ connection, threadId: 't', live: true })
      expect(listeners()).toBe(1)
      await unmount()
      await turns()
      expect(listeners()).toBe(0)
    })

    it('ends the turn of a client of its own when its component goes', async () => {
      const { connection, last } = agent()
      const outcomes: string[] = []
      await mount({ connection, onFinish: ({ outcome }) => outcomes.push(outcome) })
      await doing(() => void chat().sendMessage('Hi'))
      await doing(() => last().start())
      await unmount()
      await turns()
      expect(last().signal.aborted).toBe(true)
      expect(outcomes).toEqual(['cancelled'])
    })

    it('begins anew when it is mounted again', async () => {
      const { connection, last } = agent()
      await mount({ connection })
      const first = chat().client
      await doing(() => void chat().sendMessage('Hi'))
      await unmount()
      await mount({ connection })
      expect(chat().client).not.toBe(first)
      expect(texts()).toEqual([])
      await doing(() => void chat().sendMessage('Again'))
      await doing(() => last().start())
      await doing(() => last().delta('Yes'))
      expect(texts()).toEqual(['Again', 'Yes'])
    })

    it('leaves a shared client running, and shows where it is when it is mounted again', async () => {
      const { connection, last } = agent()
      const { client, listeners } = counted(new ChatClient({ connection }))
      await mount({ client })
      expect(chat().client).toBe(client)
      await doing(() => void chat().sendMessage('Hi'))
      await doing(() => last().start())
      await unmount()
      await turns()
      expect(listeners()).toBe(0)
      expect(last().signal.aborted).toBe(false)
      await doing(() => last().delta('Hello'))
      await mount({ client })
      expect(texts()).toEqual(['Hi', 'Hello'])
      await doing(() => last().finish())
      expect(status()).toBe('ready')
    })

    it('takes over settings without another client, also for methods that were taken before', async () => {
      const first = agent()
      const second = agent()
      const ends: string[] = []
      const options = ({ connection }: typeof first, name: string): ChatSource => ({
        connection,
        onFinish: ({ outcome }) => ends.push(`${name} ${outcome}`),
      })
      await mount(options(first, 'first'))
      const { client, sendMessage } = chat()
      await update(options(second, 'second'))
      expect(chat().client).toBe(client)
      expect(chat().sendMessage).toBe(sendMessage)
      await doing(() => void sendMessage('Hi'))
      expect(first.runs).toHaveLength(0)
      await update(options(first, 'third'))
      await doing(() => second.last().start())
      await doing(() => second.last().finish())
      expect(ends).toEqual(['third finished'])
    })

    it('has another client for another thread, and ends the turn of the one before', async () => {
      const { connection, last, runs } = agent()
      const { client: shared, listeners } = counted(new ChatClient({ connection, initialMessages: [user('u', 'Shared')] }))
      await mount({ connection, threadId: 'a' })
      const { client } = chat()
      await doing(() => void chat().sendMessage('Hi'))
      await doing(() => last().start())
      await update({ connection, threadId: 'b' })
      expect(chat().client).not.toBe(client)
      expect(chat().client.threadId).toBe('b')
      expect(texts()).toEqual([])
      expect(status()).toBe('ready')
      expect(runs[0]?.signal.aborted).toBe(true)
      await doing(() => void chat().sendMessage('There'))
      expect(texts()).toEqual(['There'])
      await update({ client: shared })
      expect(texts()).toEqual(['Shared'])
      expect(all('u')).toEqual(['1 messages'])
      expect(runs[1]?.signal.aborted).toBe(true)
      await update({ connection, threadId: 'c' })
      expect(texts()).toEqual([])
      expect(listeners()).toBe(0)
    })

    it('shows an error, and recovers from it', async () => {
      const { connection, last } = agent()
      await mount({ connection })
      await doing(() => void chat().sendMessage('Hi'))
      await doing(() => last().fail('The model went away'))
      expect(status()).toBe('error')
      expect(all('b')).toEqual(['The model went away'])
      await doing(() => void chat().reload())
      expect(all('b')).toEqual([''])
      await doing(() => last().start())
      await doing(() => last().delta('Here'))
      await doing(() => last().finish())
      expect(status()).toBe('ready')
      expect(texts()).toEqual(['Hi', 'Here'])
    })

    it('shows one client in two places', async () => {
      const { connection, last } = agent()
      const { client, listeners } = counted(new ChatClient({ connection }))
      await mount({ client }, { client })
      await doing(() => void chat(0).sendMessage('Hi'))
      await doing(() => last().start())
      await doing(() => last().delta('Hello'))
      const sections = [...page.querySelectorAll('section')]
      expect(sections.map((section) => all('p', section))).toEqual([
        ['Hi', 'Hello'],
        ['Hi', 'Hello'],
      ])
      await doing(() => chat(1).stop())
      expect(all('i')).toEqual(['ready', 'ready'])
      expect(listeners()).toBeGreaterThan(0)
      await unmount()
      await turns()
      expect(listeners()).toBe(0)
    })

    it('does nothing any more when it is gone', async () => {
      const { connection, last } = agent()
      const client = new ChatClient({ connection })
      await mount({ client }, { connection })
      await doing(() => void chat(0).sendMessage('Hi'))
      await doing(() => void chat(1).sendMessage('Hi'))
      await doing(() => last().start())
      const own = chat(1)
      await unmount()
      await turns()
      rendered.length = 0
      selected.length = 0
      client.setMessages([user('u', 'Late')])
      own.setMessages([user('u', 'Late')])
      own.stop()
      await turns()
      expect(rendered).toEqual([])
      expect(selected).toEqual([])
      expect(texts()).toEqual([])
    })

    it('hands out every method of a client that a view may call', async () => {
      const { connection } = agent()
      await mount({ connection })
      const kept = new Set(['constructor', 'threadId', 'updateOptions', 'dispose'])
      const methods = Object.getOwnPropertyNames(ChatClient.prototype).filter((name) => !kept.has(name))
      const given = methods.filter((name) => typeof chat()[name as keyof ChatMethods] === 'function')
      expect(given).toEqual(methods)
    })

    it('rejects misuse as the client does', async () => {
      const { connection } = agent()
      await mount({ connection })
      await doing(() => void chat().sendMessage('Hi'))
      await expect(chat().sendMessage('Again')).rejects.toMatchObject({ name: 'UsageError', code: 'busy' })
      await expect(chat().respond('x', { status: 'cancelled' })).rejects.toMatchObject({ code: 'busy' })
    })

    it('throws for options that cannot work', async () => {
      const wrong = {} as ChatSource
      await expect(mount(wrong)).rejects.toMatchObject({ name: 'UsageError', code: 'no-connection' })
    })

    it('provides a client to what is below, and says where none is provided', async () => {
      const { connection, last } = agent()
      const { client, listeners } = counted(new ChatClient({ connection }))
      const provided = await binding.mountProvided(page, client)
      expect(status()).toBe('ready')
      await doing(() => void client.sendMessage('Hi'))
      expect(status()).toBe('submitted')
      await provided.unmount()
      await turns()
      expect(listeners()).toBe(0)
      expect(last().signal.aborted).toBe(false)
      const error = await binding.mountWithoutProvider(page)
      expect(error).toBeInstanceOf(UsageError)
      expect(error).toMatchObject({ code: 'no-client' })
    })
  })
}
