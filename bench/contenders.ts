/**
 * Who is measured. A contender takes a workload in one of three forms and gives the text it arrived at, so that a
 * figure is only printed for the right answer. Peers are loaded when they run.
 */
import { SseDecoder, ThreadReader, type Event, type Message } from '@millrace/protocol'
import { responseOf, sseBytes, type Workload } from './workloads.ts'

/** How the workload comes in: parsed events, bytes pushed in pieces, or a `Response` that is read. */
export type Entry = 'events' | 'push' | 'response'

/** Prepares outside of the clock; the function it gives is what is timed. */
export type Prepare = (workload: Workload) => Promise<() => Promise<string>>

interface Contender {
  readonly name: string
  readonly entries: Readonly<Partial<Record<Entry, Prepare>>>
}

function lastText(messages: readonly { content?: unknown }[]): string {
  return String(messages.at(-1)?.content)
}

/** The least that gives the same answer: parse each event, append each delta. No checks, no state but the text. */
function appendTo(messages: { id: string; content: string }[], event: Event): void {
  if (event.type === 'TEXT_MESSAGE_START') messages.push({ id: event.messageId, content: '' })
  else if (event.type === 'TEXT_MESSAGE_CONTENT') (messages.at(-1) as { content: string }).content += event.delta
}

/** Line by line, LF only, each line one event: the simplest reader that is linear in bytes. */
function floorReader(messages: { id: string; content: string }[]): (piece: Uint8Array) => void {
  const utf8 = new TextDecoder()
  let rest = ''
  return (piece) => {
    const lines = (rest + utf8.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() as string
    for (const line of lines) if (line !== '') appendTo(messages, JSON.parse(line.slice(6)) as Event)
  }
}

const floor: Contender = {
  name: 'floor',
  entries: {
    events: async ({ events, history }) => {
      const texts = events.map((event) => JSON.stringify(event))
      return async () => {
        const messages = history.slice() as { id: string; content: string }[]
        for (const text of texts) appendTo(messages, JSON.parse(text) as Event)
        return lastText(messages)
      }
    },
    push: async ({ events, history }) => {
      const pieces = sseBytes(events)
      return async () => {
        const messages = history.slice() as { id: string; content: string }[]
        const feed = floorReader(messages)
        for (const piece of pieces) feed(piece)
        return lastText(messages)
      }
    },
    response: async ({ events, history }) => {
      const pieces = sseBytes(events)
      return async () => {
        const messages = history.slice() as { id: string; content: string }[]
        const feed = floorReader(messages)
        const reader = (responseOf(pieces).body as ReadableStream<Uint8Array>).getReader()
        for (let read = await reader.read(); !read.done; read = await reader.read()) feed(read.value)
        return lastText(messages)
      }
    },
  },
}

const millrace: Contender = {
  name: 'millrace',
  entries: {
    events: async ({ events, history }) => {
      const texts = events.map((event) => JSON.stringify(event))
      return async () => {
        const reader = new ThreadReader({ messages: history })
        for (const text of texts) reader.accept(JSON.parse(text))
        reader.finish()
        return lastText(reader.snapshot().messages)
      }
    },
    push: async ({ events, history }) => {
      const pieces = sseBytes(events)
      return async () => {
        const reader = new ThreadReader({ messages: history })
        const decoder = new SseDecoder((frame) => reader.acceptFrame(frame))
        for (const piece of pieces) decoder.feed(piece)
        decoder.finish()
        reader.finish()
        return lastText(reader.snapshot().messages)
      }
    },
    response: async ({ events, history }) => {
      const { readThread } = await import('@millrace/client')
      const pieces = sseBytes(events)
      return async () => {
        let messages: readonly Message[] = []
        for await (const thread of readThread(responseOf(pieces), { messages: history })) messages = thread.messages
        return lastText(messages)
      }
    },
  },
}

const agUi: Contender = {
  name: '@ag-ui/client',
  entries: {
    events: async ({ events, history }) => {
      const { AbstractAgent } = await import('@ag-ui/client')
      const { from } = await import('rxjs')
      const texts = events.map((event) => JSON.stringify(event))
      class Replay extends AbstractAgent {
        run(): ReturnType<InstanceType<typeof AbstractAgent>['run']> {
          return from(texts.map((text) => JSON.parse(text))) as ReturnType<InstanceType<typeof AbstractAgent>['run']>
        }
      }
      return async () => {
        const agent = new Replay({ threadId: 'thread', initialMessages: structuredClone(history) as never })
        await agent.runAgent({ runId: 'run' })
        return lastText(agent.messages)
      }
    },
    response: async ({ events, history }) => {
      const { HttpAgent } = await import('@ag-ui/client')
      const pieces = sseBytes(events)
      return async () => {
        const agent = new HttpAgent({
          url: 'http://bench.invalid/',
          threadId: 'thread',
          initialMessages: structuredClone(history) as never,
          fetch: async () => responseOf(pieces),
        })
        await agent.runAgent({ runId: 'run' })
        return lastText(agent.messages)
      }
    },
  },
}

export const CONTENDERS: readonly Contender[] = [floor, millrace, agUi]
