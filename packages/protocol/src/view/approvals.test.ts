/** Approvals on parts: the state by what is asked and answered, whichever objects change, and the way back to the wire. */
import { describe, expect, it } from 'vitest'
import { approvalIn, approvalsOf, toMessages, toolInput, toUIMessages, uiMessagesToWire, type CallApproval, type Interrupt, type Message, type ToolCallPart } from '../index.ts'

const call = (id: string, text = '{"n":1}') => ({ id, type: 'function', function: { name: 't', arguments: text } }) as const
const messages: Message[] = [
  { id: 'u', role: 'user', content: 'Hi' },
  { id: 'a', role: 'assistant', content: 'Let me', toolCalls: [call('c1'), call('c2')] },
]
const ask = (toolCallId: string, more: Partial<Interrupt> = {}): Interrupt => ({ id: `i-${toolCallId}`, reason: 'tool_call', toolCallId, ...more })
const parts = (approvals: ReadonlyMap<string, CallApproval>, of: readonly Message[] = messages) => toUIMessages(of, approvals).flatMap((message) => message.parts.filter((part): part is ToolCallPart => part.type === 'tool-call'))
const yes = (input?: unknown): CallApproval => ({ state: 'approval-responded', approval: { id: 'i-c1', needsApproval: true, approved: true, ...(input !== undefined && { input }) } })

describe('toUIMessages with approvals', () => {
  it('shows what is asked, answered and done', () => {
    expect(parts(approvalsOf([ask('c1')]))).toMatchObject([{ state: 'approval-requested', approval: { id: 'i-c1', needsApproval: true } }, { state: 'input-complete' }])
    expect(parts(new Map([['c1', yes()]]))[0]).toMatchObject({ state: 'approval-responded', approval: { approved: true } })
    const done: Message[] = [...messages, { id: 'x', role: 'tool', toolCallId: 'c1', content: '1' }]
    expect(parts(new Map([['c1', yes()]]), done)[0]).toMatchObject({ state: 'complete', approval: { approved: true } })
  })

  it('an interrupt asks for an approval if it names a call, and is none that asks to run it', () => {
    const asked = approvalsOf([ask('c1'), { id: 'i2', reason: 'tool_call' }, ask('c2', { reason: 'tanstack:client_tool_execution' })])
    expect([...asked.keys()]).toEqual(['c1'])
  })

  it('keeps the objects of what did not change, beside views without approvals', () => {
    const interrupts = [ask('c1')]
    const first = toUIMessages(messages, approvalsOf(interrupts))
    const bare = toUIMessages(messages)
    expect(bare[1]).not.toBe(first[1])
    expect(toUIMessages(messages)[1]).toBe(bare[1])
    const again = toUIMessages(messages, approvalsOf(interrupts))
    expect(again[0]).toBe(first[0])
    expect(again[1]).toBe(first[1])
    const more = [...messages, { id: 'u2', role: 'user', content: 'x' } as const]
    expect(toUIMessages(more, approvalsOf(interrupts))[1]).toBe(first[1])
    // Only the part that was answered is another one.
    const answered = toUIMessages(messages, new Map([['c1', yes()]]))
    expect(answered[1]).not.toBe(first[1])
    expect(answered[1]?.parts[2]).toBe(first[1]?.parts[2])
    // A call of elsewhere changes nothing.
    expect(toUIMessages(messages, new Map([['c9', yes()]]))[1]).toBe(bare[1])
  })

  it('edited arguments are those of the call, for who reads them and for the agent; the message keeps the model’s', () => {
    const [part] = parts(new Map([['c1', yes({ n: 2 })]]))
    expect(part?.arguments).toBe('{"n":1}')
    expect(toolInput(part as ToolCallPart)).toEqual({ n: 2 })
    const ui = toUIMessages(messages, new Map([['c1', yes({ n: 2 })]]))
    for (const wire of ['spec', 'parts'] as const) {
      const [, sent] = uiMessagesToWire(ui, { wire })
      expect(sent).toMatchObject({ toolCalls: [call('c1', '{"n":2}'), call('c2')] })
      if (wire === 'parts') expect(sent?.parts?.[1]).toMatchObject({ arguments: '{"n":2}', state: 'approval-responded', approval: { id: 'i-c1', approved: true } })
    }
    expect(toMessages(ui)).toEqual(messages)
  })

  it('arguments that were edited and then refused stay the model’s', () => {
    const no: CallApproval = { state: 'approval-responded', approval: { id: 'i-c1', needsApproval: true, approved: false, input: { n: 2 } } }
    const ui = toUIMessages(messages, new Map([['c1', no]]))
    expect(uiMessagesToWire(ui)[1]).toMatchObject({ toolCalls: [call('c1'), call('c2')] })
    expect(toolInput(parts(new Map([['c1', no]]))[0] as ToolCallPart)).toEqual({ n: 1 })
  })
})

describe('approvalIn', () => {
  const part = (state: ToolCallPart['state'], approval: unknown): ToolCallPart => ({ type: 'tool-call', id: 'c', name: 't', arguments: '', state, ...(approval !== undefined && { approval: approval as NonNullable<ToolCallPart['approval']> }) })

  it.each<[ToolCallPart, CallApproval | undefined]>([
    [part('approval-requested', { id: 'i', needsApproval: true }), { state: 'approval-requested', approval: { id: 'i', needsApproval: true } }],
    [part('approval-responded', { id: 'i', needsApproval: true }), { state: 'approval-responded', approval: { id: 'i', needsApproval: true } }],
    [part('complete', { id: 'i', needsApproval: true, approved: true, input: 5 }), { state: 'approval-responded', approval: { id: 'i', needsApproval: true, approved: true, input: 5 } }],
    [part('input-complete', undefined), undefined],
    [part('input-complete', null), undefined],
    [part('input-complete', { approved: true }), undefined],
  ])('%j', (given, known) => {
    expect(approvalIn(given)).toEqual(known)
  })

  it('reads back what a view shows', () => {
    for (const known of [...approvalsOf([ask('c1')]).values(), yes(), yes({ n: 2 })]) {
      expect(approvalIn(JSON.parse(JSON.stringify(parts(new Map([['c1', known]]))[0])))).toEqual(known)
    }
  })
})
