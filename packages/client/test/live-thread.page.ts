/** What the pages of `live-thread.e2e.test.ts` run: a chat that listens to a thread over a WebSocket of the browser. */
import { ChatClient, webSocket, type HydratedThread } from '@millrace/client'

export interface LivePage {
  chat: ChatClient
  /** Makes the chat of this page, which listens from then on. */
  begin(url: string): void
}

/** What the server has, as the test tells it. */
declare function hydrateThread(): Promise<HydratedThread>

const live: Pick<LivePage, 'begin'> = {
  begin(url) {
    const hydrate = async (): Promise<HydratedThread> => {
      if (!navigator.onLine) throw new TypeError('Failed to fetch')
      return hydrateThread()
    }
    const chat = new ChatClient({ threadId: 't1', connection: webSocket(url, { hydrate, reconnect: { random: () => 0 } }), live: true })
    Object.assign(live, { chat })
    const show = (): void => {
      const { messages, live: link } = chat.getSnapshot()
      const lines = messages.map(({ role, parts }) => `${role}: ${parts.map((part) => ('content' in part ? String(part.content) : part.type)).join(' ')}`)
      document.body.innerText = [`live: ${link}`, ...lines].join('\n')
    }
    chat.subscribe(show)
    show()
  },
}
Object.assign(globalThis, { live })
