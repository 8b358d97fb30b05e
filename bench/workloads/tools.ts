/** One tool call whose arguments come in small pieces. */
import { callLine, oneRun, type Workload } from './stream.ts'

const DELTA = 20
const SENTENCE = 'The current turns a wheel of oak and iron, "slowly",\nwhile water runs below it. '

/** A document that a model writes, as the arguments of a call: ASCII, so that a unit is a byte. */
function argumentsOf(bytes: number): string {
  const lines = Math.ceil(bytes / 120)
  return JSON.stringify({ path: 'notes/wheel.md', lines: Array.from({ length: lines }, (_, at) => ({ at, text: SENTENCE })) })
}

export const toolArguments = (kilobytes: number): Workload => ({
  size: `${kilobytes} KB`,
  make: () => {
    const text = argumentsOf(kilobytes * 1_000)
    const deltas = Array.from({ length: Math.ceil(text.length / DELTA) }, (_, index) => text.slice(index * DELTA, (index + 1) * DELTA))
    return {
      history: [],
      events: oneRun([
        { type: 'TOOL_CALL_START', toolCallId: 'call', toolCallName: 'write' },
        ...deltas.map((delta) => ({ type: 'TOOL_CALL_ARGS', toolCallId: 'call', delta }) as const),
        { type: 'TOOL_CALL_END', toolCallId: 'call' },
      ]),
      answer: { calls: callLine('write', text) },
    }
  },
})
