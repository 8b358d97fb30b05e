/** What a server reads back: anchors with parts, their fan-out, plain AG-UI messages between, and parts that are none. */
import { describe, expect, it } from 'vitest'
import { uiMessagesToWire, wireToUiMessages, type UIMessage, type WireMessage } from '../index.ts'

const ui: UIMessage[] = [
  { id: 'u', role: 'user', parts: [{ type: 'text', content: 'look' }, { type: 'image', source: { type: 'url', value: 'https://example.com/a.png' } }] },
  {
    id: 'a',
    role: 'assistant',
    createdAt: new Date(1_000),
    parts: [
      { type: 'thinking', content: 'hm' },
      { type: 'text', content: 'Let me see.' },
      { type: 'tool-call', id: 'c', name: 'see', arguments: '{}', state: 'complete' },
      { type: 'tool-result', toolCallId: 'c', content: 'a cat', state: 'complete' },
      { type: 'text', content: 'A cat.' },
      { type: 'structured-output', status: 'complete', raw: '{"cat":true}', data: { cat: true } },
    ],
  },
]

describe('wireToUiMessages', () => {
  it('gives back messages made here, and shows nothing of their fan-out twice', () => {
    const wire = uiMessagesToWire(ui, { wire: 'parts' })
    expect(wire.map(({ role }) => role)).toEqual(['user', 'reasoning', 'assistant', 'tool'])
    expect(wireToUiMessages(wire)).toEqual(ui.map((message) => ({ ...message, createdAt: undefined })))
  })

  it('reads the date of an anchor, as text or as a date, and no other', () => {
    const dated = (createdAt: unknown): unknown => wireToUiMessages([{ id: 'a', role: 'assistant', parts: [], createdAt } as unknown as WireMessage])[0]?.createdAt
    expect(dated('2026-01-01T00:00:00.000Z')).toEqual(new Date('2026-01-01T00:00:00.000Z'))
    expect(dated(new Date(5))).toEqual(new Date(5))
    for (const none of ['soon', 5, null, {}]) expect(dated(none)).toBeUndefined()
  })

  it('reads plain messages between anchors as the view does', () => {
    const [first, ...rest] = uiMessagesToWire(ui, { wire: 'parts' })
    const between: WireMessage[] = [{ id: 'x', role: 'reasoning', content: 'who?' }, { id: 'y', role: 'assistant', content: 'Hello' }]
    expect(wireToUiMessages([first as WireMessage, ...between, ...rest]).map(({ id, parts }) => [id, parts.map(({ type }) => type)])).toEqual([
      ['u', ['text', 'image']],
      ['x', ['thinking', 'text']],
      ['a', ['thinking', 'text', 'tool-call', 'tool-result', 'text', 'structured-output']],
    ])
  })

  it.each([null, 5, 'text', {}, [null], [5], [{ content: 'x' }], [{ type: 5 }]])('does not take %j for parts', (parts) => {
    const message = { id: 'a', role: 'assistant', content: 'Hello', parts } as unknown as WireMessage
    expect(wireToUiMessages([message])[0]?.parts).toMatchObject([{ type: 'text', content: 'Hello' }])
  })

  it('takes no parts from a message that anchors none', () => {
    const result = { id: 't', role: 'tool', toolCallId: 'c', content: '5', parts: [{ type: 'text', content: 'no' }] } as unknown as WireMessage
    expect(wireToUiMessages([result])[0]?.parts).toMatchObject([{ type: 'tool-result', content: '5' }])
  })
})
