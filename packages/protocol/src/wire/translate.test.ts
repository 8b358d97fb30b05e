/** Translation for older peers: what each era takes out and tells of, what it leaves alone, and that streams stay legal. */
import fc from 'fast-check'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  compatible,
  EventVerifier,
  parseRunAgentInput,
  ThreadBuilder,
  ThreadReader,
  translateFor,
  type Event,
  type Loss,
  type Message,
  type RunAgentInput,
  type Thread,
  type VerifiedEvent,
} from '../index.ts'
import { anyEvents } from '../../test/arbitraries.ts'

const OLDEST = '0.0.39'
const ALONE = '0.0.57'
const BEFORE_1 = '0.0.58'

const image = { type: 'image', source: { type: 'url', value: 'https://example.com/a.png' } } as const
const text = (content: string, more: object = {}) => ({ type: 'text', text: content, ...more }) as const
const input = (messages: Message[], more: Partial<RunAgentInput> = {}): RunAgentInput => ({ threadId: 't', runId: 'r', messages, tools: [], context: [], ...more })
const start: Event = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const s1 = { subagentRunId: 's1' }

function translated(version: string | undefined, events: readonly Event[], direction?: 'sent' | 'received'): { events: Event[]; losses: Loss[] } {
  const losses: Loss[] = []
  const take = translateFor(version, (loss) => losses.push(loss)).events(direction)
  return { events: events.flatMap((event) => take(event)), losses }
}

describe('versions', () => {
  it.each<[string | undefined, boolean, boolean, boolean]>([
    ['0.0.9', true, true, true],
    ['0.0.39', true, true, true],
    ['0.0.40', false, true, true],
    ['0.0.57', false, true, true],
    ['0.0.58', false, false, true],
    ['0.0.100', false, false, true],
    ['0.1', false, false, true],
    ['0.9.12', false, false, true],
    ['1.0', false, false, false],
    ['1.0.0', false, false, false],
    ['1.1', false, false, false],
    ['10.0', false, false, false],
    [undefined, false, false, false],
  ])('%s: flat %s, without subagents %s, without version %s', (version, flat, alone, undeclared) => {
    const given = input([{ id: 'u', role: 'user', content: [text('x')], ...s1 }], { protocolVersion: '1.0' })
    const { messages, protocolVersion } = translateFor(version, () => {}).input(given)
    expect(typeof messages[0]?.content === 'string').toBe(flat)
    expect(messages[0]?.subagentRunId === undefined).toBe(alone)
    expect(protocolVersion === undefined).toBe(undeclared)
  })

  it.each(['', '1', 'v1.0', '1.0.0-beta', '1.0.0.0', 'latest', '-1.0', 5])('%j is no version', (version) => {
    expect(() => translateFor(version as string, () => {})).toThrow(expect.objectContaining({ name: 'UsageError', code: 'bad-version' }))
  })
})

