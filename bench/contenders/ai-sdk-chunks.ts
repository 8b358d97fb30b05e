/** The same stream in the chunks of `ai`: one message for each run, steps as steps. Shared state has no counterpart. */
import type { Event } from '@millrace/protocol'
import type { UIMessageChunk } from 'ai'

export function uiMessageChunks(events: readonly Event[]): UIMessageChunk[] {
  const calls = new Map<string, { readonly toolName: string; text: string }>()
  return events.flatMap((event): UIMessageChunk[] => {
    switch (event.type) {
      case 'RUN_STARTED':
        return [{ type: 'start', messageId: event.runId }]
      case 'RUN_FINISHED':
        return [{ type: 'finish' }]
      case 'STEP_STARTED':
        return [{ type: 'start-step' }]
      case 'STEP_FINISHED':
        return [{ type: 'finish-step' }]
      case 'TEXT_MESSAGE_START':
        return [{ type: 'text-start', id: event.messageId }]
      case 'TEXT_MESSAGE_CONTENT':
        return [{ type: 'text-delta', id: event.messageId, delta: event.delta }]
      case 'TEXT_MESSAGE_END':
        return [{ type: 'text-end', id: event.messageId }]
      case 'REASONING_MESSAGE_START':
        return [{ type: 'reasoning-start', id: event.messageId }]
      case 'REASONING_MESSAGE_CONTENT':
        return [{ type: 'reasoning-delta', id: event.messageId, delta: event.delta }]
      case 'REASONING_MESSAGE_END':
        return [{ type: 'reasoning-end', id: event.messageId }]
      case 'TOOL_CALL_START':
        calls.set(event.toolCallId, { toolName: event.toolCallName, text: '' })
        return [{ type: 'tool-input-start', toolCallId: event.toolCallId, toolName: event.toolCallName }]
      case 'TOOL_CALL_ARGS': {
        const call = calls.get(event.toolCallId)
        if (call !== undefined) call.text += event.delta
        return [{ type: 'tool-input-delta', toolCallId: event.toolCallId, inputTextDelta: event.delta }]
      }
      case 'TOOL_CALL_END': {
        const { toolName = '', text = 'null' } = calls.get(event.toolCallId) ?? {}
        return [{ type: 'tool-input-available', toolCallId: event.toolCallId, toolName, input: JSON.parse(text) }]
      }
      case 'TOOL_CALL_RESULT':
        return [{ type: 'tool-output-available', toolCallId: event.toolCallId, output: JSON.parse(event.content as string) }]
      default:
        return []
    }
  })
}
