/** The arguments of a call as a value, for those who ask: no part carries it, so that parts cost nothing to make. */
import type { ToolCall } from '../events/event.ts'
import { readStreamed } from '../state/input-feed.ts'
import { PartialJson } from '../state/partial-json.ts'
import type { ToolCallPart, ToolInputOf } from './ui-message.ts'

/** The call a part was made from. */
const calls = new WeakMap<ToolCallPart, ToolCall>()

export function setCall(part: ToolCallPart, call: ToolCall): void {
  calls.set(part, call)
}

export function callOf(part: ToolCallPart): ToolCall | undefined {
  return calls.get(part)
}

/** Readings of arguments that no fold follows: history, and snapshots older than what was read. */
const readings = new WeakMap<object, { readonly value: unknown }>()

/**
 * The best reading of the arguments of a call: while they stream, what there is of them (an open string as far as it
 * came, an open list with its members so far; see {@link PartialJson}); in the end, what `JSON.parse` gives.
 * `undefined` if there is nothing to read. Arguments that the user changed when approving the call take their place. Check it before acting on it: arguments are the model's words.
 *
 * Arguments that stream are parsed once, however often they are read, and not at all if nobody reads them. Readings are
 * immutable, share what did not change, and are the same value for the same arguments.
 * @param part a part of `toUIMessages`, or any other with `arguments`, which is then parsed alone. Where its type knows the tool,
 * the reading has the type of the tool's input, which is what the model was asked for: nothing here holds it to that.
 */
export function toolInput<Call extends ToolCallPart>(part: Call): ToolInputOf<Call> {
  return readingOf(part) as ToolInputOf<Call>
}

function readingOf(part: ToolCallPart): unknown {
  const { approval } = part
  if (approval?.approved === true && approval.input !== undefined) return approval.input
  const call = calls.get(part)
  const text = part.arguments
  const read = call && readStreamed(call, text)
  if (read !== undefined) return read.value
  const key = call ?? part
  let alone = readings.get(key)
  if (alone === undefined) {
    const json = new PartialJson()
    json.append(text)
    alone = { value: json.value }
    readings.set(key, alone)
  }
  return alone.value
}
