/** Calls that wait for the user's word: one thing to a view, however the agent asks; answered once, all or nothing, and never by themselves. */
import { buildRunAgentInput, toolInput, type RunAgentInputContext, type ToolCallPart } from '@millrace/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, memoryStorage, stream, type ChatClient, type ChatClientOptions, type StreamChunk } from '@millrace/client'
import { caught, failed, finished, hello, interrupted, iterate, started, text, until } from '../../test/events.ts'
import { openPage } from '../../test/pages.ts'
import { scripted } from '../../test/scripted.ts'

const call = (toolCallId: string, toolCallName = 'del', args = '{"n":1}'): StreamChunk[] => [
  { type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId: 'a1' },
  { type: 'TOOL_CALL_ARGS', toolCallId, delta: args },
  { type: 'TOOL_CALL_END', toolCallId },
]
const result = (toolCallId: string, content = 'done'): StreamChunk => ({ type: 'TOOL_CALL_RESULT', messageId: `x-${toolCallId}`, toolCallId, content })

/** One agent, in each of the spellings that are known. */
interface Spelling {
  readonly name: string
  readonly id: (toolCallId: string) => string
  /** A run that asks for the approval of these calls. */
  ask(runId: string, ...toolCallIds: string[]): StreamChunk[]
  /** What a run input says: `call: yes`, with edited arguments behind it. */
  said(sent: Sent): string[]
}

type Sent = Parameters<Parameters<typeof stream>[0]>
const inputOf = ([messages, data, , runContext]: Sent) => buildRunAgentInput({ messages, runContext: runContext as RunAgentInputContext, ...(data !== undefined && { data }) })

const editable = { type: 'object', properties: { approved: { type: 'boolean' }, editedArgs: { type: 'object', properties: { n: { type: 'number' } } } }, required: ['approved'] }
const asks = (toolCallId: string, more: object = {}): object => ({ id: `i-${toolCallId}`, reason: 'tool_call', toolCallId, responseSchema: editable, ...more })
const customs = (...toolCallIds: string[]): StreamChunk[] =>
  toolCallIds.map((toolCallId) => ({ type: 'CUSTOM', name: 'approval-requested', value: { toolCallId, toolName: 'del', input: { n: 1 }, approval: { id: `approval_${toolCallId}`, needsApproval: true } } }))

const saidInParts = (sent: Sent): string[] =>
  inputOf(sent).messages.flatMap((message) => (message.parts ?? []).flatMap((part) => (part.type === 'tool-call' && part.state === 'approval-responded' ? [`${part.id}: ${part.approval?.approved ? 'yes' : 'no'} ${part.arguments}`] : [])))

const SPELLINGS: readonly Spelling[] = [
  {
    name: 'interrupts',
    id: (toolCallId) => `i-${toolCallId}`,
    ask: (runId, ...ids) => [started(runId), ...ids.flatMap((id) => call(id)), ...interrupted(runId, ...ids.map((id) => asks(id))).slice(1)],
    said: (sent) =>
      (inputOf(sent).resume ?? []).map(({ interruptId, payload }) => {
        const { approved, editedArgs } = payload as { approved: boolean; editedArgs?: unknown }
        return `${interruptId.slice(2)}: ${approved ? 'yes' : 'no'} ${JSON.stringify(editedArgs ?? { n: 1 })}`
      }),
  },
  {
    name: 'CUSTOM events before RUN_FINISHED',
    id: (toolCallId) => `approval_${toolCallId}`,
    ask: (runId, ...ids) => [started(runId), ...ids.flatMap((id) => call(id)), ...customs(...ids), finished(runId)],
    said: saidInParts,
  },
  {
    name: 'CUSTOM events behind RUN_FINISHED',
    id: (toolCallId) => `approval_${toolCallId}`,
    ask: (runId, ...ids) => [started(runId), ...ids.flatMap((id) => call(id)), finished(runId), ...customs(...ids)],
    said: saidInParts,
  },
]

const parts = (chat: ChatClient): ToolCallPart[] => chat.getSnapshot().messages.flatMap((message) => message.parts.filter((part): part is ToolCallPart => part.type === 'tool-call'))
const shown = (chat: ChatClient): string[] => parts(chat).map(({ id, state, approval }) => `${id} ${state}${approval?.approved === undefined ? '' : approval.approved ? ' yes' : ' no'}`)
const chatWith = (turns: readonly (readonly StreamChunk[])[], options: Partial<ChatClientOptions> = {}) => scripted(turns, options)

