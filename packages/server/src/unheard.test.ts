// Who answers for a helper that fails: the agent, if anybody listens to the helper; else the run.
import { describe, expect, test } from 'vitest'
import type { Agent, RunContext } from './agent.ts'
import { AgentError } from './errors.ts'
import { runAgent, types } from './test/fixtures.ts'

async function* failing(error: Error = new Error('model died')): AsyncGenerator<string> {
  yield 'half of the ans'
  throw error
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a failure that nobody hears ends the run in RUN_ERROR, without an END, and is logged', () => {
  const agents: Record<string, Agent> = {
    'never awaited': async (_, run) => void run.text(failing()),
    'never awaited by a generator': async function* (_, run) {
      void run.text(failing())
      yield { type: 'CUSTOM', name: 'app.a', value: 1 }
    },
    'failed while the agent went on': async (_, run) => {
      void run.text(failing())
      for (let i = 0; i < 5; i++) await turn()
    },
    reasoning: async (_, run) => void run.reasoning(failing()),
    'arguments of a tool call': async (_, run) => void run.toolCall('f', failing()),
    'a subagent': async (_, run) => void run.subagent('s', async (sub) => void (await sub.text(failing()))),
    'a helper of a subagent': async (_, run) => void (await run.subagent('s', async (sub) => void sub.text(failing()))),
    'a step': async (_, run) => void run.step('s', () => Promise.reject(new Error('model died'))),
    'listened to only for its success': async (_, run) => void run.text(failing()).then(() => undefined),
    'passed on by finally': async (_, run) => void run.text(failing()).finally(() => undefined),
    'caught, but by a handler that fails': async (_, run) =>
      void run.text('x').then(() => {
        throw new Error('model died')
      }),
  }
  for (const [name, agent] of Object.entries(agents)) {
    test(name, async () => {
      const { events, outcome, logger } = await runAgent(agent)
      expect(outcome).toBe('error')
      expect(events.at(-1)).toEqual({ type: 'RUN_ERROR', message: 'The agent failed', code: 'agent.failed' })
      if (name !== 'caught, but by a handler that fails') {
        expect(types(events).filter((type) => /^(?:TEXT|REASONING|TOOL).*_END$/.test(type))).toEqual([])
      }
      expect(logger.lines).toEqual([
        expect.objectContaining({ message: 'A run failed', data: expect.objectContaining({ error: new Error('model died') }) as object }),
      ])
    })
  }

  test('an AgentError shows its code; further failures are logged', async () => {
    const { events, logger } = await runAgent(async (_, run) => {
      void run.text(failing(new AgentError('quota', 'Out of quota')))
      void run.text(failing(new Error('the second')))
    })
    expect(events.at(-1)).toEqual({ type: 'RUN_ERROR', message: 'Out of quota', code: 'quota' })
    expect(logger.lines.map(({ data }) => (data['error'] as Error).message)).toEqual(['Out of quota', 'the second'])
  })

  test('an agent that throws as well is told first', async () => {
    const { events, logger } = await runAgent(async (_, run) => {
      void run.text(failing())
      for (let i = 0; i < 5; i++) await turn()
      throw new AgentError('own', 'Its own')
    })
    expect(events.at(-1)).toMatchObject({ code: 'own' })
    expect(logger.lines.map(({ data }) => (data['error'] as Error).message)).toEqual(['Its own', 'model died'])
  })
})

describe('a failure that somebody hears is the agent’s to deal with', () => {
  const caught = async (promise: Promise<unknown>): Promise<void> => {
    try {
      await promise
    } catch {
      // It may go on.
    }
  }
  const agents: Record<string, (run: RunContext) => Promise<unknown>> = {
    'await in try': (run) => caught(run.text(failing())),
    'awaited only after it failed': async (run) => {
      const text = run.text(failing())
      for (let i = 0; i < 5; i++) await turn()
      await caught(text)
    },
    catch: async (run) => void run.text(failing()).catch(() => undefined),
    'then with two handlers': async (run) => void run.text(failing()).then(undefined, () => undefined),
    'finally, then catch': async (run) => void run.text(failing()).finally(() => undefined).catch(() => undefined),
    'Promise.allSettled': (run) => Promise.allSettled([run.text(failing()), run.reasoning(failing())]),
    'Promise.all': (run) => caught(Promise.all([run.text(failing()), run.text(failing())])),
    'a function of the agent that it does not await': async (run) => void caught(run.text(failing())),
    'a helper that failed at once': (run) => caught(run.toolCall('f', { big: 1n })),
  }
  for (const [name, body] of Object.entries(agents)) {
    test(name, async () => {
      const { events, outcome, logger, thread } = await runAgent(async (_, run) => {
        await body(run)
        await run.text('Never mind')
      })
      expect(outcome).toBe('finished')
      expect(thread.messages.some(({ content }) => content === 'Never mind')).toBe(true)
      expect(events.at(-1)?.type).toBe('RUN_FINISHED')
      expect(logger.lines).toEqual([])
    })
  }
})

test('what hears a helper belongs to the run as well', async () => {
  const { events } = await runAgent(async (_, run) => {
    void run.custom('app.a', 1).then(async () => {
      await turn()
      await run.custom('app.b', 2)
    })
  })
  expect(events.flatMap(({ name }) => name ?? [])).toEqual(['app.a', 'app.b'])
})
