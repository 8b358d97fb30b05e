/**
 * Our verifier and fold against those of `@ag-ui/client` 1.0.0, on seeded random streams of all 31 event types, owners and
 * subagents included. The index of the first rejection is the same, and what both accept folds to the same messages and
 * state. Where they differ, the difference must be one of a short list in which that client departs from AG-UI 1.0.
 */
import { AbstractAgent, transformChunks, verifyEvents } from '@ag-ui/client'
import fc from 'fast-check'
import { from, Subject } from 'rxjs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ThreadReader, type Event, type Message, type Thread } from '../src/index.ts'
import { subjectOf, tagOf } from '../src/verified/subject.ts'
import { Verifier } from '../src/verified/verifier.ts'
import { Reporter } from '../src/diagnostics.ts'
import { DEFAULT_LIMITS } from '../src/limits.ts'
import { anyEvents } from './arbitraries.ts'

const STREAMS = Number(process.env['MILLRACE_STREAMS'] ?? 100_000)
const SEED = Number(process.env['MILLRACE_SEED'] ?? 20_261_130)
const BATCH = 2_000

/** Index of the first event their client rejects, or -1. */
function theirVerdict(events: readonly Event[]): number {
  const source = new Subject<never>()
  let failed = false
  source.pipe(transformChunks() as never, verifyEvents() as never).subscribe({
    error: () => {
      failed = true
    },
  })
  for (const [index, event] of events.entries()) {
    source.next(structuredClone(event) as never)
    if (failed) return index
  }
  return -1
}

function ours(events: readonly Event[]): { verdict: number; thread: Thread } {
  const reader = new ThreadReader()
  for (const [index, event] of events.entries()) {
    try {
      reader.accept(event)
    } catch {
      return { verdict: index, thread: reader.snapshot() }
    }
  }
  return { verdict: -1, thread: reader.snapshot() }
}

/**
 * Where their verdict goes by the tag of an event and ours by the owner of its item, while chunks are pending: AG-UI 1.0
 * closes the lane of the item's owner, whom an untagged continuation inherits. They also hold the END that they make
 * themselves against an owner that a tool result has changed meanwhile.
 */
function differsByOwner(events: readonly Event[]): boolean {
  const verifier = new Verifier(undefined, new Reporter(), DEFAULT_LIMITS)
  for (const event of events) {
    const { ledger } = verifier
    const subject = subjectOf(event, ledger)
    if (event.type === 'TOOL_CALL_RESULT' && ledger.get('text', event.messageId)?.pending !== undefined) return true
    if (subject !== undefined && subject.does !== 'chunk' && tagOf(event) === undefined && ledger.lanes.size > 0) {
      if ((subject.owned?.owner ?? subject.parent?.owner) !== undefined) return true
    }
    try {
      verifier.accept(event, () => {})
    } catch {
      return false
    }
  }
  return false
}

class Replay extends AbstractAgent {
  events: readonly Event[] = []

  run(): ReturnType<AbstractAgent['run']> {
    return from(structuredClone(this.events) as never[]) as never
  }
}

async function theirThread(events: readonly Event[]): Promise<{ messages: readonly Message[]; state: unknown }> {
  const agent = new Replay({ threadId: 't' })
  agent.events = events
  await agent.runAgent({ runId: 'r' })
  return { messages: agent.messages as Message[], state: agent.state as unknown }
}

/** Why the folds of a stream may differ, or undefined. */
function foldException(events: readonly Event[], theirs: readonly Message[], state: unknown): string | undefined {
  const ids = theirs.map(({ id }) => id)
  if (JSON.stringify(events).includes('/__proto__')) return 'they refuse a patch that names __proto__, which is a key like others in JSON'
  if (isCyclic({ theirs, state })) return 'they let a value be moved into itself (RFC 6902 §4.4 forbids it), which makes a cycle'
  if (new Set(ids).size < ids.length) return 'they keep two messages of one id'
  if (repeatsAnId(events)) return 'an id is used for two messages; we keep one of each'
  if (theirs.some((message) => message.role === 'activity' && (typeof message.content !== 'object' || message.content === null || Array.isArray(message.content)))) {
    return 'they let a patch make the content of an activity no object'
  }
  if (rulesIn(events).includes('state.null-baseline')) return 'they hold the deltas of a run against a null that its input could not carry'
  if (writesOntoParts(events)) return 'they replace the parts of a message by text that is streamed onto it'
  return undefined
}

function isCyclic(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return false
  } catch {
    return true
  }
}

