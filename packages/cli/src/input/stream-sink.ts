// Who takes the frames of an input, stream by stream. Types only.
import type { Frame } from '@millrace/protocol'
import type { BinaryFrame } from '@millrace/protocol/proto'
import type { EndLine, RecordedRequest } from '@millrace/client/recording'
import type { Format } from './detect.ts'

export interface StreamSink {
  /** A stream begins. `label` tells it from others of the same input; absent where there is only one. */
  begin(format: Format, label?: string, request?: RecordedRequest): void
  /** Of a recording: what the server was asked with, or answered, from here on. */
  input?(input: unknown): void
  frame(frame: Frame): void
  /** Of a stream in protobuf. */
  binaryFrame(frame: BinaryFrame): void
  /** The stream ended; in a recording, like this. */
  end(line?: EndLine): void
}
