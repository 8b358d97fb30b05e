/** One accepting and one rejecting stream for each order rule, as a table; then modes, tolerances and limits. */
import { describe, expect, it } from 'vitest'
import { ProtocolError } from '../errors.ts'
import { EventVerifier, type VerifyOptions } from '../pipeline/event-verifier.ts'
import { reportMode } from './report.ts'
import { tolerantMode } from './tolerance.ts'
import { RULES } from '../rules.ts'
import { agent, finish, ORDER_RULES, s1, span, start, step, text, tool, type Raw } from '../../test/rule-cases.ts'

function verify(stream: readonly Raw[], options: VerifyOptions = {}): { types: string[]; error: ProtocolError | undefined; rules: string[] } {
  const rules: string[] = []
  const types: string[] = []
  const verifier = new EventVerifier({ onDiagnostic: ({ rule }) => rules.push(rule), ...options })
  try {
    for (const event of stream) verifier.accept(event, ({ type }) => types.push(type))
  } catch (caught) {
    if (!(caught instanceof ProtocolError)) throw caught
    return { types, error: caught, rules }
  }
  return { types, error: undefined, rules }
}

describe('order rules', () => {
  for (const { rule, keeps, breaks } of ORDER_RULES) {
    describe(`${rule}: ${RULES[rule].title}`, () => {
      keeps.forEach((stream, index) => it(`keeps it (${index + 1})`, () => expect(verify(stream).error).toBeUndefined()))
      breaks.forEach(({ stream, related }, index) =>
        it(`breaks it (${index + 1})`, () => {
          const { error } = verify(stream)
          expect(error).toMatchObject({ code: 'violation', rule, event: stream.length - 1, type: stream.at(-1)?.type })
          expect(error?.related).toBe(related)
          // Going on after it, the rule is reported all the same.
          expect(verify(stream, { mode: reportMode }).rules).toContain(rule)
        }),
      )
    })
  }

  it('all names of what is open stand in the message', () => {
    const { error } = verify([start, text('START', 'm1'), tool('START', 'c1'), step('STARTED', 'plan'), finish])
    for (const name of ['m1', 'c1', 'plan']) expect(error?.message).toContain(name)
  })

  it('anything may interleave, and results are free', () => {
    const result: Raw = { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: '1' }
    const stream = [start, result, text('START', 'a'), tool('START', 'c'), result, text('CONTENT', 'a'), span('START', 'a'), tool('ARGS', 'c'), text('END', 'a'), tool('END', 'c'), span('END', 'a'), finish]
    expect(verify(stream).error).toBeUndefined()
  })

  it('a run that names another run at its end gives a warning', () => {
    const { error, rules } = verify([start, { ...finish, runId: 'other' }])
    expect(error).toBeUndefined()
    expect(rules).toEqual(['run.identity'])
  })
})

