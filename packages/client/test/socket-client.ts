/** The client's side of tests over WebSockets: connections closed with their test, listeners, and runs worth cutting. */
import { webSocket, type ChatClient, type RunAgentInputContext, type StreamChunk, type WebSocketConnection, type WebSocketConnectionOptions } from '@millrace/client'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { finished, started, text, userMessage } from './runs.ts'

export const context: RunAgentInputContext = { threadId: 't1', runId: 'r1' }
export const messages = [userMessage()]
/** No waiting between attempts. */
const reconnect = { random: () => 0 }

export function open(url: string, options: WebSocketConnectionOptions = {}): WebSocketConnection {
  const connection = webSocket(url, { WebSocketImpl: WebSocket, reconnect, ...options })
  onTestFinished(() => connection.close())
  return connection
}

/** What a listener gets, from now on. */
export function listen(connection: WebSocketConnection) {
  const controller = new AbortController()
  onTestFinished(() => controller.abort())
  const events: StreamChunk[] = []
  const reading = (async () => {
    for await (const event of connection.subscribe(controller.signal)) events.push(event)
  })()
  reading.catch(() => {})
  return { events, reading, stop: () => controller.abort() }
}

/** Sends and does not wait for the run; what it fails with is in its events. */
export const start = (connection: WebSocketConnection, runContext = context, signal?: AbortSignal): void =>
  void connection.send(messages, undefined, signal, runContext).catch(() => {})

export const envelopes = (events: readonly StreamChunk[], from = 0) => events.map((chunk, index) => ({ id: String(from + index), chunk }))
export const isInput = (message: any): boolean => message.type === undefined
export const chatText = (chat: ChatClient): string =>
  chat.getSnapshot().messages.flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.content : `[${part.type}]`))).join('|')

/** Two model turns of one run, with a RUN_FINISHED after each, as TanStack AI sends them. */
export const toolTurns: StreamChunk[] = [
  started(),
  { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'look' },
  { type: 'TOOL_CALL_END', toolCallId: 'c1' },
  { ...finished(), finishReason: 'tool_calls' },
  { type: 'TOOL_CALL_RESULT', messageId: 'x1', toolCallId: 'c1', content: '4' },
  ...text('Done', 'm2'),
  { ...finished(), finishReason: 'stop' },
]
export const FIRST_TURN = 4
