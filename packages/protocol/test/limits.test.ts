/** Every bound of `limits.ts` is met: at the bound all is well, one past it there is an error or a finding that names it. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS, NdjsonDecoder, parseRunAgentInput, PartialJson, ProtocolError, SseDecoder, ThreadReader, type Diagnostic, type Limits } from '../src/index.ts'
import { decodeEvent, encodeFrame, LengthPrefixedDecoder } from '../src/proto.ts'
import { check } from '../../cli/src/commands/check.ts'

const start = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }

/** What became of something of this size under this limit: nothing, or the message that says why it was refused. */
type Meet = (size: number, limits: Partial<Limits>) => string | undefined | Promise<string | undefined>

interface Row {
  /** A limit under which to try, if the default is too far away. */
  readonly limit: number
  /** The places where it is held, by name. */
  readonly places: Readonly<Record<string, Meet>>
}

function refusal(work: () => void, rule: string): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(ProtocolError)
    expect(error).toMatchObject({ code: 'limit', rule })
    return (error as Error).message
  }
}

/** The message of the one finding there is. */
function finding(events: readonly unknown[], limits: Partial<Limits>): string | undefined {
  const found: Diagnostic[] = []
  const reader = new ThreadReader({ limits, onDiagnostic: (diagnostic) => found.push(diagnostic) })
  for (const event of events) reader.accept(event)
  expect(found.length).toBeLessThan(2)
  return found[0]?.message
}

const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])
const feed = (decoder: { feed(text: string): void; finish(): void }, text: string): void => {
  decoder.feed(text)
  decoder.finish()
}
const big = (length: number): string => JSON.stringify({ ...start, runId: 'r'.repeat(length - JSON.stringify({ ...start, runId: '' }).length) })

const ROWS: { readonly [Key in keyof Limits]: Row } = {
  frameLength: {
    limit: 100,
    places: {
      // A line of SSE has the field's name as well.
      'server-sent events': (size, limits) => refusal(() => feed(new SseDecoder(() => {}, limits), `data:${big(size - 'data:'.length)}\n\n`), 'frame.too-long'),
      // Each line of data counts with the line feed that joins it to the next.
      'data lines of one frame together': (size, limits) => refusal(() => feed(new SseDecoder(() => {}, limits), `data:${'x'.repeat(49)}\ndata:${'x'.repeat(size - 51)}\n\n`), 'frame.too-long'),
      NDJSON: (size, limits) => refusal(() => feed(new NdjsonDecoder(() => {}, limits), `${big(size)}\n`), 'frame.too-long'),
      protobuf: (size, limits) => {
        const frame = encodeFrame({ type: 'RUN_ERROR', message: 'm'.repeat(size - (encodeFrame({ type: 'RUN_ERROR', message: 'm'.repeat(50) }).length - 4 - 50)) })
        expect(frame.length - 4).toBe(size)
        return refusal(() => new LengthPrefixedDecoder(() => {}, limits).feed(frame), 'frame.too-long')
      },
    },
  },
  jsonDepth: {
    limit: 20,
    places: {
      'an event': (size, limits) => refusal(() => new ThreadReader({ limits }).accept({ ...start, metadata: { a: deep(size - 1) } }), 'event.too-deep'),
      'a run input': (size, limits) => refusal(() => parseRunAgentInput({ threadId: 't', runId: 'r', messages: [], state: deep(size) }, { limits }), 'event.too-deep'),
      'an event in protobuf': (size, limits) => refusal(() => void decodeEvent(encodeFrame({ type: 'RAW', event: deep(size) }).subarray(4), limits), 'event.too-deep'),
      'a patch': (size, limits) => finding([start, { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/a', value: deep(size - 2) }, { op: 'add', path: '/b', value: [] }, { op: 'move', from: '/a', path: '/b/0' }] }], limits),
      'arguments that stream': (size, limits) => {
        const json = new PartialJson(limits)
        json.append('['.repeat(size))
        void json.value
        return json.error?.code === undefined ? undefined : `jsonDepth: ${json.error.code}`
      },
    },
  },
  numberLength: {
    limit: 30,
    places: {
      'arguments that stream': (size, limits) => {
        const json = new PartialJson(limits)
        json.append(`[${'1'.repeat(size)},`)
        void json.value
        return json.error?.code === undefined ? undefined : `numberLength: ${json.error.code}`
      },
    },
  },
  documentValues: {
    limit: 50,
    places: {
      'a patch that copies': (size, limits) => {
        // The document, its two lists, what is in them, and one more if that is no even number.
        const each = Math.floor((size - 3) / 2)
        const snapshot = { a: Array.from({ length: each }, () => 1), ...((size - 3) % 2 === 1 && { c: 1 }) }
        return finding([start, { type: 'STATE_SNAPSHOT', snapshot }, { type: 'STATE_DELTA', delta: [{ op: 'copy', from: '/a', path: '/b' }] }], limits)
      },
    },
  },
  ledgerItems: {
    limit: 3,
    places: {
      'a run': (size, limits) =>
        refusal(() => {
          const reader = new ThreadReader({ limits })
          reader.accept(start)
          for (let item = 0; item < size; item++) reader.accept({ type: 'TEXT_MESSAGE_START', messageId: String(item) })
        }, 'run.ledger-full'),
    },
  },
  diagnostics: {
    limit: DEFAULT_LIMITS.diagnostics,
    places: {
      // It keeps that many, counts all, and cannot be told otherwise.
      '`millrace check`': async (size) => {
        const line = `${JSON.stringify({ ...start, mood: 1 })}\n`
        // The field, the missing timestamps, and at the end the missing RUN_FINISHED.
        const text = line + '{"type":"GHOST"}\n'.repeat(size - 3)
        const source = {
          name: 'case',
          hint: '',
          chunks: (async function* () {
            yield new TextEncoder().encode(text)
          })(),
        }
        const { diagnostics, summary } = await check(source, { format: 'ndjson' }, new Map())
        const all = summary.errors + summary.warnings + summary.infos
        expect(diagnostics).toHaveLength(Math.min(all, DEFAULT_LIMITS.diagnostics))
        return all > diagnostics.length ? `diagnostics: ${all}` : undefined
      },
    },
  },
}

describe('limits', () => {
  it('each has a row', () => {
    expect(Object.keys(ROWS).toSorted()).toEqual(Object.keys(DEFAULT_LIMITS).toSorted())
  })

  for (const [key, { limit, places }] of Object.entries(ROWS)) {
    it.each(Object.entries(places))(`${key}: %s`, async (_, meet) => {
      expect(await meet(limit, { [key]: limit })).toBeUndefined()
      expect(await meet(limit + 1, { [key]: limit })).toContain(key)
    })
  }
})
