/**
 * Log entries → bytes of a response, as fast as the reader takes them: nothing is read from the log before somebody
 * asks for bytes. Heartbeats fill silence. It knows no HTTP status and no run.
 */
import { encodeSse, encodeSseComment } from '@millrace/protocol'
import type { Clock } from './clock.ts'
import type { Reader } from './hub.ts'
import type { LogEntry } from './log/contract.ts'

export type StreamFormat = 'sse' | 'ndjson'

export const CONTENT_TYPES: Readonly<Record<StreamFormat, string>> = {
  sse: 'text/event-stream',
  ndjson: 'application/x-ndjson',
}

interface Encoding {
  entry(entry: LogEntry): string
  /** Says nothing to the client, and to proxies that the connection is in use. */
  readonly heartbeat: string
}

/** Entries are JSON text already: it is framed as it is. */
const ENCODINGS: Readonly<Record<StreamFormat, Encoding>> = {
  sse: {
    entry: ({ offset, data }) => encodeSse({ data, id: offset }),
    heartbeat: encodeSseComment('heartbeat'),
  },
  ndjson: {
    entry: ({ offset, data }) => `{"id":${JSON.stringify(offset)},"chunk":${data}}\n`,
    heartbeat: '\n',
  },
}

/**
 * SSE unless the client names NDJSON and does not prefer SSE. AG-UI 1.0 makes SSE mandatory, so that a client which
 * accepts neither is given SSE too, as RFC 9110 §12.5.1 allows.
 */
export function negotiate(accept: string | null): StreamFormat {
  const quality = new Map<string, number>()
  for (const part of (accept ?? '').split(',')) {
    const [type = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    const q = parameters.find((parameter) => parameter.startsWith('q='))
    quality.set(type, q === undefined ? 1 : Number(q.slice(2)) || 0)
  }
  const ndjson = Math.max(quality.get('application/x-ndjson') ?? 0, quality.get('application/ndjson') ?? 0)
  return ndjson > 0 && ndjson >= (quality.get('text/event-stream') ?? 0) ? 'ndjson' : 'sse'
}

export interface StreamOptions {
  readonly format: StreamFormat
  readonly clock: Clock
  /** Milliseconds of silence before a heartbeat; Infinity for none. */
  readonly heartbeatMs: number
  /** Closes the stream when the client is gone, for platforms that do not cancel the body. */
  readonly signal: AbortSignal
  /** Called with each heartbeat. */
  onSilence(): void
}

/** Most text that is encoded at a time: entries can be large, and the client may never take them. */
const CHUNK_LENGTH = 64 * 1024

type Outcome = { readonly batch: readonly LogEntry[] | undefined } | { readonly error: unknown }

/** A body that ends when the run has ended and is read, and fails when the log fails. */
export function streamEntries(reader: Reader, options: StreamOptions): ReadableStream<Uint8Array> {
  const { clock, heartbeatMs, signal, onSilence } = options
  const encoding = ENCODINGS[options.format]
  const utf8 = new TextEncoder()
  let outcome: Outcome | undefined
  let batch: readonly LogEntry[] = []
  let taken = 0
  let waiting = false
  let wake = (): void => undefined
  let cancelHeartbeat = (): void => undefined

  // One read is under way at most, over however many heartbeats.
  const read = (): void => {
    if (waiting) return
    waiting = true
    const settle = (result: Outcome): void => {
      outcome = result
      waiting = false
      wake()
    }
    reader.next().then(
      (entries) => settle({ batch: entries }),
      (error: unknown) => settle({ error }),
    )
  }
  const nextChunk = (): Uint8Array => {
    let text = ''
    for (let entry = batch[taken]; entry !== undefined && text.length < CHUNK_LENGTH; entry = batch[++taken]) {
      text += encoding.entry(entry)
    }
    return utf8.encode(text)
  }
  const stop = (): void => {
    signal.removeEventListener('abort', stop)
    cancelHeartbeat()
    reader.close()
    wake()
  }

  return new ReadableStream<Uint8Array>(
    {
      start() {
        if (signal.aborted) stop()
        else signal.addEventListener('abort', stop)
      },
      async pull(controller) {
        if (taken < batch.length) return controller.enqueue(nextChunk())
        let silent = false
        read()
        if (outcome === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve
            cancelHeartbeat = clock.after(heartbeatMs, () => {
              silent = true
              resolve()
            })
          })
          cancelHeartbeat()
        }
        const result = outcome
        outcome = undefined
        if (result === undefined) {
          if (!silent) return controller.close()
          controller.enqueue(utf8.encode(encoding.heartbeat))
          return onSilence()
        }
        if ('error' in result) {
          stop()
          return controller.error(result.error)
        }
        if (result.batch === undefined) {
          stop()
          return controller.close()
        }
        batch = result.batch
        taken = 0
        return controller.enqueue(nextChunk())
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  )
}
