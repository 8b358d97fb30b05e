/** Streams as they come over the network: SSE, cut into pieces. */
import { numbersFrom } from './random.ts'

/**
 * Sizes of pieces: `uneven` as sockets give them, `even` 1 KiB, `large` 16 KiB as servers write them, `small` 200 bytes, `whole`
 * all in one.
 */
export type Cuts = 'uneven' | keyof typeof ALIKE

const UNEVEN: readonly [least: number, most: number] = [1, 1_500]
const ALIKE = { even: 1_024, large: 16_384, small: 200, whole: Infinity } as const

/** An event as SSE. */
export function sseText(event: object, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(event)}\n\n`
}

/** The events as a server would send them. The same cuts in every run and for every contender. */
export function sseBytes(events: readonly object[], cuts: Cuts): Uint8Array<ArrayBuffer>[] {
  const bytes = new TextEncoder().encode(events.map((event) => sseText(event)).join(''))
  const pieces: Uint8Array<ArrayBuffer>[] = []
  const number = numbersFrom(1)
  for (let at = 0; at < bytes.length; ) {
    const size = cuts === 'uneven' ? number(...UNEVEN) : ALIKE[cuts]
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
