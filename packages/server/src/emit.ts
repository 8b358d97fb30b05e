/**
 * The helpers of `run`: they write events in pairs and close what they open. They know no rule of order beyond
 * that; `producer.ts` verifies what they push.
 */
import type { Event } from '@millrace/protocol'
import type {
  ActivityWriter,
  Emitter,
  ReasoningOptions,
  StepWriter,
  Streamed,
  SubagentOptions,
  TextOptions,
  TextWriter,
  ToolCallOptions,
  ToolCallWriter,
} from './agent.ts'
import { AgentError } from './errors.ts'

/** Takes an event; settles when more may come. */
export type Push = (event: Event) => Promise<void>

/** Gives `value` if there is one; optional fields of events are left out, never undefined. */
function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { [K in Key]?: Value }
}

function isStream(value: unknown): value is AsyncIterable<string> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** Sees each promise a helper gives out. */
export type Track = <Result>(promise: Promise<Result>) => Promise<Result>

/** Runs `body`, then `close`; if `body` fails, its error is the one that counts. */
async function closing<Result>(body: () => Promise<Result>, close: () => Promise<void>): Promise<Result> {
  let result: Result
  try {
    result = await body()
  } catch (error) {
    await close().catch(() => undefined)
    throw error
  }
  await close()
  return result
}

async function writeAll(content: Streamed, write: (delta: string) => Promise<void>): Promise<void> {
  if (typeof content === 'string') await write(content)
  else for await (const delta of content) await write(delta)
}

/** The three helpers that stream text differ in the events around it. */
interface StreamEvents {
  readonly open: readonly Event[]
  delta(delta: string): Event
  readonly close: readonly Event[]
}

export interface EmitterOptions {
  readonly push: Push
  /** Is given what may be left unawaited: the promises of helpers that write more than one event. */
  readonly track: Track
  /** Gives fresh ids for messages, calls and subagents. */
  readonly createId: () => string
  readonly readState: () => unknown
}

