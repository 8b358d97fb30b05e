/** What the runs of a modelled server do, as lists of events, and how what a chat holds is said in lines. */
import type { ChatSnapshot, StreamChunk } from '@millrace/client'
import type { Message } from '@millrace/protocol'

/** What a run does; `CALLS` has the tools it calls. */
export type Kind = 'text' | 'asks' | 'asks-two' | 'auto' | 'slow' | 'auto-and-asks' | 'slow-and-asks' | 'question' | 'questions' | 'approval' | 'fails' | 'state'

export const CALLS: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  asks: ['ask'],
  'asks-two': ['ask', 'ask'],
  auto: ['auto'],
  slow: ['slow'],
  'auto-and-asks': ['auto', 'ask'],
  'slow-and-asks': ['slow', 'ask'],
  // A tool of the server, that waits for the word of the user.
  approval: ['book'],
}

/** What the runs of one send do, one after the other; then text. */
export interface Plan {
  readonly n: number
  readonly kinds: readonly Kind[]
}

export interface Question {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly expires?: number
  /** The call that may be made or not. */
  readonly call?: string
}

export interface Run {
  readonly runId: string
  readonly kind: Kind
  /** What was sent that it is a run of; -1 for what went on by itself after a run was joined. */
  readonly plan: number
  /** Gets shorter if the run is cancelled. */
  script: readonly StreamChunk[]
  readonly questions: readonly Question[]
  /** What the request carried. */
  readonly input: { readonly lines: readonly string[]; readonly state: unknown; readonly resume: readonly string[]; readonly parentRunId: string | undefined }
  /** The messages and the state that it was asked with. */
  readonly asked: { readonly messages: readonly Message[]; readonly state: unknown }
  /** Events that may be read. */
  released: number
  /** The server has heard of it. */
  readonly begun: boolean
}

/** How long the first of two questions may be answered, in ms. */
const QUESTION_MS = 100

export const callId = (runId: string, index: number): string => `c${index}-${runId}`

export function scriptOf(kind: Kind, runId: string, questions: readonly Question[]): StreamChunk[] {
  const messageId = `m-${runId}`
  const started = { type: 'RUN_STARTED', threadId: 't', runId } as const
  const finished = { type: 'RUN_FINISHED', threadId: 't', runId } as const
  switch (kind) {
    case 'text':
      return [
        started,
        { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
        ...['a', 'b', 'c'].map((delta) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })),
        { type: 'TEXT_MESSAGE_END', messageId },
        finished,
      ]
    case 'question':
    case 'questions': {
      return [started, { ...finished, outcome: asking(questions) }]
    }
    case 'fails':
      return [started, { type: 'RUN_ERROR', message: 'no' }]
    case 'state':
      return [started, { type: 'STATE_SNAPSHOT', snapshot: { by: runId } }, finished]
    default: {
      const calls = (CALLS[kind] ?? []).flatMap((toolCallName, index): StreamChunk[] => {
        const toolCallId = callId(runId, index)
        return [
          { type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId: messageId },
          { type: 'TOOL_CALL_ARGS', toolCallId, delta: '{}' },
          { type: 'TOOL_CALL_END', toolCallId },
        ]
      })
      return [started, ...calls, kind === 'approval' ? { ...finished, outcome: asking(questions) } : finished]
    }
  }
}

/** What a run says if it is cancelled behind so many of its events: what is open is closed. */
export function cancelledAt(script: readonly StreamChunk[], at: number, runId: string): StreamChunk[] {
  const before = script.slice(0, Math.max(1, at))
  const open = before.findLast(({ type }) => type.endsWith('_START') || type.endsWith('_END')) as { readonly type: string } | undefined
  const closing = open?.type.endsWith('_START') === true ? [{ ...open, type: open.type.replace('_START', '_END') }] : []
  const { threadId } = script[0] as { readonly threadId?: string }
  return [...before, ...closing, { type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'cancelled' } }]
}

function asking(questions: readonly Question[]) {
  const interrupts = questions.map(({ id, expires, call }) => ({
    id,
    reason: 'x',
    ...(expires !== undefined && { expiresAt: new Date(expires).toISOString() }),
    ...(call !== undefined && { toolCallId: call }),
  }))
  return { type: 'interrupt', interrupts }
}

export function questionsOf(kind: Kind, runId: string, now: number): Question[] {
  if (kind === 'question') return [{ id: `i0-${runId}` }]
  if (kind === 'questions') return [{ id: `i0-${runId}`, expires: now + QUESTION_MS }, { id: `i1-${runId}` }]
  return kind === 'approval' ? [{ id: `i0-${runId}`, call: callId(runId, 0) }] : []
}

/** What there is to see of messages, a line each. */
export function linesOf(messages: ChatSnapshot['messages']): string[] {
  return messages.flatMap(({ id, role, parts }) => {
    if (role === 'user') return [`user ${id} ${parts.map((part) => ('content' in part ? String(part.content) : '')).join('')}`]
    return parts.map((part) => {
      if (part.type === 'text') return `text ${(part.origin?.messageId ?? '').slice(2)} ${part.content}`
      if (part.type === 'tool-call') return `call ${part.id} ${part.result === undefined ? '-' : String(part.result.content)}`
      return part.type
    })
  })
}
