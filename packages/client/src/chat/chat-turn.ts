/** A turn of a chat: what each of its events does to what the chat holds, and when a run that is read again shows. It knows no phase. */
import type { LateEvents } from '../connection/late-events.ts'
import type { Callbacks } from './callbacks.ts'
import type { Conversation } from './conversation.ts'
import type { ChatClientOptions } from './options.ts'
import { Turn } from './turn.ts'
import type { Plan } from './underway.ts'

export interface ChatTurnParts {
  readonly options: Pick<ChatClientOptions, 'mode' | 'limits'>
  readonly conversation: Conversation
  readonly callbacks: Callbacks
  /** Something changed by the stream. */
  onProgress(): void
}

/** What runs the turn. */
export interface TurnHost {
  readonly late: LateEvents
  /** Nobody has stopped it, or left it. */
  isOn(): boolean
  /** An event came, before anybody is told. */
  onEvent(): void
}

/** Makes the turn of a plan; it is not started. */
export function chatTurn({ conversation, callbacks, options, onProgress }: ChatTurnParts, { source, builder, runContext, seen }: Plan, { late, isOn, onEvent }: TurnHost): Turn {
  const turn: Turn = new Turn({
    source,
    runContext,
    builder,
    late,
    mode: options.mode ?? 'tolerant',
    ...(options.limits !== undefined && { limits: options.limits }),
    onEvent: (event, index) => {
      onEvent()
      if (conversation.outputs !== undefined) conversation.outputs.take(builder, event)
      else if (event.type === 'CUSTOM' && event.name === 'structured-output.complete') callbacks.log('The agent answered a value, which is not read; give the option `output: structured()`.', event)
      conversation.hear(event, index < seen, builder)
      // What is read again was told before.
      if (index >= seen) callbacks.call('onEvent', event, index)
    },
    onDiagnostic: (diagnostic) => callbacks.diagnostic(diagnostic),
    onProgress: () => {
      if (conversation.builder !== builder && turn.seen >= seen && isOn()) conversation.showAgain(builder)
      onProgress()
    },
  })
  return turn
}
