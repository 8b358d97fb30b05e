/** The fold, behaviour by behaviour (AG-UI 1.0, fold and snapshots), and the three decisions of the design's seed. */
import { describe, expect, it } from 'vitest'
import { reportMode, ThreadBuilder, ThreadReader, toUIMessages, UsageError, type Diagnostic, type Event, type Message, type Thread } from '../index.ts'

const start: Event = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const finish: Event = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }

function fold(events: readonly unknown[], history: readonly Message[] = [], state?: unknown): { thread: Thread; rules: string[] } {
  const diagnostics: Diagnostic[] = []
  const reader = new ThreadReader({ messages: history, ...(state !== undefined && { state }), onDiagnostic: (found) => diagnostics.push(found) })
  for (const event of [start, ...events]) reader.accept(event)
  return { thread: reader.snapshot(), rules: diagnostics.map(({ rule }) => rule) }
}

const call = (id: string, more: object = {}): object[] => [
  { type: 'TOOL_CALL_START', toolCallId: id, toolCallName: 'f', ...more },
  { type: 'TOOL_CALL_ARGS', toolCallId: id, delta: '{}' },
  { type: 'TOOL_CALL_END', toolCallId: id },
]
const say = (id: string, text: string, more: object = {}): object[] => [
  { type: 'TEXT_MESSAGE_START', messageId: id, ...more },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta: text },
  { type: 'TEXT_MESSAGE_END', messageId: id },
]
const result = (toolCallId: string, messageId = `result-${toolCallId}`, content: unknown = '1'): object => ({ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content })
const ids = ({ messages }: Thread): string[] => messages.map(({ id }) => id)

describe('seed 1 §3.3', () => {
  it('① a tool result stands behind its call, after results already there, however late it comes', () => {
    const { thread } = fold([...call('a', { parentMessageId: 'm' }), ...call('b', { parentMessageId: 'm' }), ...say('later', 'so'), result('b'), result('a')])
    expect(ids(thread)).toEqual(['m', 'result-b', 'result-a', 'later'])
  })

  it('① a result for a call that nobody made goes to the end', () => {
    expect(ids(fold([...say('m', 'x'), result('ghost')]).thread)).toEqual(['m', 'result-ghost'])
  })

  it('② MESSAGES_SNAPSHOT edits: keeps what the server does not track, restates in place, appends what is new', () => {
    const events = [
      ...say('gone', 'x'),
      { type: 'ACTIVITY_SNAPSHOT', messageId: 'plan', activityType: 'PLAN', content: {} },
      ...say('m', 'old'),
      { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'new', role: 'user', content: 'hi' }, { id: 'm', role: 'assistant', content: 'restated' }] },
    ]
    const { thread } = fold(events)
    expect(ids(thread)).toEqual(['plan', 'm', 'new'])
    expect(thread.messages[1]).toEqual({ id: 'm', role: 'assistant', content: 'restated' })
  })

  it('② a snapshot with reasoning is the authority on reasoning, one without keeps ours', () => {
    const thought = [
      { type: 'REASONING_MESSAGE_START', messageId: 'q', role: 'reasoning' },
      { type: 'REASONING_MESSAGE_END', messageId: 'q' },
    ]
    const snapshot = (...messages: object[]): object => ({ type: 'MESSAGES_SNAPSHOT', messages })
    expect(ids(fold([...thought, snapshot()]).thread)).toEqual(['q'])
    expect(ids(fold([...thought, snapshot({ id: 'other', role: 'reasoning', content: '' })]).thread)).toEqual(['other'])
  })

  it('② what is open stays open over a snapshot: deltas append to the restated copy', () => {
    const { thread } = fold([
      { type: 'TEXT_MESSAGE_START', messageId: 'm' },
      { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'm', role: 'assistant', content: 'A' }] },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'B' },
    ])
    expect(thread.messages).toEqual([{ id: 'm', role: 'assistant', content: 'AB' }])
    expect(toUIMessages(thread.messages)[0]?.parts).toMatchObject([{ content: 'AB', state: 'streaming' }])
  })

  it('② deltas for a message that a snapshot dropped are reported and change nothing', () => {
    const { thread, rules } = fold([
      { type: 'TEXT_MESSAGE_START', messageId: 'm' },
      { type: 'MESSAGES_SNAPSHOT', messages: [] },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'B' },
    ])
    expect(thread.messages).toEqual([])
    expect(rules).toEqual(['state.no-target'])
  })

  it('③ a chunk that was not expanded cannot be folded', () => {
    const chunk = { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm' } as never
    expect(() => new ThreadBuilder().apply(chunk)).toThrow(UsageError)
    expect(() => new ThreadBuilder().apply({ type: 'constructor' } as never)).toThrow(UsageError)
  })
})

