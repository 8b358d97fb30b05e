/** What tests do with streams of events, and recordings. The events of small runs are in `runs.ts`. */
import { readFileSync } from 'node:fs'
import type { StreamChunk } from '@millrace/client'
import { started } from './runs.ts'

export * from './runs.ts'

export const interrupted = (runId: string, ...interrupts: object[]): StreamChunk[] => [
  started(runId),
  { type: 'RUN_FINISHED', threadId: 't1', runId, outcome: { type: 'interrupt', interrupts } },
]

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

export const recording = (name: string): string =>
  readFileSync(new URL(`../../../conformance/recordings/${name}`, import.meta.url), 'utf8')
