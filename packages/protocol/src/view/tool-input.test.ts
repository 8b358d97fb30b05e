/** Arguments as values: lazily, following the stream, from any snapshot, and from parts that no stream made. */
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { PartialJson, ThreadReader, toolInput, toUIMessages, type Message, type Thread, type ToolCallPart } from '../index.ts'

function started(): ThreadReader {
  const reader = new ThreadReader()
  reader.accept({ type: 'RUN_STARTED', threadId: 't', runId: 'r' })
  reader.accept({ type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'f' })
  return reader
}

const args = (reader: ThreadReader, delta: string): void => reader.accept({ type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta })

function partOf({ messages }: Thread): ToolCallPart {
  const part = toUIMessages(messages).flatMap(({ parts }) => parts).find(({ type }) => type === 'tool-call')
  return part as ToolCallPart
}

const now = (reader: ThreadReader): ToolCallPart => partOf(reader.snapshot())

describe('toolInput', () => {
  it('follows the arguments as they stream', () => {
    const reader = started()
    const seen: unknown[] = [toolInput(now(reader))]
    for (const delta of ['{"city":"Os', 'lo","days":[1', ',2', ']', '}']) {
      args(reader, delta)
      seen.push(toolInput(now(reader)))
    }
    expect(seen).toEqual([undefined, { city: 'Os' }, { city: 'Oslo', days: [] }, { city: 'Oslo', days: [1] }, { city: 'Oslo', days: [1, 2] }, { city: 'Oslo', days: [1, 2] }])
  })

  it('is the same value while the arguments are the same, through end and result', () => {
    const reader = started()
    args(reader, '{"a":{"b":1},"c":"')
    const open = toolInput(now(reader)) as { a: object }
    args(reader, 'x"}')
    const value = toolInput(now(reader)) as { a: object }
    expect(value.a).toBe(open.a)
    reader.accept({ type: 'TOOL_CALL_END', toolCallId: 'c' })
    expect(toolInput(now(reader))).toBe(value)
    reader.accept({ type: 'TOOL_CALL_RESULT', messageId: 'm', toolCallId: 'c', content: '{}' })
    expect(now(reader).state).toBe('complete')
    expect(toolInput(now(reader))).toBe(value)
  })

  it('gives each snapshot its own reading, in whatever order they are read', () => {
    fc.assert(
      fc.property(fc.json(), fc.array(fc.nat(9), { maxLength: 30 }), fc.infiniteStream(fc.nat()), (text, sizes, order) => {
        const reader = started()
        const parts: ToolCallPart[] = []
        let at = 0
        for (const size of [...sizes, text.length]) {
          args(reader, text.slice(at, at + size))
          at += size
          if (size % 3 !== 0) parts.push(now(reader))
          const some = parts[(order.next().value as number) % (parts.length || 1)]
          if (some !== undefined && size % 2 === 0) check(some)
        }
        for (const part of parts) check(part)
      }),
      { numRuns: 500 },
    )

    function check(part: ToolCallPart): void {
      const alone = new PartialJson()
      alone.append(part.arguments)
      const value = toolInput(part)
      expect(value).toEqual(alone.value)
      expect(toolInput(part)).toBe(value)
    }
  })

  it('reads arguments that a snapshot restates, and what is appended to those', () => {
    const reader = started()
    args(reader, '{"a":1')
    expect(toolInput(now(reader))).toEqual({})
    const { messages } = reader.snapshot()
    const [host] = messages as [Message & { role: 'assistant' }]
    const [call] = host.toolCalls ?? []
    const restate = (text: string): void =>
      reader.accept({ type: 'MESSAGES_SNAPSHOT', messages: [{ ...host, toolCalls: [{ ...call, metadata: { n: text.length }, function: { name: 'f', arguments: text } }] }] })
    restate('{"a":1')
    args(reader, ',')
    expect(toolInput(now(reader))).toEqual({ a: 1 })
    restate('[7,')
    expect(toolInput(now(reader))).toEqual([7])
    args(reader, '8]')
    expect(toolInput(now(reader))).toEqual([7, 8])
  })

  it('reads parts of a history and parts made by hand, once each', () => {
    const history: Message[] = [{ id: 'm', role: 'assistant', toolCalls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":[1]}' } }] }]
    const part = partOf({ messages: history } as unknown as Thread)
    expect(toolInput(part)).toEqual({ a: [1] })
    expect(toolInput(part)).toBe(toolInput(part))
    expect(toolInput({ ...part, arguments: '{"a":[2' })).toEqual({ a: [] })
    expect(toolInput({ ...part, arguments: 'no JSON' })).toBeUndefined()
  })

  it('parses nothing that is not read', () => {
    const append = vi.spyOn(PartialJson.prototype, 'append')
    const reader = started()
    for (let n = 0; n < 10; n++) args(reader, '1,')
    void now(reader)
    expect(append).not.toHaveBeenCalled()
    void toolInput(now(reader))
    expect(append).toHaveBeenCalledTimes(1)
    append.mockRestore()
  })
})