/** Results, snapshots and hosts of calls that take an id which another message has, at any time in the stream. */
function repeatsAnId(events: readonly Event[]): boolean {
  const roles = new Map<string, string>()
  const see = (id: string, kind: string): boolean => {
    const before = roles.get(id)
    roles.set(id, kind)
    return before !== undefined && before !== kind
  }
  let repeated = false
  for (const event of events) {
    if (event.type === 'TOOL_CALL_RESULT') repeated = see(event.messageId, `result ${event.toolCallId} ${roles.size}`) || repeated
    else if (event.type === 'MESSAGES_SNAPSHOT') {
      repeated = new Set(event.messages.map(({ id }) => id)).size < event.messages.length || repeated
      for (const message of event.messages) repeated = see(message.id, message.role) || repeated
    } else if (event.type === 'RUN_STARTED') for (const message of event.input?.messages ?? []) repeated = see(message.id, message.role) || repeated
    else if (event.type.startsWith('TEXT_MESSAGE') && 'messageId' in event && event.messageId !== undefined) repeated = see(event.messageId, 'text') || repeated
    else if (event.type.startsWith('REASONING_MESSAGE') && 'messageId' in event && event.messageId !== undefined) repeated = see(event.messageId, 'reasoning') || repeated
    else if (event.type.startsWith('ACTIVITY') && 'messageId' in event && event.messageId !== undefined) repeated = see(event.messageId, 'activity') || repeated
    else if ((event.type === 'TOOL_CALL_START' || event.type === 'TOOL_CALL_CHUNK') && event.toolCallId !== undefined) {
      repeated = see(event.toolCallId, 'text') || repeated
      if (event.parentMessageId !== undefined) repeated = see(event.parentMessageId, 'text') || repeated
    }
  }
  return repeated
}

function rulesIn(events: readonly Event[]): string[] {
  const rules: string[] = []
  const reader = new ThreadReader({ onDiagnostic: ({ rule }) => rules.push(rule) })
  for (const event of events) reader.accept(event)
  return rules
}

function writesOntoParts(events: readonly Event[]): boolean {
  const reader = new ThreadReader()
  return events.some((event) => {
    const writes = event.type === 'TEXT_MESSAGE_CONTENT' || event.type === 'TEXT_MESSAGE_CHUNK' || event.type === 'REASONING_MESSAGE_CONTENT' || event.type === 'REASONING_MESSAGE_CHUNK'
    const onto = writes && reader.snapshot().messages.some(({ content }) => Array.isArray(content))
    reader.accept(event)
    return onto
  })
}

beforeAll(() => {
  for (const method of ['warn', 'error'] as const) vi.spyOn(console, method).mockImplementation(() => {})
})
afterAll(() => {
  vi.restoreAllMocks()
})

describe(`${STREAMS} random streams, seed ${SEED}`, () => {
  it('have the same first rejection and the same fold, or a named exception', { timeout: 900_000 }, async () => {
    const count = { streams: 0, rejected: 0, folded: 0, byOwner: 0 }
    const exceptions = new Map<string, number>()
    const unexplained: string[] = []
    for (let batch = 0; count.streams < STREAMS; batch++) {
      for (const events of fc.sample(anyEvents, { numRuns: Math.min(BATCH, STREAMS - count.streams), seed: SEED + batch })) {
        count.streams++
        const { verdict, thread } = ours(events)
        const their = theirVerdict(events)
        if (verdict !== their) {
          const first = Math.max(0, ...[verdict, their].filter((index) => index !== -1))
          if (!differsByOwner(events.slice(0, first + 1))) unexplained.push(`verdict ${verdict}, theirs ${their}: ${JSON.stringify(events.slice(0, first + 1))}`)
          count.byOwner++
          continue
        }
        if (verdict !== -1) {
          count.rejected++
          continue
        }
        if (!events.some(({ type }) => type === 'RUN_STARTED')) continue
        const { messages, state } = await theirThread(events)
        count.folded++
        try {
          expect({ messages: thread.messages, state: thread.state }).toEqual({ messages, state })
        } catch {
          const why = foldException(events, messages, state)
          if (why === undefined) {
            unexplained.push(`fold: ${JSON.stringify(events)}\n theirs ${JSON.stringify({ messages, state })}\n ours ${JSON.stringify({ messages: thread.messages, state: thread.state })}`)
            continue
          }
          exceptions.set(why, (exceptions.get(why) ?? 0) + 1)
        }
      }
    }
    // Shown, so that a run says what it covered; an exception that grew common would hide what it excuses.
    process.stdout.write(`${JSON.stringify({ ...count, exceptions: Object.fromEntries(exceptions) })}\n`)
    expect(unexplained.slice(0, 20)).toEqual([])
    expect(count.byOwner / count.streams).toBeLessThan(0.01)
    expect(count.folded).toBeGreaterThan(STREAMS / 100)
  })
})