describe('a run input', () => {
  it.each<[string, string, RunAgentInput, object, Loss['code'][]]>([
    ['text parts are joined', OLDEST, input([{ id: 'u', role: 'user', content: [text('a'), text('b')] }]), { messages: [{ id: 'u', role: 'user', content: 'ab' }] }, []],
    ['media is lost', OLDEST, input([{ id: 'u', role: 'user', content: [text('a'), image] }]), { messages: [{ id: 'u', role: 'user', content: 'a' }] }, ['content-part']],
    ['only media leaves no text', OLDEST, input([{ id: 'u', role: 'user', content: [image] }]), { messages: [{ id: 'u', role: 'user', content: '' }] }, ['content-part']],
    ['so are id and metadata of text', OLDEST, input([{ id: 'u', role: 'user', content: [text('a', { id: '1' }), text('b', { metadata: 1 })] }]), { messages: [{ id: 'u', role: 'user', content: 'ab' }] }, ['part-data', 'part-data']],
    ['results of tools likewise', OLDEST, input([{ id: 'x', role: 'tool', toolCallId: 'c', content: [text('4'), image, text('2')] }]), { messages: [{ id: 'x', role: 'tool', toolCallId: 'c', content: '42' }] }, ['content-part']],
    ['an assistant without content has an empty one', OLDEST, input([{ id: 'a', role: 'assistant', toolCalls: [] }]), { messages: [{ id: 'a', role: 'assistant', toolCalls: [], content: '' }] }, []],
    ['the parent run is lost', OLDEST, input([], { parentRunId: 'p' }), {}, ['parent-run']],
    ['and goes along later', '0.0.40', input([], { parentRunId: 'p' }), { parentRunId: 'p' }, []],
    ['a malformed text part is not repaired', OLDEST, input([{ id: 'u', role: 'user', content: [text(5 as never), image] }]), { messages: [{ id: 'u', role: 'user', content: [text(5 as never), image] }] }, []],
    ['tags are told once', ALONE, input([{ id: 'a', role: 'assistant', content: 'x', ...s1 }, { id: 'b', role: 'reasoning', content: 'y', subagentRunId: '' }]), { messages: [{ id: 'a', role: 'assistant', content: 'x' }, { id: 'b', role: 'reasoning', content: 'y' }] }, ['subagent-tag']],
    ['content stays as it is', ALONE, input([{ id: 'u', role: 'user', content: [image] }]), { messages: [{ id: 'u', role: 'user', content: [image] }] }, []],
    ['the version is left out in silence', BEFORE_1, input([], { protocolVersion: '1.0', parentRunId: 'p', state: { n: 1 }, forwardedProps: { a: 1 } }), { parentRunId: 'p', state: { n: 1 }, forwardedProps: { a: 1 } }, []],
  ])('%s (%s)', (_, version, given, wanted, codes) => {
    const losses: Loss[] = []
    const before = structuredClone(given)
    expect(translateFor(version, (loss) => losses.push(loss)).input(given)).toEqual({ ...input([]), ...wanted })
    expect(losses.map(({ code }) => code)).toEqual(codes)
    expect(given).toEqual(before)
  })

  it('says where', () => {
    const losses: Loss[] = []
    translateFor(OLDEST, (loss) => losses.push(loss)).input(input([{ id: 'a', role: 'developer', content: '' }, { id: 'u', role: 'user', content: [text('a'), image], ...s1 }], { parentRunId: 'p' }))
    expect(losses).toEqual([
      { code: 'subagent-tag', from: 'RunAgentInput', pointer: '/messages/1/subagentRunId' },
      { code: 'content-part', from: 'RunAgentInput', pointer: '/messages/1/content/1' },
      { code: 'parent-run', from: 'RunAgentInput', pointer: '/parentRunId' },
    ])
  })

  it('is the same object where nothing has to go', () => {
    const given = input([{ id: 'u', role: 'user', content: 'x' }])
    for (const version of [OLDEST, ALONE, BEFORE_1, '1.0']) expect(translateFor(version, () => {}).input(given)).toBe(given)
    expect(translateFor('1.0', () => {}).input(given).messages).toBe(given.messages)
  })
})

