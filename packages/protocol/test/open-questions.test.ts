/**
 * Where the text of AG-UI 1.0 and the official client disagree, or neither says anything, and what we do: one test for each
 * such question that the core decides. The reasons are in `docs/decisions/` and beside the code.
 */
import { describe, expect, it } from 'vitest'
import { buildResume, buildRunAgentInput, compatible, ThreadReader, verifyEvents, type Event, type Message, type RunOutcome, type Thread } from '../src/index.ts'

const start: Event = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const finish: Event = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }
const say = (id: string, delta = 'x'): Event[] => [
  { type: 'TEXT_MESSAGE_START', messageId: id },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta },
  { type: 'TEXT_MESSAGE_END', messageId: id },
]
const user = (content: unknown): object => ({ type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'u', role: 'user', content }] })

interface Read {
  readonly thread: Thread
  readonly outcome: RunOutcome
  readonly rules: readonly string[]
}

function read(events: readonly unknown[], messages: readonly Message[] = []): Read {
  const rules: string[] = []
  const reader = new ThreadReader({ ...compatible(), messages, onDiagnostic: ({ rule }) => rules.push(rule) })
  for (const event of events) {
    try {
      reader.accept(event)
    } catch {
      break
    }
  }
  const outcome = reader.finish()
  return { thread: reader.snapshot(), outcome, rules }
}

