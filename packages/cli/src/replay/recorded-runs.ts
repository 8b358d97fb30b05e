// The runs in a recording, each with what was asked and when its events came. It serves nothing.
import { parseNdjsonFrame, ProtocolError } from '@millrace/protocol'
import { parseRecordingLine, type EndLine, type RecordedRequest } from '@millrace/client/recording'
import { CommandError } from '../command-error.ts'
import { readFrames } from '../input/frames.ts'
import type { Source } from '../input/source.ts'
import type { StreamSink } from '../input/stream-sink.ts'

export interface RecordedEvent {
  /** Milliseconds since the run was asked for; 0 where the file tells no times. */
  readonly at: number
  readonly id?: string
  /** As JSON. */
  readonly data: string
}

export interface RecordedRun {
  readonly runId: string | undefined
  readonly events: readonly RecordedEvent[]
  /** Why the connection broke, if it did. */
  readonly broken?: { readonly message: string; readonly status?: number }
}

/**
 * All runs of an input, in order: requests of a recording, or what begins with RUN_STARTED in a stream of events.
 * @throws CommandError if the input cannot be read.
 */
export async function readRuns(source: Source): Promise<readonly RecordedRun[]> {
  const runs: RecordedRun[] = []
  let events: RecordedEvent[] = []
  let runId: string | undefined
  let began: number | undefined
  let split = true
  const close = (line?: EndLine): void => {
    const broken = line?.end === 'failed' && line.error !== undefined ? { broken: line.error } : {}
    if (events.length > 0 || 'broken' in broken) runs.push({ runId, events, ...broken })
    events = []
    runId = undefined
    began = undefined
  }
  const sink: StreamSink = {
    begin: (format, _label, request?: RecordedRequest) => {
      // What is sent over a subscription is told apart by its events alone, as are runs in a plain stream.
      split = format !== 'recording' || request?.kind === 'subscribe'
      began = undefined
    },
    frame: (frame) => {
      const line = parseRecordingLine(frame.data)
      const { event, id, at } = line !== undefined && 'chunk' in line ? { event: line.chunk, id: line.id, at: line.at } : { ...parseNdjsonFrame(frame), at: 0 }
      if (typeof event !== 'object' || event === null) return
      const { type, runId: named } = event as { readonly type?: unknown; readonly runId?: unknown }
      if (split && type === 'RUN_STARTED' && runId !== undefined && named !== runId) close()
      if (type === 'RUN_STARTED' && typeof named === 'string') runId = named
      began ??= at
      events.push({ at: at - began, ...(id !== undefined && { id }), data: JSON.stringify(event) })
    },
    binaryFrame: () => {},
    end: close,
  }
  try {
    await readFrames(source, undefined, sink)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw new CommandError(`${source.name} cannot be replayed: ${error.message}`, 'millrace check says what is wrong with it.')
  }
  return runs
}