describe('events', () => {
  const echoed = input([{ id: 'u', role: 'user', content: [image], ...s1 }], { parentRunId: 'p', protocolVersion: '1.0' })
  const interrupt = { id: 'i', reason: 'x' }
  it.each<[string, string, Event, object[], Loss[]]>([
    ['SUBAGENT_STARTED', ALONE, { type: 'SUBAGENT_STARTED', name: 'n', ...s1 }, [], [{ code: 'subagent-event', from: 'SUBAGENT_STARTED', pointer: '' }]],
    ['SUBAGENT_FINISHED', ALONE, { type: 'SUBAGENT_FINISHED', ...s1 }, [], [{ code: 'subagent-event', from: 'SUBAGENT_FINISHED', pointer: '' }]],
    ['SUBAGENT_ERROR', ALONE, { type: 'SUBAGENT_ERROR', message: 'm', ...s1 }, [], [{ code: 'subagent-event', from: 'SUBAGENT_ERROR', pointer: '' }]],
    ['a tag', ALONE, { type: 'CUSTOM', name: 'n', value: s1, ...s1 }, [{ type: 'CUSTOM', name: 'n', value: s1 }], [{ code: 'subagent-tag', from: 'CUSTOM', pointer: '/subagentRunId' }]],
    ['tags of messages', ALONE, { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'a', role: 'assistant', content: 'x', ...s1 }] }, [{ type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'a', role: 'assistant', content: 'x' }] }], [{ code: 'subagent-tag', from: 'MESSAGES_SNAPSHOT', pointer: '/messages/0/subagentRunId' }]],
    ['tags of interrupts', ALONE, { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'interrupt', interrupts: [{ ...interrupt, ...s1 }] } }, [{ type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'interrupt', interrupts: [interrupt] } }], [{ code: 'subagent-tag', from: 'RUN_FINISHED', pointer: '/outcome/interrupts/0/subagentRunId' }]],
    ['an outcome without', ALONE, { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'success' } }, [{ type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'success' } }], []],
    [
      'an echoed input',
      OLDEST,
      { ...start, protocolVersion: '1.0', parentRunId: 'p', input: echoed },
      [{ ...start, input: input([{ id: 'u', role: 'user', content: '' }]) }],
      [
        { code: 'subagent-tag', from: 'RUN_STARTED', pointer: '/input/messages/0/subagentRunId' },
        { code: 'content-part', from: 'RUN_STARTED', pointer: '/input/messages/0/content/0' },
        { code: 'parent-run', from: 'RUN_STARTED', pointer: '/input/parentRunId' },
        { code: 'parent-run', from: 'RUN_STARTED', pointer: '/parentRunId' },
      ],
    ],
    ['a version', BEFORE_1, { ...start, protocolVersion: '1.0', parentRunId: 'p' }, [{ ...start, parentRunId: 'p' }], []],
    ['a result in parts', OLDEST, { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: [text('4'), image, text('2')] }, [{ type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: '42' }], [{ code: 'content-part', from: 'TOOL_CALL_RESULT', pointer: '/content/1' }]],
    ['a result in parts, later', ALONE, { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: [image] }, [{ type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: [image] }], []],
    ['what is not theirs to read', OLDEST, { type: 'RAW', event: { subagentRunId: 's', content: [] } }, [{ type: 'RAW', event: { subagentRunId: 's', content: [] } }], []],
  ])('%s (%s)', (_, version, event, wanted, losses) => {
    const before = structuredClone(event)
    expect(translated(version, [event])).toEqual({ events: wanted, losses })
    expect(event).toEqual(before)
  })

  it('pass as they are where nothing has to go', () => {
    const event: Event = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x' }
    for (const version of [OLDEST, ALONE, BEFORE_1, '1.0']) expect(translated(version, [event]).events[0]).toBe(event)
    const tagged = { ...event, ...s1 }
    expect(translated(BEFORE_1, [tagged]).events[0]).toBe(tagged)
  })

  it('chunks of several owners are expanded, or they would run into each other', () => {
    const chunk = (delta: string, more: object): Event => ({ type: 'TEXT_MESSAGE_CHUNK', delta, ...more })
    const events = [start, chunk('a', { messageId: 'm' }), chunk('b', { messageId: 'n', ...s1 }), chunk('c', {}), chunk('d', s1), { ...start, type: 'RUN_FINISHED' } as Event]
    const { events: given } = translated(ALONE, events)
    expect(given.some((event) => 'subagentRunId' in event || event.type.endsWith('CHUNK'))).toBe(false)
    const reader = new ThreadReader()
    for (const event of given) reader.accept(event)
    expect(reader.snapshot().messages.map(({ id, content }) => [id, content])).toEqual([['m', 'ac'], ['n', 'bd']])
    expect(() => translated(ALONE, [start, chunk('x', {})])).toThrow(expect.objectContaining({ rule: 'chunk.opener' }))
  })

  it('a step whose name is open under another owner is kept from the peer, who would refuse it', () => {
    const step = (type: 'STEP_STARTED' | 'STEP_FINISHED', more: object = {}): Event => ({ type, stepName: 'a', ...more })
    const { events, losses } = translated(ALONE, [start, step('STEP_STARTED', s1), step('STEP_STARTED'), step('STEP_FINISHED', s1), step('STEP_FINISHED'), step('STEP_STARTED'), step('STEP_FINISHED')])
    expect(events.map(({ type }) => type)).toEqual(['RUN_STARTED', 'STEP_STARTED', 'STEP_FINISHED', 'STEP_STARTED', 'STEP_FINISHED'])
    expect(losses.map(({ code, from }) => `${code} ${from}`)).toEqual(['subagent-tag STEP_STARTED', 'step STEP_STARTED', 'step STEP_FINISHED'])
    // And a run begins with no step open.
    expect(translated(ALONE, [start, step('STEP_STARTED', s1), { type: 'RUN_ERROR', message: 'm' }, start, step('STEP_STARTED')]).events).toHaveLength(5)
  })

  it('what comes from such a peer loses subagents and nothing else', () => {
    const echo: Event = { ...start, protocolVersion: '0.9', parentRunId: 'p', input: echoed }
    const { events, losses } = translated(OLDEST, [echo, { type: 'SUBAGENT_STARTED', name: 'n', ...s1 }], 'received')
    expect(events).toEqual([{ ...echo, input: { ...echoed, messages: echoed.messages.map(untagged) } }])
    expect(losses.map(({ code }) => code)).toEqual(['subagent-tag', 'subagent-event'])
  })

  it('a legal stream stays legal, and folds to the same messages without tags', () => {
    fc.assert(
      fc.property(anyEvents, fc.constantFrom(ALONE, '0.0.40'), (events, version) => {
        const legal = legalPart(events)
        const { events: given } = translated(version, legal)
        expect(given.some((event) => event.type.startsWith('SUBAGENT_') || Object.hasOwn(event, 'subagentRunId'))).toBe(false)
        expect(legalPart(given)).toEqual(given)
        const [there, here] = [fold(given), fold(legal)]
        expect(there.messages).toEqual(here.messages.map(untagged))
        expect([there.state, there.runs]).toEqual([here.state, here.runs])
      }),
    )
  })

  it('content of the oldest peers is text in every place', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        for (const event of translated(OLDEST, legalPart(events)).events) {
          const messages = event.type === 'MESSAGES_SNAPSHOT' ? event.messages : event.type === 'RUN_STARTED' ? (event.input?.messages ?? []) : []
          for (const message of messages) if (message.role !== 'activity') expect(typeof message.content).toBe('string')
          if (event.type === 'TOOL_CALL_RESULT') expect(typeof event.content).toBe('string')
        }
      }),
    )
  })
})

