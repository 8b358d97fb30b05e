// What an agent may answer with, as plain JavaScript gives it.
import { describe, expect, test } from 'vitest'
import type { Agent } from './agent.ts'
import { runAgent, types, type Event } from './test/fixtures.ts'

const event = (value: unknown): Event => ({ type: 'CUSTOM', name: 'app.a', value })

describe('events in any iterable', () => {
  const forms: Record<string, Agent> = {
    'a generator': function* () {
      yield event(1)
      yield event(2)
    },
    'an array': () => [event(1), event(2)],
    'a promise of an array': async () => [event(1), event(2)],
    'a promise of a Set': async () => new Set([event(1), event(2)]),
    'an array of promises': () => [Promise.resolve(event(1)), Promise.resolve(event(2))] as unknown as Event[],
  }
  for (const [name, agent] of Object.entries(forms)) {
    test(name, async () => {
      const { events, outcome } = await runAgent(agent)
      expect(outcome).toBe('finished')
      expect(events.slice(1, -1)).toEqual([event(1), event(2)])
    })
  }

  test('a generator that throws, and one that is let go of', async () => {
    let returned = false
    const thrown = await runAgent(function* () {
      yield event(1)
      throw new Error('no')
    })
    expect(types(thrown.events)).toEqual(['RUN_STARTED', 'CUSTOM', 'RUN_ERROR'])
    await runAgent(function* () {
      try {
        yield { type: 'RUN_ERROR', message: 'stop' }
        yield event(2)
      } finally {
        returned = true
      }
    })
    expect(returned).toBe(true)
  })
})

describe('what is no events', () => {
  test.each([
    ['a string', 'Hello', 'a string'],
    ['a number', 7, 'a number'],
    ['false', false, 'a boolean'],
    ['null', null, 'null'],
    ['an object', { text: 'Hello' }, 'an object that is not iterable'],
    ['a function', () => undefined, 'a function'],
  ])('%s ends the run in RUN_ERROR, and the log says why', async (_name, value, what) => {
    for (const agent of [async () => value, () => value] as unknown as Agent[]) {
      const { events, logger } = await runAgent(agent)
      expect(types(events)).toEqual(['RUN_STARTED', 'RUN_ERROR'])
      expect(events.at(-1)).toMatchObject({ code: 'agent.return' })
      expect(logger.lines.map(({ data }) => String(data['error']))).toEqual([expect.stringContaining(`returned ${what}`)])
    }
  })

  test('the writer that a helper gives is fine: nothing is lost with it', async () => {
    const writers: ((...args: Parameters<Agent>) => Promise<unknown>)[] = [(_, run) => run.text('Hi'), async (_, run) => run.toolCall('f', {})]
    for (const agent of writers as Agent[]) {
      const { outcome, logger } = await runAgent(agent)
      expect([outcome, logger.lines]).toEqual(['finished', []])
    }
  })
})

const cyclic: Record<string, unknown> = { type: 'CUSTOM', name: 'app.a' }
cyclic['value'] = cyclic

test.each<[string, unknown]>([
  ['undefined', undefined],
  ['null', null],
  ['a number', 7],
  ['a string', 'Hello'],
  ['an array', [event(1)]],
  ['an object without a type', {}],
  ['a function', () => undefined],
  ['a symbol', Symbol('x')],
  ['a bigint', 1n],
  ['an event with a bigint', event(1n)],
  ['an event with a cycle', cyclic],
])('%s in the place of an event is event.malformed', async (_name, value) => {
  const yields = async function* (): AsyncGenerator<Event> {
    yield value as Event
  }
  const returns: Agent = () => [value as Event]
  const emits: Agent = async (_, run) => run.emit(value as Event)
  for (const agent of [yields, returns, emits]) {
    const { events, logger } = await runAgent(agent)
    expect(types(events)).toEqual(['RUN_STARTED', 'RUN_ERROR'])
    expect(events.at(-1)).toMatchObject({ code: 'event.malformed' })
    expect(logger.lines).toHaveLength(1)
  }
})
