/** `@tanstack/ai`: its `StreamProcessor`; over a Response behind `fetchServerSentEvents` of `@tanstack/ai-client`. */
import { StreamProcessor, type UIMessage } from '@tanstack/ai'
import { fetchServerSentEvents } from '@tanstack/ai-client'
import type { Message } from '@millrace/protocol'
import { callLine } from '../workloads/stream.ts'
import { responseOf } from '../workloads/wire.ts'
import { NotOffered, piecesOf, seenBy, textsOf, type Job, type Outcome, type Prepare, type Run, type Watch } from './contender.ts'

type Chunk = Parameters<StreamProcessor['processChunk']>[0]

/** Its messages are parts; results stand beside their calls. */
export function uiMessages(history: readonly Message[]): UIMessage[] {
  return history.map(({ id, role, content }) => ({ id, role: role as 'user' | 'assistant', parts: [{ type: 'text', content: content as string }] }))
}

export function outcome(messages: readonly UIMessage[], seen: string): Outcome {
  let [text, reasoning, calls, results] = ['', '', '', '']
  for (const part of messages.flatMap(({ parts }) => parts)) {
    if (part.type === 'text') text += part.content
    else if (part.type === 'thinking') reasoning += part.content
    else if (part.type === 'tool-call') calls += callLine(part.name, part.arguments)
    else if (part.type === 'tool-result') results += part.content as string
  }
  return { text, reasoning, calls, results, state: '', seen }
}

function watching(processor: StreamProcessor, watch: Watch): { readonly look: () => void; readonly seen: () => string } {
  let [events, looks] = [0, 0]
  let last: readonly UIMessage[] = []
  switch (watch.kind) {
    case 'snapshots':
      return {
        look: () => {
          if (++events % watch.every !== 0) return
          last = processor.getMessages()
          looks++
        },
        seen: () => seenBy(looks, last),
      }
    case 'arguments':
      // What it reads at each delta it keeps to itself; the part of a complete call has the last reading.
      return { look: () => {}, seen: () => lastInput(processor) }
    default:
      return { look: () => {}, seen: () => '' }
  }
}

export const tanstack: Prepare = (job) => {
  if (job.entry === 'push' || job.watch.kind === 'subscribers') throw new NotOffered(job)
  const feed = job.entry === 'texts' ? feedTexts(job) : feedResponse(job)
  return (): Run => {
    const processor = new StreamProcessor({ initialMessages: uiMessages(job.stream.history) })
    const { look, seen } = watching(processor, job.watch)
    return async () => {
      await feed((chunk) => {
        processor.processChunk(chunk)
        look()
      })
      processor.finalizeStream()
      return () => outcome(processor.getMessages(), seen())
    }
  }
}

function lastInput(processor: StreamProcessor): string {
  const part = processor.getMessages().at(-1)?.parts.at(-1)
  return part?.type === 'tool-call' ? JSON.stringify(part.input) : ''
}

type Feed = (take: (chunk: Chunk) => void) => Promise<void>

function feedTexts(job: Job): Feed {
  const texts = textsOf(job.stream.events)
  return async (take) => {
    for (const text of texts) take(JSON.parse(text) as Chunk)
  }
}

function feedResponse(job: Job): Feed {
  const pieces = piecesOf(job)
  return async (take) => {
    const connection = fetchServerSentEvents('http://bench.invalid/', { fetchClient: async () => responseOf(pieces) })
    for await (const chunk of connection.connect([], undefined, undefined, { threadId: 'thread', runId: 'run' })) take(chunk)
  }
}
