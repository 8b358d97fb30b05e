/**
 * Our client against TanStack AI's real server, whose tools ask for approval: by interrupts, as it does, and by the CUSTOM events of
 * its servers of before. Over HTTP, with a reload in between.
 */
import { ChatClient, defineTool, fetchHttpStream, fetchServerSentEvents, memoryStorage, type ChatClientOptions, type ConnectionAdapter } from '@millrace/client'
import type { ToolCallPart } from '@millrace/protocol'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { cuttingProxy } from './cutting-proxy.ts'
import { caught, until } from './events.ts'
import { lines } from './interop-script.ts'
import { openPage } from './pages.ts'
import { startTanstackServer, type TanstackServer } from './tanstack-server.ts'

let server: TanstackServer
beforeAll(async () => {
  server = await startTanstackServer()
})
afterAll(() => server.close())

/** What ran since this was called. */
const mailsFrom = (): (() => unknown[]) => {
  const before = server.mails.length
  return () => server.mails.slice(before)
}
const partsOf = (chat: ChatClient): ToolCallPart[] => chat.getSnapshot().messages.flatMap((message) => message.parts.filter((part): part is ToolCallPart => part.type === 'tool-call'))
const shown = (chat: ChatClient): string[] => lines(chat.getSnapshot().messages)

function chatOver(connection: ConnectionAdapter, options: Partial<ChatClientOptions> = {}): ChatClient {
  const chat = new ChatClient({ connection, ...options })
  onTestFinished(() => chat.dispose())
  return chat
}

const WAYS: readonly [name: string, connect: (url: string) => ConnectionAdapter, path: string][] = [
  ['interrupts over SSE', (url) => fetchServerSentEvents(url), '/sse'],
  ['interrupts over NDJSON', (url) => fetchHttpStream(url), '/ndjson'],
  ['interrupts of a durable server', (url) => fetchServerSentEvents(url), '/durable/sse'],
  ['CUSTOM events', (url) => fetchServerSentEvents(url), '/older/sse'],
]

describe.each(WAYS)('%s', (_, connect, path) => {
  const open = (options: Partial<ChatClientOptions> = {}): ChatClient => chatOver(connect(server.url + path), options)

  it('approved: the tool runs, once', async () => {
    const mails = mailsFrom()
    const chat = open()
    await chat.sendMessage('mail')
    expect(partsOf(chat)).toMatchObject([{ name: 'sendMail', state: 'approval-requested', approval: { id: 'approval_call_mail', needsApproval: true } }])
    expect(mails()).toEqual([])
    expect(await chat.approve('approval_call_mail', { approved: true })).toEqual({ outcome: 'finished' })
    expect(mails()).toEqual([{ to: 'ann' }])
    expect(partsOf(chat)).toMatchObject([{ state: 'complete', approval: { approved: true }, output: { sent: true } }])
    expect(shown(chat)).toEqual(['user: mail', 'assistant: Shall I?', 'sendMail({"to":"ann"}) = {"sent":true}', 'assistant: That is settled.'])
    expect(await chat.sendMessage('hello')).toEqual({ outcome: 'finished' })
    expect(mails()).toHaveLength(1)
  })

  it('denied: it does not run, and the model is told', async () => {
    const mails = mailsFrom()
    const chat = open()
    await chat.sendMessage('mail')
    expect(await chat.approve('approval_call_mail', { approved: false, reason: 'Not today.' })).toEqual({ outcome: 'finished' })
    expect(mails()).toEqual([])
    expect(partsOf(chat)[0]?.approval).toMatchObject({ approved: false })
    expect(shown(chat).at(-1)).toBe('assistant: That is settled.')
    expect(await chat.sendMessage('hello')).toEqual({ outcome: 'finished' })
    expect(mails()).toEqual([])
  })

  it('edited: it runs with what the user wrote', async () => {
    const mails = mailsFrom()
    const chat = open()
    await chat.sendMessage('mail')
    if (path !== '/older/sse') {
      expect(await caught(() => chat.approve('approval_call_mail', { approved: true, input: { to: 5 } }))).toMatchObject({ code: 'malformed-answer', message: expect.stringContaining('"/editedArgs/to"') })
    }
    expect(await chat.approve('approval_call_mail', { approved: true, input: { to: 'bob' } })).toEqual({ outcome: 'finished' })
    expect(mails()).toEqual([{ to: 'bob' }])
    expect(partsOf(chat)).toMatchObject([{ state: 'complete', approval: { approved: true, input: { to: 'bob' } } }])
  })

  it('asked again after a reload, and answered there', async () => {
    const mails = mailsFrom()
    const disk = memoryStorage()
    const connection = connect(server.url + path)
    const threadId = `reloaded ${path}`
    const before = openPage(disk, undefined, { connection, threadId })
    await before.chat.sendMessage('mail')
    before.clock.advance(60_000)
    await until(() => before.saves.length > 0)
    before.crash()
    const after = openPage(disk, undefined, { connection, threadId })
    onTestFinished(() => after.chat.dispose())
    await after.chat.attach()
    expect(partsOf(after.chat)).toMatchObject([{ state: 'approval-requested' }])
    expect(await after.chat.approve('approval_call_mail', { approved: true })).toEqual({ outcome: 'finished' })
    expect(mails()).toEqual([{ to: 'ann' }])
  })

  it('a tool of the client runs when it is approved, with what the user wrote', async () => {
    const wiped: unknown[] = []
    const wipe = defineTool({ name: 'wipe', description: 'd', parameters: { type: 'object', properties: { disk: { type: 'string' } } }, execute: (input) => (wiped.push(input), 'gone') })
    const chat = open({ tools: [wipe] })
    await chat.sendMessage('wipe')
    expect(wiped).toEqual([])
    expect(await caught(() => chat.approve('approval_call_wipe', { approved: true, input: { disk: 5 } }))).toMatchObject({ code: 'malformed-answer' })
    expect(await chat.approve('approval_call_wipe', { approved: true, input: { disk: 'd' } })).toEqual({ outcome: 'finished' })
    expect(wiped).toEqual([{ disk: 'd' }])
    expect(shown(chat).at(-1)).toBe('assistant: That is settled.')
  })

  it('a tool of the client beside a call that waits', async () => {
    const mails = mailsFrom()
    let picked = 0
    const pick = defineTool({ name: 'pickColour', description: 'd', execute: () => (picked++, 'red') })
    const chat = open({ tools: [pick] })
    await chat.sendMessage('both')
    expect(picked).toBe(1)
    expect(await chat.approve('approval_call_mail', { approved: true })).toEqual({ outcome: 'finished' })
    expect([picked, mails()]).toEqual([1, [{ to: 'ann' }]])
    expect(partsOf(chat)).toMatchObject([{ state: 'complete' }, { state: 'complete', output: 'red' }])
  })
})