describe('text and calls', () => {
  it('a message made by a tool call keeps its place and role when its text starts', () => {
    const { thread } = fold([...call('c', { parentMessageId: 'm' }), ...say('m', 'x', { role: 'user', name: 'Ann' })])
    expect(thread.messages).toEqual([{ id: 'm', role: 'assistant', toolCalls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }], content: 'x' }])
  })

  it('text onto a user message with parts becomes a part', () => {
    const history: Message[] = [{ id: 'u', role: 'user', content: [{ type: 'image', source: { type: 'url', value: 'x' } }] }]
    const { thread } = fold([...say('u', 'see', { role: 'user' }), ...say('u', ' it', { role: 'user' })], history)
    expect(thread.messages[0]).toMatchObject({ content: [{ type: 'image' }, { type: 'text', text: 'see it' }] })
  })

  it('a call whose parent is no assistant gets a message of its own, with a warning', () => {
    const { thread, rules } = fold(call('c', { parentMessageId: 'u' }), [{ id: 'u', role: 'user', content: 'hi' }])
    expect(ids(thread)).toEqual(['u', 'c'])
    expect(rules).toEqual(['state.role-conflict'])
  })

  it('a call that is known keeps its arguments and takes the new name, with a warning', () => {
    const { thread, rules } = fold([...call('c'), { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'g' }])
    expect(thread.messages).toMatchObject([{ toolCalls: [{ function: { name: 'g', arguments: '{}' } }] }])
    expect(rules).toEqual(['state.role-conflict'])
  })

  it('results that carry the id of the message that called are kept apart, each under its call', () => {
    const { thread, rules } = fold([...say('m', 'x'), ...call('a', { parentMessageId: 'm' }), ...call('b', { parentMessageId: 'm' }), result('a', 'm'), result('b', 'm'), result('b', 'm')])
    expect(ids(thread)).toEqual(['m', 'tool-a', 'tool-b'])
    expect(rules.filter((rule) => rule === 'state.result-id-taken')).toHaveLength(3)
  })

  it('metadata merges key by key into what the event builds', () => {
    const { thread } = fold([
      { type: 'TEXT_MESSAGE_START', messageId: 'm', metadata: { a: 1, b: 1 } },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: '', metadata: { b: 2 } },
      { type: 'TEXT_MESSAGE_END', messageId: 'm', metadata: { c: 3 } },
    ])
    expect(thread.messages[0]?.metadata).toEqual({ a: 1, b: 2, c: 3 })
  })

  it('an encrypted value goes on its message or call; one without target is reported', () => {
    const value = (subtype: string, entityId: string): object => ({ type: 'REASONING_ENCRYPTED_VALUE', subtype, entityId, encryptedValue: 'v' })
    const { thread, rules } = fold([...say('m', 'x'), ...call('c', { parentMessageId: 'm' }), value('message', 'm'), value('tool-call', 'c'), value('message', 'ghost')])
    expect(thread.messages).toMatchObject([{ encryptedValue: 'v', toolCalls: [{ encryptedValue: 'v' }] }])
    expect(rules).toEqual(['state.no-target'])
  })
})

