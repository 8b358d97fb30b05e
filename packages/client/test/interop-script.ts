/**
 * One conversation for every pair of client, connection and server: text, a tool of the server, a tool of the client, a stop,
 * an error. What it shows must be the same, whoever speaks to whom.
 */
import { ChatClient, type ConnectionAdapter } from '@millrace/client'
import { ChatClient as TanstackChatClient } from '@tanstack/ai-client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { tick, until } from './runs.ts'
import { pickColour, SLOW_TEXT, WEATHER_TEXT } from './tanstack-server.ts'

/** A chat client of any make. */
export interface Talker {
  /** Sends, and answers what the agent asks of the client. Resolves when the client says that it is done. */
  send(text: string): Promise<void>
  stop(): void
  status(): string
  error(): string | undefined
  /** One line for each part, in the order in which they show. */
  shown(): string[]
  /** How often it said that a send is over, if it says so once for each. */
  finished?(): number
}

interface Part {
  readonly type: string
  readonly content?: unknown
  readonly name?: string
  readonly arguments?: string
  readonly output?: unknown
}

/** What messages show, one line for each part. */
export function lines(messages: readonly { readonly role: string; readonly parts: readonly object[] }[]): string[] {
  return messages.flatMap(({ role, parts }) =>
    (parts as readonly Part[]).flatMap((part) => {
      if (part.type === 'text') return [`${role}: ${String(part.content)}`]
      if (part.type === 'tool-call') return [`${part.name}(${part.arguments}) = ${JSON.stringify(part.output)}`]
      return part.type === 'tool-result' ? [] : [part.type]
    }),
  )
}

const COLOUR = 'red'

export function ours(connection: ConnectionAdapter): Talker {
  let finished = 0
  const chat = new ChatClient({
    connection,
    tools: [{ name: 'pickColour', description: 'Lets the user pick a colour', parameters: { type: 'object', properties: { from: { type: 'number' } } }, execute: () => COLOUR }],
    onFinish: () => finished++,
  })
  onTestFinished(() => chat.dispose())
  return {
    async send(text) {
      let { outcome } = await chat.sendMessage(text)
      // TanStack AI asks for a tool of the client by an interrupt.
      for (const { id } of outcome === 'interrupted' ? chat.getSnapshot().interrupts : []) {
        const answered = await chat.respond(id, { status: 'resolved', payload: COLOUR })
        outcome = answered.outcome
      }
    },
    stop: () => chat.stop(),
    status: () => chat.getSnapshot().status,
    error: () => chat.getSnapshot().error?.message,
    shown: () => lines(chat.getSnapshot().messages),
    finished: () => finished,
  }
}

export function theirs(connection: unknown): Talker {
  const chat = new TanstackChatClient({ connection: connection as never, tools: [pickColour.client(() => COLOUR)] as never })
  onTestFinished(() => chat.dispose())
  return {
    async send(text) {
      await chat.sendMessage(text)
      // Of a call that was left without an interrupt it knows only when it is told.
      const open = chat.getMessages().at(-1)?.parts.find((part) => part.type === 'tool-call' && part.output === undefined) as { readonly id: string } | undefined
      if (open !== undefined && chat.getStatus() === 'ready') await chat.addToolResult({ toolCallId: open.id, tool: 'pickColour', output: COLOUR })
    },
    stop: () => chat.stop(),
    status: () => chat.getStatus(),
    error: () => chat.getError()?.message,
    shown: () => lines(chat.getMessages()),
  }
}

export interface Pair {
  readonly name: string
  open(): { readonly talker: Talker; /** Nothing is made any more at the other end. */ quiet(): boolean; close?(): void }
  /** What this pair cannot do, and why. */
  readonly without?: Partial<Record<'client tool' | 'stop', string>>
}

const WEATHER = ['user: weather?', 'assistant: Let me look.', 'getWeather({"city":"Zürich"}) = {"city":"Zürich","degrees":4}', `assistant: ${WEATHER_TEXT}`]
const HELLO = ['user: hello', 'assistant: Hello! Ünïcode works: 你好 👋']
const COLOURED = ['user: colour?', 'assistant: Choose.', 'pickColour({"from":2}) = "red"', 'assistant: It is red.']

export function describePair({ name, open, without = {} }: Pair): void {
  const begin = (): ReturnType<Pair['open']> => {
    const opened = open()
    onTestFinished(() => opened.close?.())
    return opened
  }
  /** That it comes to this, and stays: nothing doubled, nothing sent again. */
  const shows = async (talker: Talker, expected: readonly string[]): Promise<void> => {
    await until(() => talker.shown().length >= expected.length && talker.status() === 'ready' && talker.shown().at(-1) === expected.at(-1)).catch(() => {})
    await tick(30)
    expect({ shown: talker.shown(), status: talker.status(), error: talker.error() }).toEqual({ shown: expected, status: 'ready', error: undefined })
  }

  describe(name, () => {
    it('text, a tool of the server, and text again: the history goes along', async () => {
      const { talker } = begin()
      await talker.send('hello')
      await shows(talker, HELLO)
      await talker.send('weather?')
      await shows(talker, [...HELLO, ...WEATHER])
      await talker.send('hello')
      await shows(talker, [...HELLO, ...WEATHER, ...HELLO])
      if (talker.finished !== undefined) expect(talker.finished()).toBe(3)
    })

    it.skipIf(without['client tool'] !== undefined)(`a tool of the client${reason(without['client tool'])}`, async () => {
      const { talker } = begin()
      await talker.send('colour?')
      await shows(talker, COLOURED)
      await talker.send('hello')
      await shows(talker, [...COLOURED, ...HELLO])
    })

    it.skipIf(without.stop !== undefined)(`a stop is felt at the other end, and the next message is answered${reason(without.stop)}`, async () => {
      const { talker, quiet } = begin()
      const sending = talker.send('slow')
      await until(() => (talker.shown()[1] ?? '').length > 'assistant: '.length)
      talker.stop()
      await sending
      await until(quiet)
      const [, said = ''] = talker.shown()
      expect(`assistant: ${SLOW_TEXT}`.startsWith(said)).toBe(true)
      expect(said.length).toBeLessThan(SLOW_TEXT.length)
      expect(talker.status()).toBe('ready')
      await talker.send('hello')
      await shows(talker, ['user: slow', said, ...HELLO])
    })

    it("the agent's error, with what came before it, and then an answer", async () => {
      const { talker } = begin()
      await talker.send('fail').catch(() => {})
      // Their client says so before it shows what came first.
      await until(() => talker.status() === 'error' && talker.shown().length > 1).catch(() => {})
      expect(talker.error()).toContain('The model is gone.')
      expect(talker.shown()).toEqual(['user: fail', 'assistant: Half'])
      await talker.send('hello')
      await shows(talker, ['user: fail', 'assistant: Half', ...HELLO])
    })
  })
}

const reason = (why: string | undefined): string => (why === undefined ? '' : ` (not here: ${why})`)
