import { compatible, encodeSse, ThreadReader, toUIMessages } from '@millrace/protocol'
import { describe, expect, test } from 'vitest'
import { bigRun, recordedRun, type RecordedKind } from './recorded.ts'

const sse = (events: readonly object[]): string => events.map((event, i) => encodeSse({ data: JSON.stringify(event), id: String(i + 1) })).join('')

const outcomes: Record<RecordedKind, string> = { mixed: 'finished', turns: 'finished', error: 'error', interrupt: 'interrupted' }

describe.each(Object.entries(outcomes))('%s', (kind, outcome) => {
  const events = recordedRun(kind as RecordedKind)

  test('a strict reader takes it, to its outcome', () => {
    const reader = new ThreadReader(compatible())
    for (const event of events) reader.accept(event)
    expect(reader.error).toBeUndefined()
    expect(reader.finish()).toBe(outcome)
  })

  test('it is as long as its description says', () => {
    expect(events.length).toBeGreaterThanOrEqual(40)
    expect(events.length).toBeLessThanOrEqual(60)
    const bytes = Buffer.byteLength(sse(events))
    expect(bytes).toBeGreaterThan(4000)
    expect(bytes).toBeLessThan(6500)
  })

  test('it is the same each time, and another object', () => {
    expect(recordedRun(kind as RecordedKind)).toEqual(events)
    expect(recordedRun(kind as RecordedKind)).not.toBe(events)
  })
})

test('the mixed run has what it promises, and characters of more than one byte', () => {
  const types = new Set(recordedRun().map(({ type }) => type))
  for (const type of ['REASONING_MESSAGE_CONTENT', 'TOOL_CALL_ARGS', 'TOOL_CALL_RESULT', 'STATE_SNAPSHOT', 'STATE_DELTA', 'STEP_STARTED'] as const) {
    expect(types).toContain(type)
  }
  const reader = new ThreadReader(compatible())
  for (const event of recordedRun()) reader.accept(event)
  const { messages, state } = reader.snapshot()
  expect(state).toEqual({ cities: ['東京', 'Reykjavi\u0301k'], done: true, nested: { 'a/b': [1, null, 3] } })
  expect(messages.filter(({ role }) => role === 'assistant')).toHaveLength(3)
  expect(JSON.stringify(toUIMessages(messages))).toMatch(/👨‍👩‍👧‍👦/)
})

test('runs with prefixes share no id', () => {
  const ids = (prefix: string) => new Set(recordedRun('mixed', { prefix }).flatMap((event) => ('messageId' in event ? [event.messageId] : [])))
  for (const id of ids('a-')) expect(ids('b-')).not.toContain(id)
})

test('a big run grows by its deltas', () => {
  expect(bigRun(1000)).toHaveLength(1004)
  const reader = new ThreadReader(compatible())
  for (const event of bigRun(100)) reader.accept(event)
  expect(reader.finish()).toBe('finished')
})
