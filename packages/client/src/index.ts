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
  OpenToolCall,
  OutboxOptions,
  QueuedMessage,
  SendOptions,
  StoredMessage,
  ToolResultInput,
  TurnResult,
  WhenBusy,
} from './chat/options.ts'
export {
  attachHeld,
  chatMethods,
  chatSelector,
  endHeld,
  followClient,
  holdClient,
  isHeldBy,
  updateHeld,
  type ChatMethods,
  type ChatSource,
  type HeldClient,
  type NewChat,
  type SharedChat,
  type LifetimeOptions,
} from './chat/binding.ts'
export type { LiveState } from './chat/line.ts'
export type { Keeper, KeptChat, Persistence, Recalled } from './chat/keeper.ts'
export type { LeftRun, ThreadBase } from './chat/left-run.ts'
export { persisted, type PersistedOptions } from './persistence/persisted.ts'
export { memoryStorage, type ChatStorage } from './persistence/storage.ts'
export { webStorage, type WebStorageLike, type WebStorageOptions } from './persistence/web-storage.ts'
export { StorageError, type StorageErrorCode } from './persistence/storage-error.ts'
export type { Migrations, StoredBase, StoredContent, StoredThread, StoredUnderway } from './persistence/stored-thread.ts'
export type { StoredRun } from './chat/told-runs.ts'
export { sharedTabs, type News, type SharedTabsOptions, type TabChannel, type TabLine, type Tabs } from './persistence/tabs.ts'
export type { Claims, LockManagerLike } from './persistence/claims.ts'
export { isExpired, toolInput, UsageError, type ApprovalDecision } from '@millrace/protocol'
export { defineTool, type ClientTool, type ToolContext, type ToolDefinition } from './tools/define-tool.ts'
export type { SchemaInput, SchemaIssue, SchemaOutput, SchemaResult, StandardSchema } from './tools/standard-schema.ts'
export type {
  AnswerSchemas,
  AnswerTo,
  ChatTypes,
  ChatTypesOf,
  InterruptOf,
  OpenToolCallOf,
  OtherName,
  OutputSchema,
  PartOf,
  ToolCallPartOf,
  ToolList,
  ToolResultOf,
} from './tools/tool-types.ts'
export { callOf } from './tools/call-of.ts'
export { structured } from './output/structured.ts'
export type { OutputReader, OutputReaderParts, StructuredOutput } from './output/reader.ts'
export { OutputError, type OutputErrorCode } from './output/output-error.ts'
export { readThread, type ReadThreadOptions, type ThreadSource } from './read-thread.ts'

export type {
  CancelledRun,
  ConnectConnectionAdapter,
  ConnectionAdapter,
  HydratedThread,
  LinkState,
  LooseChunk,
  RequestData,
  RunAgentInputContext,
  ServerSide,
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
export { xhrHttpStream, xhrServerSentEvents, type XhrConnectionOptions, type XhrOptionsSource } from './connection/xhr.ts'
export type { ProtobufCodec } from './connection/deliveries.ts'
export type { HttpConnectionAdapter } from './connection/http-adapter.ts'
export type { ConnectionWarning, HttpConnectionOptions } from './connection/run-request.ts'
export type { ReconnectInfo, ReconnectOptions } from './connection/backoff.ts'
export type { ConnectionEnvironment } from './connection/environment.ts'
export type { Clock } from './clock.ts'
export { DEFAULT_CLIENT_LIMITS, type ClientLimits } from './limits.ts'
export {
  webSocket,
  type WebSocketConnection,
  type WebSocketConnectionOptions,
  type WebSocketConstructor,
  type WebSocketLike,
} from './connection/web-socket.ts'
export {
  fetcherToConnectionAdapter,
  rpcStream,
  stream,
  type ChatFetcher,
  type FetcherInput,
  type StreamFactory,
  type StreamHandlers,
  type StreamSource,
} from './connection/stream.ts'
export { readStreamLines, responseToSSEChunks, type ByteReader, type ByteStreamOptions } from './connection/bytes.ts'
export { readXhrLines, type XhrReaderOptions } from './connection/xhr-reader.ts'
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
export type { Coalesce } from './scheduler.ts'
export type { GenerateId, IdKind } from './ids.ts'
