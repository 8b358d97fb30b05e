/**
 * Law 8, never throws on input: any bytes give diagnostics or a typed error; nothing else escapes, no prototype is touched,
 * memory stays bounded. Runs for MILLRACE_FUZZ_MS (default 2,000 ms; CI gives it longer) on a seed it prints, in Node and in a
 * browser (`fuzz.browser.test.ts`), which has no such variables.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  compatible,
  encodeNdjson,
  encodeSse,
  hygieneRules,
  NdjsonDecoder,
  parseNdjsonFrame,
  parseRunAgentInput,
  ProtocolError,
  reportMode,
  SseDecoder,
  ThreadReader,
  toMessages,
  toUIMessages,
  uiMessagesToWire,
  type FrameDecoder,
  type FrameSink,
  type Mode,
} from '../src/index.ts'
import { encodeFrame, LengthPrefixedDecoder, parseBinaryFrame } from '../src/proto.ts'
import { anyEvents, cut } from './arbitraries.ts'

/** What there is of Node here. */
const node = (globalThis as { process?: { env?: Record<string, string | undefined>; memoryUsage?: () => { heapUsed: number } } }).process
const BUDGET_MS = Number(node?.env?.['MILLRACE_FUZZ_MS'] ?? 2_000)
const SEED = Number(node?.env?.['MILLRACE_SEED'] ?? Date.now() % 2 ** 31)
const TARGETS = 4

/** Bytes of the heap in use. Chromium tells them too, by another name. */
function heapUsed(): number {
  const bytes = node?.memoryUsage?.().heapUsed ?? (performance as { memory?: { usedJSHeapSize: number } }).memory?.usedJSHeapSize
  if (bytes === undefined) throw new Error('Nothing here says how much memory is used')
  return bytes
}

/** Small, so that bounds are met. */
const limits = { frameLength: 4_096, jsonDepth: 20, ledgerItems: 20 }

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Values in the places where events have others: every JSON kind, hostile keys, deep and wide. */
const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(null, '', 0, -0, 1e308, '__proto__', 'constructor', [], {}),
  fc.constant(JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1}') as unknown),
)

/** Events with one field replaced, removed or added. */
const bentEvents = fc
  .tuple(anyEvents, fc.array(fc.tuple(fc.nat(), fc.nat(), junk, fc.constantFrom('set', 'drop', 'add')), { maxLength: 4 }))
  .map(([events, bends]) => {
    const bent = events.map((event): Record<string, unknown> => ({ ...event }))
    for (const [at, which, value, how] of bends) {
      const event = bent[at % (bent.length || 1)]
      if (event === undefined) continue
      const keys = Object.keys(event)
      const key = how === 'add' ? ['__proto__', 'extra', 'delta', 'messages', 'snapshot'][which % 5] : keys[which % keys.length]
      if (key === undefined) continue
      if (how === 'drop') delete event[key]
      else Object.defineProperty(event, key, { value, enumerable: true, configurable: true, writable: true })
    }
    return bent
  })

/** Bytes with some changed, taken out or doubled. */
function mangled(bytes: Uint8Array, edits: readonly (readonly [number, number, number])[]): Uint8Array {
  const out = [...bytes]
  for (const [at, kind, value] of edits) {
    const place = at % (out.length + 1)
    if (kind === 0) out[place] = value
    else if (kind === 1) out.splice(place, value % 8)
    else out.splice(place, 0, ...out.slice(place, place + (value % 8)))
  }
  return Uint8Array.from(out)
}

const edits = fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.nat(255)), { maxLength: 6 })
const places = fc.array(fc.nat(), { maxLength: 8 })
const mode = fc.constantFrom<Mode>('strict', 'tolerant', 'report')

/** Reads pieces through a decoder and the whole path, and on to the view and the wire. */
function readThrough(
  pieces: readonly Uint8Array[],
  how: Mode,
  make: (reader: ThreadReader) => Pick<FrameDecoder, 'finish'> & { feed(piece: Uint8Array): void },
): void {
  const reader = new ThreadReader({ ...compatible(how), limits, hygiene: hygieneRules, onDiagnostic: () => {} })
  try {
    const decoder = make(reader)
    for (const piece of pieces) decoder.feed(piece)
    decoder.finish()
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
  }
  expect(reader.finish()).not.toBe('running')
  const { messages } = reader.snapshot()
  const ui = toUIMessages(messages)
  uiMessagesToWire(ui)
  toMessages(ui)
  JSON.stringify(reader.snapshot())
}