describe.each(SPELLINGS)('an agent that asks by $name', ({ id, ask, said }) => {
  const done = (runId: string, ...ids: string[]): StreamChunk[] => [started(runId), ...ids.map((each) => result(each)), ...text('Done', `m-${runId}`), finished(runId)]

  it('is told yes, and the view sees it asked, answered and done', async () => {
    const { chat, calls } = chatWith([ask('r1', 'c1'), done('r2', 'c1')])
    const states: string[] = []
    chat.subscribe(() => states.push(...shown(chat)))
    await chat.sendMessage('go')
    expect(parts(chat)).toMatchObject([{ state: 'approval-requested', approval: { id: id('c1'), needsApproval: true } }])
    expect(chat.getSnapshot().status).toBe('ready')
    expect(await chat.approve(id('c1'), { approved: true })).toEqual({ outcome: 'finished' })
    expect(calls).toHaveLength(2)
    expect(said(calls[1] as Sent)).toEqual(['c1: yes {"n":1}'])
    expect([...new Set(states)].slice(-3)).toEqual(['c1 approval-requested', 'c1 approval-responded yes', 'c1 complete yes'])
    expect(chat.getSnapshot().interrupts).toEqual([])
  })

  it('is told no', async () => {
    const { chat, calls } = chatWith([ask('r1', 'c1'), hello('r2')])
    await chat.sendMessage('go')
    await chat.approve(id('c1'), { approved: false, reason: 'Too dear.' })
    expect(said(calls[1] as Sent)).toEqual(['c1: no {"n":1}'])
    expect(shown(chat)).toEqual(['c1 approval-responded no'])
  })

  it('gets edited arguments, which the part and the model see', async () => {
    const { chat, calls } = chatWith([ask('r1', 'c1'), done('r2', 'c1'), hello('r3')])
    await chat.sendMessage('go')
    await chat.approve(id('c1'), { approved: true, input: { n: 2 } })
    expect(said(calls[1] as Sent)).toEqual(['c1: yes {"n":2}'])
    const [part] = parts(chat)
    expect(part).toMatchObject({ state: 'complete', arguments: '{"n":1}', approval: { approved: true, input: { n: 2 } } })
    expect(toolInput(part as ToolCallPart)).toEqual({ n: 2 })
    await chat.sendMessage('more')
    expect(inputOf(calls[2] as Sent).messages[1]).toMatchObject({ toolCalls: [{ function: { arguments: '{"n":2}' } }] })
  })

  it('is answered when all is, at once, and the last word on each counts', async () => {
    const { chat, calls } = chatWith([ask('r1', 'c1', 'c2'), done('r2', 'c1', 'c2')])
    await chat.sendMessage('go')
    expect(await chat.approve(id('c2'), { approved: false })).toEqual({ outcome: 'interrupted' })
    expect(shown(chat)).toEqual(['c1 approval-requested', 'c2 approval-responded no'])
    expect(await chat.approve(id('c2'), { approved: true })).toEqual({ outcome: 'interrupted' })
    expect(calls).toHaveLength(1)
    expect(await chat.approve(id('c1'), { approved: true })).toEqual({ outcome: 'finished' })
    expect(calls).toHaveLength(2)
    expect(said(calls[1] as Sent)).toEqual(['c1: yes {"n":1}', 'c2: yes {"n":1}'])
  })

  it('hears nothing else before', async () => {
    const { chat, calls } = chatWith([ask('r1', 'c1'), hello('r2'), hello('r3')])
    await chat.sendMessage('go')
    for (const act of [() => chat.sendMessage('x'), () => chat.reload(), () => chat.append({ id: 'z', role: 'user', parts: [] })]) {
      expect(await caught(act)).toMatchObject({ code: 'interrupts-pending', message: expect.stringContaining(id('c1')) })
    }
    await chat.approve(id('c1'), { approved: true })
    expect(await chat.sendMessage('x')).toEqual({ outcome: 'finished' })
    expect(calls).toHaveLength(3)
  })

  it('misuse is refused with a code and changes nothing', async () => {
    const { chat, calls } = chatWith([ask('r1', 'c1'), hello('r2')])
    expect(await caught(() => chat.approve(id('c1'), { approved: true }))).toMatchObject({ name: 'UsageError', code: 'unknown-approval' })
    await chat.sendMessage('go')
    const before = chat.getSnapshot()
    const cyclic: Record<string, unknown> = {}
    cyclic['self'] = cyclic
    for (const [given, decision, code] of [
      ['nobody', { approved: true }, 'unknown-approval'],
      ['c1', { approved: true }, 'unknown-approval'],
      [undefined, { approved: true }, 'unknown-approval'],
      [id('c1'), undefined, 'malformed-answer'],
      [id('c1'), { approved: 1 }, 'malformed-answer'],
      [id('c1'), { approved: false, input: {} }, 'malformed-answer'],
      [id('c1'), { approved: true, reason: 5 }, 'malformed-answer'],
      [id('c1'), { approved: true, input: cyclic }, 'malformed-answer'],
    ] as const) {
      expect((await caught(() => chat.approve(given as string, decision as never))).code, JSON.stringify([given, code])).toBe(code)
    }
    expect((await caught(() => chat.approve(id('c1'), { approved: true }, { body: 5 } as never))).code).toBe('bad-options')
    expect(chat.getSnapshot()).toBe(before)
    expect(calls).toHaveLength(1)
    const going = chat.approve(id('c1'), { approved: true })
    expect((await caught(() => chat.approve(id('c1'), { approved: true }))).code).toBe('busy')
    await going
    expect((await caught(() => chat.approve(id('c1'), { approved: true }))).code).toBe('unknown-approval')
    expect(calls).toHaveLength(2)
  })

  it('edits are held against the schema of a tool of ours', async () => {
    const del = defineTool({ name: 'del', description: 'd', input: z.object({ n: z.number().max(5) }) })
    const { chat, calls } = chatWith([ask('r1', 'c1'), done('r2', 'c1')], { tools: [del] })
    await chat.sendMessage('go')
    expect(await caught(() => chat.approve(id('c1'), { approved: true, input: { n: 9 } }))).toMatchObject({ code: 'malformed-answer', message: expect.stringMatching(/del.*n/) })
    expect(shown(chat)).toEqual(['c1 approval-requested'])
    // The second of two is late, however long the schema takes.
    const both = await Promise.allSettled([chat.approve(id('c1'), { approved: true, input: { n: 3 } }), chat.approve(id('c1'), { approved: true, input: { n: 4 } })])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(said(calls[1] as Sent)).toEqual(['c1: yes {"n":3}'])
  })

  it('a tool of ours does not run before it may, nor when it may not', async () => {
    let runs = 0
    const del = defineTool({ name: 'del', description: 'd', execute: () => ++runs })
    const { chat, calls } = chatWith([ask('r1', 'c1'), hello('r2')], { tools: [del] })
    await chat.sendMessage('go')
    await chat.approve(id('c1'), { approved: false })
    expect(calls).toHaveLength(2)
    expect(runs).toBe(0)
  })

  it('a run that does not come to its end asks nothing', async () => {
    const open = ask('r1', 'c1').filter(({ type }) => type !== 'RUN_FINISHED')
    const cut = async function* () {
      yield* open
      throw new Error('cut')
    }
    for (const source of [() => iterate([...open, failed()]), cut]) {
      const { chat } = chatWith([], { connection: stream(source) })
      await chat.sendMessage('go')
      expect(shown(chat)).toEqual(['c1 input-complete'])
      expect((await caught(() => chat.approve(id('c1'), { approved: true }))).code).toBe('unknown-approval')
    }
  })

  it('an id that is used again is another call, which nobody has approved', async () => {
    const { chat } = chatWith([ask('r1', 'c1'), done('r2', 'c1'), [started('r3'), ...call('c1'), finished('r3')], ask('r4', 'c1'), hello('r5')])
    await chat.sendMessage('go')
    await chat.approve(id('c1'), { approved: true })
    chat.setMessages([])
    await chat.sendMessage('again')
    expect(shown(chat)).toEqual(['c1 input-complete'])
    chat.setMessages([])
    await chat.sendMessage('and again')
    expect(shown(chat)).toEqual(['c1 approval-requested'])
    await chat.approve(id('c1'), { approved: false })
    expect(shown(chat)).toEqual(['c1 approval-responded no'])
  })

  it('is asked still after a reload, and answered once', async () => {
    const disk = memoryStorage()
    const sent: Sent[] = []
    const turns = [ask('r1', 'c1', 'c2'), done('r2', 'c1', 'c2')]
    const connection = stream((...args) => iterate(turns[sent.push(args) - 1] ?? []))
    const before = openPage(disk, undefined, { connection })
    await before.chat.sendMessage('go')
    await before.chat.approve(id('c1'), { approved: true })
    before.clock.advance(60_000)
    await until(() => before.saves.length > 0)
    before.crash()
    const after = openPage(disk, undefined, { connection })
    await after.chat.attach()
    // What was not sent may have to be said again, and is not sent by itself.
    expect(sent).toHaveLength(1)
    expect(shown(after.chat)[1]).toBe('c2 approval-requested')
    if (shown(after.chat)[0] === 'c1 approval-requested') await after.chat.approve(id('c1'), { approved: true })
    expect(await after.chat.approve(id('c2'), { approved: true })).toEqual({ outcome: 'finished' })
    expect(said(sent[1] as Sent)).toEqual(['c1: yes {"n":1}', 'c2: yes {"n":1}'])
    expect(shown(after.chat)).toEqual(['c1 complete yes', 'c2 complete yes'])
  })
})