describe('activities', () => {
  const snapshot = (more: object = {}): object => ({ type: 'ACTIVITY_SNAPSHOT', messageId: 'p', activityType: 'PLAN', content: { n: 1 }, ...more })
  const delta = (...patch: object[]): object => ({ type: 'ACTIVITY_DELTA', messageId: 'p', activityType: 'PLAN', patch })

  it('are created, patched, replaced, and left alone with replace: false', () => {
    const replace = { op: 'replace', path: '/n', value: 2 }
    expect(fold([snapshot(), delta(replace)]).thread.messages).toMatchObject([{ content: { n: 2 } }])
    expect(fold([snapshot(), delta(replace), snapshot()]).thread.messages).toMatchObject([{ content: { n: 1 } }])
    expect(fold([snapshot(), delta(replace), snapshot({ replace: false })]).thread.messages).toMatchObject([{ content: { n: 2 } }])
  })

  it('a patch that fails, or that makes the content no object, is reported and changes nothing', () => {
    for (const operation of [{ op: 'remove', path: '/ghost' }, { op: 'replace', path: '', value: [] }]) {
      const { thread, rules } = fold([snapshot(), delta(operation)])
      expect(thread.messages).toMatchObject([{ content: { n: 1 } }])
      expect(rules).toEqual(['state.patch-failed'])
    }
  })

  it('a patch without activity is reported', () => {
    expect(fold([delta()]).rules).toEqual(['state.no-target'])
  })
})

