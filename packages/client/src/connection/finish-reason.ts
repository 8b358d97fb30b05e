/** Where a RUN_FINISHED says why it came. AG-UI 1.0 has no field for it; servers have. */
import type { LooseChunk, StreamChunk } from './adapter.ts'

/** TanStack AI's reason: its own metadata, or the field it used before. */
export function finishReason(chunk: StreamChunk): unknown {
  const { finishReason: own, metadata } = chunk as { readonly finishReason?: unknown; readonly metadata?: unknown }
  const { tanstack } = Object(metadata) as { readonly tanstack?: unknown }
  return (Object(tanstack) as { readonly finishReason?: unknown }).finishReason ?? own
}

/** Whether an event ends its run, as far as it says: with reason `tool_calls` TanStack AI goes on in the same run. */
export function endsRun(chunk: StreamChunk): boolean {
  const { type } = Object(chunk) as Partial<LooseChunk>
  return type === 'RUN_ERROR' || (type === 'RUN_FINISHED' && finishReason(chunk) !== 'tool_calls')
}
