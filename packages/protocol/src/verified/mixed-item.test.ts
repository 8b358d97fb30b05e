/** Chunks and explicit events on one item (AG-UI 1.0, chunks: an explicit event closes its item's lane, and the item with it). */
import { expect, it } from 'vitest'
import { ThreadReader } from '../index.ts'

const started = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }

it.each([
  ['of the parent', [{ type: 'TEXT_MESSAGE_CHUNK', messageId: 'a', delta: 'x' }]],
  ['of a subagent that had it before', [
    { type: 'TEXT_MESSAGE_START', messageId: 'a', role: 'assistant', subagentRunId: 's1' },
    { type: 'TEXT_MESSAGE_END', messageId: 'a' },
    { type: 'TEXT_MESSAGE_CHUNK', messageId: 'a', delta: 'x' },
  ]],
])('content of a message that chunks stream is not open: %s', (_whose, events) => {
  const reader = new ThreadReader()
  for (const event of [started, ...events]) reader.accept(event)
  for (const type of ['TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END']) {
    expect(() => reader.accept({ type, messageId: 'a', delta: 'y' })).toThrow(expect.objectContaining({ rule: 'text.continue', event: events.length + 1 }))
  }
})
