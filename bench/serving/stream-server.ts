/**
 * Answers every POST with the same stream: events of AG-UI, or at `/ai` the chunks of `ai`. What lies between the first event and
 * the last, which have ids of the run, is bytes before anybody asks.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { uiMessageChunks } from '../contenders/ai-sdk-chunks.ts'
import type { Stream } from '../workloads/stream.ts'
import { sseBytes, type Cuts } from '../workloads/wire.ts'
import { readAsked, withIds, type Asked } from './asked.ts'
import { listen, type Server } from './listen.ts'

/** Pieces of an answer, each to be written by itself. */
type Answer = (asked: Asked) => readonly Uint8Array[]

export function serveStream(stream: Stream, cuts: Cuts): Promise<Server> {
  const agUi = answerOf(stream.events, cuts)
  const ai = answerOf(uiMessageChunks(stream.events), cuts)
  return listen((request, response) => {
    respond(request, response, stream, request.url === '/ai' ? ai : agUi).catch(() => response.destroy())
  })
}

function answerOf(events: readonly object[], cuts: Cuts): Answer {
  const [first, last] = [events[0] as object, events.at(-1) as object]
  const between = sseBytes(events.slice(1, -1), cuts)
  return (asked) => {
    const pieces = [...sseBytes([withIds(first, asked)], 'whole'), ...between, ...sseBytes([withIds(last, asked)], 'whole')]
    return cuts === 'whole' ? [Buffer.concat(pieces)] : pieces
  }
}

async function respond(request: IncomingMessage, response: ServerResponse, stream: Stream, answer: Answer): Promise<void> {
  const asked = await readAsked(request, stream)
  if (asked === undefined) return void response.writeHead(400).end()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const piece of answer(asked)) await write(response, piece)
  response.end()
}

/** Settles when the system has taken the piece, so that the next one is not put together with it, or the client is gone. */
function write(response: ServerResponse, piece: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => response.write(piece, (error) => (error ? reject(error) : resolve())))
}