/** @param subagentRunId marks everything written as this subagent's. */
export function createEmitter(options: EmitterOptions, subagentRunId?: string): Emitter {
  const { push, track, createId, readState } = options
  const tag = optional('subagentRunId', subagentRunId)

  const stream = async (events: StreamEvents, content: Streamed | undefined): Promise<Pick<TextWriter, 'write' | 'end'>> => {
    let open = true
    const pushAll = async (list: readonly Event[]): Promise<void> => {
      for (const event of list) await push(event)
    }
    const end = async (): Promise<void> => {
      if (!open) return
      open = false
      await pushAll(events.close)
    }
    const write = async (delta: string): Promise<void> => {
      // Models send empty pieces; they say nothing.
      if (delta !== '') await push(events.delta(delta))
    }
    await pushAll(events.open)
    if (content !== undefined) {
      // Stays open if this fails: an END would say complete. RUN_ERROR abandons it, or the end of the run closes it.
      await writeAll(content, write)
      await end()
    }
    return { write: (delta) => track(write(delta)), end: () => track(end()) }
  }

  const text = async (content?: Streamed, options: TextOptions = {}): Promise<TextWriter> => {
    const { messageId = createId(), role = 'assistant', name } = options
    const writer = await stream(
      {
        open: [{ type: 'TEXT_MESSAGE_START', messageId, role, ...optional('name', name), ...tag }],
        delta: (delta) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta, ...tag }),
        close: [{ type: 'TEXT_MESSAGE_END', messageId, ...tag }],
      },
      content,
    )
    return { messageId, ...writer }
  }

  const reasoning = async (content?: Streamed, options: ReasoningOptions = {}): Promise<TextWriter> => {
    const { messageId = createId() } = options
    const writer = await stream(
      {
        open: [
          { type: 'REASONING_START', messageId, ...tag },
          { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning', ...tag },
        ],
        delta: (delta) => ({ type: 'REASONING_MESSAGE_CONTENT', messageId, delta, ...tag }),
        close: [
          { type: 'REASONING_MESSAGE_END', messageId, ...tag },
          { type: 'REASONING_END', messageId, ...tag },
        ],
      },
      content,
    )
    return { messageId, ...writer }
  }

  const toolCall = async (
    toolCallName: string,
    args?: Streamed | Readonly<Record<string, unknown>>,
    options: ToolCallOptions = {},
  ): Promise<ToolCallWriter> => {
    const { toolCallId = createId(), parentMessageId } = options
    const writer = await stream(
      {
        open: [{ type: 'TOOL_CALL_START', toolCallId, toolCallName, ...optional('parentMessageId', parentMessageId), ...tag }],
        delta: (delta) => ({ type: 'TOOL_CALL_ARGS', toolCallId, delta, ...tag }),
        close: [{ type: 'TOOL_CALL_END', toolCallId, ...tag }],
      },
      args === undefined || typeof args === 'string' || isStream(args) ? args : JSON.stringify(args),
    )
    const result: ToolCallWriter['result'] = async (content, { messageId = createId() } = {}) => {
      await writer.end()
      const sent = typeof content === 'string' || Array.isArray(content) ? content : JSON.stringify(content)
      await push({ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content: sent, role: 'tool', ...tag })
    }
    return { toolCallId, ...writer, result: (content, resultOptions) => track(result(content, resultOptions)) }
  }

  const step = async <Result>(stepName: string, body?: () => Promise<Result>): Promise<StepWriter | Result> => {
    let open = true
    const end = async (): Promise<void> => {
      if (!open) return
      open = false
      await push({ type: 'STEP_FINISHED', stepName, ...tag })
    }
    await push({ type: 'STEP_STARTED', stepName, ...tag })
    return body === undefined ? { end: () => track(end()) } : closing(body, end)
  }

  const activity = async (
    activityType: string,
    content: Record<string, unknown>,
    options: { messageId?: string; replace?: boolean } = {},
  ): Promise<ActivityWriter> => {
    const { messageId = createId(), replace } = options
    await push({ type: 'ACTIVITY_SNAPSHOT', messageId, activityType, content, ...optional('replace', replace), ...tag })
    return {
      messageId,
      set: (next) => push({ type: 'ACTIVITY_SNAPSHOT', messageId, activityType, content: next, ...tag }),
      patch: (patch) => push({ type: 'ACTIVITY_DELTA', messageId, activityType, patch, ...tag }),
    }
  }

  const subagent = async <Result>(
    name: string,
    body: (sub: Emitter) => Promise<Result>,
    details: SubagentOptions = {},
  ): Promise<Result> => {
    const { subagentRunId: id = createId(), ...rest } = details
    await push({
      type: 'SUBAGENT_STARTED',
      subagentRunId: id,
      name,
      ...rest,
      ...optional('parentSubagentRunId', subagentRunId),
    })
    try {
      const result = await body(createEmitter(options, id))
      await push({ type: 'SUBAGENT_FINISHED', subagentRunId: id })
      return result
    } catch (error) {
      const { code, message } = error instanceof AgentError ? error : { code: 'agent.failed', message: 'The subagent failed' }
      await push({ type: 'SUBAGENT_ERROR', subagentRunId: id, message, code }).catch(() => undefined)
      throw error
    }
  }

  return {
    emit: push,
    text: (content, options) => track(text(content, options)),
    reasoning: (content, options) => track(reasoning(content, options)),
    toolCall: (name, args, options) => track(toolCall(name, args, options)),
    step: ((name: string, body?: () => Promise<unknown>) => track(step(name, body))) as Emitter['step'],
    state: {
      get value() {
        return readState()
      },
      set: (snapshot) => push({ type: 'STATE_SNAPSHOT', snapshot, ...tag }),
      patch: (delta) => push({ type: 'STATE_DELTA', delta, ...tag }),
    },
    activity: (activityType, content, options) => track(activity(activityType, content, options)),
    messages: (messages) => push({ type: 'MESSAGES_SNAPSHOT', messages: [...messages] }),
    custom: (name, value) => push({ type: 'CUSTOM', name, value, ...tag }),
    subagent: (name, body, options) => track(subagent(name, body, options)),
  }
}
