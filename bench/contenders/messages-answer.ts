/** The answer of those who keep AG-UI messages. */
import type { Message } from '@millrace/protocol'
import { callLine } from '../workloads/stream.ts'
import type { Outcome } from './contender.ts'

export function outcomeOf(messages: readonly Message[], state: unknown, seen = ''): Outcome {
  let [text, reasoning, calls, results] = ['', '', '', '']
  for (const message of messages) {
    if (message.role === 'reasoning') reasoning += message.content
    else if (message.role === 'tool') results += message.content
    else if (message.role === 'user') text += message.content
    else if (message.role === 'assistant') {
      text += message.content ?? ''
      for (const call of message.toolCalls ?? []) calls += callLine(call.function.name, call.function.arguments)
    }
  }
  return { text, reasoning, calls, results, state: JSON.stringify(state) ?? '', seen }
}
