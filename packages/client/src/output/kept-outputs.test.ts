/** Answers in the form of a value on their way to the agent, to storage, and back; and runs that are read again. */
import { recordedRun, startFaultServer, type FaultServer } from '@millrace/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { ChatClient, fetchServerSentEvents, memoryStorage, persisted, stream, structured, type ChatClientOptions, type StreamChunk } from '@millrace/client'
import { outputSchemaOf, uiMessagesToWire, type StructuredOutputPart, type UIMessage } from '@millrace/protocol'
import { z } from 'zod'
import { failed, finished, hello, iterate, started, text, until, userMessage } from '../../test/events.ts'
import { openPage } from '../../test/pages.ts'
import { scripted } from '../../test/scripted.ts'

let server: FaultServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const output = structured(z.object({ title: z.string() }))
const VALUE = { title: 'Fjords' }
const JSON_TEXT = JSON.stringify(VALUE)

const partOf = (chat: ChatClient): StructuredOutputPart =>
  chat.getSnapshot().messages.flatMap(({ parts }) => parts).findLast(({ type }) => type === 'structured-output') as StructuredOutputPart
const contents = (messages: readonly UIMessage[]): unknown[] => uiMessagesToWire(messages).map((message) => ('content' in message ? message.content : undefined))

describe('what the agent gets', () => {
  it('the JSON Schema that is asked for, unless the properties say otherwise', async () => {
    const sent = async (options: Partial<ChatClientOptions>) => {
      const { chat, calls } = scripted([hello()], options)
      await chat.sendMessage('Hi')
      return calls[0]?.[3]?.forwardedProps
    }
    expect(await sent({ output })).toMatchObject({ outputSchema: { type: 'object', properties: { title: { type: 'string' } } } })
    expect(await sent({ output, forwardedProps: { a: 1 } })).toMatchObject({ a: 1, outputSchema: { type: 'object' } })
    expect(await sent({ output, forwardedProps: { outputSchema: 'mine' } })).toEqual({ outputSchema: 'mine' })
    expect(await sent({ forwardedProps: { a: 1 } })).toEqual({ a: 1 })
    expect(await sent({})).toBeUndefined()
    const bare = { '~standard': { version: 1, vendor: 'x', validate: (value: unknown) => ({ value }) } } as const
    expect(await sent({ output: structured(bare) })).toBeUndefined()
    // JSON has no dates: there is nothing to tell, and the send goes on.
    expect(await sent({ output: structured(z.date()) })).toBeUndefined()
  })

  it('what a schema takes in, and not what it makes of it', async () => {
    const { chat, calls } = scripted([hello()], { output: structured(z.object({ at: z.string().transform((day) => new Date(day)) })) })
    await chat.sendMessage('Hi')
    const { forwardedProps = {} } = calls[0]?.[3] ?? {}
    expect(outputSchemaOf({ forwardedProps })).toMatchObject({ properties: { at: { type: 'string' } } })
  })

  it('its own answer as text if that was whole, and nothing of one that was not', async () => {
    const cut = [started('r2'), ...text('{"title":"No', 'm2').slice(0, -1), failed()]
    const { chat, calls } = scripted([hello('r1', JSON_TEXT, 'm1'), cut, hello('r3', 'No JSON.', 'm3'), hello('r4', JSON_TEXT, 'm4')], { output })
    for (const said of ['A', 'B', 'C', 'D']) await chat.sendMessage(said)
    expect(contents(calls[3]?.[0] as readonly UIMessage[])).toEqual(['A', JSON_TEXT, 'B', 'C', 'D'])
    expect(chat.getSnapshot().messages.map(({ role }) => role)).toEqual(Array.from({ length: 4 }, () => ['user', 'assistant']).flat())
  })
})

