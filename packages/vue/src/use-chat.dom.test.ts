import { ChatClient, stream } from '@millrace/client'
import { afterEach, expect, it, vi } from 'vitest'
import { createSSRApp, defineComponent, effectScope, h, isReactive, nextTick, reactive, ref, shallowRef, watch, watchEffect, type App } from 'vue'
import { renderToString } from 'vue/server-renderer'
import { useChat, useChatSelector, type UseChatOptions } from './index.ts'
import { keepingAgent } from '../../testkit/test/keeping-agent.ts'

const user = (id: string) => ({ id, role: 'user' as const, parts: [{ type: 'text' as const, content: id }] })
const connection = stream(() => [])

let app: App | undefined
afterEach(() => {
  app?.unmount()
  app = undefined
})

it('takes options as a value, a ref, a getter or a reactive object', () => {
  const scope = effectScope()
  scope.run(() => {
    const id = ref('a')
    const asReactive = reactive({ connection, threadId: 'a' as string })
    const asRef = shallowRef<UseChatOptions>({ connection, threadId: 'a' })
    const chats = [useChat(() => ({ connection, threadId: id.value })), useChat(asReactive), useChat(asRef)]
    const before = chats.map(({ client }) => client.value)
    id.value = 'b'
    asReactive.threadId = 'b'
    asRef.value = { connection, threadId: 'b' }
    // At once, so that what is called next is called of the right client.
    expect(chats.map(({ threadId }) => threadId.value)).toEqual(['b', 'b', 'b'])
    chats.forEach(({ client }, index) => expect(client.value).not.toBe(before[index]))
    expect(useChat({ connection, threadId: 'c' }).threadId.value).toBe('c')
  })
  scope.stop()
})

it('takes a client that lies in a reactive object, and makes no proxies of what it shows', () => {
  const client = new ChatClient({ connection, initialMessages: [user('a')] })
  const scope = effectScope()
  scope.run(() => {
    const holder = reactive({ client })
    expect(isReactive(holder.client)).toBe(true)
    const chat = useChat(holder as UseChatOptions)
    expect(chat.client.value).toBe(client)
    expect(chat.messages.value).toBe(client.getSnapshot().messages)
    expect(useChatSelector(() => holder.client as ChatClient, ({ messages }) => messages.length).value).toBe(1)
  })
  scope.stop()
})

it('tells of one member only when that changes', async () => {
  const client = new ChatClient({ connection, initialState: 0 })
  const scope = effectScope()
  const seen: unknown[] = []
  scope.run(() => {
    const { state, messages } = useChat({ client })
    watch(state, (value) => seen.push(value), { flush: 'sync' })
    watch(messages, (value) => seen.push(value.length), { flush: 'sync' })
  })
  client.setState(1)
  client.setMessages([user('a'), user('b')])
  expect(seen).toEqual([1, 2])
  scope.stop()
  client.setState(3)
  expect(seen).toEqual([1, 2])
  await nextTick()
})

it('makes no effect depend on the client by a call of a method', () => {
  const scope = effectScope()
  let runs = 0
  const id = ref('a')
  scope.run(() => {
    const { setState } = useChat(() => ({ connection, threadId: id.value }))
    watchEffect(
      () => {
        runs++
        setState(1)
      },
      { flush: 'sync' },
    )
  })
  id.value = 'b'
  expect(runs).toBe(1)
  scope.stop()
})

it('renders on a server without subscribing or attaching, and hydrates without a mismatch', async () => {
  const kept = keepingAgent()
  let listeners = 0
  const make = (): ChatClient => {
    const client = new ChatClient({ connection, initialMessages: [user('a')] })
    const { subscribe } = client
    Object.defineProperty(client, 'subscribe', {
      value: (listener: () => void) => {
        listeners++
        return subscribe(listener)
      },
    })
    return client
  }
  const page = (client: ChatClient, warnings: string[]): App => {
    const View = defineComponent({
      setup() {
        const { messages, status } = useChat({ client })
        const own = useChat({ connection: kept.connection, threadId: 'kept', attach: true, initialMessages: [user('own')] })
        const count = useChatSelector(client, (snapshot) => snapshot.messages.length)
        return () => h('p', `${messages.value[0]?.id} ${own.messages.value[0]?.id} ${status.value} ${count.value}`)
      },
    })
    const made = createSSRApp(View)
    made.config.warnHandler = (warning) => void warnings.push(warning)
    return made
  }
  const warnings: string[] = []
  const container = document.createElement('div')
  container.innerHTML = await renderToString(page(make(), warnings))
  expect(container.innerHTML).toBe('<p>a own ready 1</p>')
  expect(listeners).toBe(0)
  expect(kept.asked).toEqual([])
  const client = make()
  app = page(client, warnings)
  app.mount(container)
  expect(warnings).toEqual([])
  await vi.waitFor(() => expect(kept.asked).toEqual(['hydrate kept']))
  expect(listeners).toBeGreaterThan(0)
  client.setMessages([user('b')])
  await nextTick()
  expect(container.innerHTML).toBe('<p>b own ready 1</p>')
})
