/** One accepting and one rejecting stream for each order rule, as a table; then modes, tolerances and limits. */
import { describe, expect, it } from 'vitest'
import { ProtocolError } from '../errors.ts'
import type { Event } from '../events/event.ts'
import { EventVerifier, type VerifyOptions } from '../pipeline.ts'
import type { RuleId } from '../rules.ts'
import { RULES } from '../rules.ts'

type Raw = { type: Event['type'] } & Record<string, unknown>

const start: Raw = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const finish: Raw = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }
const error: Raw = { type: 'RUN_ERROR', message: 'boom' }
const text = (what: 'START' | 'CONTENT' | 'END' | 'CHUNK', messageId: string, more: object = {}): Raw => ({
  type: `TEXT_MESSAGE_${what}`,
  messageId,
  ...(what === 'CONTENT' && { delta: 'x' }),
  ...more,
})
const tool = (what: 'START' | 'ARGS' | 'END' | 'CHUNK', toolCallId: string, more: object = {}): Raw => ({
  type: `TOOL_CALL_${what}`,
  toolCallId,
  ...(what === 'START' && { toolCallName: 'f' }),
  ...(what === 'ARGS' && { delta: '{' }),
  ...more,
})
const thought = (what: 'START' | 'CONTENT' | 'END', messageId: string, more: object = {}): Raw => ({
  type: `REASONING_MESSAGE_${what}`,
  messageId,
  ...(what === 'START' && { role: 'reasoning' }),
  ...(what === 'CONTENT' && { delta: 'x' }),
  ...more,
})
const span = (what: 'START' | 'END', messageId: string, more: object = {}): Raw => ({ type: `REASONING_${what}`, messageId, ...more })
const step = (what: 'STARTED' | 'FINISHED', stepName: string, more: object = {}): Raw => ({ type: `STEP_${what}`, stepName, ...more })
const agent = (what: 'STARTED' | 'FINISHED' | 'ERROR', subagentRunId: string, more: object = {}): Raw => ({
  type: `SUBAGENT_${what}`,
  subagentRunId,
  ...(what === 'STARTED' && { name: 'n' }),
  ...(what === 'ERROR' && { message: 'm' }),
  ...more,
})
const s1 = { subagentRunId: 's1' }
const s2 = { subagentRunId: 's2' }

interface Row {
  readonly rule: RuleId
  /** Streams that keep the rule. */
  readonly keeps: readonly Raw[][]
  /** Streams whose last event breaks it, and the index of the event it collides with. */
  readonly breaks: readonly { stream: Raw[]; related?: number }[]
}

