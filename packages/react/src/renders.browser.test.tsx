/** What renders for a piece of text, counted in a real browser: React's own scheduler, no `act`, no Strict Mode. */
import { ChatClient, stream, type ChatSnapshot, type StreamChunk } from '@millrace/client'
import { memo, Profiler, type ReactNode } from 'react'
import { createRoot } from 'react-dom/client'
import { expect, it } from 'vitest'
import { useChat } from './use-chat.ts'
import { useChatSelector } from './use-chat-selector.ts'

type UIMessage = ChatSnapshot['messages'][number]

const user = (id: string): UIMessage => ({ id, role: 'user', parts: [{ type: 'text', content: id }] })

/** Renders so far: of the component of a message by its id. */
const renders = new Map<string, number>()
const count = (name: string): void => void renders.set(name, (renders.get(name) ?? 0) + 1)

const Message = memo(function Message({ message }: { readonly message: UIMessage }): ReactNode {
  count(message.id)
  return <p>{message.parts.map((part) => (part.type === 'text' ? part.content : ''))}</p>
})

function Selecting({ client }: { readonly client: ChatClient }): ReactNode {
  count('selected')
  return <u>{useChatSelector(client, ({ messages }) => messages.length)}</u>
}
const Selected = memo(Selecting)

function View({ client }: { readonly client: ChatClient }): ReactNode {
  const { messages } = useChat({ client })
  return (
    <>
      {messages.map((message) => (
        <Message key={message.id} message={message} />
      ))}
      <Selected client={client} />
    </>
  )
}

async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + 10_000
  while (!condition()) {
    if (performance.now() > end) throw new Error('It did not come true within 10 s.')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

it('one piece of text renders the component of its message and no other', async () => {
  let say: (chunk: StreamChunk) => void = () => {}
  const connection = stream(async function* () {
    yield { type: 'RUN_STARTED', threadId: 't', runId: 'r' } as StreamChunk
    yield { type: 'TEXT_MESSAGE_START', messageId: 'answer', role: 'assistant' } as StreamChunk
    for (;;) {
      yield await new Promise<StreamChunk>((resolve) => {
        say = resolve
      })
    }
  })
  const client = new ChatClient({ connection, initialMessages: Array.from({ length: 100 }, (_, at) => user(`u${at}`)) })
  const page = document.createElement('div')
  document.body.append(page)
  const root = createRoot(page)
  let commits = 0
  root.render(
    <Profiler id="page" onRender={() => commits++}>
      <View client={client} />
    </Profiler>,
  )
  await until(() => page.querySelectorAll('p').length === 100)
  const sent = client.sendMessage({ content: 'Hi', id: 'mine' })
  const shown = (): string => page.querySelector('p:nth-of-type(102)')?.textContent ?? ''
  const hear = async (delta: string): Promise<void> => {
    const whole = shown() + delta
    say({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'answer', delta })
    await until(() => shown() === whole)
  }
  await until(() => client.getSnapshot().status === 'streaming')
  await hear('One')
  renders.clear()
  commits = 0
  const elements = [...page.querySelectorAll('p')]
  for (let piece = 0; piece < 20; piece++) await hear(` ${piece}`)
  expect([...renders]).toEqual([['answer', 20]])
  expect(commits).toBe(20)
  expect([...page.querySelectorAll('p')].every((element, at) => element === elements[at])).toBe(true)
  client.stop()
  expect(await sent).toEqual({ outcome: 'cancelled' })
  root.unmount()
  page.remove()
})
