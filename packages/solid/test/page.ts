/** The page of the contract, made with Solid. Without JSX, which would need its compiler. */
import { ChatProvider, createChat, createChatSelector, useChatClient } from '@millrace/solid'
import { createComponent, createRenderEffect, createSignal, Index, type JSX } from 'solid-js'
import { insert, render } from 'solid-js/web'
import { textOf, type Binding, type ViewProps } from '../../testkit/test/binding-contract.ts'

type Message = Parameters<typeof textOf>[0]

function element(tag: string, content: () => unknown): HTMLElement {
  const node = document.createElement(tag)
  insert(node, content as () => JSX.Element)
  return node
}

function MessageView(props: { readonly message: Message; readonly onMessage: (id: string) => void }): JSX.Element {
  const node = document.createElement('p')
  createRenderEffect(() => {
    node.textContent = textOf(props.message)
    props.onMessage(props.message.id)
  })
  return node
}

function View(props: { readonly view: ViewProps }): JSX.Element {
  const { onMessage, onSelected, select, isEqual, expose } = props.view
  const chat = createChat(() => props.view.options)
  const selected = createChatSelector(() => chat.client, select, isEqual)
  expose(chat)
  const section = document.createElement('section')
  insert(section, [
    createComponent(Index<readonly Message[], JSX.Element>, {
      get each() {
        return chat.messages
      },
      children: (message) =>
        createComponent(MessageView, {
          get message() {
            return message()
          },
          onMessage,
        }),
    }),
    element('i', () => chat.status),
    element('b', () => chat.error?.message),
    element('u', () => {
      onSelected(selected())
      return selected().text
    }),
  ])
  return section
}

function Provided(): JSX.Element {
  const client = useChatClient()
  const chat = createChat(() => ({ client: client() }))
  return element('i', () => chat.status)
}

const show = (page: HTMLElement, code: () => JSX.Element): { unmount: () => Promise<void> } => {
  const dispose = render(code, page)
  return { unmount: async () => dispose() }
}

export const solidBinding: Binding = {
  name: 'Solid',
  act: async (work) => void (await work()),
  async mount(page, first) {
    const [views, setViews] = createSignal(first)
    const children = (view: () => ViewProps): JSX.Element =>
      createComponent(View, {
        get view() {
          return view()
        },
      })
    const code = (): JSX.Element =>
      createComponent(Index<readonly ViewProps[], JSX.Element>, {
        get each() {
          return views()
        },
        children,
      })
    return { ...show(page, code), update: async (next) => void setViews(() => next) }
  },
  mountProvided: async (page, client) =>
    show(page, () =>
      createComponent(ChatProvider, {
        client,
        get children() {
          return createComponent(Provided, {})
        },
      }),
    ),
  async mountWithoutProvider(page) {
    try {
      return show(page, () => createComponent(Provided, {}))
    } catch (error) {
      return error
    }
  },
}
