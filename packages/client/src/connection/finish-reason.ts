/** Where a RUN_FINISHED says why it came. AG-UI 1.0 has no field for it; servers have. */
import type { StreamChunk } from './adapter.ts'

/** TanStack AI's reason: its own metadata, or the field it used before. */
export function finishReason(chunk: StreamChunk): unknown {
  const { finishReason: own, metadata } = chunk as { readonly finishReason?: unknown; readonly metadata?: unknown }
  const { tanstack } = Object(metadata) as { readonly tanstack?: unknown }
  return (Object(tanstack) as { readonly finishReason?: unknown }).finishReason ?? own
}
