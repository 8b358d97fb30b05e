/** Chats that listen, in several tabs of several participants, over real WebSockets: at rest all of them show the same. */
import { ChatClient, memoryStorage, persisted, sharedTabs, type ChatStorage } from '@millrace/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { caught, tick, until } from '../../test/events.ts'
import { fanOut } from '../../test/fan-out.ts'
import { FakeTabs } from '../../test/fake-tabs.ts'
import { texts } from '../../test/scripted.ts'
import { open } from '../../test/socket-client.ts'

type Server = Awaited<ReturnType<typeof fanOut>>
interface Manner {
  readonly mode: 'client' | 'server'
  readonly tabs: boolean
  readonly hydrates: boolean
}

/** One browser: its storage, and what its tabs tell each other. */
function browser(server: Server, name: string, { mode, tabs, hydrates }: Manner) {
  const fake = new FakeTabs()
  const storage: ChatStorage = memoryStorage()
  let count = 0
  return async function tab(): Promise<ChatClient> {
    const me = `${name}${++count}`
    let id = 0
    const locks = fake.locks()
    const chat = new ChatClient({
      connection: open(server.url, hydrates ? { hydrate: server.hydrate } : {}),
      threadId: 't1',
      live: true,
      whenBusy: 'queue',
      generateId: (kind) => `${me}-${kind}-${++id}`,
      persistence: persisted(storage, { mode, throttleMs: 0, ...(tabs && { tabs: sharedTabs({ channel: fake.channel, locks, id: me }) }) }),
    })
    onTestFinished(() => {
      locks.gone()
      return chat.dispose()
    })
    void chat.attach()
    chat.subscribe(() => {})
    await until(() => chat.getSnapshot().live === 'open')
    return chat
  }
}

const shown = (chat: ChatClient): string[] => texts(chat).flatMap((turn) => turn.split('|'))

/** All show the same, and nothing more comes. */
async function atRest(chats: readonly ChatClient[], count: number, inOrder: boolean): Promise<void> {
  await until(() => chats.every((chat) => chat.getSnapshot().status === 'ready' && shown(chat).length >= count))
  await tick(60)
  const all = chats.map((chat) => ({ shown: inOrder ? shown(chat) : shown(chat).sort(), status: chat.getSnapshot().status, error: chat.getSnapshot().storageError }))
  expect(all).toEqual(chats.map(() => ({ ...all[0], status: 'ready', error: undefined })))
  expect(new Set(all[0]?.shown).size).toBe(count)
  expect(all[0]?.shown.length).toBe(count)
}

describe.each([
  { mode: 'server', tabs: true, hydrates: true },
  { mode: 'server', tabs: false, hydrates: true },
  { mode: 'client', tabs: false, hydrates: true },
  { mode: 'client', tabs: false, hydrates: false },
] satisfies Manner[])('stored in $mode mode, tabs: $tabs, hydrate: $hydrates', (manner) => {
  // Where the server is not asked, those who speak at once show it in the order in which they heard it.
  const inOrder = manner.mode === 'server' && manner.tabs

  it('two participants with two tabs each show the same, and so does a tab that comes later', { timeout: 20_000 }, async () => {
    const server = await fanOut()
    const [anna, ben] = [browser(server, 'anna', manner), browser(server, 'ben', manner)]
    const chats = [await anna(), await anna(), await ben(), await ben()] as const
    expect(await chats[0].sendMessage('One')).toEqual({ outcome: 'finished' })
    await atRest(chats, 2, true)
    expect(await chats[3].sendMessage('Two')).toEqual({ outcome: 'finished' })
    await atRest(chats, 4, true)
    server.begin('alone', 't1')
    await atRest(chats, 6, true)
    const results = await Promise.all(chats.map((chat, index) => chat.sendMessage(`All ${index}`)))
    expect(results.map(({ outcome }) => outcome)).toEqual(['finished', 'finished', 'finished', 'finished'])
    await atRest(chats, 14, inOrder)
    await atRest([...chats, await anna(), await ben()], 14, inOrder)
  })

  it('a link that is cut in the middle costs nothing', { timeout: 20_000 }, async () => {
    const server = await fanOut()
    const [anna, ben] = [browser(server, 'anna', manner), browser(server, 'ben', manner)]
    const chats = [await anna(), await anna(), await ben(), await ben()] as const
    server.release(6)
    const sending = chats[0].sendMessage('Hi')
    await until(() => chats.every((chat) => shown(chat)[1] === 'Re: '))
    for (const socket of server.listening().slice(1)) socket.cut()
    await until(() => chats.slice(1).every((chat) => chat.getSnapshot().live === 'connecting'))
    server.release(Number.POSITIVE_INFINITY)
    expect(await sending).toEqual({ outcome: 'finished' })
    await atRest(chats, 2, true)
  })
})

it('tabs that share what they store would be told twice, which is refused', async () => {
  const connection = open('ws://127.0.0.1:1/')
  const persistence = persisted(memoryStorage(), { tabs: sharedTabs({ channel: new FakeTabs().channel }) })
  expect(await caught(() => new ChatClient({ connection, threadId: 't1', live: true, persistence }))).toMatchObject({ code: 'live-and-shared-tabs' })
  const chat = new ChatClient({ connection, threadId: 't1', persistence })
  expect(await caught(() => chat.updateOptions({ connection, live: true }))).toMatchObject({ code: 'live-and-shared-tabs' })
})
