/** Reads a body piece by piece until it ends, breaks or is given up. It knows nothing of what the pieces hold. */
import { StreamTruncatedError } from '../errors.ts'

/** What is needed of a `ReadableStreamDefaultReader`. */
export interface ByteReader {
  read(): Promise<{ readonly done?: boolean | undefined; readonly value?: Uint8Array | string | undefined }>
  cancel(): Promise<unknown>
}

/** What {@link readPieces} gives for each read, and once more at the end. */
export type Piece = { readonly bytes: Uint8Array | string } | { readonly end: 'closed' | 'broken'; readonly cause?: unknown }

/**
 * The pieces of a body until it ends, breaks or `signal` aborts (then nothing more comes, not even an end). Leaves
 * the body cancelled unless it was read to its end.
 */
export async function* readPieces(reader: ByteReader, signal: AbortSignal | undefined): AsyncGenerator<Piece, void, undefined> {
  let ended = false
  const cancel = (): void => {
    // A body that has failed already rejects here too.
    reader.cancel().catch(() => {})
  }
  if (signal?.aborted) return cancel()
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    while (!signal?.aborted) {
      let result: Awaited<ReturnType<ByteReader['read']>>
      try {
        result = await reader.read()
      } catch (cause) {
        ended = true
        if (!signal?.aborted) yield { end: 'broken', cause }
        return
      }
      if (signal?.aborted) return
      if (result.done) {
        ended = true
        yield { end: 'closed' }
        return
      }
      if (result.value !== undefined) yield { bytes: result.value }
    }
  } finally {
    signal?.removeEventListener('abort', cancel)
    if (!ended) cancel()
  }
}

/** The error for bytes that ended too soon; `cause` itself if it is one that says so already. */
export function truncated(what: string, url?: string, cause?: unknown): StreamTruncatedError {
  if (cause instanceof StreamTruncatedError) return cause
  return new StreamTruncatedError(what, { ...(url !== undefined && { url }), ...(cause !== undefined && { cause }) })
}