describe('the official streams of peers that are pinned to an older version', () => {
  interface Official {
    readonly name: string
    readonly client?: { readonly maxProtocolVersion: string }
    readonly input?: { readonly messages: readonly object[] }
    readonly stream: readonly unknown[]
    readonly expect: {
      readonly warnings?: readonly string[]
      readonly request?: object
      readonly requestAbsentPaths?: readonly string[]
      readonly eventTypesAbsent?: readonly string[]
      readonly messages?: readonly object[]
    }
  }
  const folder = new URL('../../../../conformance/ag-ui-1.0/streams/', import.meta.url)
  const pinned = readdirSync(folder)
    .map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Official)
    .filter(({ client }) => client !== undefined)

  it.each(pinned.map((one) => [one.name, one] as const))('%s', (_, { client, input: given, stream, expect: wanted }) => {
    const losses: Loss[] = []
    const translation = translateFor(client?.maxProtocolVersion, (loss) => losses.push(loss))
    const request = translation.input(parseRunAgentInput({ threadId: 't', runId: 'r', protocolVersion: '1.0', messages: [], ...given }))
    expect(request).toMatchObject(wanted.request ?? {})
    for (const path of wanted.requestAbsentPaths ?? []) expect(request).not.toHaveProperty(path)

    const receive = translation.events('received')
    const thread = new ThreadBuilder()
    const types: string[] = []
    const verifier = new EventVerifier(compatible())
    for (const raw of stream) {
      verifier.accept(raw, (event) => {
        for (const received of receive(event)) {
          types.push(received.type)
          thread.apply(received as VerifiedEvent)
        }
      })
    }
    expect(types.filter((type) => wanted.eventTypesAbsent?.includes(type))).toEqual([])
    if (wanted.messages !== undefined) expect(thread.snapshot().messages).toMatchObject(wanted.messages)
    expect(thread.snapshot().messages.some((message) => 'subagentRunId' in message)).toBe(false)
    // Where their text speaks of what is lost, ours has a code; an old spelling that is upgraded is no loss of ours.
    const lossy = wanted.warnings?.some((warning) => /DROPS|dropping/.test(warning)) ?? false
    expect(losses.length > 0).toBe(lossy)
  })

  it('are some', () => {
    expect(pinned.length).toBeGreaterThan(3)
  })
})

/** The events that a verifier takes; the others change nothing. */
function legalPart(events: readonly Event[]): Event[] {
  const verifier = new EventVerifier(compatible())
  return events.filter((event) => {
    try {
      verifier.accept(event, () => {})
      return true
    } catch {
      return false
    }
  })
}

function untagged(message: Message): Message {
  const copy = { ...message }
  delete copy.subagentRunId
  return copy
}

function fold(events: readonly Event[]): Thread {
  const reader = new ThreadReader(compatible())
  for (const event of events) reader.accept(event)
  return reader.snapshot()
}