describe('runs', () => {
  it('a success lists the calls it leaves to the front end, or they are derived', () => {
    const listed = fold([...call('a'), ...call('b'), { ...finish, outcome: { type: 'success', pendingToolCallIds: ['b'] } }])
    expect(listed.thread.runs).toMatchObject([{ outcome: 'finished', pendingToolCallIds: ['b'] }])
    expect(fold([...call('a'), ...call('b'), result('a'), finish]).thread.runs).toMatchObject([{ pendingToolCallIds: ['b'] }])
    expect(fold([...call('a'), result('a'), finish]).thread.runs[0]).not.toHaveProperty('pendingToolCallIds')
  })

  it('interrupts stay until a run ends otherwise; an error leaves them', () => {
    const interrupt = { id: 'i', reason: 'confirm' }
    const asked = { ...finish, outcome: { type: 'interrupt', interrupts: [interrupt] } }
    expect(fold([asked]).thread).toMatchObject({ interrupts: [interrupt], runs: [{ outcome: 'interrupted' }] })
    expect(fold([asked, start, { type: 'RUN_ERROR', message: 'x' }]).thread.interrupts).toEqual([interrupt])
    expect(fold([asked, start, finish]).thread.interrupts).toEqual([])
  })

  it('of interrupts with one id the first is asked, which is reported; those of a thread that is handed over as well', () => {
    const asks = [{ id: 'i', reason: 'first' }, { id: 'j', reason: 'x' }, { id: 'i', reason: 'second' }]
    const { thread, rules } = fold([{ ...finish, outcome: { type: 'interrupt', interrupts: asks } }])
    expect(thread.interrupts).toEqual(asks.slice(0, 2))
    expect(rules).toEqual(['state.interrupt-repeated'])
    expect(new ThreadBuilder({ interrupts: asks }).snapshot().interrupts).toEqual(asks.slice(0, 2))
  })

  it('a late RUN_ERROR makes a finished run a failed one', () => {
    expect(fold([finish, { type: 'RUN_ERROR', message: 'late', code: 'x' }]).thread.runs).toMatchObject([{ outcome: 'error', error: { message: 'late', code: 'x' } }])
  })

  it('an echoed input adds the messages that are not known', () => {
    const input = { threadId: 't', runId: 'r', messages: [{ id: 'u', role: 'user', content: 'other' }, { id: 'v', role: 'user', content: 'new' }] }
    const reader = new ThreadReader({ messages: [{ id: 'u', role: 'user', content: 'ours' }] })
    reader.accept({ ...start, input })
    expect(reader.snapshot().messages).toMatchObject([{ content: 'ours' }, { content: 'new' }])
  })

  it('steps and subagents show while they are open', () => {
    const { thread } = fold([
      { type: 'STEP_STARTED', stepName: 'a' },
      { type: 'STEP_STARTED', stepName: 'b' },
      { type: 'STEP_FINISHED', stepName: 'a' },
      { type: 'SUBAGENT_STARTED', subagentRunId: 's1', name: 'n' },
      { type: 'SUBAGENT_ERROR', subagentRunId: 's1', message: 'm' },
    ])
    expect(thread.steps).toEqual([{ stepName: 'b' }])
    expect(thread.subagents).toMatchObject([{ subagentRunId: 's1', outcome: 'error', error: { message: 'm' } }])
  })

  it('a stream that fails before its RUN_STARTED leaves the runs of earlier streams alone', () => {
    const thread = new ThreadBuilder()
    for (const event of [start, finish]) new ThreadReader({ thread }).thread.apply(event as never)
    const reader = new ThreadReader({ thread })
    expect(reader.outcome).toBe('running')
    reader.accept({ type: 'RUN_ERROR', message: 'unreachable' })
    expect(reader.outcome).toBe('error')
    expect(reader.snapshot().runs.at(-1)).toEqual({ outcome: 'error', error: { message: 'unreachable' } })
    expect(reader.snapshot().runs.slice(0, -1).some((run) => run.outcome === 'error')).toBe(false)
  })

  it('[DONE] closes what is open and finishes the run', () => {
    const reader = new ThreadReader()
    for (const event of [start, { type: 'TEXT_MESSAGE_START', messageId: 'm' }]) reader.accept(event)
    reader.acceptFrame({ data: '[DONE]', line: 5 })
    expect(reader.finish()).toBe('finished')
    expect(reader.count).toBe(2)
    expect(toUIMessages(reader.snapshot().messages)[0]?.parts).toEqual([])
  })

  it('a run that goes on after its end and ends with nothing pending says so, and keeps what it resulted in', () => {
    const reader = new ThreadReader({ mode: reportMode })
    for (const event of [start, ...call('a'), { ...finish, result: 1 }, result('a'), finish]) reader.accept(event)
    expect(reader.snapshot().runs).toEqual([{ threadId: 't', runId: 'r', outcome: 'finished', result: 1 }])
  })

  it('a run that is ended from outside closes what was open', () => {
    const builder = new ThreadBuilder()
    builder.apply(start as never)
    builder.apply({ type: 'TEXT_MESSAGE_START', messageId: 'm' })
    builder.apply({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x' })
    expect(toUIMessages(builder.snapshot().messages)[0]?.parts).toMatchObject([{ state: 'streaming' }])
    builder.endRun('cancelled')
    expect(toUIMessages(builder.snapshot().messages)[0]?.parts).toMatchObject([{ state: 'done' }])
    expect(builder.snapshot().runs).toMatchObject([{ outcome: 'cancelled' }])
  })
})

describe('the view', () => {
  const parts = (events: readonly object[]): unknown[] => toUIMessages(fold(events).thread.messages).map(({ role, parts }) => [role, ...parts.map((part) => [part.type, 'content' in part ? part.content : 'id' in part ? part.id : ''])])

  it('a turn is one message, in the order in which its parts came', () => {
    const events = [
      { type: 'TEXT_MESSAGE_START', messageId: 'm' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'A' },
      ...call('c', { parentMessageId: 'm' }),
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'B' },
      { type: 'TEXT_MESSAGE_END', messageId: 'm' },
      result('c'),
      ...say('m2', 'C'),
    ]
    expect(parts(events)).toEqual([['assistant', ['text', 'A'], ['tool-call', 'c'], ['text', 'B'], ['text', 'C']]])
  })

  it('states of a call: awaiting, streaming, complete, answered', () => {
    const steps = [...call('c'), result('c', 'r1', '{"x":1}')]
    const states = [1, 2, 3, 4].map((count) => toUIMessages(fold(steps.slice(0, count)).thread.messages)[0]?.parts[0])
    expect(states.map((part) => part?.type === 'tool-call' && part.state)).toEqual(['awaiting-input', 'input-streaming', 'input-complete', 'complete'])
    expect(states[3]).toMatchObject({ output: { x: 1 }, result: { messageId: 'r1', content: '{"x":1}' } })
  })

  it('a delta beside a call leaves the part of the call as it is', () => {
    const reader = new ThreadReader()
    for (const event of [start, { type: 'TEXT_MESSAGE_START', messageId: 'm' }, ...call('c', { parentMessageId: 'm' }), result('c')]) reader.accept(event)
    const partOf = (): unknown => toUIMessages(reader.snapshot().messages)[0]?.parts.find(({ type }) => type === 'tool-call')
    const before = partOf()
    reader.accept({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x' })
    expect(partOf()).toBe(before)
  })

  it('a result without its call shows on its own', () => {
    expect(parts([result('ghost')])).toEqual([['assistant', ['tool-result', '1']]])
  })
})