describe('chunks', () => {
  const chunk = (messageId: string, delta: string, more: object = {}): Raw => text('CHUNK', messageId, { delta, ...more })

  it('become START, CONTENT and END; the END comes before what caused it', () => {
    const { types } = verify([start, chunk('a', 'x'), { type: 'TEXT_MESSAGE_CHUNK', delta: 'y' }, chunk('b', 'z'), step('STARTED', 's')])
    expect(types).toEqual(['RUN_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'STEP_STARTED'])
  })

  it('lanes of other owners stay open', () => {
    const { types } = verify([start, chunk('a', 'x', s1), chunk('b', 'y'), step('STARTED', 's')])
    expect(types.filter((type) => type === 'TEXT_MESSAGE_END')).toHaveLength(1)
  })

  it('RAW and activities close nothing; MESSAGES_SNAPSHOT and the end of the run close all', () => {
    const activity: Raw = { type: 'ACTIVITY_SNAPSHOT', messageId: 'p', activityType: 'PLAN', content: {} }
    const { types } = verify([start, chunk('a', 'x', s1), chunk('b', 'y'), { type: 'RAW', event: 1 }, activity, finish])
    expect(types.slice(-3)).toEqual(['TEXT_MESSAGE_END', 'TEXT_MESSAGE_END', 'RUN_FINISHED'])
    expect(types.slice(5, 7)).toEqual(['RAW', 'ACTIVITY_SNAPSHOT'])
  })

  it('the end of a subagent closes its lane', () => {
    const { types } = verify([start, agent('STARTED', 's1'), chunk('a', 'x', s1), agent('FINISHED', 's1')])
    expect(types.slice(-2)).toEqual(['TEXT_MESSAGE_END', 'SUBAGENT_FINISHED'])
  })

  it('a chunk whose message a result has given to another owner is no continuation of it', () => {
    const result: Raw = { type: 'TOOL_CALL_RESULT', messageId: 'a', toolCallId: 'c', content: '1', subagentRunId: 's2' }
    const stream = [start, chunk('a', 'x', s1), result, chunk('a', 'y', s1)]
    expect(verify(stream).error).toMatchObject({ rule: 'attr.continuation', event: 3 })
    expect(verify([start, chunk('a', 'x', s1), result, chunk('a', 'y')]).error).toBeUndefined()
  })

  it('an untagged event closes the lane of its item’s owner, not the parent’s', () => {
    const stream = [start, tool('START', 'c', s1), chunk('a', 'x'), tool('ARGS', 'c'), { type: 'TEXT_MESSAGE_CHUNK', delta: 'y' } as Raw]
    expect(verify(stream).error).toBeUndefined()
  })
})

describe('modes', () => {
  const tools = { metadata: { tanstack: { finishReason: 'tool_calls' } } }
  const result: Raw = { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: '1' }

  it('tolerant lets a run go on after RUN_FINISHED when the model called tools', () => {
    const stream = [start, tool('START', 'c'), tool('END', 'c'), { ...finish, ...tools }, text('START', 'a'), text('END', 'a'), finish]
    expect(verify(stream).error?.rule).toBe('run.after-finish')
    const { error, rules } = verify(stream, { mode: tolerantMode })
    expect(error).toBeUndefined()
    expect(rules).toEqual(['tolerated.run-goes-on'])
  })

  it('tolerant lets a result of the finished run through, and the RUN_STARTED that follows it', () => {
    const stream = [start, tool('START', 'c'), tool('END', 'c'), finish, result, start, finish]
    expect(verify(stream, { mode: tolerantMode }).error).toBeUndefined()
    expect(verify([start, finish, result], { mode: tolerantMode }).error?.rule).toBe('run.after-finish')
  })

  it('tolerant lets a step be closed twice, but not a step that never was', () => {
    expect(verify([start, step('STARTED', 's'), step('FINISHED', 's'), step('FINISHED', 's'), finish], { mode: tolerantMode })).toMatchObject({ error: undefined, rules: ['tolerated.step-closed-twice'] })
    expect(verify([start, step('FINISHED', 's')], { mode: tolerantMode }).error?.rule).toBe('step.close')
  })

  it('report goes on, skips what breaks a rule, and lists everything', () => {
    const stream = [text('START', 'a'), text('START', 'a'), text('CONTENT', 'b'), finish, step('STARTED', 's')]
    const { types, error, rules } = verify(stream, { mode: reportMode })
    expect(error).toBeUndefined()
    expect(types).toEqual(['TEXT_MESSAGE_START', 'RUN_FINISHED', 'STEP_STARTED'])
    expect(rules).toEqual(['run.first-event', 'text.open', 'text.continue', 'finish.all-closed', 'run.after-finish'])
  })
})

it('a run may open limits.ledgerItems items and no more', () => {
  const items = Array.from({ length: 4 }, (_, index) => [text('START', `m${index}`), text('END', `m${index}`)]).flat()
  const { error } = verify([start, ...items], { limits: { ledgerItems: 3 } })
  expect(error).toMatchObject({ code: 'limit', rule: 'run.ledger-full', event: 7 })
})