describe('open questions of AG-UI 1.0', () => {
  it('1: a failed run keeps everything that came before the failure, also of the same read', async () => {
    const { thread, outcome } = read([start, ...say('m'), start])
    expect([outcome, thread.messages]).toEqual(['violation', [{ id: 'm', role: 'assistant', content: 'x' }]])
    const given: string[] = []
    await expect(async () => {
      for await (const { type } of verifyEvents([start, ...say('m'), start])) given.push(type)
    }).rejects.toMatchObject({ rule: 'run.nested' })
    expect(given).toHaveLength(4)
  })

  it('2: a stream that ends early, or is none, is truncated and no success', () => {
    expect(read([start, ...say('m')])).toMatchObject({ outcome: 'truncated', rules: ['run.truncated'], thread: { runs: [{ outcome: 'truncated' }], messages: [{ id: 'm' }] } })
    expect(read([])).toMatchObject({ outcome: 'truncated', rules: ['run.empty'] })
  })

  it('3: a late RUN_ERROR makes the run a failed one', () => {
    expect(read([start, { ...finish, result: 1 }, { type: 'RUN_ERROR', message: 'late' }])).toMatchObject({ outcome: 'error', thread: { runs: [{ outcome: 'error', error: { message: 'late' } }] } })
  })

  it('4: an unknown member of a closed set of strings is removed', () => {
    expect(read([start, { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'ghost' }])).toMatchObject({ rules: ['event.unknown-member', 'run.truncated'], thread: { messages: [{ role: 'assistant' }] } })
    const value = { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'ghost', entityId: 'm', encryptedValue: 'v' }
    expect(read([start, value, finish])).toMatchObject({ outcome: 'finished', rules: ['event.unknown-member'] })
  })

  it.each([
    ['operation', { type: 'STATE_DELTA', delta: [{ path: '/a', value: 1 }] }],
    ['operation', { type: 'STATE_DELTA', delta: [{ op: 5, path: '/a', value: 1 }] }],
    ['outcome', { ...finish, outcome: {} }],
    ['outcome', { ...finish, outcome: { type: null } }],
    ['part', user([{ text: 'x' }])],
    ['part', user([{ type: 1, text: 'x' }])],
    ['source', user([{ type: 'image', source: { value: 'x' } }])],
    ['message', { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'm', content: 'x' }] }],
    ['message', { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'm', role: null, content: 'x' }] }],
  ])('5: a missing or wrong tag is malformed (%s)', (_, event) => {
    expect(read([start, event])).toMatchObject({ outcome: 'malformed', rules: ['event.malformed'] })
  })

  it('6: a part whose source is of an unknown type is dropped', () => {
    expect(read([start, user([{ type: 'image', source: { type: 'smell' } }, { type: 'text', text: 'x' }]), finish])).toMatchObject({ rules: ['event.unknown-member'], thread: { messages: [{ content: [{ type: 'text', text: 'x' }] }] } })
  })

  it('7: an untagged event closes the lane of its item’s owner', () => {
    const chunk = (more: object): object => ({ type: 'TEXT_MESSAGE_CHUNK', ...more })
    const call = { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'f', subagentRunId: 's' }
    const { rules, thread } = read([start, call, chunk({ messageId: 'm', delta: 'a' }), { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{}' }, chunk({ delta: 'b' }), { type: 'TOOL_CALL_END', toolCallId: 'c' }, finish])
    expect(rules).toEqual([])
    expect(thread.messages).toMatchObject([{ id: 'c' }, { id: 'm', content: 'ab' }])
  })

  it('8: what has no target is told, and is not fatal', () => {
    const events = [{ type: 'ACTIVITY_DELTA', messageId: 'ghost', activityType: 'PLAN', patch: [] }, { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'tool-call', entityId: 'ghost', encryptedValue: 'v' }]
    expect(read([start, ...events, finish])).toMatchObject({ outcome: 'finished', rules: ['state.no-target', 'state.no-target'] })
  })

  it('9: a state of null is {} to both ends of the next run, with a warning', () => {
    expect(buildRunAgentInput({ messages: [], runContext: { threadId: 't', runId: 'r', state: null } }).state).toEqual({})
    expect(read([{ ...start, input: { threadId: 't', runId: 'r', messages: [], state: null } }, finish]).rules).toEqual(['event.null-field'])
    const add = { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/a', value: 1 }] }
    expect(read([start, { type: 'STATE_SNAPSHOT', snapshot: null }, finish, start, add, finish])).toMatchObject({ rules: ['state.null-baseline'], thread: { state: { a: 1 } } })
    expect(read([start, { type: 'STATE_SNAPSHOT', snapshot: null }, finish])).toMatchObject({ rules: [], thread: { state: null } })
  })

  it('10: text that is streamed onto a message with parts becomes a part of it', () => {
    const image = { type: 'image' as const, source: { type: 'url' as const, value: 'https://example.com/a.png' } }
    expect(read([start, ...say('u', 'more'), finish], [{ id: 'u', role: 'user', content: [image] }]).thread.messages).toEqual([{ id: 'u', role: 'user', content: [image, { type: 'text', text: 'more' }] }])
  })

  it('11: a patch that would make an activity’s content no object is refused', () => {
    const activity = { type: 'ACTIVITY_SNAPSHOT', messageId: 'p', activityType: 'PLAN', content: { n: 1 } }
    for (const value of [[], null, 5]) {
      const delta = { type: 'ACTIVITY_DELTA', messageId: 'p', activityType: 'PLAN', patch: [{ op: 'replace', path: '', value }] }
      expect(read([start, activity, delta, finish])).toMatchObject({ outcome: 'finished', rules: ['state.patch-failed'], thread: { messages: [{ content: { n: 1 } }] } })
    }
  })

  it('12: a result that is repeated, and an id that a snapshot repeats, make no second message', () => {
    const result = (content: string): object => ({ type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content })
    expect(read([start, result('1'), result('2'), finish]).thread.messages).toEqual([{ id: 'x', role: 'tool', toolCallId: 'c', content: '2' }])
    const twice = ['1', '2'].map((content) => ({ id: 'u', role: 'user', content }))
    expect(read([start, { type: 'MESSAGES_SNAPSHOT', messages: twice }, finish]).thread.messages).toEqual([{ id: 'u', role: 'user', content: '2' }])
  })

  it('13: interrupts have no place in a success, and are removed', () => {
    const outcome = { type: 'success', interrupts: [{ id: 'i', reason: 'x' }] }
    expect(read([start, { ...finish, outcome }])).toMatchObject({ outcome: 'finished', rules: ['event.unknown-field'], thread: { interrupts: [] } })
  })

  it('14: answers to what was not asked, and two to one question, are not sent', () => {
    const ask = [{ id: 'i', reason: 'x' }]
    const yes = (interruptId: string) => ({ interruptId, status: 'resolved' }) as const
    expect(() => buildResume(ask, [yes('i'), yes('ghost')], 0)).toThrow(expect.objectContaining({ code: 'unknown-interrupt' }))
    expect(() => buildResume(ask, [yes('i'), yes('i')], 0)).toThrow(expect.objectContaining({ code: 'duplicate-answer' }))
  })

  it('17: an echoed input adds messages and nothing else; interrupts outlast RUN_ERROR; a result stands behind its call', () => {
    const echo = { ...start, input: { threadId: 't', runId: 'r', messages: [{ id: 'u', role: 'user', content: 'hi' }], state: { n: 1 } } }
    expect(read([echo, finish]).thread).toMatchObject({ messages: [{ id: 'u' }], state: {} })
    const asks = { ...finish, outcome: { type: 'interrupt', interrupts: [{ id: 'i', reason: 'x' }] } }
    expect(read([start, asks, start, { type: 'RUN_ERROR', message: 'm' }]).thread.interrupts).toHaveLength(1)
    const call = [{ type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'f' }, { type: 'TOOL_CALL_END', toolCallId: 'c' }]
    expect(read([start, ...call, ...say('m'), { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: '' }, finish]).thread.messages.map(({ id }) => id)).toEqual(['c', 'x', 'm'])
  })
})
