import { ChatClient, stream } from '@millrace/client'
import { act, StrictMode, useEffect, useState, type ReactNode } from 'react'
import { createRoot, hydrateRoot, type Root } from 'react-dom/client'
import { renderToString } from 'react-dom/server'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ChatProvider, useChat, useChatClient, useChatSelector } from './index.ts'

;(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true

const user = (id: string) => ({ id, role: 'user' as const, parts: [{ type: 'text' as const, content: id }] })

let root: Root
let page: HTMLElement
let client: ChatClient
let values: (readonly string[])[] = []
let draw: () => void = () => undefined

beforeEach(() => {
  page = document.createElement('div')
  root = createRoot(page)
  client = new ChatClient({ connection: stream(() => []), initialMessages: [user('a')], initialState: 0 })
  values = []
})
afterEach(() => act(() => root.unmount()))

const sameIds = (a: readonly string[], b: readonly string[]): boolean => a.join() === b.join()

function Ids(): ReactNode {
  const [, setCount] = useState(0)
  const ids = useChatSelector(useChatClient(), ({ messages }) => messages.map(({ id }) => id), sameIds)
  useEffect(() => {
    values.push(ids)
    draw = () => setCount((count) => count + 1)
  })
  return ids.join()
}

const provided = (): ReactNode => <ChatProvider client={client}><Ids /></ChatProvider>

it('renders when what is selected changes, and keeps a value that shows the same', async () => {
  await act(async () => root.render(provided()))
  act(() => client.setState(1))
  expect(values).toEqual([['a']])
  act(() => draw())
  expect(values).toHaveLength(2)
  // A selector written inline gives another array at each render, which is not handed out.
  expect(values[1]).toBe(values[0])
  act(() => client.setMessages([user('a'), user('b')]))
  expect(page.textContent).toBe('a,b')
  expect(values).toHaveLength(3)
})

it('works in Strict Mode, and with another client', async () => {
  await act(async () => root.render(<StrictMode>{provided()}</StrictMode>))
  act(() => client.setMessages([user('b')]))
  expect(page.textContent).toBe('b')
  client = new ChatClient({ connection: stream(() => []), initialMessages: [user('c')] })
  await act(async () => root.render(<StrictMode>{provided()}</StrictMode>))
  expect(page.textContent).toBe('c')
})

it('renders on a server and hydrates without a mismatch', async () => {
  function Page(): ReactNode {
    const chat = useChat({ connection: stream(() => []), initialMessages: [user('a')] })
    return <ChatProvider client={chat.client}><Ids /></ChatProvider>
  }
  page = document.createElement('div')
  page.innerHTML = renderToString(<Page />)
  expect(page.innerHTML).toBe('a')
  const errors: unknown[] = []
  const log = vi.spyOn(console, 'error').mockImplementation((...said) => void errors.push(said))
  await act(async () => {
    root = hydrateRoot(page, <Page />, { onRecoverableError: (error) => errors.push(error) })
  })
  log.mockRestore()
  expect(errors).toEqual([])
  expect(page.innerHTML).toBe('a')
})