const text = (Decoder: new (sink: FrameSink, limits: object) => FrameDecoder) => (reader: ThreadReader): FrameDecoder =>
  new Decoder((frame) => reader.acceptFrame(frame), limits)

/** Runs a property again and again until the time is up; fast-check shrinks what it finds. */
function forAWhile<Input>(arbitrary: fc.Arbitrary<Input>, check: (input: Input) => void): void {
  const until = performance.now() + BUDGET_MS / TARGETS
  for (let round = 0; performance.now() < until; round++) {
    fc.assert(
      fc.property(arbitrary, (input) => {
        check(input)
        expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
      }),
      { numRuns: 50, seed: SEED + round },
    )
  }
}

describe(`fuzzing, seed ${SEED}, ${BUDGET_MS} ms`, () => {
  let before = ''
  let heap = 0
  const shape = (): string => JSON.stringify([Object.prototype, Array.prototype, Function.prototype].map((prototype) => Object.getOwnPropertyNames(prototype).toSorted()))
  beforeAll(() => {
    before = shape()
    heap = heapUsed()
  })
  afterAll(() => {
    expect(shape()).toBe(before)
    expect((heapUsed() - heap) / 2 ** 20).toBeLessThan(512)
  })
  const timeout = BUDGET_MS * 4 + 30_000

  it('any bytes, as each format', { timeout }, () => {
    forAWhile(fc.tuple(fc.uint8Array({ maxLength: 400 }), places, mode), ([bytes, at, how]) => {
      for (const Decoder of [SseDecoder, NdjsonDecoder]) readThrough(cut(bytes, at), how, text(Decoder))
      readThrough(cut(bytes, at), how, (reader) => new LengthPrefixedDecoder((frame) => reader.acceptFrame(frame, parseBinaryFrame), limits))
    })
  })

  it('bent events, in each format, with bytes changed', { timeout }, () => {
    forAWhile(fc.tuple(bentEvents, edits, places, mode), ([events, change, at, how]) => {
      const sse = mangled(bytesOf(events.map((event) => encodeSse({ data: JSON.stringify(event) })).join('')), change)
      readThrough(cut(sse, at), how, text(SseDecoder))
      readThrough(cut(mangled(bytesOf(events.map(encodeNdjson).join('')), change), at), how, text(NdjsonDecoder))
      for (const event of events) {
        try {
          parseNdjsonFrame({ data: JSON.stringify({ id: '1', chunk: event }), line: 1 })
          parseRunAgentInput(event)
        } catch (error) {
          if (!(error instanceof ProtocolError)) throw error
        }
      }
    })
  })

  it('protobuf of good events, with bytes changed', { timeout }, () => {
    forAWhile(fc.tuple(anyEvents, edits, places, mode), ([events, change, at, how]) => {
      const frames = events.flatMap((event) => [...encodeFrame(event)])
      readThrough(cut(mangled(Uint8Array.from(frames), change), at), how, (reader) => new LengthPrefixedDecoder((frame) => reader.acceptFrame(frame, parseBinaryFrame), limits))
    })
  })

  it('values that no JSON can be', { timeout }, () => {
    const weird = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withObjectString: true, withSet: true, withSparseArray: true, withTypedArray: true })
    forAWhile(fc.tuple(anyEvents, weird, fc.nat(), fc.constantFrom('type', 'messageId', 'delta', 'snapshot', 'metadata', 'messages', 'content')), ([events, value, at, key]) => {
      const reader = new ThreadReader({ mode: reportMode, limits })
      const bent: unknown[] = [...events]
      bent.splice(at % (bent.length + 1), 0, value, { ...events[0], [key]: value })
      for (const event of bent) reader.accept(event)
      reader.finish()
      toUIMessages(reader.snapshot().messages)
    })
  })
})
