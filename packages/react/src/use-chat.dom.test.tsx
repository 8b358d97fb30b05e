import { ChatClient, fetchServerSentEvents, stream, type StreamChunk } from '@millrace/client'
import { act, Activity, StrictMode, useEffect, type ReactNode } from 'react'
import { createRoot, hydrateRoot, type Root } from 'react-dom/client'
import { renderToString } from 'react-dom/server'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { keepingAgent } from '../../testkit/test/keeping-agent.ts'
import { turns } from '../../testkit/test/spoken-agent.ts'
import { useChat, type UseChatOptions, type UseChatResult } from './use-chat.ts'

;(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true

const hello = (runId: string, delta = 'Hello'): StreamChunk[] => [
  { type: 'RUN_STARTED', threadId: 't', runId },
  { type: 'TEXT_MESSAGE_START', messageId: `m-${runId}`, role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: `m-${runId}`, delta },
  { type: 'TEXT_MESSAGE_END', messageId: `m-${runId}` },
  { type: 'RUN_FINISHED', threadId: 't', runId },
]

let root: Root
let page: HTMLElement
let chat: UseChatResult
let renders = 0

beforeEach(() => {
  page = document.createElement('div')
  root = createRoot(page)
  renders = 0
})
afterEach(() => act(() => root.unmount()))

function View({ options, children }: { options: UseChatOptions; children?: ReactNode }): ReactNode {
  const result = useChat(options)
  useEffect(() => {
    renders++
    chat = result
  })
  return (
    <>
      {result.messages.map(({ id, parts }) => (
        <p key={id}>{parts.map((part) => (part.type === 'text' ? part.content : ''))}</p>
      ))}
      <i>{result.status}</i>
      {children}
    </>
  )
}

const render = (node: ReactNode): Promise<void> => act(async () => root.render(node))

/** A connection that counts its requests and answers each with one run. */
function counting() {
  const signals: AbortSignal[] = []
  const connection = stream((_messages, _data, signal) => {
    signals.push(signal as AbortSignal)
    return hello(`r${signals.length}`)
  })
  return { connection, signals }
}

const html = (): string => page.innerHTML

it('shows the conversation as it goes', async () => {
  const { connection } = counting()
  await render(<View options={{ connection }} />)
  expect(html()).toBe('<i>ready</i>')
  let sent: ReturnType<UseChatResult['sendMessage']> | undefined
  act(() => {
    sent = chat.sendMessage('Hi')
  })
  expect(html()).toBe('<p>Hi</p><i>submitted</i>')
  await act(async () => expect(await sent).toEqual({ outcome: 'finished' }))
  expect(html()).toBe('<p>Hi</p><p>Hello</p><i>ready</i>')
})

it('makes one request in Strict Mode, also for one sent from an effect', async () => {
  const { connection, signals } = counting()
  function Auto(): ReactNode {
    const { sendMessage, messages } = useChat({ client })
    useEffect(() => {
      if (client.getSnapshot().messages.length === 0) void sendMessage('From an effect')
    }, [sendMessage])
    return messages.length
  }
  const client = new ChatClient({ connection })
  await render(<StrictMode><Auto /></StrictMode>)
  await act(() => new Promise((resolve) => setTimeout(resolve, 20)))
  expect(signals).toHaveLength(1)
  expect(client.getSnapshot().messages).toHaveLength(2)
})

it('does not stop in Strict Mode what an effect has sent with a client of its own', async () => {
  const { connection, signals } = counting()
  const outcomes: string[] = []
  function Auto(): ReactNode {
    const { client, sendMessage, status } = useChat({ connection, onFinish: ({ outcome }) => outcomes.push(outcome) })
    useEffect(() => {
      if (client.getSnapshot().messages.length === 0) void sendMessage('From an effect')
    }, [client, sendMessage])
    return status
  }
  await render(<StrictMode><Auto /></StrictMode>)
  await act(() => new Promise((resolve) => setTimeout(resolve, 20)))
  expect(signals).toHaveLength(1)
  expect(outcomes).toEqual(['finished'])
  expect(html()).toBe('ready')
})

it('works in Strict Mode with a client of its own, and leaves no subscription', async () => {
  const { connection, signals } = counting()
  await render(<StrictMode><View options={{ connection }} /></StrictMode>)
  await act(async () => {
    await chat.sendMessage('Hi')
  })
  expect(signals).toHaveLength(1)
  expect(html()).toBe('<p>Hi</p><p>Hello</p><i>ready</i>')
  const { client } = chat
  const before = renders
  await act(() => root.unmount())
  client.setMessages([])
  expect(renders).toBe(before)
})

it('keeps client and methods while anything but threadId changes', async () => {
  const { connection } = counting()
  await render(<View options={{ connection, threadId: 'a' }} />)
  const first = chat
  await render(<View options={{ connection: stream(() => []), threadId: 'a', forwardedProps: { x: 1 } }} />)
  expect(chat.client).toBe(first.client)
  for (const name of ['sendMessage', 'stop', 'reload', 'respond', 'resume', 'setMessages', 'clear', 'setState', 'append'] as const) {
    expect(chat[name]).toBe(first[name])
  }
  await render(<View options={{ connection, threadId: 'b' }} />)
  expect(chat.client).not.toBe(first.client)
  expect(chat.threadId).toBe('b')
  expect(chat.messages).toEqual([])
})

it('uses the callbacks and settings of the last render', async () => {
  const seen: unknown[] = []
  const options = (name: string): UseChatOptions => ({
    connection: stream((_messages, _data, _signal, context) => {
      seen.push([name, context?.forwardedProps])
      return hello('r')
    }),
    forwardedProps: { name },
    onFinish: ({ outcome }) => seen.push([name, outcome]),
  })
  await render(<View options={options('old')} />)
  const { sendMessage } = chat
  await render(<View options={options('new')} />)
  await act(async () => {
    await sendMessage('Hi')
  })
  expect(seen).toEqual([
    ['new', { name: 'new' }],
    ['new', 'finished'],
  ])
})

it('stops the turn of a client of its own when the component goes, or the thread changes', async () => {
  const signals: AbortSignal[] = []
  const connection = stream(async (_messages, _data, signal) => {
    signals.push(signal as AbortSignal)
    await new Promise(() => {})
    return []
  })
  await render(<View options={{ connection, threadId: 'a' }} />)
  act(() => void chat.sendMessage('One'))
  await render(<View options={{ connection, threadId: 'b' }} />)
  await act(async () => {})
  expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  act(() => void chat.sendMessage('Two'))
  await act(() => root.unmount())
  await Promise.resolve()
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
})

it('leaves a shared client running, and shows it in two places', async () => {
  let release: () => void = () => {}
  const client = new ChatClient({
    connection: stream(async () => {
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return hello('r')
    }),
  })
  await render(<><View options={{ client }} /><View options={{ client }} /></>)
  let sent: ReturnType<UseChatResult['sendMessage']> | undefined
  act(() => {
    sent = chat.sendMessage('Hi')
  })
  expect(html()).toBe('<p>Hi</p><i>submitted</i>'.repeat(2))
  await act(() => root.unmount())
  release()
  expect(await sent).toEqual({ outcome: 'finished' })
  root = createRoot(page)
  await render(<View options={{ client }} />)
  expect(html()).toBe('<p>Hi</p><p>Hello</p><i>ready</i>')
})

it('renders on a server and hydrates without a mismatch or a request', async () => {
  const { connection, signals } = counting()
  const options: UseChatOptions = {
    connection,
    initialMessages: [{ id: 'u', role: 'user', parts: [{ type: 'text', content: 'Earlier' }] }],
  }
  page = document.createElement('div')
  page.innerHTML = renderToString(<View options={options} />)
  expect(html()).toBe('<p>Earlier</p><i>ready</i>')
  const errors: unknown[] = []
  await act(async () => {
    root = hydrateRoot(page, <View options={options} />, { onRecoverableError: (error) => errors.push(error) })
  })
  expect(errors).toEqual([])
  expect(signals).toEqual([])
  await act(async () => {
    await chat.sendMessage('Hi')
  })
  expect(html()).toBe('<p>Earlier</p><p>Hi</p><p>Hello</p><i>ready</i>')
})

it('attaches in the browser alone, after it was hydrated without a mismatch', async () => {
  const { connection, asked } = keepingAgent()
  const options: UseChatOptions = {
    connection,
    threadId: 'a',
    attach: true,
    initialMessages: [{ id: 'u', role: 'user', parts: [{ type: 'text', content: 'Earlier' }] }],
  }
  const node = <StrictMode><View options={options} /></StrictMode>
  page = document.createElement('div')
  page.innerHTML = renderToString(node)
  expect(html()).toBe('<p>Earlier</p><i>ready</i>')
  expect(asked).toEqual([])
  const errors: unknown[] = []
  await act(async () => {
    root = hydrateRoot(page, node, { onRecoverableError: (error) => errors.push(error) })
  })
  expect(errors).toEqual([])
  expect(asked).toEqual(['hydrate a'])
  expect(html()).toBe('<p>Earlier</p><i>ready</i>')
})

it('comes back to its run when it was hidden for a while', async () => {
  const { connection, last, asked } = keepingAgent()
  const hiding = (mode: 'visible' | 'hidden'): ReactNode => (
    <Activity mode={mode}>
      <View options={{ connection, threadId: 'a', attach: true }} />
    </Activity>
  )
  await render(hiding('visible'))
  await act(async () => void chat.sendMessage('Hi'))
  await act(async () => last().delta('One'))
  await act(turns)
  await render(hiding('hidden'))
  await act(turns)
  expect(last().readers).toBe(0)
  last().delta(' two')
  await render(hiding('visible'))
  await act(turns)
  expect(page.textContent).toBe('HiOne twostreaming')
  expect(asked).toEqual(['hydrate a', `join ${last().ids.runId}`])
})

it('renders a few times for a burst, not once for each event', async () => {
  const burst: StreamChunk[] = [
    ...hello('r').slice(0, 2),
    ...Array.from({ length: 5000 }, (): StreamChunk => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm-r', delta: 'x' })),
    ...hello('r').slice(3),
  ]
  await render(<View options={{ connection: stream(() => burst) }} />)
  const before = renders
  await act(async () => {
    await chat.sendMessage('Hi')
  })
  expect(page.querySelectorAll('p')[1]?.textContent).toHaveLength(5000)
  expect(renders - before).toBeLessThan(100)
})

it('throws for options that cannot work', () => {
  const failing = (options: unknown) => () => renderToString(<View options={options as UseChatOptions} />)
  for (const none of [{}, undefined, null]) expect(failing(none)).toThrow(expect.objectContaining({ name: 'UsageError', code: 'no-connection' }))
  expect(failing({ connection: fetchServerSentEvents('/x'), fetcher: () => [] })).toThrow(expect.objectContaining({ code: 'two-connections' }))
})
