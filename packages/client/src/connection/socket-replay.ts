/** What follows a place in a run, over a socket of its own: servers of TanStack AI answer `?runId=…&offset=…` from their log. */
import type { Clock } from '../clock.ts'
import { TransportError } from '../errors.ts'
import { Inbox } from './inbox.ts'
import type { Opened, Position } from './run-source.ts'
import { errorOfEnd, Placing, readMessage, type SocketMessage } from './socket-message.ts'
import type { Socket, SocketHandlers } from './socket.ts'

/** Makes a socket, which may still be opening, at the connection's URL with a query. */
export type SocketMaker = (query: Readonly<Record<string, string>>, handlers: SocketHandlers) => Promise<Socket>

export interface ReplayRequest {
  readonly runId: string
  /** Without an id: the run from its start. */
  readonly position: Position | undefined
  readonly signal: AbortSignal
  readonly frameLength: number
  /**
   * For a run of which nothing was heard: a server that keeps none takes the socket for one on which inputs will come, and says
   * nothing. It is not waited for.
   */
  readonly clock?: Clock
  /** Told when the socket is closed by the other side, before the batches end. */
  readonly ended?: (cut: Error | undefined) => void
}

/** How long a server may take to say the first thing of a run that it may not keep, in ms. */
const FIRST_MESSAGE_MS = 10_000

/** @throws TransportError `network` if the socket cannot be opened. */
export async function replay(make: SocketMaker, { runId, position, signal, frameLength, clock, ended }: ReplayRequest): Promise<Opened> {
  const inbox = new Inbox()
  const placing = new Placing()
  let line = 0
  /** A message has come, or the end. */
  let over = false
  let heard: (() => void) | undefined
  const read = (text: string): SocketMessage | undefined => {
    try {
      return readMessage(text, ++line, frameLength)
    } catch (error) {
      inbox.end(error)
      return undefined
    }
  }
  const socket = await make({ runId, offset: position?.id ?? '-1' }, {
    message(text) {
      over = true
      heard?.()
      const message = read(text)
      if (message !== undefined) inbox.put(message.kind === 'event' ? [placing.place(message)] : [])
    },
    closed(end) {
      over = true
      heard?.()
      const cut = errorOfEnd(end, socket.url)
      ended?.(cut)
      inbox.end(cut)
    },
  })
  const release = (): void => {
    heard?.()
    socket.release()
  }
  if (signal.aborted) release()
  else signal.addEventListener('abort', release, { once: true })
  await socket.opened
  if (position?.id === undefined && !signal.aborted && !over) {
    heard = clock?.after(FIRST_MESSAGE_MS, () => {
      inbox.end(new TransportError(`${socket.url} says nothing of run "${runId}"; it may not keep runs.`, { code: 'refused', url: socket.url }))
      socket.release()
    })
  }
  return { batches: inbox, offersResume: 'yes' }
}
