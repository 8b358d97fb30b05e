import { expect, it } from 'vitest'
import { Reporter, type Diagnostic } from '../diagnostics.ts'
import { oldSpellings, ProtocolError, ThreadReader, tolerantMode } from '../index.ts'
import { DEFAULT_LIMITS } from '../limits.ts'
import { EventParser } from './parse.ts'

function parsed(event: object): { event: unknown; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  const parser = new EventParser(new Reporter((found) => void diagnostics.push(found)), DEFAULT_LIMITS, oldSpellings)
  return { event: parser.parse(JSON.parse(JSON.stringify(event))), diagnostics }
}

const finished = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }

it.each([
  [
    'all of it',
    { promptTokens: 9, completionTokens: 4, totalTokens: 13, promptTokensDetails: { cachedTokens: 5, audioTokens: 1 }, completionTokensDetails: { reasoningTokens: 2 }, cost: 1 },
    { inputTokens: 9, outputTokens: 4, totalTokens: 13, cachedInputTokens: 5, reasoningTokens: 2 },
  ],
  ['what there is', { promptTokens: 0, promptTokensDetails: null }, { inputTokens: 0 }],
])('usage as one object, as the client of TanStack AI has it, is read as a list of one: %s', (_, usage, row) => {
  for (const raw of [finished, { type: 'RUN_ERROR', message: 'no' }]) {
    const { event, diagnostics } = parsed({ ...raw, usage })
    expect(event).toEqual({ ...raw, usage: [row] })
    expect(diagnostics).toMatchObject([{ rule: 'event.retired-shape', pointer: '/usage' }])
  }
})

it('any other usage that is no list is malformed, and so are tokens that cannot be counted', () => {
  for (const usage of [{}, { inputTokens: 1 }, 'many', { promptTokens: 'many' }]) {
    expect(() => parsed({ ...finished, usage }), JSON.stringify(usage)).toThrow(ProtocolError)
  }
})

it('what comes before the RUN_STARTED of a run that goes on behind an interrupt is folded, and begins no run', () => {
  const rules: string[] = []
  const reader = new ThreadReader({
    mode: tolerantMode,
    messages: [{ id: 'a', role: 'assistant', content: 'Choose.', toolCalls: [{ id: 'c', type: 'function', function: { name: 'pick', arguments: '{}' } }] }],
    onDiagnostic: ({ rule }) => void rules.push(rule),
  })
  for (const event of [
    { type: 'CUSTOM', name: 'run.accepted', value: {} },
    { type: 'TOOL_CALL_RESULT', messageId: 'a', toolCallId: 'c', content: 'red' },
    { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
    { type: 'TEXT_MESSAGE_START', messageId: 'b', role: 'assistant' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'b', delta: 'It is red.' },
    { type: 'TEXT_MESSAGE_END', messageId: 'b' },
    finished,
  ]) {
    reader.accept(event)
  }
  expect(reader.finish()).toBe('finished')
  const { messages, runs } = reader.snapshot()
  expect(messages).toMatchObject([{ id: 'a' }, { role: 'tool', toolCallId: 'c', content: 'red' }, { id: 'b', content: 'It is red.' }])
  expect(runs).toHaveLength(1)
  expect(rules).toEqual(['tolerated.note-before-run', 'tolerated.result-before-run', 'state.result-id-taken'])
})
