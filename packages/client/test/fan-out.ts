/** A server over real WebSockets that tells all of a thread what each of them asks: one run after the other, its input echoed. */
import type { HydratedThread, StreamChunk } from '@millrace/client'
import { compatible, ThreadReader } from '@millrace/protocol'
import { serveSockets, type ServedSocket } from './serve-sockets.ts'
import { finished, started, text, until } from './events.ts'

interface Asked {
  readonly threadId: string
  readonly runId: string
  readonly messages: readonly { readonly id: string; readonly role: string; readonly content: unknown }[]
}

/** Each event goes out when the test lets it: `release(n)` lets n go, and all that follow if it is `Infinity`. */
export async function fanOut() {
  const log = new Map<string, StreamChunk[]>()
  const over = new Set<string>()
  let credit = Number.POSITIVE_INFINITY
  let turn = Promise.resolve()
  const runs: string[] = []
  const listening = (): ServedSocket[] => server.sockets.filter(({ closed, url }) => closed === undefined && !url.searchParams.has('offset'))

  const play = async (input: Asked): Promise<void> => {
    const { runId, threadId, messages } = input
    runs.push(runId)
    const said = messages.findLast(({ role }) => role === 'user')?.content
    const events = [{ ...started(runId, threadId), input }, ...text(`Re: ${String(said)}`, `m-${runId}`), finished(runId, threadId)]
    const sent: StreamChunk[] = []
    log.set(runId, sent)
    for (const event of events) {
      await until(() => credit > 0)
      credit--
      sent.push(event)
      for (const socket of listening()) socket.send(event)
    }
    over.add(runId)
  }

  const replay = async (socket: ServedSocket): Promise<void> => {
    const runId = socket.url.searchParams.get('runId') ?? ''
    let next = 0
    while (socket.closed === undefined) {
      const events = log.get(runId) ?? []
      while (next < events.length) socket.send(events[next++])
      if (over.has(runId)) return socket.close(1000)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }

  const server = await serveSockets(
    (_, message: Asked & { type?: string }) => {
      if (message.type === undefined) turn = turn.then(() => play(message))
    },
    (socket) => {
      if (socket.url.searchParams.has('offset')) void replay(socket)
    },
  )
  return {
    url: server.url,
    sockets: server.sockets,
    runs,
    listening,
    /** What a client is told that comes back: what was asked, and all that is over. */
    hydrate: async (): Promise<HydratedThread> => {
      const reader = new ThreadReader(compatible('report'))
      let active: string | undefined
      for (const [runId, events] of log) {
        if (over.has(runId)) for (const event of events) reader.accept(event)
        else active = runId
      }
      const { messages, state, interrupts, runs } = reader.snapshot()
      return { messages, state, interrupts, activeRun: active === undefined ? null : { runId: active }, runs }
    },
    /** Begins a run that nobody asked for. */
    begin: (runId: string, threadId: string) => {
      turn = turn.then(() => play({ threadId, runId, messages: [{ id: `u-${runId}`, role: 'user', content: 'nobody' }] }))
    },
    release: (events: number) => {
      credit = events
    },
  }
}
