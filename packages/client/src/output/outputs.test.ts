/** Answers in the form of a value: as they stream, in the end, when they are wrong, and on their way back to the agent. */
import { ChatClient, defineTool, OutputError, stream, StreamTruncatedError, structured, type ChatClientOptions, type StreamChunk } from '@millrace/client'
import { PartialJson, type StructuredOutputPart } from '@millrace/protocol'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { failed, finished, hello, interrupted, iterate, started, text, tick, until } from '../../test/events.ts'
import { scripted } from '../../test/scripted.ts'

const output = structured(z.object({ title: z.string(), tags: z.array(z.string()) }))
const VALUE = { title: 'Fjords', tags: ['sea', 'snow'] }
const JSON_TEXT = JSON.stringify(VALUE)

const start = (messageId?: string): StreamChunk => ({ type: 'CUSTOM', name: 'structured-output.start', value: { ...(messageId !== undefined && { messageId }) } })
const complete = (value: object): StreamChunk => ({ type: 'CUSTOM', name: 'structured-output.complete', value })
const call = (toolCallId: string, toolCallName: string, parentMessageId?: string): StreamChunk[] => [
  { type: 'TOOL_CALL_START', toolCallId, toolCallName, ...(parentMessageId !== undefined && { parentMessageId }) },
  { type: 'TOOL_CALL_ARGS', toolCallId, delta: '{}' },
  { type: 'TOOL_CALL_END', toolCallId },
]

