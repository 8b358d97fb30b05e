// Every file of conformance/ against the core: the official streams of AG-UI 1.0, those of 0.x, our cases and recordings.
// What does not hold yet stands in KNOWN_GAPS with its reason and must fail; nothing is skipped in silence.
import fc from 'fast-check'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Reporter } from './diagnostics.ts'
import { EventParser } from './events/parse.ts'
import {
  compatible,
  DEFAULT_LIMITS,
  NdjsonDecoder,
  oldSpellings,
  ProtocolError,
  SseDecoder,
  ThreadReader,
  toUIMessages,
  type Diagnostic,
  type Frame,
  type FrameSink,
  type Message,
  type Thread,
  type VerifiedEvent,
} from './index.ts'

/** Streams and cases that do not give what they must, by name, and why. Each has to fail: mending one means removing its row. */
const KNOWN_GAPS: Readonly<Record<string, string>> = {}

const root = new URL('../../../conformance/', import.meta.url)
const text = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const json = <T>(path: string): T => JSON.parse(text(path)) as T

function test(name: string, run: () => void): void {
  const gap = KNOWN_GAPS[name]
  if (gap === undefined) it(name, run)
  else it.fails(`${name} (known gap: ${gap})`, run)
}

interface Folded {
  readonly outcome: string
  readonly error: ProtocolError | undefined
  readonly events: readonly VerifiedEvent[]
  readonly diagnostics: readonly Diagnostic[]
  readonly thread: Thread
}

interface FoldOptions {
  readonly mode?: 'strict' | 'tolerant' | 'report'
  readonly messages?: readonly Message[] | undefined
  readonly state?: unknown
}

/** Folds what `feed` gives to a reader, up to the first error. */
function fold(feed: (reader: ThreadReader) => void, { mode = 'strict', messages, state }: FoldOptions = {}): Folded {
  const events: VerifiedEvent[] = []
  const diagnostics: Diagnostic[] = []
  const reader = new ThreadReader({
    ...compatible(mode),
    ...(messages && { messages }),
    ...(state !== undefined && { state }),
    onEvent: (event) => void events.push(event),
    onDiagnostic: (diagnostic) => void diagnostics.push(diagnostic),
  })
  let error: ProtocolError | undefined
  try {
    feed(reader)
  } catch (thrown) {
    if (!(thrown instanceof ProtocolError)) throw thrown
    error = thrown
  }
  const outcome = reader.finish()
  return { outcome, error: error ?? reader.error, events, diagnostics, thread: reader.snapshot() }
}

const foldEvents = (events: readonly unknown[], options?: FoldOptions): Folded =>
  fold((reader) => events.forEach((event) => reader.accept(event)), options)

type Decoder = new (sink: FrameSink) => { feed(chunk: Uint8Array): void; finish(): void }

/** Folds bytes in the pieces they are given in. */
function foldBytes(Decoder: Decoder, pieces: Iterable<Uint8Array>, options?: FoldOptions): Folded {
  return fold((reader) => {
    const decoder = new Decoder((frame) => reader.acceptFrame(frame))
    for (const piece of pieces) decoder.feed(piece)
    decoder.finish()
  }, options)
}

function* bytewise(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1) yield bytes.subarray(at, at + 1)
}

function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return cuts.slice(1).map((cut, index) => bytes.subarray(cuts[index], cut))
}

/** Runs `judge` on the bytes fed whole, byte by byte and in random pieces. */
function howeverCut(Decoder: Decoder, wire: string, options: FoldOptions, judge: (folded: Folded) => void): void {
  const bytes = new TextEncoder().encode(wire)
  judge(foldBytes(Decoder, [bytes], options))
  judge(foldBytes(Decoder, bytewise(bytes), options))
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 20 }), (places) => judge(foldBytes(Decoder, cutAt(bytes, places), options))),
    { numRuns: 50 },
  )
}

/** Subset match: what `expected` does not name may be anything; lists are of equal length. */
function contains(actual: unknown, expected: unknown, path = ''): void {
  if (Array.isArray(expected)) {
    expect(Array.isArray(actual), `${path} is a list`).toBe(true)
    expect((actual as unknown[]).length, `length of ${path || 'list'} ${JSON.stringify(actual)}`).toBe(expected.length)
    expected.forEach((item, index) => contains((actual as unknown[])[index], item, `${path}/${index}`))
  } else if (typeof expected === 'object' && expected !== null) {
    expect(actual, path).toBeTypeOf('object')
    for (const [key, value] of Object.entries(expected)) {
      contains((actual as Record<string, unknown> | null)?.[key], value, `${path}/${key}`)
    }
  } else {
    expect(actual, path).toBe(expected)
  }
}

const pathOf = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value)

