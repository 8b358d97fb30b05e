/** One message of many text deltas, and the same over messages that are there already. */
import type { Message } from '@millrace/protocol'
import { word, words } from './random.ts'
import { oneRun, type Stream, type Workload } from './stream.ts'

/** What the user says where a client asks for the stream itself. */
export const QUESTION = 'Which way does it turn?'

/** @param question Text that comes to the history before the answer. */
export function textStream(deltas: readonly string[], history: readonly Message[] = [], question = ''): Stream {
  return {
    history,
    events: oneRun([
      { type: 'TEXT_MESSAGE_START', messageId: 'answer', role: 'assistant' },
      ...deltas.map((delta) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'answer', delta }) as const),
      { type: 'TEXT_MESSAGE_END', messageId: 'answer' },
    ]),
    answer: { text: [...history.map(({ content }) => content), question, ...deltas].join('') },
  }
}

function historyOf(length: number): Message[] {
  return Array.from({ length }, (_, index): Message => ({
    id: `m${index}`,
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${word(index)} ${word(index + 1)} ${index}`,
  }))
}

export const oneMessage = (deltas: number): Workload => ({
  size: `${deltas.toLocaleString('en')} deltas`,
  make: () => textStream(words(deltas)),
})

export const overHistory = (messages: number, deltas: number): Workload => ({
  size: `${messages.toLocaleString('en')} messages`,
  make: () => textStream(words(deltas), historyOf(messages)),
})

/** The answer to {@link QUESTION}, which is sent with the messages before it. */
export const answered = (deltas: number, messages = 0): Workload => ({
  size: messages === 0 ? `${deltas.toLocaleString('en')} deltas` : `${messages.toLocaleString('en')} messages`,
  make: () => textStream(words(deltas), historyOf(messages), QUESTION),
})
