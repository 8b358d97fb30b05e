/** Enforcement (AG-UI 1.0, processing): what is removed, what is refused, what is left alone. */
import { describe, expect, it } from 'vitest'
import { Reporter, type Diagnostic } from '../diagnostics.ts'
import { ProtocolError } from '../errors.ts'
import { DEFAULT_LIMITS } from '../limits.ts'
import type { Event } from './event.ts'
import { EventParser } from './parse.ts'
import { parseRunAgentInput } from './parse-run-input.ts'
import { oldSpellings } from './upgrade.ts'

function parse(raw: unknown, limits = DEFAULT_LIMITS): { event: Event | undefined; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  return { event: new EventParser(new Reporter((diagnostic) => diagnostics.push(diagnostic)), limits, oldSpellings).parse(raw), diagnostics }
}

function refuse(raw: unknown, limits = DEFAULT_LIMITS): ProtocolError {
  try {
    parse(raw, limits)
  } catch (error) {
    if (error instanceof ProtocolError) return error
    throw error
  }
  throw new Error('was accepted')
}

const snapshot = (messages: unknown): unknown => ({ type: 'MESSAGES_SNAPSHOT', messages })
const finished = (more: object): unknown => ({ type: 'RUN_FINISHED', threadId: 't', runId: 'r', ...more })

describe('removed and reported', () => {
  const REMOVED: readonly [name: string, raw: unknown, rule: string, pointer: string | undefined, kept: unknown][] = [
    ['an unknown event', { type: 'HOLOGRAM' }, 'event.unknown-type', '/type', undefined],
    ['a type that is a member of every object', { type: 'toString' }, 'event.unknown-type', '/type', undefined],
    ['an unknown field', { type: 'TEXT_MESSAGE_END', messageId: 'a', mood: 1 }, 'event.unknown-field', '/mood', { type: 'TEXT_MESSAGE_END', messageId: 'a' }],
    ['an unknown field named like a member of every object', { type: 'TEXT_MESSAGE_END', messageId: 'a', toString: 1 }, 'event.unknown-field', '/toString', { type: 'TEXT_MESSAGE_END', messageId: 'a' }],
    ['an own field __proto__', JSON.parse('{"type":"TEXT_MESSAGE_END","messageId":"a","__proto__":{"x":1}}'), 'event.unknown-field', '/__proto__', { type: 'TEXT_MESSAGE_END', messageId: 'a' }],
    ['an unknown field at any depth', snapshot([{ id: 'm', role: 'user', content: [{ type: 'text', text: 'x', 'a/b~c': 1 }] }]), 'event.unknown-field', '/messages/0/content/0/a~1b~0c', snapshot([{ id: 'm', role: 'user', content: [{ type: 'text', text: 'x' }] }])],
    ['a part of unknown type', snapshot([{ id: 'm', role: 'user', content: [{ type: 'hologram' }, { type: 'text', text: 'x' }] }]), 'event.unknown-member', '/messages/0/content/0', snapshot([{ id: 'm', role: 'user', content: [{ type: 'text', text: 'x' }] }])],
    ['a message of unknown role', snapshot([{ id: 'm', role: 'ghost' }]), 'event.unknown-member', '/messages/0', snapshot([])],
    ['a media part with a source of unknown type: the part goes, once', snapshot([{ id: 'm', role: 'user', content: [{ type: 'image', extra: 1, source: { type: 'smell' } }] }]), 'event.unknown-member', '/messages/0/content/0', snapshot([{ id: 'm', role: 'user', content: [] }])],
    ['an operation of unknown op', { type: 'STATE_DELTA', delta: [{ op: 'paint', path: '/a' }, { op: 'remove', path: '/a' }] }, 'event.unknown-member', '/delta/0', { type: 'STATE_DELTA', delta: [{ op: 'remove', path: '/a' }] }],
    ['an outcome of unknown type: it reads as success', finished({ outcome: { type: 'mystery' } }), 'event.unknown-member', '/outcome', finished({})],
    ['a role outside of the closed set', { type: 'TEXT_MESSAGE_START', messageId: 'a', role: 'ghost' }, 'event.unknown-member', '/role', { type: 'TEXT_MESSAGE_START', messageId: 'a' }],
    ['an event that cannot be without an unknown member', { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'ghost', entityId: 'a', encryptedValue: 'v' }, 'event.unknown-member', undefined, undefined],
  ]
  for (const [name, raw, rule, pointer, kept] of REMOVED) {
    it(name, () => {
      const { event, diagnostics } = parse(raw)
      expect(event).toEqual(kept)
      expect(diagnostics.map((found) => [found.rule, found.pointer])).toEqual([[rule, pointer]])
    })
  }
})

