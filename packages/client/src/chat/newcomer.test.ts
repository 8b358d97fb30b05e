/** What a stranger found by trying: each of these lost or doubled something once. */
import { describe, expect, it } from 'vitest'
import { ChatClient, defineTool, fetchServerSentEvents, stream, type StreamChunk } from '@millrace/client'
import { recordedRun, startFaultServer } from '@millrace/testkit'
import { caught, collect, finished, hello, iterate, started, text, userMessage } from '../../test/events.ts'
import { scripted, texts } from '../../test/scripted.ts'
import { answerWith, serve } from '../../test/serve.ts'

describe('ids that say little', () => {
  it('two events with one id are told apart by all of their text', async () => {
    const messageId = 'b3f1c2d4-5e6f-4a7b-8c9d-0e1f2a3b4c5d'
    const events = [started(), ...text('12345678', messageId), finished()]
    const body = events.map((event, at) => `id: ${Math.floor(at / 2)}\ndata: ${JSON.stringify(event)}\n\n`).join('')
    const server = await serve(answerWith(body))
    expect(await collect(fetchServerSentEvents(server.url).connect([userMessage()]))).toEqual(events)
  })
})

describe('calls whose id is used again', () => {
  const call: StreamChunk[] = [
    { type: 'TOOL_CALL_START', toolCallId: 'call_0', toolCallName: 'count' },
    { type: 'TOOL_CALL_ARGS', toolCallId: 'call_0', delta: '{}' },
    { type: 'TOOL_CALL_END', toolCallId: 'call_0' },
  ]
  const turn = (runId: string): StreamChunk[] => [started(runId), ...call, finished(runId)]
  function counting(turns: StreamChunk[][]) {
    let runs = 0
    const made = scripted(turns, { tools: [defineTool({ name: 'count', description: 'd', execute: () => ++runs })] })
    return { ...made, runs: () => runs }
  }

  it('are run in a thread that was cleared', async () => {
    const { chat, runs } = counting([turn('r1'), hello('r2'), turn('r3'), hello('r4')])
    await chat.sendMessage('a')
    chat.clear()
    await chat.sendMessage('b')
    expect(runs()).toBe(2)
  })

  it('are not gone on with for ever', async () => {
    const { chat, calls } = counting([turn('r1'), hello('r2'), turn('r3'), turn('r5'), turn('r6')])
    await chat.sendMessage('a')
    expect(await chat.sendMessage('b')).toEqual({ outcome: 'finished' })
    expect(calls.length).toBeLessThanOrEqual(3)
  })
})

describe('a message with an id that is taken', () => {
  it('is refused, and nothing is replaced', async () => {
    const { chat } = scripted([hello('r1', 'One'), hello('r2', 'Two')])
    await chat.sendMessage({ content: 'a', id: 'u1' })
    const before = texts(chat)
    for (const id of ['u1', chat.getSnapshot().messages[1]?.id ?? '']) {
      expect((await caught(() => chat.sendMessage({ content: 'b', id }))).code).toBe('id-taken')
    }
    expect(texts(chat)).toEqual(before)
    await chat.append({ id: 'u1', role: 'user', parts: [{ type: 'text', content: 'replaced' }] })
    expect(texts(chat)[0]).toBe('replaced')
  })
})

describe('detach', () => {
  it('at once after a send does not lose what was said', async () => {
    const server = await startFaultServer({ events: recordedRun('mixed') })
    const chat = new ChatClient({ threadId: 't1', connection: fetchServerSentEvents(server.url, { reconnect: { delayMs: 0 } }) })
    const sent = chat.sendMessage('Hi')
    chat.detach()
    expect(await sent).toEqual({ outcome: 'running' })
    expect(await chat.attach()).toEqual({ outcome: 'finished' })
    expect(server.started).toHaveLength(1)
    expect(texts(chat)).toHaveLength(2)
    await server.until(({ connections }) => connections.answering === 0)
    chat.dispose()
    await server.close()
  })

  it('of a source that is never heard leaves nothing to come back to, and hangs nothing', async () => {
    const chat = new ChatClient({ connection: stream(() => iterate([])) })
    const sent = chat.sendMessage('Hi')
    chat.detach()
    expect(await sent).toEqual({ outcome: 'running' })
    expect(await chat.attach()).toBeUndefined()
  })
})
