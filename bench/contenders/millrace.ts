/** Ours: `ThreadReader` fed by push, `readThread` over a Response, `SubscribedThread` where there are subscribers. */
import { readThread } from '@millrace/client'
import {
  compatible,
  EventVerifier,
  SseDecoder,
  SubscribedThread,
  ThreadBuilder,
  ThreadReader,
  toolInput,
  toUIMessages,
  type Subscriber,
  type Thread,
  type ThreadReaderOptions,
} from '@millrace/protocol'
import { responseOf } from '../workloads/wire.ts'
import { NotOffered, piecesOf, seenBy, textsOf, type Job, type Outcome, type Prepare } from './contender.ts'
import { outcomeOf } from './messages-answer.ts'

type Before = Pick<ThreadReaderOptions, 'messages' | 'state'>

const outcome = ({ messages, state }: Thread, seen = ''): Outcome => outcomeOf(messages, state, seen)

/** It reads old spellings too, as the others do. */
const readerOf = (before: Before): ThreadReader => new ThreadReader({ ...compatible(), ...before })

/** Reads JSON texts, looking as it is told. */
function readTexts(texts: readonly string[], before: Before, watch: Job['watch']): () => Outcome {
  switch (watch.kind) {
    case 'end': {
      const reader = readerOf(before)
      for (const text of texts) reader.accept(JSON.parse(text))
      reader.finish()
      const thread = reader.snapshot()
      return () => outcome(thread)
    }
    case 'snapshots': {
      const reader = readerOf(before)
      let [events, looks] = [0, 0]
      let last = reader.snapshot()
      for (const text of texts) {
        reader.accept(JSON.parse(text))
        if (++events % watch.every !== 0) continue
        last = reader.snapshot()
        looks++
      }
      reader.finish()
      const thread = reader.snapshot()
      return () => outcome(thread, seenBy(looks, last.messages))
    }
    case 'arguments': {
      const reader = readerOf(before)
      let value: unknown
      for (const text of texts) {
        reader.accept(JSON.parse(text))
        const part = toUIMessages(reader.snapshot().messages).at(-1)?.parts.at(-1)
        if (part?.type === 'tool-call') value = toolInput(part)
      }
      reader.finish()
      const thread = reader.snapshot()
      return () => outcome(thread, JSON.stringify(value))
    }
    case 'subscribers': {
      let calls = 0
      const subscriber = (): Subscriber => ({ onEvent: () => void calls++, onTextMessageContentEvent: () => void calls++ })
      const builder = new ThreadBuilder(before)
      const thread = new SubscribedThread(builder, Array.from({ length: watch.count }, subscriber))
      const verifier = new EventVerifier(compatible(), before.messages)
      for (const text of texts) verifier.accept(JSON.parse(text), (event) => void thread.apply(event))
      verifier.finish()
      const last = builder.snapshot()
      return () => outcome(last, String(calls))
    }
  }
}

function push(pieces: readonly Uint8Array[], before: Before): () => Outcome {
  const reader = readerOf(before)
  const decoder = new SseDecoder((frame) => reader.acceptFrame(frame))
  for (const piece of pieces) decoder.feed(piece)
  decoder.finish()
  reader.finish()
  const thread = reader.snapshot()
  return () => outcome(thread)
}

async function readResponse(pieces: readonly Uint8Array[], before: Before): Promise<() => Outcome> {
  let last: Thread | undefined
  for await (const thread of readThread(responseOf(pieces), before)) last = thread
  return () => outcome(last as Thread)
}

export const millrace: Prepare = (job) => {
  const { stream, entry, watch } = job
  const before: Before = { messages: stream.history, ...(stream.state !== undefined && { state: stream.state }) }
  if (entry === 'texts') {
    const texts = textsOf(stream.events)
    return () => async () => readTexts(texts, before, watch)
  }
  if (watch.kind !== 'end') throw new NotOffered(job)
  const pieces = piecesOf(job)
  return () => (entry === 'push' ? async () => push(pieces, before) : () => readResponse(pieces, before))
}
