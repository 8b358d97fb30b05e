/** Runs as agents make them: steps, reasoning, text, a tool call with its result, shared state, and text again. */
import type { Event } from '@millrace/protocol'
import { patchInPlace } from './state.ts'
import { numbersFrom, word, words } from './random.ts'
import { callLine, type Stream, type Workload } from './stream.ts'

const ARGUMENTS_DELTA = 12

/** Events of one run, about 490, and what they come to. */
class Runs {
  readonly events: Event[] = []
  text = ''
  reasoning = ''
  calls = ''
  results = ''
  readonly state: unknown = { topic: 'wheel', found: [], progress: { run: 0, step: 0 } }
  readonly #number = numbersFrom(1)

  add(run: number): void {
    const ids = { threadId: 'thread', runId: `run-${run}` }
    this.events.push({ type: 'RUN_STARTED', ...ids })
    if (run === 0) this.events.push({ type: 'STATE_SNAPSHOT', snapshot: structuredClone(this.state) })
    this.#step(`think ${run}`, () => this.#reason(run))
    this.#step(`look ${run}`, () => {
      this.#say(`first-${run}`, this.#number(80, 180))
      for (let call = 0; call < 2; call++) this.#call(`first-${run}`, `call-${run}-${call}`)
      for (let step = 0; step < 8; step++) this.#patch(run, step)
    })
    this.#say(`last-${run}`, this.#number(110, 220))
    this.events.push({ type: 'RUN_FINISHED', ...ids })
  }

  #step(stepName: string, inner: () => void): void {
    this.events.push({ type: 'STEP_STARTED', stepName })
    inner()
    this.events.push({ type: 'STEP_FINISHED', stepName })
  }

  #reason(run: number): void {
    const messageId = `thought-${run}`
    this.events.push({ type: 'REASONING_START', messageId }, { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' })
    for (const delta of words(this.#number(60, 140), run)) {
      this.reasoning += delta
      this.events.push({ type: 'REASONING_MESSAGE_CONTENT', messageId, delta })
    }
    this.events.push({ type: 'REASONING_MESSAGE_END', messageId }, { type: 'REASONING_END', messageId })
  }

  #say(messageId: string, deltas: number): void {
    this.events.push({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' })
    for (const delta of words(deltas, this.text.length)) {
      this.text += delta
      this.events.push({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })
    }
    this.events.push({ type: 'TEXT_MESSAGE_END', messageId })
  }

  #call(parentMessageId: string, toolCallId: string): void {
    const input = JSON.stringify({ query: words(this.#number(60, 120)).join(''), limit: this.#number(1, 50) })
    this.events.push({ type: 'TOOL_CALL_START', toolCallId, toolCallName: 'search', parentMessageId })
    for (let at = 0; at < input.length; at += ARGUMENTS_DELTA) {
      this.events.push({ type: 'TOOL_CALL_ARGS', toolCallId, delta: input.slice(at, at + ARGUMENTS_DELTA) })
    }
    const content = JSON.stringify({ hits: this.#number(0, 9), best: word(this.calls.length) })
    this.calls += callLine('search', input)
    this.results += content
    this.events.push({ type: 'TOOL_CALL_END', toolCallId }, { type: 'TOOL_CALL_RESULT', messageId: `result of ${toolCallId}`, toolCallId, content })
  }

  #patch(run: number, step: number): void {
    const delta = [
      { op: 'replace', path: '/progress', value: { run, step } } as const,
      ...(step === 0 ? [{ op: 'add', path: '/found/-', value: `run ${run}` } as const] : []),
    ]
    patchInPlace(this.state, structuredClone(delta))
    this.events.push({ type: 'STATE_DELTA', delta })
  }
}

export const mixedRuns = (count: number): Workload => ({
  size: `${count} runs`,
  make: (): Stream => {
    const runs = new Runs()
    for (let run = 0; run < count; run++) runs.add(run)
    const { events, text, reasoning, calls, results, state } = runs
    return { history: [], events, answer: { text, reasoning, calls, results, state: JSON.stringify(state) } }
  },
})