describe('refused', () => {
  const REFUSED: readonly [name: string, raw: unknown, pointer: string][] = [
    ['no object', 5, ''],
    ['a list', [], ''],
    ['no type', { messageId: 'a' }, '/type'],
    ['an empty type', { type: '' }, '/type'],
    ['a missing required field', { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a' }, '/delta'],
    ['a field of the wrong type', { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 5 }, '/delta'],
    ['null where a field is optional', { type: 'TEXT_MESSAGE_START', messageId: 'a', name: null }, '/name'],
    ['a null tag', { type: 'TEXT_MESSAGE_END', messageId: 'a', subagentRunId: null }, '/subagentRunId'],
    ['a fractional timestamp', { type: 'TEXT_MESSAGE_END', messageId: 'a', timestamp: 1.5 }, '/timestamp'],
    ['a timestamp past 2^53', { type: 'TEXT_MESSAGE_END', messageId: 'a', timestamp: 2 ** 53 }, '/timestamp'],
    ['a pointer without slash', { type: 'STATE_DELTA', delta: [{ op: 'remove', path: 'a' }] }, '/delta/0/path'],
    ['a pointer with a bad escape', { type: 'STATE_DELTA', delta: [{ op: 'remove', path: '/~2' }] }, '/delta/0/path'],
    ['add without value', { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/a' }] }, '/delta/0/value'],
    ['an operation without op', { type: 'STATE_DELTA', delta: [{ path: '/a' }] }, '/delta/0/op'],
    ['an outcome that is no object', finished({ outcome: [] }), '/outcome'],
    ['an outcome without type', finished({ outcome: {} }), '/outcome/type'],
    ['an interrupt outcome without interrupts', finished({ outcome: { type: 'interrupt', interrupts: [] } }), '/outcome/interrupts'],
    ['negative tokens', finished({ usage: [{ inputTokens: -1 }] }), '/usage/0/inputTokens'],
    ['another literal', { type: 'REASONING_MESSAGE_START', messageId: 'a', role: 'assistant' }, '/role'],
    ['a message without id', snapshot([{ role: 'user', content: '' }]), '/messages/0/id'],
    ['an activity without object', { type: 'ACTIVITY_SNAPSHOT', messageId: 'a', activityType: 'b', content: [] }, '/content'],
  ]
  for (const [name, raw, pointer] of REFUSED) {
    it(name, () => expect(refuse(raw)).toMatchObject({ code: 'malformed', rule: 'event.malformed', pointer }))
  }

  it('open JSON nested deeper than the limit, and cycles', () => {
    let deep: unknown = 1
    for (let level = 0; level < 6; level++) deep = [deep]
    const limits = { ...DEFAULT_LIMITS, jsonDepth: 5 }
    expect(refuse({ type: 'STATE_SNAPSHOT', snapshot: deep }, limits)).toMatchObject({ code: 'limit', rule: 'event.too-deep', pointer: '/snapshot' })
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    expect(refuse({ type: 'RAW', event: cycle })).toMatchObject({ code: 'limit', rule: 'event.too-deep' })
  })
})

describe('left alone', () => {
  const KEPT: readonly [name: string, raw: object][] = [
    ['open contents of every kind', { type: 'STATE_SNAPSHOT', snapshot: { a: null, __x: [] }, metadata: { b: null }, rawEvent: [null] }],
    ['null where a value is required JSON', { type: 'STATE_SNAPSHOT', snapshot: null }],
    ['extra members of an operation', { type: 'STATE_DELTA', delta: [{ op: 'remove', path: '/a', note: 1 }] }],
    ['an empty patch', { type: 'STATE_DELTA', delta: [] }],
    ['empty ids and tags', { type: 'TEXT_MESSAGE_CONTENT', messageId: '', delta: '', subagentRunId: '' }],
    ['an absent field given as undefined', { type: 'TEXT_MESSAGE_START', messageId: 'a', name: undefined }],
  ]
  for (const [name, raw] of KEPT) {
    it(name, () => {
      const { event, diagnostics } = parse(raw)
      expect(event).toBe(raw)
      expect(diagnostics).toEqual([])
    })
  }
})

describe('old spellings', () => {
  it.each([
    ['rawEvent', { type: 'TEXT_MESSAGE_END', messageId: 'a', rawEvent: null }],
    ['parentMessageId', { type: 'TOOL_CALL_START', toolCallId: 'a', toolCallName: 'f', parentMessageId: null }],
    ['result', finished({ result: null })],
    ['outcome', finished({ outcome: null })],
  ])('%s: null is read as absent', (key, raw) => {
    const { event, diagnostics } = parse(raw)
    expect(event).not.toHaveProperty(key)
    expect(diagnostics.map(({ rule }) => rule)).toEqual(['event.null-field'])
  })

  it('binary parts become media parts', () => {
    const content = [
      { type: 'binary', mimeType: 'image/png', data: 'AAAA', filename: 'a.png' },
      { type: 'binary', mimeType: 'application/pdf', url: 'https://example.com/a.pdf' },
      { type: 'binary', mimeType: 'image/png', id: 'only' },
    ]
    const { event } = parse(snapshot([{ id: 'm', role: 'user', content }]))
    expect(event).toMatchObject({
      messages: [
        {
          content: [
            { type: 'image', source: { type: 'data', value: 'AAAA', mimeType: 'image/png' }, metadata: { filename: 'a.png' } },
            { type: 'document', source: { type: 'url', value: 'https://example.com/a.pdf', mimeType: 'application/pdf' } },
          ],
        },
      ],
    })
  })

  it('THINKING_* become REASONING_* under one minted id', () => {
    const parser = new EventParser(new Reporter(), DEFAULT_LIMITS, oldSpellings)
    const types = ['THINKING_START', 'THINKING_TEXT_MESSAGE_START', 'THINKING_TEXT_MESSAGE_CONTENT', 'THINKING_TEXT_MESSAGE_END', 'THINKING_END']
    const events = types.map((type) => parser.parse({ type, ...(type.endsWith('CONTENT') && { delta: 'x' }) }) as { type: string; messageId: string })
    expect(events.map(({ type }) => type)).toEqual(['REASONING_START', 'REASONING_MESSAGE_START', 'REASONING_MESSAGE_CONTENT', 'REASONING_MESSAGE_END', 'REASONING_END'])
    expect(events[1]?.messageId).toBe(events[3]?.messageId)
    expect(events[0]?.messageId).toBe(events[4]?.messageId)
  })
})

describe('run inputs', () => {
  const input = { threadId: 't', runId: 'r', messages: [] }

  it('are given without what AG-UI does not define', () => {
    const rules: string[] = []
    expect(parseRunAgentInput({ ...input, data: {} }, { onDiagnostic: ({ rule }) => rules.push(rule) })).toEqual({ ...input, tools: [], context: [] })
    expect(rules).toEqual(['event.unknown-field'])
  })

  it.each([
    ['no object', null, ''],
    ['no messages', { threadId: 't', runId: 'r' }, '/messages'],
    ['a tool without description', { ...input, tools: [{ name: 'f' }] }, '/tools/0/description'],
    ['a resume entry of the wrong type', { ...input, resume: [{ interruptId: 1, status: 'resolved' }] }, '/resume/0/interruptId'],
  ])('%s is refused', (_name, value, pointer) => {
    expect(() => parseRunAgentInput(value)).toThrow(ProtocolError)
    try {
      parseRunAgentInput(value)
    } catch (error) {
      expect(error).toMatchObject({ code: 'malformed', pointer })
    }
  })
})