describe('a thread that is taken in again', () => {
  const turns = [hello('r1', JSON_TEXT, 'm1')]

  it('has its answers, as they were', async () => {
    const cut = [started('r1'), ...text('{"title":"No', 'm1').slice(0, -1), failed()]
    for (const turn of [...turns, cut, hello('r1', 'No JSON.', 'm1')]) {
      const { chat } = scripted([turn], { output })
      await chat.sendMessage('Hi')
      const before = partOf(chat)
      const stored = JSON.parse(JSON.stringify(chat.getSnapshot().messages)) as UIMessage[]
      for (const options of [{ output }, { output: structured() }]) {
        const { chat: again } = scripted([], { ...options, initialMessages: stored })
        expect(partOf(again)).toEqual(before)
        expect(again.getSnapshot().final).toEqual(chat.getSnapshot().final)
        expect(contents(again.getSnapshot().messages)).toEqual(contents(chat.getSnapshot().messages))
        again.setMessages(again.getSnapshot().messages)
        expect(partOf(again)).toEqual(before)
        again.clear()
        expect(again.getSnapshot()).toMatchObject({ messages: [], final: undefined })
      }
    }
  })

  it('has data as the schema makes it, which JSON could not keep', async () => {
    const dated = z.object({ at: z.string().transform((day) => new Date(day)) })
    const { chat } = scripted([hello('r1', '{"at":"2026-11-30"}', 'm1')], { output: structured(dated) })
    await chat.sendMessage('Hi')
    const stored = JSON.parse(JSON.stringify(chat.getSnapshot().messages)) as UIMessage[]
    const { chat: again } = scripted([], { output: structured(dated), initialMessages: stored })
    expect(again.getSnapshot().final).toEqual({ at: new Date('2026-11-30') })
  })

  it('keeps an answer complete for the agent that the schema of today does not take, and has no data of it', async () => {
    const { chat } = scripted(turns, { output })
    await chat.sendMessage('Hi')
    const { chat: again } = scripted([], { output: structured(z.object({ name: z.string() })), initialMessages: chat.getSnapshot().messages })
    expect(partOf(again)).toMatchObject({ status: 'complete', raw: JSON_TEXT })
    expect(again.getSnapshot()).toMatchObject({ final: undefined, outputError: undefined })
    expect(contents(again.getSnapshot().messages)).toEqual(['Hi', JSON_TEXT])
  })

  it('has text where text was put in the place of an answer', async () => {
    const { chat } = scripted(turns, { output })
    await chat.sendMessage('Hi')
    chat.setMessages([userMessage(), { id: 'm1', role: 'assistant', parts: [{ type: 'text', content: JSON_TEXT }] }])
    expect(partOf(chat)).toBeUndefined()
    const { chat: again } = scripted([], { output, initialMessages: [{ id: 'm1', role: 'assistant', parts: [{ type: 'structured-output', status: 'complete', raw: JSON_TEXT }] }] })
    again.setMessages([{ id: 'm1', role: 'assistant', parts: [{ type: 'text', content: JSON_TEXT }] }])
    expect(partOf(again)).toBeUndefined()
  })
})

describe('a thread that is stored', () => {
  const big = z.object({ n: z.string().transform((digits) => BigInt(digits)) })

  it('comes back after a reload, with what no JSON can say', async () => {
    const disk = memoryStorage()
    const page = () => scripted([hello('r1', '{"n":"7"}', 'm1')], { output: structured(big), persistence: persisted(disk) }).chat
    const first = page()
    await first.sendMessage('Hi')
    expect(first.getSnapshot().final).toEqual({ n: 7n })
    first.dispose()
    await until(async () => (await disk.load('t1')) !== undefined || first.getSnapshot().storageError !== undefined)
    expect(first.getSnapshot().storageError).toBeUndefined()
    const second = page()
    await second.attach()
    expect(partOf(second)).toEqual(partOf(first))
  })

  it('has an answer in the making, which goes on when its run is read again', async () => {
    server = await startFaultServer({ events: [started('r1'), ...text(JSON_TEXT, 'm1'), finished('r1')] as never, hold: 6 })
    const disk = memoryStorage()
    const first = openPage(disk, server.url, { output })
    void first.chat.sendMessage('Hi')
    await until(() => partOf(first.chat)?.raw.length === 4)
    first.window.hide()
    first.crash()
    const { chat: second } = openPage(disk, server.url, { output })
    const attached = second.attach()
    await until(() => partOf(second) !== undefined)
    expect(partOf(second)).toMatchObject({ status: 'streaming', raw: JSON_TEXT.slice(0, 4) })
    server.release()
    expect(await attached).toEqual({ outcome: 'finished' })
    expect(partOf(second)).toMatchObject({ status: 'complete', data: VALUE })
    expect(second.getSnapshot().final).toEqual(VALUE)
  })
})