describe('approvals by interrupts', () => {
  it('of an answer that did not arrive are asked for again', async () => {
    const [{ ask }] = SPELLINGS as [Spelling]
    const { chat } = chatWith([ask('r1', 'c1'), [started('r2'), failed()]])
    await chat.sendMessage('go')
    expect(await chat.approve('i-c1', { approved: true, input: { n: 2 } })).toMatchObject({ outcome: 'error' })
    expect(shown(chat)).toEqual(['c1 approval-requested'])
    expect(toolInput(parts(chat)[0] as ToolCallPart)).toEqual({ n: 1 })
  })

  it('can be answered in the agent’s own words, and show what these say', async () => {
    const ask = (schema: object) => [started('r1'), ...call('c1'), ...interrupted('r1', { id: 'i-c1', reason: 'tool_call', toolCallId: 'c1', responseSchema: schema }).slice(1)]
    for (const [schema, answer, state] of [
      [{ type: 'boolean' }, { status: 'resolved', payload: true }, 'c1 approval-responded yes'],
      [{}, { status: 'cancelled' }, 'c1 approval-responded no'],
      [{ enum: ['accept'] }, { status: 'resolved', payload: 'accept' }, 'c1 approval-responded'],
    ] as const) {
      const { chat } = chatWith([ask(schema), hello('r2')])
      await chat.sendMessage('go')
      await chat.respond('i-c1', answer)
      expect(shown(chat)).toEqual([state])
    }
  })

  it('that have expired cannot be given', async () => {
    const { chat } = chatWith([[started('r1'), ...call('c1'), ...interrupted('r1', asks('c1', { expiresAt: '2020-01-01T00:00:00Z' })).slice(1)], hello('r2')])
    await chat.sendMessage('go')
    expect((await caught(() => chat.approve('i-c1', { approved: true }))).code).toBe('interrupt-expired')
    expect(await chat.respond('i-c1', { status: 'cancelled' })).toEqual({ outcome: 'finished' })
  })

  it('need not be bound to a call', async () => {
    const { chat, calls } = chatWith([interrupted('r1', { id: 'i1', reason: 'confirmation' }), hello('r2')])
    await chat.sendMessage('go')
    await chat.approve('i1', { approved: false })
    expect(calls[1]?.[3]?.resume).toEqual([{ interruptId: 'i1', status: 'resolved', payload: false }])
  })

  it('leave the wire as AG-UI has it', async () => {
    const [{ ask }] = SPELLINGS as [Spelling]
    const { chat, calls } = chatWith([ask('r1', 'c1'), hello('r2')])
    await chat.sendMessage('go')
    await chat.approve('i-c1', { approved: true })
    expect(inputOf(calls[1] as Sent).messages.every((message) => !('parts' in message))).toBe(true)
  })

  it('that a call which the agent asks us to run is none', async () => {
    const { chat } = chatWith([[started('r1'), ...call('c1'), ...interrupted('r1', { id: 'i-c1', reason: 'tanstack:client_tool_execution', toolCallId: 'c1' }).slice(1)]])
    await chat.sendMessage('go')
    expect(shown(chat)).toEqual(['c1 input-complete'])
    expect((await caught(() => chat.approve('i-c1', { approved: true }))).code).toBe('unknown-approval')
  })
})