/** A run that is told its events one by one. */
function fed(options: Partial<ChatClientOptions> = {}) {
  const queue: StreamChunk[] = []
  let wake = (): void => {}
  let ended = false
  async function* chunks(): AsyncGenerator<StreamChunk, void, undefined> {
    for (;;) {
      while (queue.length > 0) yield queue.shift() as StreamChunk
      if (ended) return
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  const chat = new ChatClient({ threadId: 't1', connection: stream(chunks), ...options })
  const give = async (...events: StreamChunk[]): Promise<void> => {
    let told = 0
    const stop = chat.subscribe(() => told++)
    queue.push(...events)
    wake()
    await until(() => told > 0 && queue.length === 0)
    stop()
  }
  const end = (): void => {
    ended = true
    wake()
  }
  return { chat, give, end }
}

const partsOf = (chat: ChatClient) => chat.getSnapshot().messages.filter(({ role }) => role === 'assistant').flatMap(({ parts }) => parts)
const outputOf = (chat: ChatClient) => partsOf(chat).find(({ type }) => type === 'structured-output') as StructuredOutputPart
const kinds = (chat: ChatClient): string[] => partsOf(chat).map((part) => `${part.type}${part.type === 'structured-output' ? ` ${part.status}` : ''}`)

describe('a text that is the value', () => {
  it('streams as a partial value, and is final once it is whole', async () => {
    const { chat, give, end } = fed({ output })
    const sent = chat.sendMessage('Hi')
    await give(started(), { type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant' })
    expect(chat.getSnapshot()).toMatchObject({ partial: undefined, final: undefined })
    const seen: unknown[] = []
    for (const delta of ['{"title":"Fj', 'ords","tags":["sea"', ',"snow"]', '}']) {
      await give({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta })
      expect(kinds(chat)).toEqual(['structured-output streaming'])
      expect(outputOf(chat).partial).toBe(chat.getSnapshot().partial)
      seen.push(chat.getSnapshot().partial)
    }
    expect(seen).toEqual([{ title: 'Fj' }, { title: 'Fjords', tags: ['sea'] }, VALUE, VALUE])
    expect(chat.getSnapshot().final).toBeUndefined()
    await give({ type: 'TEXT_MESSAGE_END', messageId: 'm1' }, finished())
    end()
    expect(await sent).toEqual({ outcome: 'finished' })
    expect(chat.getSnapshot()).toMatchObject({ partial: VALUE, final: VALUE, outputError: undefined })
    expect(outputOf(chat)).toEqual({ type: 'structured-output', status: 'complete', raw: JSON_TEXT, partial: VALUE, data: VALUE, origin: { messageId: 'm1' } })
  })

  it('gives each text once to the parser, however often it is looked at', async () => {
    const append = vi.spyOn(PartialJson.prototype, 'append')
    const { chat, give, end } = fed({ output })
    const sent = chat.sendMessage('Hi')
    const value = { title: 'x'.repeat(500), tags: [] }
    const json = JSON.stringify(value)
    await give(started(), { type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant' })
    for (let at = 0; at < json.length; at += 5) {
      await give({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: json.slice(at, at + 5) })
      void chat.getSnapshot().partial
    }
    await give({ type: 'TEXT_MESSAGE_END', messageId: 'm1' }, finished())
    end()
    await sent
    expect(chat.getSnapshot().final).toEqual(value)
    const given = append.mock.calls.reduce((sum, [piece]) => sum + piece.length, 0)
    append.mockRestore()
    expect(given).toBe(json.length)
  })

  it('keeps the identity of what did not change', async () => {
    const { chat, calls } = scripted([[started(), ...text(JSON_TEXT), finished()], hello('r2', '{"title":"B","tags":[]}')], { output })
    await chat.sendMessage('Hi')
    const [, first] = chat.getSnapshot().messages
    await chat.sendMessage('More')
    expect(chat.getSnapshot().messages[1]).toBe(first)
    expect(chat.getSnapshot().final).toEqual({ title: 'B', tags: [] })
    const { messages } = chat.getSnapshot()
    chat.setState(1)
    expect(chat.getSnapshot().messages).toBe(messages)
    expect(calls).toHaveLength(2)
  })

  it('is what the schema makes of it', async () => {
    const { chat } = scripted([[started(), ...text('{"at":"2026-11-30"}'), finished()]], { output: structured(z.object({ at: z.string().transform((day) => new Date(day)) })) })
    await chat.sendMessage('Hi')
    expect(chat.getSnapshot()).toMatchObject({ partial: { at: '2026-11-30' }, final: { at: new Date('2026-11-30') } })
  })

  it('is that of the last message of the user, until there is another', async () => {
    const { chat, give, end } = fed({ output, initialMessages: [] })
    const sent = chat.sendMessage('Hi')
    await give(started(), ...text(JSON_TEXT), finished())
    end()
    await sent
    expect(chat.getSnapshot().final).toEqual(VALUE)
    void chat.sendMessage('More')
    expect(chat.getSnapshot()).toMatchObject({ partial: undefined, final: undefined })
    chat.clear()
    expect(chat.getSnapshot().messages).toEqual([])
  })

  it('is the text after the tools, and what was said before them is text', async () => {
    const turn = [started(), ...text('Let me look.', 'm0'), ...call('c1', 'look', 'm0'), { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c1', content: '{}' }, ...text(JSON_TEXT), finished()]
    const { chat } = scripted([turn as StreamChunk[]], { output })
    await chat.sendMessage('Hi')
    expect(kinds(chat)).toEqual(['text', 'tool-call', 'structured-output complete'])
  })

  it('is the text after a call in the same message', async () => {
    const chunk = (delta: string): StreamChunk => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta })
    const { chat, give, end } = fed({ output })
    const sent = chat.sendMessage('Hi')
    await give(started(), { type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant' }, chunk('{"title":"no'), chunk('t this"}'))
    await give(...call('c1', 'look', 'm1'))
    expect(kinds(chat)).toEqual(['text', 'tool-call'])
    await give(chunk(JSON_TEXT.slice(0, 9)))
    await give(chunk(JSON_TEXT.slice(9)))
    expect(chat.getSnapshot().partial).toEqual(VALUE)
    await give({ type: 'TEXT_MESSAGE_END', messageId: 'm1' }, finished())
    end()
    await sent
    expect(kinds(chat)).toEqual(['text', 'tool-call', 'structured-output complete'])
    expect(chat.getSnapshot().final).toEqual(VALUE)
  })

  it('comes after a tool of ours, in the run that goes on', async () => {
    const tools = [defineTool({ name: 'look', description: 'd', execute: () => 'seen' })]
    const { chat } = scripted([[started(), ...text('{"title":"soon"}', 'm0'), ...call('c1', 'look', 'm0'), finished()], hello('r2', JSON_TEXT)], { output, tools })
    await chat.sendMessage('Hi')
    expect(kinds(chat)).toEqual(['text', 'tool-call', 'structured-output complete'])
    expect(chat.getSnapshot().final).toEqual(VALUE)
  })

  it('is none of a run that asks the user, and of subagents', async () => {
    const [begun, asks] = interrupted('r1', { id: 'i1', reason: 'approval' }) as [StreamChunk, StreamChunk]
    const sub = [
      { type: 'SUBAGENT_STARTED', subagentRunId: 's', name: 'sub' },
      { type: 'TEXT_MESSAGE_START', messageId: 'ms', role: 'assistant', subagentRunId: 's' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'ms', delta: '{}', subagentRunId: 's' },
      { type: 'TEXT_MESSAGE_END', messageId: 'ms', subagentRunId: 's' },
      { type: 'SUBAGENT_FINISHED', subagentRunId: 's' },
    ] as StreamChunk[]
    const { chat } = scripted([[begun, ...sub, ...text('May I?'), asks], hello('r2', JSON_TEXT)], { output })
    await chat.sendMessage('Hi')
    expect(kinds(chat)).toEqual(['text', 'text'])
    await chat.respond('i1', { status: 'resolved' })
    expect(kinds(chat)).toEqual(['text', 'text', 'structured-output complete'])
  })

  it('is none of a run that asks the user, though it could be', async () => {
    const [begun, asks] = interrupted('r1', { id: 'i1', reason: 'approval' }) as [StreamChunk, StreamChunk]
    const { chat } = scripted([[begun, ...text(JSON_TEXT), asks]], { output })
    await chat.sendMessage('Hi')
    expect(kinds(chat)).toEqual(['text'])
  })

  it('is found again under another id, if the server restates its messages', async () => {
    const restated = { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'u', role: 'user', content: 'Hi' }, { id: 'other', role: 'assistant', content: JSON_TEXT }] } as StreamChunk
    const { chat } = scripted([[started(), ...text(JSON_TEXT), restated, finished()]], { output })
    await chat.sendMessage('Hi')
    expect(chat.getSnapshot().final).toEqual(VALUE)
  })

  it('is another one, if the server restates what was said', async () => {
    const restated = { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'm1', role: 'assistant', content: '{"title":"B","tags":[]}' }, { id: 'u', role: 'user', content: 'Hi' }] } as StreamChunk
    const { chat } = scripted([[started(), ...text(JSON_TEXT), finished()], [started('r2'), restated, finished('r2')]], { output })
    await chat.sendMessage('Hi')
    await chat.sendMessage('More')
    expect(outputOf(chat)).toMatchObject({ status: 'complete', raw: '{"title":"B","tags":[]}', partial: { title: 'B' }, data: { title: 'B' } })
  })

  it('is not there, and nothing is wrong, if the agent says nothing', async () => {
    const { chat } = scripted([[started(), finished()]], { output })
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    expect(chat.getSnapshot()).toMatchObject({ partial: undefined, final: undefined, outputError: undefined })
  })

  it('is text without `output`', async () => {
    const { chat } = scripted([hello('r1', JSON_TEXT)])
    await chat.sendMessage('Hi')
    expect(kinds(chat)).toEqual(['text'])
    expect(chat.getSnapshot().final).toBeUndefined()
  })
})

describe('what is wrong with it', () => {
  const errorsOf = async (turn: StreamChunk[], options: Partial<ChatClientOptions> = {}) => {
    const { chat } = scripted([turn], { output, ...options })
    const result = await chat.sendMessage('Hi')
    return { chat, result, part: outputOf(chat), error: chat.getSnapshot().outputError }
  }

  it('text that is no JSON', async () => {
    const { chat, result, part, error } = await errorsOf(hello('r1', 'I would rather not.'))
    expect(result).toEqual({ outcome: 'finished' })
    expect(part).toMatchObject({ status: 'error', raw: 'I would rather not.', errorMessage: 'The answer is no JSON.' })
    expect(error).toBeInstanceOf(OutputError)
    expect(error).toMatchObject({ name: 'OutputError', code: 'not-json', messageId: 'm-r1', raw: 'I would rather not.' })
    expect(chat.getSnapshot()).toMatchObject({ status: 'ready', error: undefined, final: undefined })
  })

  it('a value that does not fit', async () => {
    const { part, error, result } = await errorsOf(hello('r1', '{"title":7,"tags":[]}'))
    expect(result).toEqual({ outcome: 'finished' })
    expect(part).toMatchObject({ status: 'error', partial: { title: 7, tags: [] }, errorMessage: expect.stringContaining('title') })
    expect(part).not.toHaveProperty('data')
    expect(error).toMatchObject({ code: 'unfit' })
  })

  it('a schema that throws', async () => {
    const thrown = new Error('broken')
    const broken = { '~standard': { version: 1, vendor: 'x', validate: () => { throw thrown } } } as never
    const { error } = await errorsOf(hello('r1', '{}'), { output: structured(broken) })
    expect(error).toMatchObject({ code: 'unfit', cause: thrown })
  })

  it.each([
    ['a failure of the agent', 'error', [failed()]],
    ['a cut', 'truncated', []],
    ['a broken rule', 'violation', [finished()]],
  ])('%s in the middle', async (_, outcome, last) => {
    const connection = {
      async *connect() {
        yield* [started(), ...text(JSON_TEXT.slice(0, 20)).slice(0, -1), ...last]
        if (outcome === 'truncated') throw new StreamTruncatedError('cut')
      },
    }
    const { part, error, result } = await errorsOf([], { connection })
    expect(result.outcome).toBe(outcome)
    expect(part).toMatchObject({ status: 'error', raw: JSON_TEXT.slice(0, 20), partial: { title: 'Fjords' } })
    expect(error).toMatchObject({ code: 'cut-short' })
  })

  it('a stop in the middle; a run that is left goes on', async () => {
    for (const [end, status] of [['stop', 'error'], ['detach', 'streaming']] as const) {
      const { chat, give } = fed({ output })
      void chat.sendMessage('Hi')
      await give(started(), ...text(JSON_TEXT.slice(0, 20)).slice(0, -1))
      chat[end]()
      expect(outputOf(chat).status).toBe(status)
    }
  })

  it('what was said before a failure, and cannot be the value, is text', async () => {
    const { chat } = scripted([[started(), ...text('Hm').slice(0, -1), failed()]], { output })
    await chat.sendMessage('Hi')
    expect(kinds(chat)).toEqual(['text'])
  })

  it('`output` that is no schema', () => {
    expect(() => new ChatClient({ connection: stream(() => iterate([])), output: z.string() as never })).toThrow(expect.objectContaining({ name: 'UsageError', code: 'bad-options' }))
    expect(() => structured({} as never)).toThrow(expect.objectContaining({ name: 'UsageError', code: 'bad-tool' }))
  })
})

describe('a schema that takes its time', () => {
  it('leaves the value streaming until it is done', async () => {
    let settle: (result: object) => void = () => {}
    const slow = { '~standard': { version: 1, vendor: 'x', validate: () => new Promise((resolve) => (settle = resolve)) } } as never
    for (const [result, status] of [[{ value: 'ours' }, 'complete'], [{ issues: [{ message: 'no' }] }, 'error']] as const) {
      const { chat } = scripted([hello('r1', '{}')], { output: structured(slow) })
      expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
      expect(kinds(chat)).toEqual(['structured-output streaming'])
      let told = 0
      chat.subscribe(() => told++)
      settle(result)
      await until(() => told > 0)
      expect(kinds(chat)).toEqual([`structured-output ${status}`])
      expect(chat.getSnapshot().final).toBe(status === 'complete' ? 'ours' : undefined)
    }
  })
})

describe('a schema that is slower than the server', () => {
  it('decides on what was said last', async () => {
    const settle: ((result: object) => void)[] = []
    const slow = { '~standard': { version: 1, vendor: 'x', validate: () => new Promise((resolve) => settle.push(resolve)) } } as never
    const { chat } = scripted([[started(), start('m1'), ...text('{}'), complete({ object: 1 }), complete({ object: 2 }), finished()]], { output: structured(slow) })
    await chat.sendMessage('Hi')
    expect(settle).toHaveLength(2)
    let told = 0
    chat.subscribe(() => told++)
    settle[1]?.({ value: 'second' })
    await until(() => told === 1)
    settle[0]?.({ value: 'first' })
    await tick()
    expect(chat.getSnapshot().final).toBe('second')
    expect(told).toBe(1)
  })
})

describe('a server that says what is the value', () => {
  const told = { output: structured() }

  it('is told of if nothing here reads it', async () => {
    const logger = { warn: vi.fn(), error: vi.fn() }
    const { chat } = scripted([[started(), start('m1'), ...text(JSON_TEXT), complete({ object: VALUE, messageId: 'm1' }), finished()]], { logger })
    await chat.sendMessage('Hi')
    expect(kinds(chat)).toEqual(['text'])
    expect(logger.warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('structured()'), expect.objectContaining({ name: 'structured-output.complete' }))
    chat.updateOptions({ connection: stream(() => iterate(hello('r2', JSON_TEXT, 'm2'))), output: structured() })
    await chat.sendMessage('Hi')
    expect(kinds(chat)).toEqual(['text', 'text'])
  })

  it('needs no schema here', async () => {
    const { chat } = scripted([[started(), start('m1'), ...text(JSON_TEXT), complete({ object: VALUE, raw: JSON_TEXT, reasoning: 'why', messageId: 'm1' }), finished()]], told)
    await chat.sendMessage('Hi')
    expect(outputOf(chat)).toEqual({ type: 'structured-output', status: 'complete', raw: JSON_TEXT, partial: VALUE, data: VALUE, reasoning: 'why', origin: { messageId: 'm1' } })
    expect(chat.getSnapshot().final).toEqual(VALUE)
  })

  it('is complete before the run ends, and shown as one from its first character', async () => {
    const { chat, give } = fed(told)
    void chat.sendMessage('Hi')
    await give(started(), start('m1'), ...text('{').slice(0, -1))
    expect(kinds(chat)).toEqual(['structured-output streaming'])
    await give(complete({ object: VALUE, raw: JSON_TEXT }))
    expect(outputOf(chat)).toMatchObject({ status: 'complete', raw: JSON_TEXT, data: VALUE })
    chat.stop()
    expect(kinds(chat)).toEqual(['structured-output complete'])
  })

  it('is held against the schema here', async () => {
    const { chat } = scripted([[started(), start('m1'), ...text('{}'), complete({ object: {}, raw: '{}' }), finished()]], { output })
    await chat.sendMessage('Hi')
    expect(kinds(chat)).toEqual(['structured-output error'])
  })

  it('may say what it is after the text, or say no text at all', async () => {
    const late = [started(), ...text(JSON_TEXT), complete({ object: VALUE, messageId: 'm1' }), finished()]
    const alone = [started(), start('m1'), complete({ object: VALUE }), finished()]
    const nameless = [started(), complete({ object: VALUE }), finished()]
    for (const turn of [late, alone, nameless]) {
      const { chat, calls } = scripted([turn, hello('r2')], told)
      await chat.sendMessage('Hi')
      expect(outputOf(chat)).toMatchObject({ status: 'complete', raw: JSON_TEXT, data: VALUE })
      await chat.sendMessage('More')
      expect(partsOf(chat).filter(({ type }) => type === 'structured-output')).toHaveLength(1)
      expect(calls).toHaveLength(2)
    }
  })

  it('says which of several texts it is, whatever else is said', async () => {
    const turn = [started(), ...text('Thinking.', 'm0'), start('m1'), ...text(JSON_TEXT), complete({ object: VALUE, messageId: 'm1' }), ...text('There.', 'm2'), finished()]
    const { chat } = scripted([turn], { output })
    await chat.sendMessage('Hi')
    expect(kinds(chat)).toEqual(['text', 'structured-output complete', 'text'])
    expect(chat.getSnapshot().final).toEqual(VALUE)
  })

  it('says so of a text that was shown as one', async () => {
    const { chat, give } = fed({ ...told, initialMessages: [{ id: 'a', role: 'assistant', parts: [{ type: 'structured-output', status: 'complete', raw: '{}' }] }] })
    void chat.sendMessage('Hi')
    await give(started(), ...text(JSON_TEXT))
    expect(kinds(chat)).toEqual(['structured-output complete', 'text'])
    await give(complete({ object: VALUE, messageId: 'm1' }))
    expect(kinds(chat)).toEqual(['structured-output complete', 'structured-output complete'])
  })

  it('says it of a message that has calls and no text', async () => {
    const { chat } = scripted([[started(), ...call('c1', 'look', 'm1'), complete({ object: VALUE, messageId: 'm1' }), finished()]], told)
    await chat.sendMessage('Hi')
    expect(kinds(chat)).toEqual(['tool-call', 'structured-output complete'])
  })

  it('several in one run', async () => {
    const one = (id: string, title: string): StreamChunk[] => [start(id), ...text(JSON.stringify({ title }), id), complete({ object: { title }, messageId: id })]
    const { chat } = scripted([[started(), ...one('m1', 'A'), ...one('m2', 'B'), finished()]], told)
    await chat.sendMessage('Hi')
    expect(kinds(chat)).toEqual(['structured-output complete', 'structured-output complete'])
    expect(chat.getSnapshot().final).toEqual({ title: 'B' })
  })

  it('never says that it is complete: the text decides', async () => {
    const { chat } = scripted([[started(), start('m1'), ...text(JSON_TEXT), finished()], [started('r2'), start('m2'), ...text('{"a":', 'm2'), finished('r2')]], told)
    await chat.sendMessage('Hi')
    expect(chat.getSnapshot().final).toEqual(VALUE)
    await chat.sendMessage('Hi')
    expect(chat.getSnapshot()).toMatchObject({ final: undefined, outputError: { code: 'not-json' } })
  })

  it.each([[undefined], [null], ['x'], [{}], [{ messageId: 7 }], [{ object: undefined, raw: 7 }]])('says %j, and nothing breaks', async (value) => {
    const odd = (name: string): StreamChunk => ({ type: 'CUSTOM', name: `structured-output.${name}`, value: value as never })
    for (const turn of [[started(), odd('start'), odd('complete'), ...text('Hi'), finished()], [started(), ...text('Hi'), odd('start'), odd('complete'), finished()]]) {
      const { chat } = scripted([turn], told)
      expect(await chat.sendMessage('Hi')).toMatchObject({ outcome: expect.stringMatching(/finished|malformed/) })
      chat.getSnapshot()
    }
  })

  it('gives what is no JSON, over no wire: it is shown and does not go back', async () => {
    const object = { big: 10n }
    const { chat, calls } = scripted([[started(), start('m1'), complete({ object }), finished()], hello('r2')], told)
    await chat.sendMessage('Hi')
    await chat.sendMessage('More')
    expect(calls[1]?.[0].map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  })
})
