import { describe, expect, test } from 'vitest'
import type { Agent } from './agent.ts'
import { AgentError } from './errors.ts'
import { runAgent, types, type Wire } from './test/fixtures.ts'

/** What an agent sends between RUN_STARTED and the terminal event. */
async function sent(agent: Agent): Promise<Wire[]> {
  const { events, outcome } = await runAgent(agent)
  expect(outcome).toBe('finished')
  return events.slice(1, -1)
}

async function* pieces(...list: string[]): AsyncGenerator<string> {
  yield* list
}

async function* failing(...list: string[]): AsyncGenerator<string> {
  yield* list
  throw new Error('the model is gone')
}

describe('text', () => {
  test('given whole, it is one closed message', async () => {
    const events = await sent(async (_, run) => {
      expect((await run.text('Hello')).messageId).toBe('id1')
    })
    expect(events).toEqual([
      { type: 'TEXT_MESSAGE_START', messageId: 'id1', role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'id1', delta: 'Hello' },
      { type: 'TEXT_MESSAGE_END', messageId: 'id1' },
    ])
  })

  test('given in pieces, each is a delta; empty ones are left out', async () => {
    const events = await sent(async (_, run) => void (await run.text(pieces('a', '', 'b'), { messageId: 'm', role: 'user', name: 'Ada' })))
    expect(events).toEqual([
      { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'user', name: 'Ada' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'a' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'b' },
      { type: 'TEXT_MESSAGE_END', messageId: 'm' },
    ])
  })

  test('without content it is held open; ending twice is one end', async () => {
    const events = await sent(async (_, run) => {
      const message = await run.text()
      await message.write('a')
      await run.custom('app.note', 1)
      await message.write('b')
      await message.end()
      await message.end()
    })
    expect(types(events)).toEqual([
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'CUSTOM',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
    ])
  })

  test('a source that fails leaves its message open, and the agent that catches it goes on', async () => {
    const events = await sent(async (_, run) => {
      await expect(run.text(failing('a'))).rejects.toThrow('the model is gone')
      await run.text('Sorry')
    })
    expect(events.map(({ type, messageId }) => [type, messageId])).toEqual([
      ['TEXT_MESSAGE_START', 'id1'],
      ['TEXT_MESSAGE_CONTENT', 'id1'],
      ['TEXT_MESSAGE_START', 'id2'],
      ['TEXT_MESSAGE_CONTENT', 'id2'],
      ['TEXT_MESSAGE_END', 'id2'],
      // Only the end of the run closes it.
      ['TEXT_MESSAGE_END', 'id1'],
    ])
  })

  test('helpers nobody awaits still belong to the run, and may run side by side', async () => {
    const { thread, outcome } = await runAgent(async (_, run) => {
      void run.text(pieces('a', 'b', 'c'))
      void run.text(pieces('1', '2', '3'))
    })
    expect(outcome).toBe('finished')
    expect(thread.messages.map(({ content }) => content)).toEqual(['Hi', 'abc', '123'])
  })
})

test('reasoning is a span around a message', async () => {
  const events = await sent(async (_, run) => void (await run.reasoning('Hm')))
  expect(events).toEqual([
    { type: 'REASONING_START', messageId: 'id1' },
    { type: 'REASONING_MESSAGE_START', messageId: 'id1', role: 'reasoning' },
    { type: 'REASONING_MESSAGE_CONTENT', messageId: 'id1', delta: 'Hm' },
    { type: 'REASONING_MESSAGE_END', messageId: 'id1' },
    { type: 'REASONING_END', messageId: 'id1' },
  ])
})