it.each(['/sse', '/older/sse'])('%s, cut in the middle of the answer’s run: it is retried, and the user is not asked again', async (path) => {
  const behindFirst = (answer: string): number | undefined => (answer.includes('\n\n') ? answer.indexOf('\n\n') + 2 : undefined)
  const proxy = await cuttingProxy(server.url + path, (request) => (request === 1 ? behindFirst : Infinity))
  onTestFinished(() => proxy.close())
  const chat = chatOver(fetchServerSentEvents(proxy.url, { resume: 'off' }))
  await chat.sendMessage('mail')
  expect(await chat.approve('approval_call_mail', { approved: true })).toMatchObject({ outcome: 'truncated' })
  expect(await chat.retry()).toEqual({ outcome: 'finished' })
  expect(proxy.requests).toHaveLength(3)
  expect(partsOf(chat)).toMatchObject([{ state: 'complete', approval: { approved: true } }])
  expect(shown(chat)).toEqual(['user: mail', 'assistant: Shall I?', 'sendMail({"to":"ann"}) = {"sent":true}', 'assistant: That is settled.'])
})

describe('a tool of the client that is asked for by an interrupt', () => {
  it('and had not begun when the page went is run in the next one, once', async () => {
    const disk = memoryStorage()
    const threadId = 'left'
    const connection = fetchServerSentEvents(`${server.url}/sse`)
    // The first page has no such tool yet, as one that loads it late.
    const before = openPage(disk, undefined, { connection, threadId })
    expect(await before.chat.sendMessage('colour?')).toEqual({ outcome: 'interrupted' })
    before.clock.advance(60_000)
    await until(() => before.saves.length > 0)
    before.crash()
    let picked = 0
    const pick = defineTool({ name: 'pickColour', description: 'd', execute: () => (picked++, 'red') })
    const after = openPage(disk, undefined, { connection, threadId, tools: [pick] })
    onTestFinished(() => after.chat.dispose())
    expect(await after.chat.attach()).toEqual({ outcome: 'finished' })
    expect(picked).toBe(1)
    expect(shown(after.chat)).toEqual(['user: colour?', 'assistant: Choose.', 'pickColour({"from":2}) = "red"', 'assistant: It is red.'])
  })

  it('and was running when the page went is not run again: the agent is told', async () => {
    const disk = memoryStorage()
    const threadId = 'left running'
    const connection = fetchServerSentEvents(`${server.url}/sse`)
    let begun = 0
    const hanging = defineTool({ name: 'pickColour', description: 'd', execute: () => (begun++, new Promise(() => {})) })
    const before = openPage(disk, undefined, { connection, threadId, tools: [hanging] })
    void before.chat.sendMessage('colour?')
    await until(() => begun === 1)
    before.clock.advance(60_000)
    await until(() => before.saves.at(-1)?.begun !== undefined)
    before.crash()
    const after = openPage(disk, undefined, { connection, threadId, tools: [hanging] })
    onTestFinished(() => after.chat.dispose())
    expect(await after.chat.attach()).toEqual({ outcome: 'finished' })
    expect(begun).toBe(1)
    expect(partsOf(after.chat)).toMatchObject([{ state: 'error', result: { error: expect.stringContaining('left') } }])
  })
})
