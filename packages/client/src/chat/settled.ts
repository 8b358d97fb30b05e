/**
 * Whether a RUN_FINISHED may not be the last, asked only for channels that stay open after a turn (a stream that
 * ends says so itself).
 */
import type { ThreadBuilder, Tool } from '@millrace/protocol'
import type { StreamChunk } from '../connection/adapter.ts'
import { finishReason } from '../connection/finish-reason.ts'

/**
 * TanStack AI finishes each model turn with reason `tool_calls` and goes on in the same run when the tools are the
 * server's. It does not go on when a tool of ours is called: then the answer is ours to give.
 */
export function mayGoOn(
  chunk: StreamChunk,
  context: { readonly builder: ThreadBuilder; readonly runContext: { readonly clientTools?: readonly Tool[] } },
): boolean {
  if (chunk.type !== 'RUN_FINISHED' || finishReason(chunk) !== 'tool_calls') return false
  const ours = new Set(context.runContext.clientTools?.map((tool) => tool.name))
  const { messages } = context.builder.snapshot()
  const last = messages.findLast((message) => message.role === 'assistant')
  const calls = last?.role === 'assistant' ? (last.toolCalls ?? []) : []
  return !calls.some((call) => ours.has(call.function.name))
}