describe('the official streams of AG-UI 1.0', () => {
  interface Official {
    name: string
    client?: { maxProtocolVersion: string }
    input?: { messages?: Message[]; state?: unknown }
    stream: unknown[]
    expect: {
      outcome: 'completed' | 'failed'
      errorContains?: string
      runError?: string | true
      eventTypes?: string[]
      eventTypesAbsent?: string[]
      eventPaths?: Record<string, unknown>
      eventAbsentPaths?: string[]
      warnings?: string[]
      noWarnings?: boolean
      messageCount?: number
      messages?: unknown[]
      state?: unknown
      request?: unknown
      requestAbsentPaths?: string[]
    }
  }

  const judged = new Set(
    'outcome errorContains runError eventTypes eventTypesAbsent eventPaths eventAbsentPaths warnings noWarnings messageCount messages state request requestAbsentPaths'.split(' '),
  )

  /** `expect.request` is about the body that a client sends, which no reader of a stream has a part in. */
  const REQUEST_EXPECTATIONS: readonly string[] = [
    'current-peer-declares-protocol-version',
    'era-0-0-39-flattens-content',
    'era-0-0-47-upgrades-binary-content',
    'era-current-peer-keeps-modern-content',
    'era-pinned-peer-omits-protocol-version',
  ]

  /** The corpus lets these differ: what a client does that is pinned to a version before 1.0. We read every stream as 1.0. */
  const ERA_RELAXED: Readonly<Record<string, readonly string[]>> = {
    'era-0-0-39-flattens-content': ['warnings'],
    'era-0-0-57-subagent-dropped-with-warning': ['warnings', 'eventTypesAbsent'],
  }

  const streams = readdirSync(new URL('ag-ui-1.0/streams/', root))
    .filter((name) => name.endsWith('.json'))
    .map((name) => json<Official>(`ag-ui-1.0/streams/${name}`))

  it('are 68, and use only expectations that are judged here', () => {
    expect(streams).toHaveLength(68)
    for (const { name, expect: wanted } of streams) {
      expect(Object.keys(wanted).filter((key) => !judged.has(key)), name).toEqual([])
    }
    const aboutRequest = streams.filter(({ expect: e }) => e.request !== undefined || e.requestAbsentPaths !== undefined)
    expect(aboutRequest.map(({ name }) => name)).toEqual(REQUEST_EXPECTATIONS)
  })

  for (const { name, input, stream, expect: all } of streams) {
    test(name, () => {
      const relaxed = ERA_RELAXED[name] ?? []
      const wanted = Object.fromEntries(Object.entries(all).filter(([key]) => !relaxed.includes(key))) as Official['expect']
      // The corpus admits that this one pins a gap of the published client: by the specification the role is removed.
      if (name === 'unknown-enum-value-role-fatal') {
        wanted.outcome = 'completed'
        wanted.messages = [{ role: 'assistant', content: 'the role above is the only defect in this stream' }]
      }
      const { error, events, diagnostics, thread } = foldEvents(stream, { messages: input?.messages, state: input?.state })
      const warnings = diagnostics.filter(({ severity }) => severity !== 'info')

      expect(error === undefined ? 'completed' : 'failed', error?.message).toBe(wanted.outcome)
      // Wording may differ; a rejection still has to name its rule and its event.
      if (wanted.errorContains !== undefined && wanted.outcome === 'failed') {
        expect(error?.rule).toBeTypeOf('string')
        expect(error?.event).toBeTypeOf('number')
      }
      if (wanted.runError !== undefined) {
        const messages = events.flatMap((event) => (event.type === 'RUN_ERROR' ? [event.message] : []))
        expect(messages.join('\n')).toContain(wanted.runError === true ? '' : wanted.runError)
        expect(messages).not.toEqual([])
      }
      const types = events.map(({ type }) => type)
      if (wanted.eventTypes !== undefined) expect(types).toEqual(wanted.eventTypes)
      for (const type of wanted.eventTypesAbsent ?? []) expect(types).not.toContain(type)
      for (const [path, value] of Object.entries(wanted.eventPaths ?? {})) contains(pathOf(events, path), value, path)
      for (const path of wanted.eventAbsentPaths ?? []) expect(pathOf(events, path), path).toBeUndefined()
      if ((wanted.warnings ?? []).length > 0) expect(warnings, 'a warning').not.toEqual([])
      if (wanted.noWarnings === true) expect(warnings).toEqual([])
      if (wanted.messageCount !== undefined) expect(thread.messages).toHaveLength(wanted.messageCount)
      if (wanted.messages !== undefined) contains(thread.messages, wanted.messages, 'messages')
      if ('state' in wanted) contains(thread.state, wanted.state, 'state')
    })
  }
})

