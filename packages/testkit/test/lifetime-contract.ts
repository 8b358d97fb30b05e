/** What every binding keeps when a component comes and when it goes: attaching, leaving, stopping. */
import { ChatClient, UsageError, type ChatSource } from '@millrace/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Binding, Exposed, Mounted, ViewProps } from './binding-contract.ts'
import { keepingAgent } from './keeping-agent.ts'
import { agent, turns } from './spoken-agent.ts'

export function lifetimeContract(binding: Binding): void {
  describe(`${binding.name}: the contract of lifetimes`, () => {
    let page: HTMLElement
    let mounted: Mounted | undefined
    let chats: Exposed[]

    beforeEach(() => {
      page = document.createElement('div')
      document.body.append(page)
      chats = []
    })
    afterEach(async () => {
      await unmount()
      page.remove()
    })

    const view = (options: ChatSource, index: number): ViewProps => ({
      options,
      select: ({ messages }) => ({ text: `${messages.length}` }),
      isEqual: (a, b) => a.text === b.text,
      onMessage: () => undefined,
      onSelected: () => undefined,
      expose: (chat) => {
        chats[index] = chat
      },
    })
    const mount = async (...options: ChatSource[]): Promise<void> => {
      mounted = await binding.mount(page, options.map(view))
      await binding.act(turns)
    }
    const update = async (...options: ChatSource[]): Promise<void> => {
      await mounted?.update(options.map(view))
      await binding.act(turns)
    }
    const unmount = async (): Promise<void> => {
      const last = mounted
      mounted = undefined
      await last?.unmount()
      await turns()
    }
    const doing = (work: () => unknown): Promise<void> =>
      binding.act(async () => {
        work()
        await turns()
      })
    const all = (tag: string): string[] => [...page.querySelectorAll(tag)].map((each) => each.textContent ?? '')

    it('leaves a run that can be joined again when its component goes, and comes back to it with `attach`', async () => {
      const { connection, last, runs, asked } = keepingAgent()
      const ends: string[] = []
      await mount({ connection, threadId: 'a', onFinish: ({ outcome }) => ends.push(outcome) })
      await doing(() => void chats[0]?.sendMessage('Hi'))
      await doing(() => last().delta('Hel'))
      expect(all('p')).toEqual(['Hi', 'Hel'])
      await unmount()
      expect(last().readers).toBe(0)
      expect(asked).toEqual([])
      expect(ends).toEqual([])
      last().delta('lo')
      await mount({ connection, threadId: 'a', attach: true })
      expect(asked).toEqual(['hydrate a', `join ${last().ids.runId}`])
      expect(all('p')).toEqual(['Hi', 'Hello'])
      expect(all('i')).toEqual(['streaming'])
      await doing(() => last().finish())
      expect(all('i')).toEqual(['ready'])
      expect(runs).toHaveLength(1)
    })

    it('finds a run that was sent right before the component went, though the server did not know it yet', async () => {
      let accept: () => void = () => undefined
      const { connection, last, runs, asked } = keepingAgent(new Promise((resolve) => (accept = resolve)))
      await mount({ connection, threadId: 'a' })
      await doing(() => void chats[0]?.sendMessage('Hi'))
      await unmount()
      await mount({ connection, threadId: 'a', attach: true })
      expect(asked).toEqual([])
      await doing(accept)
      await binding.act(turns)
      expect(asked).toEqual(['hydrate a', `join ${last().ids.runId}`])
      await doing(() => last().delta('Hello'))
      expect(all('p')).toEqual(['Hi', 'Hello'])
      expect(runs).toHaveLength(1)
      expect(last().readers).toBe(1)
    })

    it('stops it with `onUnmount: "stop"`, by the options of the last render', async () => {
      const { connection, last, asked } = keepingAgent()
      const ends: string[] = []
      const options = (onUnmount: 'leave' | 'stop'): ChatSource => ({ connection, onUnmount, onFinish: ({ outcome }) => ends.push(outcome) })
      await mount(options('leave'))
      await doing(() => void chats[0]?.sendMessage('Hi'))
      await doing(() => last().delta('Hel'))
      await update(options('stop'))
      await unmount()
      expect(asked).toEqual([`cancel ${last().ids.runId}`])
      expect(ends).toEqual(['cancelled'])
    })

    it('leaves the run of a thread when it shows another one, and comes back to that', async () => {
      const { connection, last, runs, asked } = keepingAgent()
      await mount({ connection, threadId: 'a', attach: true })
      await doing(() => void chats[0]?.sendMessage('Hi'))
      await doing(() => last().delta('One'))
      await update({ connection, threadId: 'b', attach: true })
      expect(all('p')).toEqual([])
      await update({ connection, threadId: 'a', attach: true })
      expect(all('p')).toEqual(['Hi', 'One'])
      expect(asked).toEqual(['hydrate a', 'hydrate b', 'hydrate a', `join ${last().ids.runId}`])
      expect(runs).toHaveLength(1)
    })

    it('attaches once, however often it renders, and not unless it is asked to', async () => {
      const { connection, asked } = keepingAgent()
      await mount({ connection, threadId: 'a' })
      await update({ connection, threadId: 'a' })
      expect(asked).toEqual([])
      await update({ connection, threadId: 'a', attach: true })
      await update({ connection, threadId: 'a', attach: true, forwardedProps: { x: 1 } })
      await update({ connection, threadId: 'a', attach: true, forwardedProps: { x: 2 } })
      expect(asked).toEqual(['hydrate a'])
    })

    it('attaches a shared client once, and leaves it as it is', async () => {
      const { connection, last, asked } = keepingAgent()
      const client = new ChatClient({ connection, threadId: 'a' })
      await mount({ client, attach: true }, { client, attach: true })
      expect(asked).toEqual(['hydrate a'])
      await doing(() => void client.sendMessage('Hi'))
      await unmount()
      expect(last().readers).toBe(1)
      await mount({ client, attach: true })
      expect(asked).toEqual(['hydrate a'])
      client.dispose()
    })

    it('shows a server that cannot be asked as an error', async () => {
      const { connection } = keepingAgent()
      const hydrate = async (): Promise<never> => {
        throw new Error('The server is away')
      }
      await mount({ connection: { ...connection, hydrate }, threadId: 'a', attach: true })
      expect(all('b')).toEqual(['The server is away'])
    })

    it('what was sent while it was mounted goes before what the server has', async () => {
      const { connection, last, runs } = keepingAgent()
      const options: ChatSource = { connection, threadId: 'a', attach: true }
      const sending: ViewProps = {
        ...view(options, 0),
        expose(chat) {
          if (chats[0] === undefined) void chat.sendMessage('At once')
          chats[0] = chat
        },
      }
      mounted = await binding.mount(page, [sending])
      await binding.act(turns)
      await doing(() => last().delta('Here'))
      expect(all('p')).toEqual(['At once', 'Here'])
      expect(runs).toHaveLength(1)
    })

    it('stops a run that nobody could join again', async () => {
      const { connection, last } = agent()
      const ends: string[] = []
      await mount({ connection, onUnmount: 'leave', onFinish: ({ outcome }) => ends.push(outcome) })
      await doing(() => void chats[0]?.sendMessage('Hi'))
      await doing(() => last().start())
      await unmount()
      expect(last().signal.aborted).toBe(true)
      expect(ends).toEqual(['cancelled'])
    })

    it.each([{ onUnmount: 'detach' }, { attach: 'yes' }])('throws for %j', async (wrong) => {
      const { connection } = agent()
      const error: unknown = await mount({ connection, ...wrong } as unknown as ChatSource).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(UsageError)
      expect(error).toMatchObject({ code: 'bad-options' })
    })
  })
}
