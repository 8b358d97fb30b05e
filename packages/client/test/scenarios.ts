/**
 * What an agent does in a test of connections, as data: the same for servers of every transport and for iterables.
 * Runs in browsers too.
 */
import type { StreamChunk } from '@millrace/client'
import { failed, finished, hello, started, text } from './runs.ts'

export interface Ids {
  readonly threadId: string
  readonly runId: string
}

export type Step =
  /** Events that go out together. */
  | { readonly kind: 'events'; readonly events: readonly StreamChunk[] }
  /** One event every few milliseconds until the client leaves. */
  | { readonly kind: 'flood'; readonly event: StreamChunk }
  /** Nothing any more until the client leaves. */
  | { readonly kind: 'hang' }
  /** A socket breaks, an iterable throws. */
  | { readonly kind: 'break' }
  /** The sentinel of older servers. */
  | { readonly kind: 'done' }

const apart = (events: readonly StreamChunk[]): Step[] => events.map((event) => ({ kind: 'events', events: [event] }))
const together = (events: readonly StreamChunk[]): Step[] => [{ kind: 'events', events }]

const opening = ({ threadId, runId }: Ids): StreamChunk[] => [started(runId, threadId), ...text('Half', `m-${runId}`)]
const ending = ({ threadId, runId }: Ids): StreamChunk => finished(runId, threadId)

export const SCENARIOS = {
  hello: (ids) => apart(hello(ids.runId)),
  burst: (ids) => together([started(ids.runId, ids.threadId), ...text('x'.repeat(3000)), ending(ids)]),
  /** A model turn that ends, a tool of the server, another turn: two RUN_FINISHED in one run, as TanStack AI sends them. */
  tools: (ids) => [
    ...apart([
      started(ids.runId, ids.threadId),
      { type: 'TOOL_CALL_START', toolCallId: `c-${ids.runId}`, toolCallName: 'look' },
      { type: 'TOOL_CALL_END', toolCallId: `c-${ids.runId}` },
      { ...ending(ids), finishReason: 'tool_calls' },
      { type: 'TOOL_CALL_RESULT', messageId: `x-${ids.runId}`, toolCallId: `c-${ids.runId}`, content: '4' },
      ...text('4 °C \u{1F321}', `m2-${ids.runId}`),
      { ...ending(ids), finishReason: 'stop' },
    ]),
  ],
  flood: (ids) => [...together(opening(ids).slice(0, 2)), { kind: 'flood', event: { type: 'TEXT_MESSAGE_CONTENT', messageId: `m-${ids.runId}`, delta: '.' } }],
  silent: () => [{ kind: 'hang' }],
  broken: (ids) => [...together(opening(ids)), { kind: 'break' }],
  /** A turn that is complete, and a break in the one after it. */
  brokenLater: (ids) => [
    ...together([...opening(ids), { ...ending(ids), finishReason: 'tool_calls' }, { type: 'TEXT_MESSAGE_START', messageId: `m2-${ids.runId}`, role: 'assistant' }]),
    { kind: 'break' },
  ],
  unterminated: (ids) => together(opening(ids)),
  done: (ids) => [...together(opening(ids)), { kind: 'done' }],
  failing: (ids) => together([...opening(ids), { ...failed('out of tokens'), code: 'model' }]),
} satisfies Record<string, (ids: Ids) => Step[]>

export type Scenario = keyof typeof SCENARIOS

/** All events of a scenario that ends by itself. */
export function eventsOf(scenario: Scenario, ids: Ids): StreamChunk[] {
  return SCENARIOS[scenario](ids).flatMap((step) => (step.kind === 'events' ? step.events : []))
}

/** What the other end saw of one request. */
export interface Seen {
  readonly headers: Record<string, string | undefined>
  /** The run input, or what a factory was given. */
  readonly input: Record<string, unknown>
  /** Events that were sent so far. */
  sent: number
  /** The client left, or said that it wants no more, before the end. */
  left: boolean
}
