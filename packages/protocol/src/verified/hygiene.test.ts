/** Hygiene rules: legal streams that deserve a word, and streams that deserve none. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hygieneRules, reportMode, RULES, ThreadReader, type Diagnostic, type Message } from '../index.ts'

function findings(events: readonly object[], history: readonly Message[] = []): Diagnostic[] {
  const found: Diagnostic[] = []
  const reader = new ThreadReader({ hygiene: hygieneRules, mode: reportMode, messages: history, onDiagnostic: (diagnostic) => found.push(diagnostic) })
  for (const event of events) reader.accept(event)
  reader.finish()
  return found
}

const start = { type: 'RUN_STARTED', threadId: 't', runId: 'r', timestamp: 1 }
const finish = { type: 'RUN_FINISHED', threadId: 't', runId: 'r', timestamp: 1 }
const stamped = (...events: object[]): object[] => [start, ...events.map((event) => ({ ...event, timestamp: 1 })), finish]
const call = (args: string, more: object = {}): object[] => [
  { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'f', ...more },
  ...(args === '' ? [] : [{ type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: args }]),
  { type: 'TOOL_CALL_END', toolCallId: 'c' },
]
const text = (delta: string): object[] => [
  { type: 'TEXT_MESSAGE_START', messageId: 'm' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta },
  { type: 'TEXT_MESSAGE_END', messageId: 'm' },
]
const delta = { type: 'STATE_DELTA', delta: [] }
const snapshot = { type: 'STATE_SNAPSHOT', snapshot: {} }
const result = { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: '' }

const TABLE: readonly [rule: string, finds: readonly object[], quiet: readonly object[]][] = [
  ['hygiene.arguments-not-json', stamped(...call('{"a":')), stamped(...call('{"a":1}'))],
  ['hygiene.arguments-not-json', stamped(...call('nope')), stamped(...call(''))],
  ['hygiene.result-without-call', stamped(result), stamped(...call('{}'), result)],
  ['hygiene.unknown-parent', stamped(...call('{}', { parentMessageId: 'ghost' })), stamped(...text('x'), ...call('{}', { parentMessageId: 'm' }))],
  ['hygiene.stray-thread', [start, finish, { ...start, threadId: 'other', runId: 'r2' }, { ...finish, threadId: 'other', runId: 'r2' }], [start, finish, { ...start, runId: 'r2' }, { ...finish, runId: 'r2' }]],
  ['hygiene.run-id-reused', [start, finish, start, finish], [start, finish]],
  ['hygiene.delta-before-snapshot', stamped(delta), stamped(snapshot, delta)],
  ['hygiene.no-timestamps', [start, ...text('x'), finish], stamped(...text('x'))],
  ['hygiene.custom-name', stamped({ type: 'CUSTOM', name: 'note', value: 1 }), stamped({ type: 'CUSTOM', name: 'acme.note', value: 1 })],
  ['hygiene.raw-wraps-event', stamped({ type: 'RAW', event: { type: 'TEXT_MESSAGE_END', messageId: 'm' } }), stamped({ type: 'RAW', event: { type: 'response.created' } })],
  ['hygiene.empty-delta', stamped(...text('')), stamped(...text('x'))],
]

describe('hygiene', () => {
  for (const [rule, finds, quiet] of TABLE) {
    it(`${rule}: ${RULES[rule as keyof typeof RULES].title}`, () => {
      expect(findings(finds).map((found) => found.rule)).toEqual([rule])
      expect(findings(quiet)).toEqual([])
    })
  }

  it('what history holds is known', () => {
    const history: Message[] = [{ id: 'm', role: 'assistant', toolCalls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] }]
    expect(findings(stamped(result), history)).toEqual([])
  })

  it('is silent unless asked for', () => {
    const found: Diagnostic[] = []
    const reader = new ThreadReader({ onDiagnostic: (diagnostic) => found.push(diagnostic) })
    for (const event of stamped(result)) reader.accept(event)
    expect(found).toEqual([])
  })
})

describe('a conforming stream gives no finding above info', () => {
  const directory = new URL('../../../../conformance/ag-ui-1.0/streams/', import.meta.url)
  for (const file of readdirSync(directory)) {
    const { expect: expected, stream } = JSON.parse(readFileSync(new URL(file, directory), 'utf8')) as { expect: { noWarnings?: boolean }; stream: object[] }
    if (expected.noWarnings) it(file, () => expect(findings(stream).filter(({ severity }) => severity !== 'info')).toEqual([]))
  }
})
