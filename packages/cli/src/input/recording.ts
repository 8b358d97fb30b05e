// A recording (docs/recordings.md) → its streams. Those that ran side by side are given one after the other, in the order in
// which they began; what was sent over a subscription stands where it was sent.
import { NdjsonDecoder, type Frame } from '@millrace/protocol'
import { parseRecordingLine, RECORDING_VERSION, type EndLine, type RecordedRequest, type RecordingLine } from '@millrace/client/recording'
import { CommandError } from '../command-error.ts'
import type { StreamSink } from './stream-sink.ts'

type Item = { readonly line: RecordingLine; readonly frame: Frame }

export class RecordingDecoder {
  readonly #sink: StreamSink
  readonly #lines: NdjsonDecoder
  /** The stream that is being given. */
  #current: number | undefined
  /** Streams that began meanwhile. */
  readonly #waiting = new Map<number, Item[]>()

  constructor(sink: StreamSink) {
    this.#sink = sink
    this.#lines = new NdjsonDecoder((frame) => {
      const line = parseRecordingLine(frame.data)
      // A line that is cut is the last one; what is not known is for later versions.
      if (line !== undefined) this.#take({ line, frame })
    })
  }

  feed(chunk: string | Uint8Array): void {
    this.#lines.feed(chunk)
  }

  finish(): void {
    this.#lines.finish()
    while (this.#current !== undefined) this.#end(undefined)
  }

  #take(item: Item): void {
    const { line } = item
    if ('recording' in line) return requireVersion(line.recording)
    if ('request' in line && isStream(line.request)) {
      if (this.#current === undefined) this.#begin(line.of, line.request)
      else this.#waiting.set(line.of, [item])
      return
    }
    const waiting = this.#waiting.get(line.of)
    if (waiting !== undefined) waiting.push(item)
    else this.#give(item)
  }

  #give({ line, frame }: Item): void {
    if ('chunk' in line) {
      // Without its request the file has lost its beginning, or was written by hand.
      if (this.#current === undefined) this.#begin(line.of, { kind: 'run' })
      const { type } = Object(line.chunk) as { readonly type?: unknown }
      // It stands for an error of the connection, which the end of the stream tells.
      if (line.made === true && type === 'RUN_ERROR') return
      this.#sink.frame(frame)
    } else if ('end' in line) {
      if (line.of === this.#current) this.#end(line)
    } else if ('request' in line) {
      if (line.request.kind === 'send') this.#sink.input?.(line.request.input)
    } else if ('answer' in line) {
      this.#sink.input?.(line.answer)
    }
  }

  #begin(of: number, request: RecordedRequest): void {
    this.#current = of
    this.#sink.begin('recording', undefined, request)
  }

  #end(line: EndLine | undefined): void {
    this.#current = undefined
    this.#sink.end(line)
    const next = this.#waiting.entries().next()
    if (next.done === true) return
    const [of, items] = next.value
    this.#waiting.delete(of)
    for (const { line: each, frame } of items) {
      if ('request' in each && isStream(each.request)) this.#begin(of, each.request)
      else this.#give({ line: each, frame })
    }
  }
}

function isStream({ kind }: RecordedRequest): boolean {
  return kind === 'run' || kind === 'join' || kind === 'subscribe'
}

function requireVersion(version: number): void {
  if (version === RECORDING_VERSION) return
  throw new CommandError(`The input is a recording of version ${version}`, `This millrace reads version ${RECORDING_VERSION}.`)
}
