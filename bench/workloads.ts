/** What is measured: deterministic streams, made from nothing but numbers. It knows no contender. */
import type { Event, Message } from '@millrace/protocol'

export interface Workload {
  readonly name: string
  readonly about: string
  /** Messages the thread holds before. */
  readonly history: readonly Message[]
  readonly events: readonly Event[]
  /** Text of the last message: every contender must arrive at it. */
  readonly answer: string
}

const WORDS = 'the current turns a wheel of oak and iron while water runs below it '.split(/(?<= )/)

function word(index: number): string {
  return WORDS[(index * 7) % WORDS.length] as string
}

function oneMessage(deltas: number): { events: Event[]; answer: string } {
  const texts = Array.from({ length: deltas }, (_, index) => word(index))
  return {
    events: [
      { type: 'RUN_STARTED', threadId: 'thread', runId: 'run' },
      { type: 'TEXT_MESSAGE_START', messageId: 'answer', role: 'assistant' },
      ...texts.map((delta): Event => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'answer', delta })),
      { type: 'TEXT_MESSAGE_END', messageId: 'answer' },
      { type: 'RUN_FINISHED', threadId: 'thread', runId: 'run' },
    ],
    answer: texts.join(''),
  }
}

function historyOf(length: number): Message[] {
  return Array.from({ length }, (_, index): Message => ({
    id: `m${index}`,
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${word(index)} ${word(index + 1)} ${index}`,
  }))
}

export const WORKLOADS: readonly Workload[] = [
  { name: 'one-message', about: 'one message of 20,000 text deltas', history: [], ...oneMessage(20_000) },
  { name: 'history', about: '5,000 text deltas over 1,000 messages of history', history: historyOf(1_000), ...oneMessage(5_000) },
]

/** The events as a server would send them: SSE, cut into pieces of 1 to 1,500 bytes as sockets do. */
export function sseBytes(events: readonly Event[]): Uint8Array[] {
  const bytes = new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
  const pieces: Uint8Array[] = []
  let seed = 1
  for (let at = 0; at < bytes.length; ) {
    // A linear congruence (Numerical Recipes): the same cuts in every run and for every contender.
    seed = (seed * 1_664_525 + 1_013_904_223) >>> 0
    const size = 1 + (seed % 1_500)
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return pieces
}

/** A response whose body gives these pieces, one a read. */
export function responseOf(pieces: readonly Uint8Array[]): Response {
  let next = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces[next++]
      if (piece === undefined) controller.close()
      else controller.enqueue(piece)
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}
