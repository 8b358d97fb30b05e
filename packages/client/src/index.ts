/** The public names of @millrace/client. */
export { ChatClient } from './chat/chat-client.ts'
export type {
  ChatClientOptions,
  ChatClientSettings,
  ChatSnapshot,
  ChatStatus,
  InterruptAnswer,
  Logger,
  MessageInput,
  SendOptions,
  StoredMessage,
  TurnResult,
} from './chat/options.ts'
export { isExpired } from './chat/interrupts.ts'
export { readThread, type ReadThreadOptions, type ThreadSource } from './read-thread.ts'

export type {
  ConnectConnectionAdapter,
  ConnectionAdapter,
  LooseChunk,
  RequestData,
  RunAgentInputContext,
  StreamChunk,
  SubscribeConnectionAdapter,
} from './connection/adapter.ts'
export { normalizeConnectionAdapter, type NormalizedConnection } from './connection/normalize.ts'
export {
  fetchHttpStream,
  fetchServerSentEvents,
  type FetchConnectionOptions,
  type FetchOptionsSource,
  type UrlSource,
} from './connection/fetch.ts'
export {
  fetcherToConnectionAdapter,
  stream,
  type ChatFetcher,
  type FetcherInput,
  type StreamFactory,
  type StreamSource,
} from './connection/stream.ts'
export { readStreamLines, responseToSSEChunks, type ByteReader, type ByteStreamOptions } from './connection/bytes.ts'
export { getResponseStreamReader } from './connection/response-stream.ts'
export { abortableIterable } from './connection/abortable.ts'
export { getChunkRunId } from './connection/stamps.ts'
export { requireSyntheticId } from './connection/terminal.ts'

export {
  AgentError,
  StreamTruncatedError,
  TransportError,
  UnsupportedResponseStreamError,
  type TransportErrorCode,
  type TransportErrorData,
} from './errors.ts'
export type { GenerateId, IdKind } from './ids.ts'
