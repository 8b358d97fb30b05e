/** The public names of @millrace/protocol/proto: AG-UI in protobuf, loaded only by who uses it. */
export {
  encodeLengthPrefixed,
  LengthPrefixedDecoder,
  type BinaryFrame,
  type BinaryFrameSink,
} from './frames/length-prefixed.ts'
export { decodeEvent, parseBinaryFrame, ProtoDecoder, type UncheckedEvent } from './proto/decode.ts'
export { encodeEvent, encodeFrame } from './proto/encode.ts'

/** The media type of a stream of frames, for `Accept` and `Content-Type`. Compare it without parameters or case. */
export const PROTO_MEDIA_TYPE: string = 'application/vnd.ag-ui.event+proto'
