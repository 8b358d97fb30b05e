/** Newline-delimited JSON ⇄ frames: one line, one frame; blank lines are skipped. It does not look into the payload. */
import { withDefaults, type Limits } from '../limits.ts'
import type { FrameDecoder, FrameSink } from './frame.ts'
import { LineSplitter } from './lines.ts'

/**
 * Bytes or text of newline-delimited JSON → frames, one for each line that is not blank. One for each stream. Throws
 * ProtocolError `limit` (`frame.too-long`) through `feed`.
 */
export class NdjsonDecoder implements FrameDecoder {
  readonly #sink: FrameSink
  readonly #lines: LineSplitter

  constructor(sink: FrameSink, limits?: Partial<Limits>) {
    this.#sink = sink
    this.#lines = new LineSplitter((line) => {
      if (line.trim() !== '') this.#sink({ data: line, line: this.#lines.lines })
    }, withDefaults(limits).frameLength)
  }

  feed(chunk: string | Uint8Array): void {
    this.#lines.feed(chunk)
  }

  finish(): void {
    const rest = this.#lines.finish()
    if (rest !== undefined && rest.trim() !== '') this.#sink({ data: rest, line: this.#lines.lines + 1, unterminated: true })
  }
}

/** One value as a line. */
export function encodeNdjson(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}
