/** The public names of @millrace/client/recording, an entry of its own: who does not record carries none of it. */
export { recordConnection, type RecordOptions, type Recording } from './recording/record-connection.ts'
export type { RecordingSink } from './recording/recorder.ts'
export {
  parseRecordingLine,
  RECORDING_VERSION,
  type AnswerLine,
  type EndLine,
  type EventLine,
  type LostLine,
  type RecordedEnd,
  type RecordedError,
  type RecordedRequest,
  type RecordingHeader,
  type RecordingLine,
  type RequestLine,
} from './recording/format.ts'
