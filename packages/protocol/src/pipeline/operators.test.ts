/** The operators: what they give, in which order, and how they end. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyEvents, defaultApplyEvents, EventVerifier, expandChunks, ProtocolError, UsageError, verifyEvents, type Event, type Thread, type VerifiedEvent } from '../index.ts'
import { anyEvents } from '../../test/arbitraries.ts'

const start: Event = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const chunk = (messageId: string, delta: string): Event => ({ type: 'TEXT_MESSAGE_CHUNK', messageId, delta })

async function all<Item>(source: AsyncIterable<Item>): Promise<{ items: Item[]; error: unknown }> {
  const items: Item[] = []
  try {
    for await (const item of source) items.push(item)
  } catch (error) {
    return { items, error }
  }
  return { items, error: undefined }
}

async function* later<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  for (const item of items) {
    await Promise.resolve()
    yield item
  }
}

describe('verifyEvents', () => {
  it('gives all that was valid, then throws', async () => {
    const { items, error } = await all(verifyEvents(later([start, chunk('m', 'x'), start])))
    expect(items.map(({ type }) => type)).toEqual(['RUN_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT'])
    expect(error).toBeInstanceOf(ProtocolError)
    expect(error).toMatchObject({ rule: 'run.nested', event: 2 })
  })

  it('reports a stream that ended too soon', async () => {
    const rules: string[] = []
    await all(verifyEvents([start], { onDiagnostic: ({ rule }) => rules.push(rule) }))
    expect(rules).toEqual(['run.truncated'])
  })
})

describe('expandChunks', () => {
  it('expands chunks and checks no other order', async () => {
    const stray: Event = { type: 'TEXT_MESSAGE_END', messageId: 'ghost' }
    const { items, error } = await all(expandChunks([stray, chunk('m', 'x'), chunk('n', 'y'), stray, start, start]))
    expect(error).toBeUndefined()
    expect(items.map(({ type }) => type)).toEqual([
      'TEXT_MESSAGE_END',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'TEXT_MESSAGE_END',
      'RUN_STARTED',
      'RUN_STARTED',
    ])
  })

  it('refuses a chunk that has no place', async () => {
    expect((await all(expandChunks([{ type: 'TEXT_MESSAGE_CHUNK', delta: 'x' }]))).error).toMatchObject({ rule: 'chunk.opener', event: 0 })
  })

  it('gives for a legal stream what verification gives', async () => {
    await fc.assert(
      fc.asyncProperty(anyEvents, async (events) => {
        const verified: VerifiedEvent[] = []
        const verifier = new EventVerifier()
        let legal = 0
        try {
          for (const event of events) {
            verifier.accept(event, (one) => verified.push(one))
            legal++
          }
        } catch {
          // As far as it was legal.
        }
        expect((await all(expandChunks(events.slice(0, legal)))).items).toEqual(verified)
      }),
    )
  })
})

describe('applyEvents', () => {
  it('gives a snapshot after each event, from history and state', async () => {
    const message = { id: 'u', role: 'user' as const, content: 'hi' }
    const events = [start, { type: 'TEXT_MESSAGE_START', messageId: 'm' }] as VerifiedEvent[]
    const { items } = await all<Thread>(applyEvents(events, { messages: [message], state: { n: 1 } }))
    expect(items.map(({ messages }) => messages.length)).toEqual([1, 2])
    expect(items[0]).toMatchObject({ state: { n: 1 }, messages: [message] })
  })

  it('has the name the AG-UI client gives it, and refuses what was not expanded', async () => {
    expect(defaultApplyEvents).toBe(applyEvents)
    expect((await all(applyEvents([chunk('m', 'x') as never]))).error).toBeInstanceOf(UsageError)
  })
})
