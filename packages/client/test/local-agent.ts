/** Agents without a wire: the scenarios as iterables, for connections over functions. Runs in browsers too. */
import { buildRunAgentInput, type UIMessage } from '@millrace/protocol'
import type { RunAgentInputContext, StreamChunk } from '@millrace/client'
import { tick } from './runs.ts'
import { SCENARIOS, type Scenario, type Seen } from './scenarios.ts'

export interface LocalRequest {
  readonly messages: readonly UIMessage[]
  readonly data: Record<string, unknown> | undefined
  readonly signal: AbortSignal | undefined
  readonly runContext: RunAgentInputContext
  readonly body?: Record<string, unknown>
}

/** Plays `scenario` as an async generator that obeys its signal; what it was asked is added to `log`. */
export async function* playLocally(
  scenario: Scenario,
  log: Seen[],
  { messages, data, runContext, body, signal }: LocalRequest,
): AsyncGenerator<StreamChunk, void, undefined> {
  const seen: Seen = {
    headers: { ...runContext.headers },
    input: JSON.parse(JSON.stringify(buildRunAgentInput({ messages, runContext, ...(data && { data }), ...(body && { body }) }))),
    sent: 0,
    left: false,
  }
  log.push(seen)
  let ended = false
  const onAbort = (): void => {
    seen.left = true
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    for (const step of SCENARIOS[scenario](runContext)) {
      if (step.kind === 'events') {
        for (const event of step.events) {
          seen.sent++
          yield event
        }
        await tick()
      }
      if (step.kind === 'flood') {
        for (;;) {
          seen.sent++
          yield step.event
          await tick(3)
        }
      }
      if (step.kind === 'hang') {
        while (!signal?.aborted) await tick(3)
        return
      }
      if (step.kind === 'break') throw new Error('broken')
    }
    ended = true
  } finally {
    signal?.removeEventListener('abort', onAbort)
    if (!ended) seen.left = true
  }
}
