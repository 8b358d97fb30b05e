/** `ai`: `readUIMessageStream`; over a Response behind its `DefaultChatTransport`. It gets the stream in its own chunks. */
import { DefaultChatTransport, getToolName, isToolUIPart, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { callLine } from '../workloads/stream.ts'
import { responseOf } from '../workloads/wire.ts'
import { parsed, NotOffered, piecesOf, textsOf, type Job, type Outcome, type Prepare, type Run } from './contender.ts'
import { uiMessageChunks } from './ai-sdk-chunks.ts'

export function outcome(before: string, messages: Iterable<UIMessage>, seen: string): Outcome {
  let [text, reasoning, calls, results] = [before, '', '', '']
  for (const { parts } of messages) {
    for (const part of parts) {
      if (part.type === 'text') text += part.text
      else if (part.type === 'reasoning') reasoning += part.text
      else if (isToolUIPart(part)) {
        calls += callLine(getToolName(part), JSON.stringify(part.input))
        if (part.state === 'output-available') results += JSON.stringify(part.output)
      }
    }
  }
  return { text, reasoning, calls, results, state: '', seen }
}

type Open = () => Promise<ReadableStream<UIMessageChunk>>

function openTexts(chunks: readonly UIMessageChunk[]): Open {
  const texts = textsOf(chunks)
  return async () => {
    const source = parsed(texts)
    return new ReadableStream({
      pull(controller) {
        const next = source.next()
        if (next.done === true) controller.close()
        else controller.enqueue(next.value as UIMessageChunk)
      },
    })
  }
}

function openResponse(job: Job, chunks: readonly UIMessageChunk[]): Open {
  const pieces = piecesOf(job, chunks)
  const transport = new DefaultChatTransport({ api: 'http://bench.invalid/', fetch: async () => responseOf(pieces) })
  return () => transport.sendMessages({ trigger: 'submit-message', chatId: 'thread', messageId: undefined, messages: [], abortSignal: undefined })
}

/** It reads one message at a time: the caller keeps them, and the ones from before. */
export const aiSdk: Prepare = (job) => {
  if (job.entry === 'push' || job.watch.kind === 'snapshots' || job.watch.kind === 'subscribers') throw new NotOffered(job)
  const chunks = uiMessageChunks(job.stream.events)
  const open = job.entry === 'texts' ? openTexts(chunks) : openResponse(job, chunks)
  const before = job.stream.history.map(({ content }) => content).join('')
  const seen = job.watch.kind === 'arguments' ? lastInput : () => ''
  return (): Run => async () => {
    const messages = new Map<string, UIMessage>()
    for await (const message of readUIMessageStream({ stream: await open(), terminateOnError: true })) messages.set(message.id, message)
    return () => outcome(before, messages.values(), seen(messages.values()))
  }
}

function lastInput(messages: Iterable<UIMessage>): string {
  const part = [...messages].at(-1)?.parts.at(-1)
  return part !== undefined && isToolUIPart(part) ? JSON.stringify(part.input) : ''
}
