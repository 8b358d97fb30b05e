/** The page of the contract, made with Vue. */
import { provideChatClient, useChat, useChatClient, useChatSelector } from '@millrace/vue'
import { createApp, defineComponent, h, nextTick, shallowRef, type App, type Component, type PropType } from 'vue'
import { textOf, type Binding, type ViewProps } from '../../testkit/test/binding-contract.ts'

type Message = Parameters<typeof textOf>[0]

const MessageView = defineComponent({
  props: {
    message: { type: Object as PropType<Message>, required: true },
    onShown: { type: Function as PropType<(id: string) => void>, required: true },
  },
  setup: (props) => () => {
    props.onShown(props.message.id)
    return h('p', textOf(props.message))
  },
})

const View = defineComponent({
  props: { view: { type: Object as PropType<ViewProps>, required: true } },
  setup(props) {
    const { onMessage, onSelected, select, isEqual, expose } = props.view
    const { messages, status, error, client, ...chat } = useChat(() => props.view.options)
    const selected = useChatSelector(client, select, isEqual)
    const Selected = (): unknown => {
      onSelected(selected.value)
      return h('u', selected.value.text)
    }
    expose({
      ...chat,
      get client() {
        return client.value
      },
    })
    return () =>
      h('section', [
        messages.value.map((message) => h(MessageView, { key: message.id, message, onShown: onMessage })),
        h('i', status.value),
        h('b', error.value?.message),
        h(Selected as Component),
      ])
  },
})

const Provided = defineComponent({
  setup() {
    const client = useChatClient()
    const { status } = useChat(() => ({ client: client.value }))
    return () => h('i', status.value)
  },
})

function start(page: HTMLElement, root: Component): App {
  const app = createApp(root)
  let failure: unknown
  // Vue logs what a component throws, unless somebody takes it.
  app.config.errorHandler = (error) => {
    failure = error
  }
  app.config.warnHandler = () => undefined
  app.mount(page)
  if (failure === undefined) return app
  throw failure
}

const ending = (app: App): { unmount: () => Promise<void> } => ({ unmount: async () => app.unmount() })

export const vueBinding: Binding = {
  name: 'Vue',
  async act(work) {
    await work()
    await nextTick()
  },
  async mount(page, first) {
    const views = shallowRef(first)
    const app = start(page, { render: () => views.value.map((view, key) => h(View, { key, view })) })
    return {
      ...ending(app),
      async update(next) {
        views.value = next
        await nextTick()
      },
    }
  },
  async mountProvided(page, client) {
    const Providing = defineComponent({
      setup() {
        provideChatClient(client)
        return () => h(Provided)
      },
    })
    return ending(start(page, Providing))
  },
  async mountWithoutProvider(page) {
    try {
      return start(page, Provided)
    } catch (error) {
      return error
    }
  },
}