describe('a run that is read again', () => {
  it.each([3, 6, 10])('after %i events: what is shown only grows, and comes to the same', async (count) => {
    server = await startFaultServer({ events: [started('r1'), ...text(JSON_TEXT, 'm1'), finished('r1')] as never, hold: count })
    const chat = new ChatClient({ threadId: 't1', output, connection: fetchServerSentEvents(server.url, { reconnect: { delayMs: 0 } }) })
    void chat.sendMessage('Hi')
    await until(() => partOf(chat)?.raw.length === count - 2)
    chat.detach()
    let longest = partOf(chat).raw.length
    chat.subscribe(() => {
      expect(partOf(chat).raw.length).toBeGreaterThanOrEqual(longest)
      longest = partOf(chat).raw.length
    })
    const attached = chat.attach()
    server.release()
    expect(await attached).toEqual({ outcome: 'finished' })
    expect(partOf(chat)).toMatchObject({ status: 'complete', raw: JSON_TEXT, partial: VALUE, data: VALUE })
  })

  it('keeps the answers of before', async () => {
    server = await startFaultServer({ events: recordedRun('mixed'), hold: 3 })
    const chat = new ChatClient({ threadId: 't1', connection: stream(() => iterate(hello('r0', JSON_TEXT, 'm0'))), output })
    await chat.sendMessage('Hi')
    chat.updateOptions({ connection: fetchServerSentEvents(server.url, { reconnect: { delayMs: 0 } }) })
    void chat.sendMessage('More')
    await until(() => chat.getSnapshot().status === 'streaming')
    chat.detach()
    const attached = chat.attach()
    server.release()
    await attached
    expect(chat.getSnapshot().messages[1]?.parts).toMatchObject([{ type: 'structured-output', status: 'complete', data: VALUE }])
  })
})

describe('a thread that a server has stored', () => {
  const hydrated = async (messages: object[]): Promise<ChatClient> => {
    const connection = { connect: () => iterate([] as StreamChunk[]), hydrate: async () => ({ messages, activeRun: null, interrupts: null }) as never }
    const chat = new ChatClient({ threadId: 't1', connection, output })
    await chat.attach()
    return chat
  }

  it('has the answers that its UI messages have', async () => {
    const part = { type: 'structured-output', status: 'error', raw: '{"ti', errorMessage: 'cut' }
    const chat = await hydrated([{ id: 'u', role: 'user', parts: [{ type: 'text', content: 'Hi' }] }, { id: 'm1', role: 'assistant', parts: [part] }])
    expect(partOf(chat)).toMatchObject(part)
    expect(contents(chat.getSnapshot().messages)).toEqual(['Hi'])
  })

  it('has the answers that TanStack AI notes beside its messages', async () => {
    const noted = { tanstack: { structuredOutput: { status: 'complete', raw: JSON_TEXT, data: VALUE } } }
    const chat = await hydrated([{ id: 'u', role: 'user', content: 'Hi' }, { id: 'm1', role: 'assistant', content: JSON_TEXT, metadata: noted }])
    expect(partOf(chat)).toMatchObject({ status: 'complete', raw: JSON_TEXT, data: VALUE })
    expect(chat.getSnapshot().final).toEqual(VALUE)
  })

  it.each([[7], [{ status: 'odd', raw: '' }], [{ status: 'complete' }]])('has text where %j is noted', async (structuredOutput) => {
    const chat = await hydrated([{ id: 'm1', role: 'assistant', content: JSON_TEXT, metadata: { tanstack: { structuredOutput } } }])
    expect(chat.getSnapshot().messages[0]?.parts).toMatchObject([{ type: 'text' }])
  })
})
