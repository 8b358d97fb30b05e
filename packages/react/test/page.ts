/** The page of the contract, made with React. Without JSX, whose runtime is bound to one version of React. */
import { ChatProvider, useChat, useChatClient, useChatSelector } from '@millrace/react'
import { act, Component, createElement as h, Fragment, memo, StrictMode, useEffect, type ReactNode } from 'react'
import { textOf, type Binding, type ViewProps } from '../../testkit/test/binding-contract.ts'

interface Root {
  render(node: ReactNode): void
  unmount(): void
}

type Message = Parameters<typeof textOf>[0]

const MessageView = memo(function MessageView({ message, onMessage }: { message: Message; onMessage: (id: string) => void }) {
  useEffect(() => onMessage(message.id))
  return h('p', null, textOf(message))
})

function Selected({ client, view }: { client: ReturnType<typeof useChatClient>; view: ViewProps }): ReactNode {
  // Written inline: another function at each render.
  const value = useChatSelector(client, (snapshot) => view.select(snapshot), view.isEqual)
  const { onSelected } = view
  useEffect(() => onSelected(value))
  return h('u', null, value.text)
}

function View(view: ViewProps): ReactNode {
  const chat = useChat(view.options)
  const { expose, onMessage } = view
  useEffect(() => expose(chat))
  return h(
    'section',
    null,
    chat.messages.map((message) => h(MessageView, { key: message.id, message, onMessage })),
    h('i', null, chat.status),
    h('b', null, chat.error?.message),
    h(Selected, { client: chat.client, view }),
  )
}

function Provided(): ReactNode {
  return h('i', null, useChat({ client: useChatClient() }).status)
}

class Catch extends Component<{ children: ReactNode; onError: (error: unknown) => void }> {
  override state: { readonly failed: boolean } = { failed: false }
  static getDerivedStateFromError = (): object => ({ failed: true })
  override componentDidCatch = (error: unknown): void => this.props.onError(error)
  override render = (): ReactNode => (this.state.failed ? null : this.props.children)
}

/** Callbacks that stay the same, as those of a real page do: only options come from the last update. */
const steady = (views: readonly ViewProps[], first: readonly ViewProps[]): ViewProps[] =>
  views.map(({ options }, index) => ({ ...(first[index] as ViewProps), options }))

/** @param mode `strict`: in Strict Mode, which renders twice and runs effects twice. */
export function reactBinding(name: string, createRoot: (page: HTMLElement) => Root, mode?: 'strict'): Binding {
  const frame = mode === 'strict' ? StrictMode : Fragment
  const settle = async (work: () => unknown): Promise<void> => act(async () => void (await work()))
  async function show(page: HTMLElement, first: ReactNode): Promise<{ render: (node: ReactNode) => Promise<void>; unmount: () => Promise<void> }> {
    const root = createRoot(page)
    let failure: unknown
    const onError = (error: unknown): void => {
      failure = error
    }
    const render = (node: ReactNode): Promise<void> => settle(() => root.render(h(frame, null, h(Catch, { onError, children: node }))))
    const unmount = (): Promise<void> => settle(() => root.unmount())
    const { error: log } = console
    // React logs what a component throws, also when it is caught.
    console.error = () => undefined
    try {
      await render(first)
    } finally {
      console.error = log
    }
    if (failure === undefined) return { render, unmount }
    await unmount()
    throw failure
  }
  return {
    name,
    act: settle,
    async mount(page, first) {
      const nodes = (views: readonly ViewProps[]): ReactNode => steady(views, first).map((view, key) => h(View, { key, ...view }))
      const { render, unmount } = await show(page, nodes(first))
      return { update: (views) => render(nodes(views)), unmount }
    },
    mountProvided: (page, client) => show(page, h(ChatProvider, { client, children: h(Provided) })),
    mountWithoutProvider: (page) => show(page, h(Provided)).catch((error: unknown) => error),
  }
}
