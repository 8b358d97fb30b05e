/** What is absent, written as null: malformed by AG-UI 1.0, absent with a warning to a tolerant reader. */
import { describe, expect, it } from 'vitest'
import { compatible, ThreadReader, type Diagnostic, type Mode } from '../index.ts'

const start = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const finish = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }

function read(events: readonly object[], mode: Mode) {
  const found: Diagnostic[] = []
  const reader = new ThreadReader({ ...compatible(mode), onDiagnostic: (diagnostic) => found.push(diagnostic) })
  try {
    for (const event of events) reader.accept(event)
  } catch {
    // The outcome says it.
  }
  return { outcome: reader.finish(), found: found.map(({ rule, pointer }) => `${rule} ${pointer}`), thread: reader.snapshot() }
}

const EVENTS: readonly [string, object[], string[]][] = [
  ['timestamp', [{ ...start, timestamp: null }, finish], ['/timestamp']],
  ['metadata', [{ ...start, metadata: null }, finish], ['/metadata']],
  ['parentRunId and input', [{ ...start, parentRunId: null, input: null }, finish], ['/parentRunId', '/input']],
  ['usage', [start, { ...finish, usage: null }], ['/usage']],
  ['name and role of a message', [start, { type: 'TEXT_MESSAGE_START', messageId: 'a', name: null, role: null }, { type: 'TEXT_MESSAGE_END', messageId: 'a' }, finish], ['/name', '/role']],
  ['delta of a chunk', [start, { type: 'TOOL_CALL_CHUNK', toolCallId: 'c', toolCallName: 'f', delta: null }, finish], ['/delta']],
  ['subagentRunId', [start, { type: 'STATE_SNAPSHOT', snapshot: 1, subagentRunId: null }, finish], ['/subagentRunId']],
  [
    'fields of messages in a snapshot',
    [start, { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'a', role: 'assistant', content: null, toolCalls: null, name: null }] }, finish],
    ['/messages/0/content', '/messages/0/toolCalls', '/messages/0/name'],
  ],
]

describe.each(EVENTS)('%s', (_, events, pointers) => {
  it('is absent to a tolerant reader, with a warning', () => {
    const { outcome, found } = read(events, 'tolerant')
    expect(outcome).toBe('finished')
    expect(found).toEqual(pointers.map((pointer) => `event.null-field ${pointer}`))
  })

  it('ends the run for a strict one', () => {
    expect(read(events, 'strict').outcome).toBe('malformed')
  })
})

it('is malformed where a field has to be, and a value where null is one', () => {
  expect(read([start, { type: 'TEXT_MESSAGE_START', messageId: null }], 'tolerant').outcome).toBe('malformed')
  const { outcome, found, thread } = read([start, { type: 'STATE_SNAPSHOT', snapshot: null }, { type: 'CUSTOM', name: 'a.b', value: null }, finish], 'tolerant')
  expect({ outcome, found, state: thread.state }).toEqual({ outcome: 'finished', found: [], state: null })
})
