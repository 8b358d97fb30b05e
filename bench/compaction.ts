/**
 * `npm run bench -- compaction`: how much shorter `compact` makes streams, in events and bytes of JSON, beside the official
 * client's `compactEvents`; whether what is left is a legal stream that folds to the same thread; and its speed.
 */
import { compactEvents } from '@ag-ui/client'
import { compact, EventVerifier, NdjsonDecoder, reportMode, SseDecoder, ThreadBuilder, toUIMessages, type Event, type FrameDecoder, type FrameSink, type VerifiedEvent } from '@millrace/protocol'
import { readdirSync, readFileSync } from 'node:fs'
import { heading } from './compare.ts'
import { median, ms, timed } from './figures.ts'
import { mixedRuns } from './workloads/mixed.ts'
import { oneMessage } from './workloads/text.ts'

const ROUNDS = 5
const conformance = new URL('../../conformance/', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, conformance), 'utf8')
const list = (path: string): string[] => readdirSync(new URL(path, conformance)).sort()

/** What verification lets through; `report` goes on where a stream breaks a rule. */
function verified(feed: (verifier: EventVerifier, emit: (event: VerifiedEvent) => void) => void): VerifiedEvent[] {
  const out: VerifiedEvent[] = []
  feed(new EventVerifier({ mode: reportMode }), (event) => out.push(event))
  return out
}

function recording(name: string): VerifiedEvent[] {
  const Decoder: new (sink: FrameSink) => FrameDecoder = name.endsWith('.sse') ? SseDecoder : NdjsonDecoder
  return verified((verifier, emit) => {
    const decoder = new Decoder((frame) => verifier.acceptFrame(frame, emit))
    decoder.feed(read(`recordings/${name}`))
    decoder.finish()
  })
}

const all = (events: readonly Event[]): VerifiedEvent[] => verified((verifier, emit) => events.forEach((event) => verifier.accept(event, emit)))

/** A run as agents make them: two calls at a time, a plan in shared state that is patched as they go, text at the end. */
function agentRun(): Event[] {
  const word = (index: number): string => `step ${index} turns the wheel, `
  const ids = ['first', 'second']
  return [
    { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
    { type: 'STATE_SNAPSHOT', snapshot: { done: 0, plan: Array.from({ length: 20 }, (_, id) => ({ id, note: word(id) })) } },
    ...ids.map((toolCallId): Event => ({ type: 'TOOL_CALL_START', toolCallId, toolCallName: 'search' })),
    ...Array.from({ length: 400 }, (_, index): Event => {
      if (index % 10 === 9) return { type: 'STATE_DELTA', delta: [{ op: 'replace', path: '/done', value: index }] }
      return { type: 'TOOL_CALL_ARGS', toolCallId: ids[index % 2] as string, delta: word(index) }
    }),
    ...ids.map((toolCallId): Event => ({ type: 'TOOL_CALL_END', toolCallId })),
    { type: 'TEXT_MESSAGE_START', messageId: 'answer' },
    ...Array.from({ length: 400 }, (_, index): Event => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'answer', delta: word(index) })),
    { type: 'TEXT_MESSAGE_END', messageId: 'answer' },
    { type: 'RUN_FINISHED', threadId: 't', runId: 'r' },
  ]
}

function folded(events: readonly VerifiedEvent[]): string {
  const builder = new ThreadBuilder()
  for (const event of events) builder.apply(event)
  const thread = builder.snapshot()
  return JSON.stringify([thread, toUIMessages(thread.messages)])
}

/** Whether strict verification takes all of it. */
function isLegal(events: readonly VerifiedEvent[]): boolean {
  try {
    const verifier = new EventVerifier()
    for (const event of events) verifier.accept(event, () => {})
    return true
  } catch {
    return false
  }
}

interface Result {
  readonly events: number
  readonly bytes: number
  readonly legal: number
  readonly same: number
}

function judge(streams: readonly VerifiedEvent[][], by: (events: VerifiedEvent[]) => readonly VerifiedEvent[]): Result {
  let [events, bytes, legal, same] = [0, 0, 0, 0]
  for (const stream of streams) {
    const some = by(stream)
    events += some.length
    bytes += JSON.stringify(some).length
    if (isLegal(some) || !isLegal(stream)) legal++
    if (folded(some) === folded(stream)) same++
  }
  return { events, bytes, legal, same }
}

const SOURCES: readonly [name: string, streams: VerifiedEvent[][]][] = [
  ['official streams', list('ag-ui-1.0/streams').map((name) => all((JSON.parse(read(`ag-ui-1.0/streams/${name}`)) as { stream: Event[] }).stream))],
  ['recordings', list('recordings').filter((name) => /\.(?:sse|ndjson)$/.test(name)).map(recording)],
  ['an agent run', [all(agentRun())]],
  ...[oneMessage(20_000), mixedRuns(20)].map(({ size, make }): [string, VerifiedEvent[][]] => [size, [all(make().events)]]),
]

// The peer tells each patch that does not apply to the console.
console.warn = () => {}
console.log(heading(ROUNDS))
console.log(`  ${'streams'.padEnd(24)}${'by'.padEnd(16)}${'events'.padStart(16)}${'KB'.padStart(16)}${'stay legal'.padStart(12)}${'same fold'.padStart(12)}${'ms'.padStart(9)}`)
for (const [name, streams] of SOURCES) {
  const before = judge(streams, (events) => events)
  const contenders: [string, (events: VerifiedEvent[]) => readonly VerifiedEvent[]][] = [
    ['millrace', compact],
    // Its events are ours with an enum for the type.
    ['@ag-ui/client', (events) => compactEvents(events as never) as never],
  ]
  for (const [by, run] of contenders) {
    const after = judge(streams, run)
    const time = median(Array.from({ length: ROUNDS }, () => timed(() => streams.forEach((stream) => run(stream))).time))
    const of = (count: number): string => `${count} of ${streams.length}`
    const shrink = (from: number, to: number, digits = 0): string => `${from.toFixed(digits)} → ${to.toFixed(digits)}`
    console.log(
      `  ${(by === 'millrace' ? `${name} (${streams.length})` : '').padEnd(24)}${by.padEnd(16)}${shrink(before.events, after.events).padStart(16)}${shrink(before.bytes / 1000, after.bytes / 1000, 1).padStart(16)}${of(after.legal).padStart(12)}${of(after.same).padStart(12)}${ms(time).padStart(9)}`,
    )
  }
}
