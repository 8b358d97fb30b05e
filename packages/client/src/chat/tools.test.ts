/** Tools of the client: run when called, answered once, gone on with once; and everything that can go wrong in one. */
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ChatClient, defineTool, stream, type ChatClientOptions, type ClientTool, type StreamChunk } from '@millrace/client'
import { caught, finished, hello, iterate, started, tick, until } from '../../test/events.ts'
import { scripted } from '../../test/scripted.ts'

const call = (toolCallId: string, toolCallName: string, ...args: string[]): StreamChunk[] => [
  { type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId: 'a1' },
  ...args.map((delta) => ({ type: 'TOOL_CALL_ARGS', toolCallId, delta })),
  { type: 'TOOL_CALL_END', toolCallId },
]
const calling = (...calls: readonly StreamChunk[][]): StreamChunk[] => [started('r1'), ...calls.flat(), finished('r1')]

/** What the nth request said of results: `call: content`, errors with a mark. */
function results(calls: readonly unknown[][], nth: number): string[] {
  const messages = calls[nth]?.[0] as { parts: { type: string; id?: string; result?: { content: unknown; error?: string } }[] }[]
  return messages.flatMap(({ parts }) =>
    parts.flatMap(({ type: kind, id, result }) => (kind === 'tool-call' && result !== undefined ? [`${id}: ${result.error === undefined ? '' : '! '}${String(result.content)}`] : [])),
  )
}

const add = defineTool({
  name: 'add',
  description: 'Adds',
  input: z.object({ a: z.number(), b: z.number() }),
  output: z.number(),
  execute: ({ a, b }) => a + b,
})

function chatWith(tools: ChatClientOptions['tools'], turns: readonly (readonly StreamChunk[])[], options: Partial<ChatClientOptions> = {}) {
  const finishes: string[] = []
  const made = scripted(turns, { ...(tools !== undefined && { tools }), onFinish: ({ outcome }) => finishes.push(outcome), ...options })
  return { ...made, finishes }
}

describe('a call of a tool with execute', () => {
  it('is run, and the agent goes on with what it gives; the send ends with the last turn', async () => {
    const { chat, calls, finishes } = chatWith([add], [calling(call('c1', 'add', '{"a":1,', '"b":2}')), hello('r2', 'Three')])
    const statuses: string[] = []
    chat.subscribe(() => statuses.push(chat.getSnapshot().status))
    expect(await chat.sendMessage('1+2?')).toEqual({ outcome: 'finished' })
    expect(calls).toHaveLength(2)
    expect(results(calls, 1)).toEqual(['c1: 3'])
    expect(finishes).toEqual(['finished'])
    // No view sees a moment in which nothing seems to run.
    expect(statuses.slice(0, -1)).not.toContain('ready')
    expect(chat.getSnapshot().messages.at(-1)?.parts).toMatchObject([{ type: 'tool-call', state: 'complete', output: '3' }, { type: 'text', content: 'Three' }])
  })

  it('runs beside the others of its turn, and one turn goes on for all', async () => {
    const order: string[] = []
    const slow = defineTool({ name: 'slow', description: 'd', execute: async (_, { toolCallId }) => (order.push(`+${toolCallId}`), await tick(5), order.push(`-${toolCallId}`), 'late') })
    const fast = defineTool({ name: 'fast', description: 'd', execute: (_, { toolCallId }) => (order.push(toolCallId), { soon: true }) })
    const { chat, calls } = chatWith([slow, fast], [calling(call('c1', 'slow'), call('c2', 'fast')), hello('r2')])
    await chat.sendMessage('go')
    expect(order).toEqual(['+c1', 'c2', '-c1'])
    expect(calls).toHaveLength(2)
    expect(results(calls, 1)).toEqual(['c1: late', 'c2: {"soon":true}'])
  })

  it('goes on again as long as tools are called', async () => {
    const again = (runId: string, id: string): StreamChunk[] => [started(runId), ...call(id, 'add', '{"a":1,"b":1}'), finished(runId)]
    const { chat, calls, finishes } = chatWith([add], [again('r1', 'c1'), again('r2', 'c2'), again('r3', 'c3'), hello('r4')])
    await chat.sendMessage('go')
    expect(calls.map((given) => given[3]?.runId)).toEqual([...new Set(calls.map((given) => given[3]?.runId))])
    expect(calls).toHaveLength(4)
    expect(finishes).toEqual(['finished'])
  })

  it('but not for ever', async () => {
    let n = 0
    const errors: unknown[] = []
    const { chat } = chatWith([add], [], {
      maxContinuations: 3,
      connection: stream(() => iterate([started(`r${++n}`), ...call(`c${n}`, 'add', '{"a":1,"b":1}'), finished(`r${n}`)])),
      onError: (error) => errors.push(error),
    })
    expect(await chat.sendMessage('go')).toMatchObject({ outcome: 'error', error: { code: 'too-many-continuations' } })
    expect(n).toBe(4)
    expect(errors).toHaveLength(1)
    expect(chat.getSnapshot().status).toBe('error')
  })

  it('is not run twice when its run is played again', async () => {
    let runs = 0
    const once = defineTool({ name: 'once', description: 'd', execute: () => ++runs })
    const turn = calling(call('c1', 'once'))
    const { chat } = chatWith([once], [turn, hello('r2'), turn, hello('r4')])
    await chat.sendMessage('a')
    await chat.sendMessage('b')
    expect(runs).toBe(1)
  })
})