describe('approvals by CUSTOM events', () => {
  it.each<[string, unknown]>([
    ['null', null],
    ['no approval', { toolCallId: 'c1' }],
    ['an approval without id', { toolCallId: 'c1', approval: {} }],
    ['a call without id', { approval: { id: 'a' } }],
    ['a call that is not there', { toolCallId: 'c9', approval: { id: 'a' } }],
  ])('of %s ask nothing', async (_, value) => {
    const { chat } = chatWith([[started('r1'), ...call('c1'), { type: 'CUSTOM', name: 'approval-requested', value }, finished('r1')], hello('r2')])
    await chat.sendMessage('go')
    expect(shown(chat)).toEqual(['c1 input-complete'])
    expect(await chat.sendMessage('more')).toEqual({ outcome: 'finished' })
  })

  it('stay given when the next run fails: the message says it', async () => {
    const { chat, calls } = chatWith([[started('r1'), ...call('c1'), finished('r1'), ...customs('c1')], [started('r2'), failed()], [started('r3'), result('c1'), finished('r3')]])
    await chat.sendMessage('go')
    expect(await chat.approve('approval_c1', { approved: true })).toMatchObject({ outcome: 'error' })
    expect(shown(chat)).toEqual(['c1 approval-responded yes'])
    expect(await chat.retry()).toEqual({ outcome: 'finished' })
    expect(saidInParts(calls[2] as Sent)).toEqual(['c1: yes {"n":1}'])
    expect(shown(chat)).toEqual(['c1 complete yes'])
  })

  it('a result that only tells the model of an approval is none', async () => {
    let runs = 0
    const wipe = defineTool({ name: 'del', description: 'd', execute: () => ++runs })
    const told = (content: string) => ({ id: 'p', role: 'tool', toolCallId: 'c1', content })
    const snapshot = (content: string): StreamChunk => ({ type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'u', role: 'user', content: 'go' }, { id: 'a1', role: 'assistant', toolCalls: [{ id: 'c1', type: 'function', function: { name: 'del', arguments: '{}' } }] }, told(content)] })
    const ask: StreamChunk = { type: 'CUSTOM', name: 'tool-input-available', value: { toolCallId: 'c1', toolName: 'del', input: {} } }
    for (const [content, times] of [['{"approved":true,"pendingExecution":true}', 1], ['{"approved":true}', 0], ['"pendingExecution"', 0], ['{"pendingExecution":', 0]] as const) {
      runs = 0
      const { chat, calls } = chatWith([[started('r1'), ...call('c1'), finished('r1'), ...customs('c1')], [started('r2'), snapshot(content), finished('r2'), ask], hello('r3')], { tools: [wipe] })
      await chat.sendMessage({ content: 'go', id: 'u' })
      await chat.approve('approval_c1', { approved: true })
      expect(runs, content).toBe(times)
      if (times === 1) expect(inputOf(calls[2] as Sent).messages.filter(({ role }) => role === 'tool')).toMatchObject([{ content: '1' }])
    }
  })

  it('and calls of ours beside them wait for each other', async () => {
    const ask = defineTool({ name: 'ask', description: 'd' })
    const turn = [started('r1'), ...call('c1'), ...call('c2', 'ask'), finished('r1'), ...customs('c1')]
    const first = chatWith([turn, hello('r2')], { tools: [ask] })
    await first.chat.sendMessage('go')
    expect(await first.chat.approve('approval_c1', { approved: true })).toEqual({ outcome: 'interrupted' })
    expect(first.calls).toHaveLength(1)
    await first.chat.addToolResult({ toolCallId: 'c2', output: 1 })
    expect(first.calls).toHaveLength(2)
    const second = chatWith([turn, hello('r2')], { tools: [ask] })
    await second.chat.sendMessage('go')
    await second.chat.addToolResult({ toolCallId: 'c2', output: 1 })
    expect(second.calls).toHaveLength(1)
    await second.chat.approve('approval_c1', { approved: true })
    expect(second.calls).toHaveLength(2)
  })
})

