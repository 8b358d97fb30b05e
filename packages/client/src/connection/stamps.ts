/**
 * What is known about a chunk besides its fields. Content events carry no run id, and events are never mutated, so it
 * stands beside them, keyed by the object and gone with it.
 */
import type { StreamChunk } from './adapter.ts'

const chunkRunIds = new WeakMap<object, string>()
const batchRunIds = new WeakMap<readonly StreamChunk[], string>()
const synthetic = new WeakSet<object>()

/** Notes which request a chunk came from. */
export function stampRunId(chunk: StreamChunk, runId: string | undefined): void {
  // A peer may send a number or null where an event belongs; that is told later, and it cannot be a key.
  if (runId !== undefined && isObject(chunk)) chunkRunIds.set(chunk, runId)
}

/** Run of a chunk: its own `runId` if it names one, else that of the request it came from. */
export function getChunkRunId(chunk: StreamChunk): string | undefined {
  if (!isObject(chunk)) return undefined
  const own = (chunk as { readonly runId?: unknown }).runId
  return typeof own === 'string' && own !== '' ? own : chunkRunIds.get(chunk)
}

/**
 * Notes which request a batch came from. Weak keys are dear, so chunks that stay inside of this package are stamped by
 * the batch, and alone only when they are handed out.
 */
export function stampBatch(batch: readonly StreamChunk[], runId: string | undefined): void {
  if (runId !== undefined) batchRunIds.set(batch, runId)
}

export function batchRunId(batch: readonly StreamChunk[]): string | undefined {
  return batchRunIds.get(batch)
}

/** Marks a terminal event that we made up in place of one the peer did not send. */
export function markSynthetic<Chunk extends object>(chunk: Chunk): Chunk {
  synthetic.add(chunk)
  return chunk
}

export function isSynthetic(chunk: StreamChunk): boolean {
  return isObject(chunk) && (chunk.type === 'RUN_FINISHED' || chunk.type === 'RUN_ERROR') && synthetic.has(chunk)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
