import type { VerifiedEvent } from '@millrace/protocol'
import pc from 'picocolors'
import { expect, it } from 'vitest'
import { TurnPrinter } from './turn-printer.ts'

function print(...events: VerifiedEvent[]): string {
  let out = ''
  const printer = new TurnPrinter((text) => (out += text), pc.createColors(false))
  for (const event of events) printer.event(event)
  printer.end()
  return out
}

it('streams text, and begins a line where another message goes on', () => {
  expect(
    print(
      { type: 'TEXT_MESSAGE_START', messageId: 'a', role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'one ' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'b', delta: 'other' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'two' },
      { type: 'TEXT_MESSAGE_END', messageId: 'a' },
      { type: 'TEXT_MESSAGE_END', messageId: 'b' },
    ),
  ).toBe('one \nother\ntwo\n')
})

it('shows a call when its arguments are there, in the middle of text too', () => {
  expect(
    print(
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'Look' },
      { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'look' },
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{"a":\n' },
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '1}' },
      { type: 'TOOL_CALL_END', toolCallId: 'c' },
      { type: 'TOOL_CALL_RESULT', messageId: 't', toolCallId: 'c', content: [{ type: 'text', text: 'a\nb' }, { type: 'image', source: { type: 'url', value: 'u' } }] },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'ed' },
    ),
  ).toBe('Look\n⚙ look({"a": 1})\n  → a b [image]\ned\n')
})

it('shows what happens to the state', () => {
  expect(
    print(
      { type: 'STATE_SNAPSHOT', snapshot: { a: 1 } },
      {
        type: 'STATE_DELTA',
        delta: [
          { op: 'replace', path: '/a', value: 2 },
          { op: 'remove', path: '/b' },
          { op: 'move', from: '/c', path: '/d' },
        ],
      },
    ),
  ).toBe('◆ state {"a":1}\n◆ state /a = 2\n◆ state /b removed\n◆ state /d moved from /c\n')
})

it('lets no control character of the agent through', () => {
  expect(print({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'a\u001b[2J\u202eb\tc\n' })).toBe('a\\u001b[2J\\u202eb\tc\n\n')
})
