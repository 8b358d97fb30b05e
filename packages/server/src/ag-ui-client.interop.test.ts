// The official client of AG-UI 1.0 against our server, over a real socket.
import { HttpAgent, type AgentSubscriber } from '@ag-ui/client'
import { afterEach, describe, expect, test } from 'vitest'
import type { Agent } from './agent.ts'
import { AgentError } from './errors.ts'
import type { RunHandlerOptions } from './check-options.ts'
import { createRunHandler } from './handler.ts'
import { countingIds, eventually, MemoryLogger, never, serve, type Served } from './test/fixtures.ts'

let served: Served | undefined
afterEach(async () => {
  await served?.close()
  served = undefined
})

async function client(agent: Agent, options: Partial<RunHandlerOptions> = {}) {
  const logger = new MemoryLogger()
  const handler = createRunHandler({ agent, authorize: () => true, createId: countingIds(), logger, ...options })
  served = await serve(handler)
  const http = new HttpAgent({ url: served.url, threadId: 't1' })
  http.addMessage({ id: 'u1', role: 'user', content: 'Hi' })
  return { http, handler, logger }
}

describe('@ag-ui/client', () => {
  test('text, in pieces and in two messages', async () => {
    const { http } = await client(async (input, run) => {
      await run.text(
        (async function* () {
          yield* ['Hel', 'lo', ' 👋']
        })(),
      )
      await run.text(`You said: ${String(input.messages.at(-1)?.content)}`)
    })
    const { newMessages } = await http.runAgent({ runId: 'r1' })
    expect(newMessages).toEqual([
      { id: 'id1', role: 'assistant', content: 'Hello 👋' },
      { id: 'id2', role: 'assistant', content: 'You said: Hi' },
    ])
    expect(http.messages).toHaveLength(3)
  })

  test('reasoning, steps, activity and custom events', async () => {
    const seen: string[] = []
    const { http } = await client(async (_, run) => {
      await run.reasoning('Let me think')
      await run.step('search', async () => void (await run.custom('app.progress', { percent: 50 })))
      const activity = await run.activity('progress', { percent: 0 })
      await activity.patch([{ op: 'replace', path: '/percent', value: 100 }])
      await run.subagent('helper', async (sub) => void (await sub.text('from the helper')))
    })
    const subscriber: AgentSubscriber = {
      onEvent: ({ event }) => void seen.push(event.type),
    }
    await http.runAgent({ runId: 'r1' }, subscriber)
    expect(seen).toEqual(expect.arrayContaining(['STEP_STARTED', 'CUSTOM', 'STEP_FINISHED', 'SUBAGENT_STARTED', 'SUBAGENT_FINISHED', 'RUN_FINISHED']))
    expect(http.messages.slice(1)).toMatchObject([
      { role: 'reasoning', content: 'Let me think' },
      { role: 'activity', activityType: 'progress', content: { percent: 100 } },
      { role: 'assistant', content: 'from the helper', subagentRunId: 'id3' },
    ])
  })

  test('tools with results, and a call that the front end has to answer', async () => {
    const { http } = await client(async (input, run) => {
      const answered = input.messages.find((message) => message.role === 'tool' && message.toolCallId === 'ask')
      if (answered !== undefined) return void (await run.text(`It is ${String(answered.content)}`))
      const { messageId } = await run.text('Let me look')
      const call = await run.toolCall('search', { q: 'millrace' }, { parentMessageId: messageId, toolCallId: 'search' })
      await call.result({ hits: 2 })
      await run.toolCall('getLocation', {}, { parentMessageId: messageId, toolCallId: 'ask' })
    })
    await http.runAgent({ runId: 'r1', tools: [{ name: 'getLocation', description: 'Where am I?', parameters: { type: 'object' } }] })
    expect(http.messages.slice(1)).toEqual([
      {
        id: 'id1',
        role: 'assistant',
        content: 'Let me look',
        toolCalls: [
          { id: 'search', type: 'function', function: { name: 'search', arguments: '{"q":"millrace"}' } },
          { id: 'ask', type: 'function', function: { name: 'getLocation', arguments: '{}' } },
        ],
      },
      { id: 'id2', role: 'tool', toolCallId: 'search', content: '{"hits":2}' },
    ])
    http.addMessage({ id: 'answer', role: 'tool', toolCallId: 'ask', content: 'Berlin' })
    await http.runAgent({ runId: 'r2' })
    expect(http.messages.at(-1)).toMatchObject({ content: 'It is Berlin' })
  })

  test('state, over two runs', async () => {
    const { http } = await client(async (input, run) => {
      if (Object.keys((input.state as object | undefined) ?? {}).length === 0) await run.state.set({ count: 0, list: [] })
      await run.state.patch([
        { op: 'replace', path: '/count', value: ((input.state as { count?: number } | undefined)?.count ?? 0) + 1 },
        { op: 'add', path: '/list/-', value: input.runId },
      ])
    })
    await http.runAgent({ runId: 'r1' })
    expect(http.state).toEqual({ count: 1, list: ['r1'] })
    await http.runAgent({ runId: 'r2' })
    expect(http.state).toEqual({ count: 2, list: ['r1', 'r2'] })
  })

  test('an interrupt, and a resume that answers it', async () => {
    const { http } = await client(async (_, run) => {
      const answer = run.answer('i1')
      if (answer === undefined) return run.interrupt({ id: 'i1', reason: 'confirmation', message: 'Really?' })
      return void (await run.text(`${answer.status}: ${JSON.stringify(answer.payload)}`))
    })
    await http.runAgent({ runId: 'r1' })
    expect(http.pendingInterrupts).toEqual([{ id: 'i1', reason: 'confirmation', message: 'Really?' }])
    await http.runAgent({ runId: 'r2', resume: [{ interruptId: 'i1', status: 'resolved', payload: { yes: true } }] })
    expect(http.pendingInterrupts).toEqual([])
    expect(http.messages.at(-1)).toMatchObject({ content: 'resolved: {"yes":true}' })
  })

  test('a failed run is a failure there, and keeps what came', async () => {
    const errors: unknown[] = []
    const { http, logger } = await client(async (_, run) => {
      await run.text('Before')
      throw new AgentError('quota', 'Out of quota')
    })
    await http.runAgent({ runId: 'r1' }, { onRunErrorEvent: ({ event }) => void errors.push([event.code, event.message]) }).catch(() => undefined)
    expect(errors).toEqual([['quota', 'Out of quota']])
    expect(http.messages.at(-1)).toMatchObject({ content: 'Before' })
    expect(logger.lines).toHaveLength(1)
  })

  test('a broken rule arrives as RUN_ERROR, not as a broken stream', async () => {
    const errors: unknown[] = []
    const { http } = await client(async function* () {
      yield { type: 'TEXT_MESSAGE_END', messageId: 'nothing' }
    })
    await http.runAgent({ runId: 'r1' }, { onRunErrorEvent: ({ event }) => void errors.push(event.code) }).catch(() => undefined)
    expect(errors).toEqual(['text.continue'])
  })

  test('everything an agent left open arrives closed', async () => {
    const { http } = await client(async (_, run) => {
      await run.step('open')
      await (await run.text()).write('open')
      await run.toolCall('open')
    })
    await http.runAgent({ runId: 'r1' })
    expect(http.messages.at(-1)).toMatchObject({ toolCalls: [{ function: { name: 'open' } }] })
  })

  test('a run that is cancelled on the server ends there', async () => {
    const { http, handler } = await client(async (_, run) => {
      await (await run.text()).write('Hel')
      await never()
    })
    const running = http.runAgent({ runId: 'r1' })
    await eventually(() => http.messages.length === 2)
    await fetch(`${served?.url ?? ''}?runId=r1`, { method: 'DELETE' })
    await running
    expect(http.messages.at(-1)).toMatchObject({ content: 'Hel' })
    expect(handler.counts()).toEqual({ producers: 0, readers: 0 })
  })

  test('a client that aborts leaves nothing behind where the run is to end with it', async () => {
    const { http, handler } = await client(async (_, run) => {
      await (await run.text()).write('Hel')
      await never()
    }, { onDisconnect: 'cancel' })
    const running = http.runAgent({ runId: 'r1' }).catch(() => undefined)
    await eventually(() => http.messages.length === 2)
    http.abortRun()
    await running
    await eventually(() => handler.counts().producers === 0)
    expect(handler.counts()).toEqual({ producers: 0, readers: 0 })
  })

  test('a refused request is an error there', async () => {
    const { http } = await client(async () => undefined, { authorize: () => false })
    await expect(http.runAgent({ runId: 'r1' })).rejects.toThrow()
  })
})