describe('what can go wrong in a tool is an answer that the agent reads', () => {
  const fail = (thrown: unknown): ClientTool => defineTool({ name: 'add', description: 'd', execute: () => { throw thrown } })
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  it.each<[string, ClientTool, string, RegExp]>([
    ['it throws', fail(new Error('no such file')), '{}', /^c1: ! no such file$/],
    ['it throws a string', fail('nope'), '{}', /^c1: ! nope$/],
    ['it throws nothing', fail(undefined), '{}', /^c1: ! .+/],
    ['it rejects', defineTool({ name: 'add', description: 'd', execute: () => Promise.reject(new Error('gone')) }), '{}', /^c1: ! gone$/],
    ['arguments that are not JSON', add as ClientTool, '{"a":', /^c1: ! .*not JSON/],
    ['arguments of the wrong type', add as ClientTool, '{"a":"x","b":2}', /^c1: ! .*a: /],
    ['a wrong result', defineTool({ name: 'add', description: 'd', output: z.number(), execute: () => 'x' as never }), '{}', /^c1: ! .*promises/],
    ['a result that is no JSON', defineTool({ name: 'add', description: 'd', execute: () => cyclic }), '{}', /^c1: ! /],
    ['no result', defineTool({ name: 'add', description: 'd', execute: () => undefined }), '{}', /^c1: null$/],
    ['no arguments at all', defineTool({ name: 'add', description: 'd', execute: (input) => input }), '', /^c1: \{\}$/],
  ])('%s', async (_, tool, args, said) => {
    const { chat, calls } = chatWith([tool], [calling(call('c1', 'add', ...(args === '' ? [] : [args]))), hello('r2')])
    expect(await chat.sendMessage('go')).toEqual({ outcome: 'finished' })
    expect(results(calls, 1)).toEqual([expect.stringMatching(said)])
  })
})

describe('stop while a tool runs', () => {
  function hanging() {
    const aborted: string[] = []
    const hang = defineTool({
      name: 'hang',
      description: 'd',
      execute: (_, { signal, toolCallId }) => new Promise(() => signal.addEventListener('abort', () => aborted.push(toolCallId))),
    })
    const turns = [calling(call('c1', 'hang'), call('c2', 'add', '{"a":1,"b":1}')), hello('r2')]
    return { ...chatWith([hang, add as ClientTool], turns), aborted }
  }

  it('aborts it, answers what is open, goes on no further, and the next send is whole', async () => {
    const { chat, calls, aborted, finishes } = hanging()
    const sent = chat.sendMessage('go')
    await until(() => chat.getSnapshot().status === 'streaming' && calls.length === 1 && chat.getSnapshot().runs.at(-1)?.outcome === 'finished')
    await tick(5)
    chat.stop()
    expect(chat.getSnapshot().status).toBe('ready')
    const next = chat.sendMessage('something else')
    expect(await sent).toEqual({ outcome: 'cancelled' })
    expect(await next).toEqual({ outcome: 'finished' })
    expect(aborted).toEqual(['c1'])
    expect(calls).toHaveLength(2)
    expect(results(calls, 1)).toEqual([expect.stringMatching(/^c1: ! /), 'c2: 2'])
    expect(finishes).toEqual(['cancelled', 'finished'])
  })

  it('clear leaves nothing of it', async () => {
    const { chat, calls } = hanging()
    const sent = chat.sendMessage('go')
    await until(() => chat.getSnapshot().runs.at(-1)?.outcome === 'finished')
    chat.clear()
    expect(await sent).toEqual({ outcome: 'cancelled' })
    await tick()
    expect(chat.getSnapshot().messages).toEqual([])
    expect(calls).toHaveLength(1)
  })
})