it.each(['interrupts', 'CUSTOM events'])('a server that keeps the thread tells what waits: by %s', async (how) => {
  const part = { type: 'tool-call', id: 'c1', name: 'del', arguments: '{}', state: 'approval-requested', approval: { id: 'x1', needsApproval: true } }
  const messages = [
    { id: 'u', role: 'user', parts: [{ type: 'text', content: 'go' }] },
    { id: 'a', role: 'assistant', parts: [part] },
  ]
  const interrupts = how === 'interrupts' ? { runId: 'r1', pending: [{ id: 'x1', reason: 'tool_call', toolCallId: 'c1' }] } : null
  const sent: Sent[] = []
  const connection = {
    ...stream((...args) => (sent.push(args), iterate([started('r2'), result('c1'), finished('r2')]))),
    hydrate: async () => ({ messages, state: {}, activeRun: null, interrupts }),
  }
  const { chat } = scripted([], { connection: connection as never })
  await chat.attach()
  expect(shown(chat)).toEqual(['c1 approval-requested'])
  expect(await chat.approve('x1', { approved: true })).toEqual({ outcome: 'finished' })
  expect(shown(chat)).toEqual(['c1 complete yes'])
  const input = inputOf(sent[0] as Sent)
  if (how === 'interrupts') expect(input).toMatchObject({ parentRunId: 'r1', resume: [{ interruptId: 'x1', payload: { approved: true } }] })
  else expect(saidInParts(sent[0] as Sent)).toEqual(['c1: yes {}'])
})

