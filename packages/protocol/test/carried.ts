/** What protobuf makes of an event: the same, but that it cannot tell an empty list of some optional ones from none. */
import type { Event } from '../src/index.ts'

type Json = Record<string, unknown>

/** Optional lists that leave no trace when they are empty. */
const WITHOUT_TRACE = ['usage', 'toolCalls', 'pendingToolCallIds', 'interruptIds']
/** Optional lists of a run input that arrive empty when there are none; to AG-UI 1.0 that is the same. */
const ARRIVE_EMPTY = ['tools', 'context', 'resume']

export function asCarried(event: Event): Event {
  const copy = structuredClone(event) as unknown as Json
  const { outcome, input, messages } = copy as { outcome?: Json; input?: Json; messages?: Json[] }
  const echoed = input?.['messages'] as Json[] | undefined
  for (const holder of [copy, outcome, ...(messages ?? []), ...(echoed ?? [])]) {
    for (const key of WITHOUT_TRACE) if (Array.isArray(holder?.[key]) && holder[key].length === 0) delete holder[key]
  }
  if (input !== undefined) for (const key of ARRIVE_EMPTY) input[key] ??= []
  return copy as unknown as Event
}
