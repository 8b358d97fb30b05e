/** Events of small runs, as plain JSON, and what tests do with streams of them. */
import { readFileSync } from 'node:fs'
import type { StreamChunk } from '@millrace/client'

export const started = (runId = 'r1', threadId = 't1') => ({ type: 'RUN_STARTED', threadId, runId }) as const
export const finished = (runId = 'r1', threadId = 't1') => ({ type: 'RUN_FINISHED', threadId, runId }) as const
export const failed = (message = 'no') => ({ type: 'RUN_ERROR', message }) as const

export function text(content: string, messageId = 'm1'): StreamChunk[] {
  return [
    { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
    ...[...content].map((delta) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })),
    { type: 'TEXT_MESSAGE_END', messageId },
  ]
}

export const hello = (runId = 'r1', content = 'Hello', messageId = `m-${runId}`): StreamChunk[] => [
  started(runId),
  ...text(content, messageId),
  finished(runId),
]

export const interrupted = (runId: string, ...interrupts: object[]): StreamChunk[] => [
  started(runId),
  { type: 'RUN_FINISHED', threadId: 't1', runId, outcome: { type: 'interrupt', interrupts } },
]

export const sse = (events: readonly unknown[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
export const ndjson = (events: readonly unknown[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join('')

export async function* iterate<Item>(items: readonly Item[]): AsyncGenerator<Item, void, undefined> {
  yield* items
}

export async function collect<Item>(source: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of source) items.push(item)
  return items
}

/** What came before the error, and the error. */
export async function collectUntilError<Item>(source: AsyncIterable<Item>): Promise<{ items: Item[]; error: any }> {
  const items: Item[] = []
  try {
    for await (const item of source) items.push(item)
  } catch (error) {
    return { items, error }
  }
  return { items, error: undefined }
}

export async function caught(run: () => unknown): Promise<any> {
  try {
    await run()
  } catch (error) {
    return error
  }
  return undefined
}

export const types = (chunks: readonly StreamChunk[]): string[] => chunks.map((chunk) => chunk.type)

export const tick = (ms = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits until `condition` holds. */
export async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 3000
  while (!condition()) {
    if (Date.now() > end) throw new Error('The condition did not come true within 3 s.')
    await tick(2)
  }
}

export const recording = (name: string): string =>
  readFileSync(new URL(`../../../conformance/recordings/${name}`, import.meta.url), 'utf8')

export const userMessage = (content = 'Hi', id = 'u1') => ({ id, role: 'user', parts: [{ type: 'text', content }] }) as const