describe('toolCall', () => {
  test('arguments as an object, then a result', async () => {
    const events = await sent(async (_, run) => {
      const message = await run.text('Let me look')
      const call = await run.toolCall('search', { q: 'x' }, { parentMessageId: message.messageId })
      await call.result({ hits: 2 })
    })
    expect(events.slice(3)).toEqual([
      { type: 'TOOL_CALL_START', toolCallId: 'id2', toolCallName: 'search', parentMessageId: 'id1' },
      { type: 'TOOL_CALL_ARGS', toolCallId: 'id2', delta: '{"q":"x"}' },
      { type: 'TOOL_CALL_END', toolCallId: 'id2' },
      { type: 'TOOL_CALL_RESULT', messageId: 'id3', toolCallId: 'id2', content: '{"hits":2}', role: 'tool' },
    ])
  })

  test('arguments in pieces', async () => {
    const events = await sent(async (_, run) => void (await (await run.toolCall('search', pieces('{"q":', '"x"}'))).result('two hits')))
    expect(events.filter(({ type }) => type === 'TOOL_CALL_ARGS').map(({ delta }) => delta)).toEqual(['{"q":', '"x"}'])
  })

  test('a result ends an open call; content parts go as they are', async () => {
    const events = await sent(async (_, run) => {
      const call = await run.toolCall('draw')
      await call.write('{}')
      await call.result([{ type: 'text', text: 'done' }], { messageId: 'm' })
    })
    expect(types(events)).toEqual(['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'TOOL_CALL_RESULT'])
    expect(events[3]).toMatchObject({ messageId: 'm', content: [{ type: 'text', text: 'done' }] })
  })
})

describe('step', () => {
  test('around a body, whose result it gives', async () => {
    const events = await sent(async (_, run) => {
      expect(await run.step('plan', async () => 42)).toBe(42)
    })
    expect(events).toEqual([
      { type: 'STEP_STARTED', stepName: 'plan' },
      { type: 'STEP_FINISHED', stepName: 'plan' },
    ])
  })

  test('it is finished when the body throws', async () => {
    const events = await sent(async (_, run) => {
      const failed = run.step('plan', async () => {
        throw new Error('no')
      })
      await expect(failed).rejects.toThrow('no')
    })
    expect(types(events)).toEqual(['STEP_STARTED', 'STEP_FINISHED'])
  })

  test('without a body it is ended by hand', async () => {
    const events = await sent(async (_, run) => {
      const step = await run.step('plan')
      await run.text('x')
      await step.end()
    })
    expect(types(events).at(-1)).toBe('STEP_FINISHED')
  })
})

test('state, activity, messages and custom events', async () => {
  const { events, thread } = await runAgent(async (_, run) => {
    expect(run.state.value).toEqual({})
    const mine = { n: 1 }
    await run.state.set(mine)
    mine.n = 7
    await run.state.patch([{ op: 'replace', path: '/n', value: 2 }])
    expect(run.state.value).toEqual({ n: 2 })
    const activity = await run.activity('progress', { percent: 1 })
    await activity.patch([{ op: 'replace', path: '/percent', value: 50 }])
    await activity.set({ percent: 100 })
    await run.activity('progress', { percent: 0 }, { messageId: activity.messageId, replace: false })
    await run.custom('app.note', null)
    await run.messages([{ id: 'u1', role: 'user', content: 'Hi there' }])
  })
  expect(types(events)).toEqual([
    'RUN_STARTED',
    'STATE_SNAPSHOT',
    'STATE_DELTA',
    'ACTIVITY_SNAPSHOT',
    'ACTIVITY_DELTA',
    'ACTIVITY_SNAPSHOT',
    'ACTIVITY_SNAPSHOT',
    'CUSTOM',
    'MESSAGES_SNAPSHOT',
    'RUN_FINISHED',
  ])
  expect(thread.state).toEqual({ n: 2 })
  expect(thread.messages.map(({ content }) => content)).toEqual(['Hi there', { percent: 100 }])
})

describe('subagent', () => {
  test('marks what it writes, nested ones too', async () => {
    const events = await sent(async (_, run) => {
      const found = await run.subagent(
        'researcher',
        async (sub) => {
          await sub.text('Looking')
          await sub.step('read', async () => undefined)
          await sub.subagent('reader', async (nested) => void (await nested.text('Reading')))
          return 'found'
        },
        { description: 'looks things up' },
      )
      expect(found).toBe('found')
    })
    expect(events[0]).toEqual({ type: 'SUBAGENT_STARTED', subagentRunId: 'id1', name: 'researcher', description: 'looks things up' })
    expect(events.find(({ name }) => name === 'reader')).toMatchObject({ parentSubagentRunId: 'id1' })
    expect(events.every(({ subagentRunId }) => subagentRunId !== undefined)).toBe(true)
    expect(events.at(-1)).toEqual({ type: 'SUBAGENT_FINISHED', subagentRunId: 'id1' })
  })

  test('a throw ends the subagent, not the run; only an AgentError says why', async () => {
    const events = await sent(async (_, run) => {
      await expect(run.subagent('a', () => Promise.reject(new Error('secret')))).rejects.toThrow('secret')
      await expect(run.subagent('b', () => Promise.reject(new AgentError('quota', 'Out of quota')))).rejects.toThrow('Out of quota')
    })
    expect(events.filter(({ type }) => type === 'SUBAGENT_ERROR')).toEqual([
      { type: 'SUBAGENT_ERROR', subagentRunId: 'id1', message: 'The subagent failed', code: 'agent.failed' },
      { type: 'SUBAGENT_ERROR', subagentRunId: 'id2', message: 'Out of quota', code: 'quota' },
    ])
  })
})