const TABLE: readonly Row[] = [
  { rule: 'run.first-event', keeps: [[start], [error]], breaks: [{ stream: [text('START', 'a')] }, { stream: [finish] }, { stream: [{ type: 'CUSTOM', name: 'n', value: 1 }] }] },
  { rule: 'run.nested', keeps: [[start, finish, start], [start, error, start]], breaks: [{ stream: [start, start] }] },
  { rule: 'run.after-finish', keeps: [[start, finish, error]], breaks: [{ stream: [start, finish, finish], related: 1 }, { stream: [start, finish, { type: 'RAW', event: 1 }], related: 1 }] },
  { rule: 'run.after-error', keeps: [[start, error, start]], breaks: [{ stream: [start, error, error], related: 1 }, { stream: [error, finish], related: 0 }] },
  {
    rule: 'finish.all-closed',
    keeps: [[start, text('START', 'a'), text('END', 'a'), finish], [start, text('START', 'a'), error]],
    breaks: [
      { stream: [start, text('START', 'a'), finish], related: 1 },
      { stream: [start, tool('START', 'a'), finish], related: 1 },
      { stream: [start, step('STARTED', 'a'), finish], related: 1 },
      { stream: [start, span('START', 'a'), finish], related: 1 },
      { stream: [start, thought('START', 'a'), finish], related: 1 },
      { stream: [start, agent('STARTED', 's1'), finish], related: 1 },
    ],
  },
  { rule: 'text.open', keeps: [[start, text('START', 'a'), text('END', 'a'), text('START', 'a')]], breaks: [{ stream: [start, text('START', 'a'), text('START', 'a')], related: 1 }, { stream: [start, text('START', 'a'), text('CHUNK', 'a')], related: 1 }] },
  {
    rule: 'text.continue',
    keeps: [[start, text('START', 'a'), text('START', 'b'), text('CONTENT', 'a'), text('CONTENT', 'b')]],
    breaks: [
      { stream: [start, text('CONTENT', 'a')] },
      { stream: [start, text('START', 'a'), text('END', 'a'), text('END', 'a')], related: 1 },
      { stream: [start, text('CHUNK', 'a'), text('CONTENT', 'a')], related: 1 },
      { stream: [start, text('START', 'a'), error, start, text('CONTENT', 'a')] },
    ],
  },
  { rule: 'tool.open', keeps: [[start, tool('START', 'a'), tool('END', 'a'), tool('START', 'a')]], breaks: [{ stream: [start, tool('START', 'a'), tool('START', 'a')], related: 1 }] },
  { rule: 'tool.continue', keeps: [[start, tool('START', 'a'), text('START', 'a'), tool('ARGS', 'a')]], breaks: [{ stream: [start, tool('ARGS', 'a')] }, { stream: [start, text('START', 'a'), tool('END', 'a')] }] },
  { rule: 'step.open', keeps: [[start, step('STARTED', 'a'), step('STARTED', 'a', s1)]], breaks: [{ stream: [start, step('STARTED', 'a'), step('STARTED', 'a')], related: 1 }] },
  { rule: 'step.close', keeps: [[start, step('STARTED', 'a'), step('STARTED', 'b'), step('FINISHED', 'a')]], breaks: [{ stream: [start, step('FINISHED', 'a')] }, { stream: [start, step('STARTED', 'a', s1), step('FINISHED', 'a')] }] },
  { rule: 'span.open', keeps: [[start, span('START', 'a'), thought('START', 'a')]], breaks: [{ stream: [start, span('START', 'a'), span('START', 'a')], related: 1 }] },
  { rule: 'span.close', keeps: [[start, span('START', 'a'), span('END', 'a')]], breaks: [{ stream: [start, span('END', 'a')] }] },
  { rule: 'reasoning.open', keeps: [[start, thought('START', 'a'), text('START', 'a')]], breaks: [{ stream: [start, thought('START', 'a'), thought('START', 'a')], related: 1 }] },
  { rule: 'reasoning.continue', keeps: [[start, thought('START', 'a'), thought('CONTENT', 'a')]], breaks: [{ stream: [start, thought('CONTENT', 'a')] }, { stream: [start, span('START', 'a'), thought('END', 'a')] }] },
  { rule: 'chunk.opener', keeps: [[start, text('CHUNK', 'a'), { type: 'TEXT_MESSAGE_CHUNK', delta: 'x' }]], breaks: [{ stream: [start, { type: 'TEXT_MESSAGE_CHUNK', delta: 'x' }] }, { stream: [start, { type: 'TOOL_CALL_CHUNK', toolCallId: 'a' }] }, { stream: [start, { type: 'REASONING_MESSAGE_CHUNK' }] }] },
  { rule: 'chunk.ambiguous', keeps: [[start, text('CHUNK', 'a', s1), { type: 'TEXT_MESSAGE_CHUNK', delta: 'x' }]], breaks: [{ stream: [start, text('CHUNK', 'a', s1), text('CHUNK', 'b', s2), { type: 'TEXT_MESSAGE_CHUNK', delta: 'x' }] }] },
  {
    rule: 'chunk.conflict',
    keeps: [[start, text('CHUNK', 'a'), text('CHUNK', 'a', { role: 'assistant' })]],
    breaks: [
      { stream: [start, text('CHUNK', 'a'), text('CHUNK', 'a', { role: 'user' })], related: 1 },
      { stream: [start, text('CHUNK', 'a'), text('CHUNK', 'a', { name: 'Ann' })], related: 1 },
      { stream: [start, tool('CHUNK', 'a', { toolCallName: 'f' }), tool('CHUNK', 'a', { toolCallName: 'g' })], related: 1 },
    ],
  },
  { rule: 'attr.continuation', keeps: [[start, text('START', 'a', s1), text('CONTENT', 'a'), text('CONTENT', 'a', s1)]], breaks: [{ stream: [start, text('START', 'a', s1), text('CONTENT', 'a', s2)], related: 1 }, { stream: [start, text('START', 'a'), text('END', 'a', s1)], related: 1 }, { stream: [start, text('CHUNK', 'a', s1), text('CHUNK', 'a', s2)], related: 1 }] },
  { rule: 'attr.reopen', keeps: [[start, text('START', 'a', s1), text('END', 'a'), text('START', 'a'), text('CONTENT', 'a', s1)]], breaks: [{ stream: [start, text('START', 'a', s1), text('END', 'a'), text('START', 'a', s2)], related: 1 }, { stream: [start, span('START', 'a', s1), thought('START', 'a', s2)] }] },
  { rule: 'attr.tool-parent', keeps: [[start, text('START', 'a', s1), tool('START', 'c', { parentMessageId: 'a' }), tool('ARGS', 'c', s1)]], breaks: [{ stream: [start, text('START', 'a', s1), tool('START', 'c', { parentMessageId: 'a', ...s2 })], related: 1 }] },
  { rule: 'attr.encrypted', keeps: [[start, text('START', 'a', s1), { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'a', encryptedValue: 'v' }]], breaks: [{ stream: [start, text('START', 'a', s1), { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'a', encryptedValue: 'v', ...s2 }], related: 1 }] },
  { rule: 'sub.start', keeps: [[start, agent('STARTED', 's1'), agent('FINISHED', 's1'), finish, start, agent('STARTED', 's1')]], breaks: [{ stream: [start, agent('STARTED', 's1'), agent('STARTED', 's1')], related: 1 }, { stream: [start, agent('STARTED', 's1'), agent('FINISHED', 's1'), agent('STARTED', 's1')], related: 1 }] },
  { rule: 'sub.parent', keeps: [[start, agent('STARTED', 's1'), agent('STARTED', 's2', { parentSubagentRunId: 's1' })]], breaks: [{ stream: [start, agent('STARTED', 's2', { parentSubagentRunId: 's1' })] }] },
  { rule: 'sub.end', keeps: [[start, agent('STARTED', 's1'), agent('ERROR', 's1')]], breaks: [{ stream: [start, agent('FINISHED', 's1')] }, { stream: [start, agent('STARTED', 's1'), agent('ERROR', 's1'), agent('FINISHED', 's1')], related: 1 }] },
]

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
  for (const { rule, keeps, breaks } of TABLE) {
    describe(`${rule}: ${RULES[rule].title}`, () => {
      keeps.forEach((stream, index) => it(`keeps it (${index + 1})`, () => expect(verify(stream).error).toBeUndefined()))
      breaks.forEach(({ stream, related }, index) =>
        it(`breaks it (${index + 1})`, () => {
          const { error } = verify(stream)
          expect(error).toMatchObject({ code: 'violation', rule, event: stream.length - 1, type: stream.at(-1)?.type })
          expect(error?.related).toBe(related)
          // Going on after it, the rule is reported all the same.
          expect(verify(stream, { mode: 'report' }).rules).toContain(rule)
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
    const { error, rules } = verify(stream, { mode: 'tolerant' })
    expect(error).toBeUndefined()
    expect(rules).toEqual(['tolerated.run-goes-on'])
  })

  it('tolerant lets a result of the finished run through, and the RUN_STARTED that follows it', () => {
    const stream = [start, tool('START', 'c'), tool('END', 'c'), finish, result, start, finish]
    expect(verify(stream, { mode: 'tolerant' }).error).toBeUndefined()
    expect(verify([start, finish, result], { mode: 'tolerant' }).error?.rule).toBe('run.after-finish')
  })

  it('tolerant lets a step be closed twice, but not a step that never was', () => {
    expect(verify([start, step('STARTED', 's'), step('FINISHED', 's'), step('FINISHED', 's'), finish], { mode: 'tolerant' })).toMatchObject({ error: undefined, rules: ['tolerated.step-closed-twice'] })
    expect(verify([start, step('FINISHED', 's')], { mode: 'tolerant' }).error?.rule).toBe('step.close')
  })

  it('report goes on, skips what breaks a rule, and lists everything', () => {
    const stream = [text('START', 'a'), text('START', 'a'), text('CONTENT', 'b'), finish, step('STARTED', 's')]
    const { types, error, rules } = verify(stream, { mode: 'report' })
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
