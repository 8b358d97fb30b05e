/** Outbound: the behaviours of the design's seed for `uiMessagesToWire` and the run input, one by one. */
import { describe, expect, it } from 'vitest'
import { buildRunAgentInput, deriveReasoningId, toMessages, toUIMessages, uiMessagesToWire, type UIMessage, type UIPart } from '../index.ts'

const assistant = (...parts: UIPart[]): UIMessage => ({ id: 'a1', role: 'assistant', parts })

describe('uiMessagesToWire', () => {
  it('a system message carries the text of its parts', () => {
    const parts: UIPart[] = [{ type: 'text', content: 'Be ' }, { type: 'text', content: 'brief' }]
    expect(uiMessagesToWire([{ id: 's', role: 'system', parts }])).toEqual([{ id: 's', role: 'system', content: 'Be brief' }])
  })

  it('a user message is a string, and a list only with media', () => {
    const image: UIPart = { type: 'image', source: { type: 'url', value: 'https://example.com/a.png' } }
    expect(uiMessagesToWire([{ id: 'u', role: 'user', parts: [{ type: 'text', content: 'hi' }] }])).toEqual([{ id: 'u', role: 'user', content: 'hi' }])
    expect(uiMessagesToWire([{ id: 'u', role: 'user', parts: [{ type: 'text', content: 'look' }, image] }])).toEqual([
      { id: 'u', role: 'user', content: [{ type: 'text', text: 'look' }, { type: 'image', source: { type: 'url', value: 'https://example.com/a.png' } }] },
    ])
  })

  it('an assistant message fans out: thoughts before it, results behind it', () => {
    const wire = uiMessagesToWire([
      assistant(
        { type: 'thinking', content: 'hm' },
        { type: 'text', content: 'Let me see. ' },
        { type: 'tool-call', id: 'c1', name: 'f', arguments: '{}', state: 'complete' },
        { type: 'tool-result', toolCallId: 'c1', content: '42', state: 'complete' },
      ),
    ])
    expect(wire).toEqual([
      { id: deriveReasoningId('a1', 'hm'), role: 'reasoning', content: 'hm' },
      { id: 'a1', role: 'assistant', content: 'Let me see. ', toolCalls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
      { id: 'tool-c1', role: 'tool', toolCallId: 'c1', content: '42' },
    ])
  })

  it('parts that become messages of a thread show in their order again, calls before, between and behind the text', () => {
    const call = (id: string): UIPart => ({ type: 'tool-call', id, name: 'f', arguments: '{}', state: 'input-complete' })
    const parts: UIPart[] = [call('c1'), { type: 'text', content: 'One. ' }, call('c2'), { type: 'text', content: 'Two.' }, call('c3')]
    const [again] = toUIMessages(toMessages([assistant(...parts)]))
    expect(again?.parts).toMatchObject(parts)
  })

  it('without text there is no content, without calls no toolCalls', () => {
    expect(uiMessagesToWire([assistant({ type: 'tool-call', id: 'c', name: 'f', arguments: '', state: 'input-complete' })])[0]).not.toHaveProperty('content')
    expect(uiMessagesToWire([assistant({ type: 'text', content: 'x' })])[0]).not.toHaveProperty('toolCalls')
  })

  it('only a complete structured output with a raw text is said again', () => {
    const output = (status: 'streaming' | 'complete' | 'error', raw: string): UIPart => ({ type: 'structured-output', status, raw })
    expect(uiMessagesToWire([assistant(output('complete', '{"a":1}'))])).toEqual([{ id: 'a1', role: 'assistant', content: '{"a":1}' }])
    for (const part of [output('streaming', '{"a"'), output('error', '{'), output('complete', '')]) {
      expect(uiMessagesToWire([assistant({ type: 'text', content: 'x' }, part)])[0]).toMatchObject({ content: 'x' })
      // A turn in which nothing was said is none.
      expect(uiMessagesToWire([assistant(part)])).toEqual([])
    }
  })

  it('activities are the client’s own and stay here', () => {
    expect(uiMessagesToWire([assistant({ type: 'activity', activityType: 'PLAN', content: {} })])).toEqual([])
  })

  it('`parts` puts the UI parts beside the AG-UI fields of the anchor', () => {
    const message = assistant({ type: 'thinking', content: 'hm' }, { type: 'text', content: 'x' })
    const wire = uiMessagesToWire([message], { wire: 'parts' })
    expect(wire.map(({ role, parts }) => [role, parts])).toEqual([
      ['reasoning', undefined],
      ['assistant', message.parts],
    ])
  })

  it('an image that was read back goes out as it came', () => {
    const content = [{ type: 'image' as const, id: 'i', source: { type: 'data' as const, value: 'AA', mimeType: 'image/png' }, metadata: { alt: 'x' } }]
    expect(uiMessagesToWire(toUIMessages([{ id: 'u', role: 'user', content, name: 'Ann' }]))).toEqual([{ id: 'u', role: 'user', content, name: 'Ann' }])
  })
})

describe('buildRunAgentInput', () => {
  const runContext = { threadId: 't', runId: 'r' }

  it('fills the frame of AG-UI, and mirrors the properties as data', () => {
    expect(buildRunAgentInput({ messages: [], runContext })).toEqual({
      threadId: 't',
      runId: 'r',
      protocolVersion: '1.0',
      state: {},
      messages: [],
      tools: [],
      context: [],
      forwardedProps: {},
      data: {},
    })
    expect(buildRunAgentInput({ messages: [], runContext, mirrorData: false })).not.toHaveProperty('data')
  })

  it('later properties win: body, forwardedProps, data', () => {
    const body = { a: 'body', b: 'body', c: 'body' }
    const { forwardedProps, data } = buildRunAgentInput({
      messages: [],
      runContext: { ...runContext, forwardedProps: { b: 'props', c: 'props' } },
      body,
      data: { c: 'data' },
    })
    expect(forwardedProps).toEqual({ a: 'body', b: 'props', c: 'data' })
    expect(data).toEqual(forwardedProps)
    expect(data).not.toBe(forwardedProps)
  })

  it('carries parent, resume, tools, state and context of the run', () => {
    const context = {
      ...runContext,
      parentRunId: 'p',
      resume: [{ interruptId: 'i', status: 'resolved' as const }],
      clientTools: [{ name: 'f', description: 'd' }],
      state: { n: 1 },
      context: [{ description: 'locale', value: 'en' }],
    }
    expect(buildRunAgentInput({ messages: [], runContext: context })).toMatchObject({
      parentRunId: 'p',
      resume: context.resume,
      tools: context.clientTools,
      state: { n: 1 },
      context: context.context,
    })
  })

  it('a null state goes out as {}, which is how both ends read an absent one', () => {
    expect(buildRunAgentInput({ messages: [], runContext: { ...runContext, state: null } }).state).toEqual({})
  })
})
