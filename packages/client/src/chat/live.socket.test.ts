/** Chats that listen to one thread over real WebSockets: all of them show the same, whoever began what. */
import { ChatClient, type ChatClientOptions, type StreamChunk, type WebSocketConnectionOptions } from '@millrace/client'
import { expect, it, onTestFinished } from 'vitest'
import { hello, tick, until } from '../../test/events.ts'
import { fanOut } from '../../test/fan-out.ts'
import { texts } from '../../test/scripted.ts'
import { serveSockets } from '../../test/serve-sockets.ts'
import { open } from '../../test/socket-client.ts'

function member(url: string, name: string, options: Partial<ChatClientOptions> = {}, socket: WebSocketConnectionOptions = {}) {
  let id = 0
  const chat = new ChatClient({ connection: open(url, socket), threadId: 't1', live: true, generateId: (kind) => `${name}-${kind}-${++id}`, ...options })
  const leave = chat.subscribe(() => {})
  onTestFinished(() => chat.dispose())
  return { chat, leave }
}

const shown = (chat: ChatClient) => chat.getSnapshot().messages.map(({ id, role, parts }) => ({ id, role, parts }))
const on = (threadId: string) => (chunk: StreamChunk) => ('threadId' in chunk ? { ...chunk, threadId } : chunk)
const isOpen = (chat: ChatClient): boolean => chat.getSnapshot().live === 'open'

it('two chats on one thread show the same for the runs of either, and of the server', async () => {
  const server = await fanOut()
  const { chat: anna } = member(server.url, 'anna')
  const { chat: ben } = member(server.url, 'ben')
  await until(() => isOpen(anna) && isOpen(ben))
  expect(await anna.sendMessage('Hi')).toEqual({ outcome: 'finished' })
  await until(() => texts(ben).length === 2 && ben.getSnapshot().status === 'ready')
  expect(await ben.sendMessage('Ho')).toEqual({ outcome: 'finished' })
  await until(() => texts(anna).length === 4)
  server.begin('alone', 't1')
  await until(() => [anna, ben].every((chat) => chat.getSnapshot().status === 'ready' && texts(chat).join().includes('Re: nobody')))
  expect(texts(anna).slice(0, 3)).toEqual(['Hi', 'Re: Hi', 'Ho'])
  expect(shown(ben)).toEqual(shown(anna))
  expect(anna.getSnapshot().runs.map(({ runId, outcome }) => [runId, outcome])).toEqual(ben.getSnapshot().runs.map(({ runId, outcome }) => [runId, outcome]))
  expect(server.sockets).toHaveLength(2)
})

it('two who speak at once both get their answers, and the same of each other', async () => {
  const server = await fanOut()
  const { chat: anna } = member(server.url, 'anna')
  const { chat: ben } = member(server.url, 'ben')
  await until(() => isOpen(anna) && isOpen(ben))
  const results = await Promise.all([anna.sendMessage('A'), ben.sendMessage('B')])
  expect(results).toEqual([{ outcome: 'finished' }, { outcome: 'finished' }])
  await until(() => [anna, ben].every((chat) => chat.getSnapshot().status === 'ready' && texts(chat).join().includes('Re: A') && texts(chat).join().includes('Re: B')))
  const byId = (chat: ChatClient) => shown(chat).flatMap(({ parts }) => parts.map((part) => ('content' in part ? part.content : ''))).sort()
  expect(byId(anna)).toEqual(['A', 'B', 'Re: A', 'Re: B'])
  expect(byId(ben)).toEqual(byId(anna))
})

it('a socket that is cut in the middle of a run of others costs nothing: the run is joined', async () => {
  const server = await fanOut()
  const { chat: anna } = member(server.url, 'anna')
  const { chat: ben } = member(server.url, 'ben')
  await until(() => isOpen(anna) && isOpen(ben))
  server.release(6)
  const sending = anna.sendMessage('Hi')
  await until(() => texts(ben)[1] === 'Re: ')
  const states: string[] = []
  ben.subscribe(() => states.push(ben.getSnapshot().live))
  server.listening()[1]?.cut()
  await until(() => states.includes('connecting') && isOpen(ben))
  expect(ben.getSnapshot().status).toBe('streaming')
  server.release(Number.POSITIVE_INFINITY)
  expect(await sending).toEqual({ outcome: 'finished' })
  await until(() => ben.getSnapshot().status === 'ready')
  expect(shown(ben)).toEqual(shown(anna))
  // And goes on listening.
  expect(await anna.sendMessage('Again')).toEqual({ outcome: 'finished' })
  await until(() => texts(ben)[3] === 'Re: Again')
  expect(shown(ben)).toEqual(shown(anna))
})

it('a socket that is cut in the middle of a run of ours is no loss either', async () => {
  const server = await fanOut()
  const { chat: anna } = member(server.url, 'anna')
  const { chat: ben } = member(server.url, 'ben')
  await until(() => isOpen(anna) && isOpen(ben))
  server.release(6)
  const sending = anna.sendMessage('Hi')
  await until(() => texts(anna)[1] === 'Re: ')
  server.listening()[0]?.cut()
  await tick(20)
  server.release(Number.POSITIVE_INFINITY)
  // Its events have no ids, so it cannot be read on: what came stays.
  expect(await sending).toMatchObject({ outcome: 'truncated' })
  await until(() => texts(ben)[1] === 'Re: Hi' && isOpen(anna))
  expect(await ben.sendMessage('More')).toEqual({ outcome: 'finished' })
  await until(() => texts(anna).join().includes('Re: More'))
})

it('what comes in one go is told in its order: theirs behind ours, ours behind theirs', async () => {
  const server = await serveSockets((socket, { runId, threadId }) =>
    socket.send(...hello('before', 'Before').map(on(threadId)), ...hello(runId, 'Ours').map(on(threadId)), ...hello(`${runId}-x`, 'Behind').map(on(threadId))),
  )
  const { chat } = member(server.url, 'anna')
  await until(() => isOpen(chat))
  // Ours first, so that the next is known not to be renamed.
  for (let n = 0; n < 5; n++) {
    expect(await chat.sendMessage(`${n}`)).toEqual({ outcome: 'finished' })
    await until(() => chat.getSnapshot().runs.at(-1)?.runId?.endsWith('-x') === true && chat.getSnapshot().status === 'ready')
  }
  expect(new Set(chat.getSnapshot().runs.map(({ outcome }) => outcome))).toEqual(new Set(['finished']))
  expect(texts(chat).join('|').split('|').filter((text) => text === 'Ours' || text === 'Behind')).toEqual(Array.from({ length: 5 }, () => ['Ours', 'Behind']).flat())
})

it('nobody who watches, no socket', async () => {
  const server = await fanOut()
  const { chat, leave } = member(server.url, 'anna', {}, { lingerMs: 0 })
  await until(() => isOpen(chat) && server.listening().length === 1)
  leave()
  await until(() => server.listening().length === 0)
  expect(chat.getSnapshot().live).toBe('closed')
})