describe('the streams of AG-UI 0.x', () => {
  const assistant = (content: string): object => ({ role: 'assistant', content })
  /** What each must give; `rule` and `at` where it is rejected. */
  const EXPECTED: Readonly<Record<string, { messages: unknown[]; state?: unknown; runs?: number; rule?: string; at?: number }>> = {
    simple_text_message: { messages: [assistant('Hello, how can I help you today?')] },
    tool_call_sequence: {
      messages: [
        { id: 'msg_02', toolCalls: [{ id: 'tool_01', function: { name: 'search', arguments: '{"query": "AG-UI protocol"}' } }] },
        { id: 'msg_03', role: 'tool', toolCallId: 'tool_01' },
        { id: 'msg_04', role: 'assistant' },
      ],
    },
    state_management: {
      messages: [assistant('Updating count...')],
      state: { count: 1, items: ['item1'], user: { name: 'Alice', preferences: { theme: 'dark' } } },
    },
    // The text goes on in a message of the user that has parts: it becomes one more of them, nothing is lost.
    messages_snapshot: {
      messages: [
        { id: 'msg_06' },
        { id: 'msg_07', toolCalls: [{ id: 'call_01' }] },
        { id: 'msg_08', role: 'tool', content: '72°F and sunny' },
        {
          id: 'msg_09',
          role: 'user',
          content: [{ type: 'text' }, { type: 'image' }, { type: 'text', text: 'The weather in New York is 72°F and sunny.' }],
        },
      ],
    },
    messages_snapshot_activity_reasoning: {
      messages: [{ id: 'msg_a1' }, { id: 'act_a1', role: 'activity' }, { id: 'rsn_a1', role: 'reasoning' }, { id: 'msg_a2' }],
    },
    multiple_runs: { messages: [assistant('First run message.'), assistant('Second run message.')], runs: 2 },
    thinking_events: {
      messages: [
        { role: 'reasoning', content: 'Let me think about this... The user is asking about...' },
        assistant('Based on my analysis...'),
      ],
    },
    step_events: { messages: [] },
    error_handling: { messages: [assistant('Processing...')], rule: 'run.after-error', at: 5 },
    custom_events: { messages: [] },
    concurrent_messages: { messages: [assistant('First message'), { role: 'system', content: 'System message continues...' }] },
    text_message_chunk: { messages: [assistant('Complete message in a single chunk')] },
    activity_events: {
      messages: [
        { id: 'act_01', role: 'activity', content: { title: 'Indexing files', progress: 1, items: ['/foo.dart'] } },
      ],
    },
    reasoning_events: { messages: [{ role: 'reasoning', content: 'Analyzing the request...' }], rule: 'reasoning.open', at: 4 },
    thinking_text_message_legacy: { messages: [{ role: 'reasoning', content: 'Let me think...' }] },
  }
  const streams = json<Record<string, unknown[]>>('ag-ui-0.x/named-streams.json')

  it('are the 15 listed here', () => {
    expect(Object.keys(streams)).toEqual(Object.keys(EXPECTED))
  })

  for (const [name, wanted] of Object.entries(EXPECTED)) {
    test(`0.x ${name}`, () => {
      const { outcome, error, thread } = foldEvents(streams[name] ?? [])
      contains(thread.messages, wanted.messages, 'messages')
      if (wanted.state !== undefined) expect(thread.state).toEqual(wanted.state)
      expect([outcome, error?.rule, error?.event]).toEqual(
        wanted.rule === undefined ? ['finished', undefined, undefined] : ['violation', wanted.rule, wanted.at],
      )
      if (wanted.runs !== undefined) expect(thread.runs).toHaveLength(wanted.runs)
    })
  }

  test('0.x sse-streams.txt frames the same however cut', () => {
    const framesOf = (pieces: Iterable<Uint8Array>): Frame[] => {
      const frames: Frame[] = []
      const decoder = new SseDecoder((frame) => frames.push(frame))
      for (const piece of pieces) decoder.feed(piece)
      decoder.finish()
      return frames
    }
    const bytes = new TextEncoder().encode(text('ag-ui-0.x/sse-streams.txt'))
    const whole = framesOf([bytes])
    expect(whole).toHaveLength(31)
    expect(whole.at(-1)).toMatchObject({ data: '{"type":"TEXT_MESSAGE_END","messageId":"msg_04"}', id: 'evt_003', unterminated: true })
    expect(framesOf(bytewise(bytes))).toEqual(whole)
    fc.assert(
      fc.property(fc.array(fc.nat()), (places) => {
        expect(framesOf(cutAt(bytes, places))).toEqual(whole)
      }),
    )
  })

  const omissions = json<{ stream: { name: string; input: unknown; expected: unknown }[] }>('ag-ui-0.x/null-omission.json')
  for (const { name, input, expected } of omissions.stream) {
    test(`null omission: ${name}`, () => {
      const parsed = new EventParser(new Reporter(), DEFAULT_LIMITS, oldSpellings).parse(input)
      expect(JSON.parse(JSON.stringify(parsed))).toEqual(expected)
    })
  }
})