describe('a run that is over before its time', () => {
  const cutAfter = (...events: StreamChunk[]) => [started('r1'), ...events]
  const say = (messageId: string): StreamChunk[] => [{ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }, { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: 'So' }, { type: 'TEXT_MESSAGE_END', messageId }]
  const failing: StreamChunk = { type: 'RUN_ERROR', message: 'no' }

  it.each<[string, readonly StreamChunk[]]>([
    ['failed', [failing]],
    ['was cancelled at the server', [{ ...finished('r1'), outcome: { type: 'cancelled' } } as StreamChunk]],
  ])('it %s: its calls have a result in the next request, whoever runs them', async (_, end) => {
    const events = cutAfter(...call('c1', 'other'), { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c1', content: '1' }, ...call('c2', 'add', '{"a"'), ...call('c3', 'other').slice(0, 1), ...end)
    const { chat, calls } = chatWith([add], [events, hello('r2')])
    await chat.sendMessage('go')
    expect(await chat.sendMessage('more')).toEqual({ outcome: 'finished' })
    const lost = '! The run ended before there was a result.'
    expect(results(calls, 1)).toEqual(['c1: 1', `c2: ${lost}`, `c3: ${lost}`])
    expect(chat.getSnapshot().messages[1]?.parts.at(-1)).toMatchObject({ id: 'c3', result: { error: lost.slice(2) } })
  })

  it('so has a message that waited, or takes its place', async () => {
    const { chat, calls } = chatWith([add], [], {
      connection: stream((...args) => {
        calls.push(args)
        return calls.length > 1 ? iterate(hello('r2')) : (async function* () { yield* cutAfter(...call('c1', 'add')); await new Promise(() => {}) })()
      }),
    })
    void chat.sendMessage('go')
    await until(() => chat.getSnapshot().messages.length === 2)
    expect(await chat.sendMessage('more', { whenBusy: 'interrupt' })).toEqual({ outcome: 'finished' })
    expect(results(calls, 1)).toHaveLength(1)
  })

  it('a call of the server behind which it said more has had its result, which it need not tell', async () => {
    const { chat, calls } = chatWith([add], [cutAfter(...call('c1', 'other'), ...say('a1'), ...call('c2', 'other'), failing), hello('r2')])
    await chat.sendMessage('go')
    await chat.sendMessage('more')
    expect(results(calls, 1)).toEqual([expect.stringMatching(/^c2: ! /)])
  })

  it('one that goes on elsewhere, or is over as it should, is left alone', async () => {
    const { chat, calls } = chatWith([add], [calling(call('c1', 'other')), hello('r2')])
    await chat.sendMessage('go')
    await chat.sendMessage('more')
    expect(results(calls, 1)).toEqual([])
  })
})

describe('a call that the application answers', () => {
  const ask: ClientTool = defineTool({ name: 'ask', description: 'Asks the user' })
  const asking = (...ids: string[]): StreamChunk[] => calling(...ids.map((id) => call(id, 'ask', '{"q":1}')))

  it('is told once, and the agent goes on when the last one is answered, once', async () => {
    const told: unknown[] = []
    const { chat, calls, finishes } = chatWith([ask], [asking('c1', 'c2'), hello('r2')], { onToolCall: (open) => told.push(open) })
    expect(await chat.sendMessage('go')).toEqual({ outcome: 'finished' })
    expect(told).toEqual([
      { toolCallId: 'c1', toolName: 'ask', input: { q: 1 } },
      { toolCallId: 'c2', toolName: 'ask', input: { q: 1 } },
    ])
    expect(chat.getSnapshot().status).toBe('ready')
    await chat.addToolResult({ toolCallId: 'c2', output: { yes: true } })
    expect(calls).toHaveLength(1)
    expect(await chat.addToolResult({ toolCallId: 'c1', error: 'The user has gone.' })).toEqual({ outcome: 'finished' })
    expect(calls).toHaveLength(2)
    expect(results(calls, 1)).toEqual(['c1: ! The user has gone.', 'c2: {"yes":true}'])
    // An answer that is given again changes the thread and starts nothing.
    await chat.addToolResult({ toolCallId: 'c1', output: 'back' })
    expect(calls).toHaveLength(2)
    expect(finishes).toEqual(['finished', 'finished'])
  })

  it('may be answered while the run still goes on', async () => {
    const { chat, calls } = chatWith([ask], [asking('c1'), hello('r2')], {
      onEvent: (event) => {
        if (event.type === 'TOOL_CALL_END') void chat.addToolResult({ toolCallId: 'c1', output: 5 })
      },
    })
    await chat.sendMessage('go')
    expect(calls).toHaveLength(2)
    expect(results(calls, 1)).toEqual(['c1: 5'])
  })

  it('waits, when tools with execute have answered theirs', async () => {
    const { chat, calls } = chatWith([ask, add as ClientTool], [calling(call('c1', 'ask'), call('c2', 'add', '{"a":2,"b":2}')), hello('r2')])
    await chat.sendMessage('go')
    expect(calls).toHaveLength(1)
    await chat.addToolResult({ toolCallId: 'c1', output: 'fine' })
    expect(results(calls, 1)).toEqual(['c1: fine', 'c2: 4'])
  })

  it.each<[string, object, string]>([
    ['a call that is not there', { toolCallId: 'c9', output: 1 }, 'unknown-call'],
    ['a call of another tool', { toolCallId: 'c1', toolName: 'other', output: 1 }, 'unknown-call'],
    ['no id', { output: 1 }, 'unknown-call'],
    ['an error that is no text', { toolCallId: 'c1', error: 5 }, 'malformed-answer'],
    ['a cycle', { toolCallId: 'c1', output: (() => { const a: Record<string, unknown> = {}; a['a'] = a; return a })() }, 'malformed-answer'],
  ])('%s is refused', async (_, result, code) => {
    const { chat } = chatWith([ask], [asking('c1')])
    await chat.sendMessage('go')
    expect((await caught(() => chat.addToolResult(result as never))).code).toBe(code)
  })
})

describe('calls that are not ours', () => {
  it('start nothing', async () => {
    const { chat, calls } = chatWith([add], [calling(call('c1', 'other'))])
    expect(await chat.sendMessage('go')).toEqual({ outcome: 'finished' })
    expect(calls).toHaveLength(1)
  })

  it('keep ours from going on alone: models refuse a history with open calls', async () => {
    const { chat, calls } = chatWith([add], [calling(call('c1', 'other'), call('c2', 'add', '{"a":1,"b":1}'))])
    await chat.sendMessage('go')
    expect(calls).toHaveLength(1)
    expect(chat.getSnapshot().messages.at(-1)?.parts).toMatchObject([{ id: 'c1', state: 'input-complete' }, { id: 'c2', state: 'complete' }])
  })

  it('that the server has answered are done', async () => {
    const { chat, calls } = chatWith([add], [[started('r1'), ...call('c1', 'add', '{"a":1,"b":1}'), { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c1', content: '2' }, finished('r1')]])
    await chat.sendMessage('go')
    expect(calls).toHaveLength(1)
  })
})

describe('an agent that asks for tools by interrupts, as TanStack AI does', () => {
  const asking = (...more: object[]): StreamChunk[] => [
    started('r1'),
    ...call('c1', 'add', '{"a":1,"b":2}'),
    ...call('c2', 'fail', '{}'),
    {
      type: 'RUN_FINISHED',
      threadId: 't1',
      runId: 'r1',
      outcome: { type: 'interrupt', interrupts: [...['c1', 'c2'].map((toolCallId) => ({ id: `i-${toolCallId}`, reason: 'tanstack:client_tool_execution', toolCallId })), ...more] },
    },
  ]
  const failing = defineTool({ name: 'fail', description: 'd', execute: () => { throw new Error('no') } })

  it('gets what they give as the answers, and goes on once', async () => {
    const { chat, calls, finishes } = chatWith([add, failing], [asking(), hello('r2')])
    expect(await chat.sendMessage('go')).toEqual({ outcome: 'finished' })
    expect(calls).toHaveLength(2)
    expect(calls[1]?.[3]).toMatchObject({
      parentRunId: 'r1',
      resume: [
        { interruptId: 'i-c1', status: 'resolved', payload: 3 },
        { interruptId: 'i-c2', status: 'resolved', payload: { error: 'no' } },
      ],
    })
    expect(results(calls, 1)).toEqual(['c1: 3', 'c2: ! no'])
    expect(finishes).toEqual(['finished'])
    expect(chat.getSnapshot().interrupts).toEqual([])
  })

  it('what it asks beside them waits for the application, and all of it is answered at once', async () => {
    const { chat, calls } = chatWith([add, failing], [asking({ id: 'other', reason: 'approval' }), hello('r2')])
    expect(await chat.sendMessage('go')).toEqual({ outcome: 'interrupted' })
    expect(calls).toHaveLength(1)
    expect(chat.getSnapshot().interrupts).toMatchObject([{ id: 'other' }])
    expect(await chat.respond('other', { status: 'resolved', payload: 'yes' })).toEqual({ outcome: 'finished' })
    expect(calls[1]?.[3]?.resume).toEqual([
      { interruptId: 'i-c1', status: 'resolved', payload: 3 },
      { interruptId: 'i-c2', status: 'resolved', payload: { error: 'no' } },
      { interruptId: 'other', status: 'resolved', payload: 'yes' },
    ])
  })

  it('a tool that is not ours is the application’s to answer; ours is run', async () => {
    const { chat, calls } = chatWith([add], [asking(), hello('r2')])
    expect(await chat.sendMessage('go')).toEqual({ outcome: 'interrupted' })
    expect(chat.getSnapshot().interrupts).toMatchObject([{ id: 'i-c2' }])
    expect(await chat.respond('i-c2', { status: 'resolved', payload: 5 })).toEqual({ outcome: 'finished' })
    expect(calls[1]?.[3]?.resume).toMatchObject([{ payload: 3 }, { payload: 5 }])
  })

  it('one without execute is told, and answered like any other call', async () => {
    const told: unknown[] = []
    const manual = defineTool({ name: 'fail', description: 'd' })
    const { chat, calls } = chatWith([add, manual], [asking(), hello('r2')], { onToolCall: (open) => told.push(open) })
    expect(await chat.sendMessage('go')).toEqual({ outcome: 'interrupted' })
    expect(told).toEqual([{ toolCallId: 'c2', toolName: 'fail', input: {} }])
    expect(await chat.addToolResult({ toolCallId: 'c2', output: '7' })).toEqual({ outcome: 'finished' })
    expect(calls[1]?.[3]).toMatchObject({ parentRunId: 'r1', resume: [{ payload: 3 }, { payload: '7' }] })
    expect(results(calls, 1)).toEqual(['c1: 3', 'c2: 7'])
  })

  it('is left alone when it is stopped meanwhile', async () => {
    const hang = defineTool({ name: 'fail', description: 'd', execute: () => new Promise(() => {}) })
    const { chat, calls } = chatWith([add, hang], [asking(), hello('r2')])
    const sent = chat.sendMessage('go')
    await until(() => chat.getSnapshot().runs.at(-1)?.outcome === 'interrupted')
    await tick(5)
    chat.stop()
    expect(await sent).toEqual({ outcome: 'cancelled' })
    expect(calls).toHaveLength(1)
    expect(chat.getSnapshot()).toMatchObject({ status: 'ready', interrupts: [{ id: 'i-c1' }, { id: 'i-c2' }] })
  })
})

describe('schemas', () => {
  it.each<[string, ClientTool]>([
    ['zod', defineTool({ name: 'f', description: 'd', input: z.object({ n: z.coerce.number() }), execute: ({ n }) => n + 1 }) as ClientTool],
    ['valibot', defineTool({ name: 'f', description: 'd', input: v.object({ n: v.pipe(v.string(), v.transform(Number)) }), execute: ({ n }) => n + 1 }) as ClientTool],
    ['arktype', defineTool({ name: 'f', description: 'd', input: type({ n: 'string.numeric.parse' }), execute: ({ n }) => n + 1 }) as ClientTool],
  ])('of %s', async (_, tool) => {
    const { chat, calls } = chatWith([tool], [calling(call('c1', 'f', '{"n":"41"}'), call('c2', 'f', '{}')), hello('r2')])
    await chat.sendMessage('go')
    expect(results(calls, 1)).toEqual(['c1: 42', expect.stringMatching(/^c2: ! /)])
  })

  it('become the declaration that the agent gets, where they can', async () => {
    const { chat, calls } = chatWith([add, defineTool({ name: 'x', description: 'X', parameters: { type: 'object', title: 'x' }, execute: () => 1 }), { name: 'bare', description: 'b' }], [hello()])
    await chat.sendMessage('go')
    const [first, ...rest] = calls[0]?.[3]?.clientTools ?? []
    expect(first).toMatchObject({ name: 'add', description: 'Adds', parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } } })
    expect(rest).toEqual([{ name: 'x', description: 'X', parameters: { type: 'object', title: 'x' } }, { name: 'bare', description: 'b' }])
  })

  it.each([{}, null, { name: '', description: 'd' }, { name: 'a' }, { name: 'a', description: 'd', input: {} }, { name: 'a', description: 'd', execute: 5 }])('%j is no tool', (tool) => {
    const connection = stream(() => iterate([]))
    expect(() => defineTool(tool as never)).toThrow(expect.objectContaining({ code: 'bad-tool' }))
    expect(() => new ChatClient({ connection, tools: [tool as never] })).toThrow(expect.objectContaining({ code: 'bad-tool' }))
    expect(() => new ChatClient({ connection }).updateOptions({ connection, tools: [tool as never] })).toThrow(expect.objectContaining({ code: 'bad-tool' }))
  })
})
