/** Runs that are the same each time, as AG-UI events: what a server under test sends and a client under test must end up with. */
import type { Event } from '@millrace/protocol'

export type RecordedKind =
  /** Text, reasoning, a tool call with its result, steps, state, several messages. */
  | 'mixed'
  /** The same with a RUN_FINISHED and a RUN_STARTED between its model turns, as agent loops send them. */
  | 'turns'
  /** It ends in RUN_ERROR. */
  | 'error'
  /** It ends with an open question. */
  | 'interrupt'

export interface RecordedOptions {
  readonly threadId?: string
  readonly runId?: string
  /** Before each id, so that several runs of one thread share none. Default ''. */
  readonly prefix?: string
}

/** Cut anywhere, each of these has a place inside of one character: emoji with joiners and skin tones, flags, marks, scripts. */
const GREETING = ['Grüße, ', 'Zoë! ', '👋🏽 ', 'Here is the weather ', 'in 東京 ', 'and in Reykjavi\u0301k', ': ', '🌦️ ', '— une minute', '…'] as const
const THOUGHT = ['The user wants two cities. ', 'नमस्ते', ' is no city; ', 'I shall ask the tool 👩‍💻 once.'] as const
const ARGUMENTS = ['{"cities":', '["東京",', '"Reykjavi\u0301k"]', ',"units":"°C",', '"note":"a \\"quoted\\" line\\n"', '}'] as const
const ANSWER = ['| city | now |\n', '|---|---|\n', '| 東京 | 18 °C ☀️ |\n', '| Reykjavi\u0301k | 3 °C 🌧️ |\n\n', 'Take an umbrella ☂️, ', '👨‍👩‍👧‍👦 too. ', '🇮🇸 ', 'עד מחר', '.'] as const
const NOTE = ['P.S.: ', 'data: not a field\n\n', 'id: nor this', ' 🤖'] as const

/** About 55 events, 5 KB as SSE. It verifies in strict mode. */
export function recordedRun(kind: RecordedKind = 'mixed', options: RecordedOptions = {}): Event[] {
  const { threadId = 't1', runId = 'r1', prefix = '' } = options
  const started: Event = { type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' }
  const finished: Event = { type: 'RUN_FINISHED', threadId, runId }
  const id = (name: string): string => prefix + name
  const call = id('call1')
  return [
    started,
    { type: 'STATE_SNAPSHOT', snapshot: { cities: [], done: false, nested: { 'a/b': [1, 2, 3] } } },
    { type: 'STEP_STARTED', stepName: 'think' },
    { type: 'REASONING_START', messageId: id('think1') },
    { type: 'REASONING_MESSAGE_START', messageId: id('think1'), role: 'reasoning' },
    ...THOUGHT.map((delta): Event => ({ type: 'REASONING_MESSAGE_CONTENT', messageId: id('think1'), delta })),
    { type: 'REASONING_MESSAGE_END', messageId: id('think1') },
    { type: 'REASONING_END', messageId: id('think1') },
    { type: 'STEP_FINISHED', stepName: 'think' },
    ...text(id('m1'), GREETING),
    { type: 'TOOL_CALL_START', toolCallId: call, toolCallName: 'weather', parentMessageId: id('m1') },
    ...ARGUMENTS.map((delta): Event => ({ type: 'TOOL_CALL_ARGS', toolCallId: call, delta })),
    { type: 'TOOL_CALL_END', toolCallId: call },
    ...(kind === 'turns' ? [finished] : []),
    ...(kind === 'turns' ? [started] : []),
    { type: 'TOOL_CALL_RESULT', messageId: id('result1'), toolCallId: call, content: '{"東京":18,"Reykjavi\u0301k":3,"sky":["☀️","🌧️"]}' },
    { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/cities/-', value: '東京' }] },
    { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/cities/-', value: 'Reykjavi\u0301k' }, { op: 'replace', path: '/nested/a~1b/1', value: null }] },
    { type: 'STEP_STARTED', stepName: 'answer' },
    ...text(id('m2'), ANSWER),
    { type: 'CUSTOM', name: 'usage', value: { tokens: 42 } },
    ...text(id('m3'), NOTE),
    { type: 'STEP_FINISHED', stepName: 'answer' },
    { type: 'STATE_DELTA', delta: [{ op: 'replace', path: '/done', value: true }] },
    ending(kind, finished, id('ask1')),
  ]
}

/** One long answer of `deltas` deltas, with 👍 in each tenth. */
export function bigRun(deltas: number, options: RecordedOptions = {}): Event[] {
  const { threadId = 't1', runId = 'r1', prefix = '' } = options
  const pieces = Array.from({ length: deltas }, (_, i) => (i % 10 === 9 ? `👍 ${i} ` : `word ${i} `))
  return [
    { type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' },
    ...text(`${prefix}m1`, pieces),
    { type: 'RUN_FINISHED', threadId, runId },
  ]
}

function text(messageId: string, deltas: readonly string[]): Event[] {
  return [
    { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
    ...deltas.map((delta): Event => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })),
    { type: 'TEXT_MESSAGE_END', messageId },
  ]
}

function ending(kind: RecordedKind, finished: Event & { type: 'RUN_FINISHED' }, interruptId: string): Event {
  switch (kind) {
    case 'mixed':
    case 'turns':
      return finished
    case 'error':
      return { type: 'RUN_ERROR', message: 'The model went away', code: 'model.gone' }
    case 'interrupt':
      return { ...finished, outcome: { type: 'interrupt', interrupts: [{ id: interruptId, reason: 'confirm', message: 'Umbrella? ☂️' }] } }
  }
}