describe('a tool that CUSTOM tool-input-available asks for', () => {
  const available = (toolCallId: string, input: unknown, toolName = 'add'): StreamChunk => ({ type: 'CUSTOM', name: 'tool-input-available', value: { toolCallId, toolName, input } })
  const addingTo = (seen: unknown[]) => defineTool({ name: 'add', description: 'd', execute: (input) => (seen.push(input), 'sum') })
  const answers = (sent: Sent): string[] => inputOf(sent).messages.flatMap((message) => (message.role === 'tool' ? [`${message.toolCallId}: ${String(message.content)}`] : []))

  it.each([
    ['before RUN_FINISHED', (ask: StreamChunk) => [ask, finished('r1')]],
    ['behind it', (ask: StreamChunk) => [finished('r1'), ask]],
  ])('%s runs once, with the input it names, and the agent goes on', async (_, end) => {
    const seen: unknown[] = []
    const { chat, calls } = chatWith([[started('r1'), ...call('c1', 'add'), ...end(available('c1', { n: 7 }))], hello('r2')], { tools: [addingTo(seen)] })
    expect(await chat.sendMessage('go')).toEqual({ outcome: 'finished' })
    expect(seen).toEqual([{ n: 7 }])
    expect(calls).toHaveLength(2)
    expect(answers(calls[1] as Sent)).toEqual(['c1: sum'])
  })

  it('of a call of an earlier run, or one that was never told, runs as well', async () => {
    const seen: unknown[] = []
    const { chat, calls } = chatWith([[started('r1'), available('c9', { n: 1 }), available('c8', { n: 1 }, 'other'), finished('r1')], hello('r2')], { tools: [addingTo(seen)] })
    await chat.sendMessage('go')
    expect(seen).toEqual([{ n: 1 }])
    // The other tool's call is open: the agent is not gone on with.
    expect(calls).toHaveLength(1)
  })

  it('runs after its approval, with the arguments the user gave', async () => {
    const seen: unknown[] = []
    const { chat, calls } = chatWith(
      [[started('r1'), ...call('c1', 'add'), finished('r1'), ...customs('c1')], [started('r2'), available('c1', { n: 3 }), finished('r2')], hello('r3')],
      { tools: [addingTo(seen)] },
    )
    await chat.sendMessage('go')
    expect(seen).toEqual([])
    expect(await chat.approve('approval_c1', { approved: true, input: { n: 3 } })).toEqual({ outcome: 'finished' })
    expect(seen).toEqual([{ n: 3 }])
    expect(calls).toHaveLength(3)
    expect(answers(calls[2] as Sent)).toEqual(['c1: sum'])
  })

  it.each([null, { toolCallId: 'c1' }, { toolName: 'add' }, 'x'])('%j asks nothing', async (value) => {
    const seen: unknown[] = []
    const { chat, calls } = chatWith([[started('r1'), { type: 'CUSTOM', name: 'tool-input-available', value }, finished('r1')]], { tools: [addingTo(seen)] })
    expect(await chat.sendMessage('go')).toEqual({ outcome: 'finished' })
    expect([seen, calls.length]).toEqual([[], 1])
  })
})
