/** What the pages of `shared-thread.e2e.test.ts` run: a chat that is stored, in step with the other tabs. */
import { ChatClient, defineTool, fetchServerSentEvents, persisted, sharedTabs, webStorage } from '@millrace/client'
import { indexedDbStorage } from '@millrace/client/indexeddb'

export interface PageDriver {
  chat: ChatClient
  /** Calls of the tool `ask` that ran in this page. */
  ran: string[]
  /** What is stored of the thread. */
  stored(): Promise<unknown>
  /** Makes the chat of this page and attaches it. */
  begin(url: string, storage: 'localStorage' | 'indexedDB'): Promise<void>
}

const page: Pick<PageDriver, 'ran' | 'begin' | 'stored'> = {
  ran: [],
  stored: async () => undefined,
  async begin(url, kind) {
    const storage = kind === 'localStorage' ? webStorage(localStorage) : indexedDbStorage()
    page.stored = async () => storage.load('t1')
    const ask = defineTool({ name: 'ask', description: 'Asks', execute: (_, { toolCallId }) => (page.ran.push(toolCallId), 'yes') })
    const chat = new ChatClient({
      threadId: 't1',
      connection: fetchServerSentEvents(url),
      tools: [ask],
      persistence: persisted(storage, { tabs: sharedTabs(), throttleMs: 50 }),
    })
    Object.assign(page, { chat })
    void chat.attach()
  },
}
Object.assign(globalThis, { page })
