/** Streams as they come over the network: SSE, cut into pieces. */
import { numbersFrom } from './random.ts'

/** Sizes of pieces in bytes: as sockets give them, or all alike. */
export type Cuts = 'uneven' | 'even'

const UNEVEN: readonly [least: number, most: number] = [1, 1_500]
const EVEN = 1_024

/** The events as a server would send them. The same cuts in every run and for every contender. */
export function sseBytes(events: readonly object[], cuts: Cuts): Uint8Array<ArrayBuffer>[] {
  const bytes = new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
  const pieces: Uint8Array<ArrayBuffer>[] = []
  const number = numbersFrom(1)
  for (let at = 0; at < bytes.length; ) {
    const size = cuts === 'even' ? EVEN : number(...UNEVEN)
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