describe('cases', () => {
  interface Case {
    id: string
    about: string
    input: { kind: 'events'; events: unknown[]; history?: Message[] } | { kind: 'sse' | 'ndjson'; text: string } | { kind: 'client' }
    expect: {
      outcome: string
      at?: number
      messages?: unknown[]
      state?: unknown
      ui?: string[][]
      runs?: [string, string][]
      names?: string[]
      diagnostics?: string[]
      unpolluted?: true
    }
  }

  const judged = new Set('outcome at messages state ui runs names diagnostics unpolluted'.split(' '))
  const { cases } = json<{ cases: Case[] }>('cases/cases.json')

  function judge(wanted: Case['expect'], { outcome, error, diagnostics, thread }: Folded): void {
    expect(outcome).toBe(wanted.outcome)
    if (wanted.at !== undefined) expect(error?.event).toBe(wanted.at)
    if (wanted.messages !== undefined) contains(thread.messages, wanted.messages, 'messages')
    if ('state' in wanted) expect(thread.state).toEqual(wanted.state)
    if (wanted.ui !== undefined) {
      const label = (part: ReturnType<typeof toUIMessages>[number]['parts'][number]): string =>
        part.type === 'text' ? `text:${part.content}` : part.type === 'tool-call' ? `tool:${part.id}` : part.type
      expect(toUIMessages(thread.messages).map(({ parts }) => parts.map(label))).toEqual(wanted.ui)
    }
    if (wanted.runs !== undefined) expect(thread.runs.map((run) => [run.runId, run.outcome])).toEqual(wanted.runs)
    for (const name of wanted.names ?? []) expect(error?.message).toContain(name)
    for (const rule of wanted.diagnostics ?? []) expect(diagnostics.map((diagnostic) => diagnostic.rule)).toContain(rule)
    if (wanted.unpolluted) expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  }

  const here = cases.filter(({ input }) => input.kind !== 'client')

  it('are all judged here but those about a chat client, which its package runs', () => {
    expect(cases.filter(({ input }) => input.kind === 'client').map(({ id }) => id)).toEqual([
      'client-created-at-string',
      'client-run-per-turn',
      'client-abort',
      'client-two-client-tools',
      'client-post-not-repeated',
    ])
    for (const { id, expect: wanted } of here) {
      expect(Object.keys(wanted).filter((key) => !judged.has(key)), id).toEqual([])
    }
  })

  for (const { id, about, input, expect: wanted } of here) {
    test(`${id}: ${about}`, () => {
      if (input.kind === 'events') judge(wanted, foldEvents(input.events, { messages: input.history }))
      else if (input.kind !== 'client') {
        howeverCut(input.kind === 'sse' ? SseDecoder : NdjsonDecoder, input.text, {}, (folded) => judge(wanted, folded))
      }
    })
  }
})

describe('recordings', () => {
  interface Reading {
    outcome: string
    rule?: string
    at?: number
  }
  interface Recording {
    tolerant: Reading
    strict: Reading
    messages: unknown[]
    runError?: string
    pendingToolCallIds?: string[]
  }

  const recordings = json<Record<string, Recording>>('recordings/expect.json')

  it('have an expectation each', () => {
    const files = readdirSync(new URL('recordings/', root)).filter((name) => /\.(sse|ndjson)$/.test(name))
    expect(Object.keys(recordings).sort()).toEqual(files.sort())
  })

  for (const [file, wanted] of Object.entries(recordings)) {
    const decoder = file.endsWith('.ndjson') ? NdjsonDecoder : SseDecoder
    test(`${file}, tolerant`, () => {
      howeverCut(decoder, text(`recordings/${file}`), { mode: 'tolerant' }, ({ outcome, error, thread }) => {
        expect(error).toBeUndefined()
        expect(outcome).toBe(wanted.tolerant.outcome)
        contains(thread.messages, wanted.messages, 'messages')
        const run = thread.runs.at(-1)
        if (wanted.runError !== undefined) expect(run?.error?.message).toBe(wanted.runError)
        if (wanted.pendingToolCallIds !== undefined) expect(run?.pendingToolCallIds).toEqual(wanted.pendingToolCallIds)
      })
    })
    test(`${file}, strict`, () => {
      howeverCut(decoder, text(`recordings/${file}`), {}, ({ outcome, error }) => {
        expect(outcome).toBe(wanted.strict.outcome)
        expect(error?.rule).toBe(wanted.strict.rule)
        if (wanted.strict.rule !== undefined) expect(error?.event).toBe(wanted.strict.at)
      })
    })
  }
})
