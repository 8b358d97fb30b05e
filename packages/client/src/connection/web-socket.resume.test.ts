/** WebSockets that break, are silent or refuse, and runs that are joined. */
import { ChatClient, webSocket, type StreamChunk } from '@millrace/client'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { caught, collect, collectUntilError, hello, started, text, tick, types, until } from '../../test/events.ts'
import { serveSockets, type ServedSocket } from '../../test/serve-sockets.ts'
import { chatText, context, envelopes, FIRST_TURN, listen, open, start, toolTurns } from '../../test/socket-client.ts'

describe('a socket that breaks', () => {
  /** Plays `events` in envelopes, cutting the socket after the first `cutAfter`; sockets with an offset get the rest. */
  const durable = (events: readonly StreamChunk[], cutAfter: number) =>
    serveSockets(
      async (socket) => {
        socket.send(...envelopes(events).slice(0, cutAfter))
        await tick(10)
        socket.cut()
      },
      (socket) => {
        const offset = socket.url.searchParams.get('offset')
        if (offset === null) return
        socket.send('{"type":"ping"}', ...envelopes(events).slice(Number(offset) + 1))
        socket.close(1000)
      },
    )

  it.each([1, 2, 5, 7])('is followed by another behind the cursor: every event once, one run (cut after %i)', async (cutAfter) => {
    const server = await durable(hello(), cutAfter)
    const chat = new ChatClient({ connection: open(server.url), threadId: 't1' })
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    expect(chatText(chat)).toBe('Hi|Hello')
    expect(server.sockets.map(({ url }) => url.searchParams.get('offset'))).toEqual([null, String(cutAfter - 1)])
    expect(server.sockets[1]?.url.searchParams.get('runId')).toBe(server.sockets[0]?.received[0].runId)
    expect(server.sockets.flatMap(({ received }) => received)).toHaveLength(1)
  })

  it('drops what the server repeats', async () => {
    const server = await serveSockets(
      async (socket) => {
        socket.send(...envelopes(hello()).slice(0, 4))
        await tick(10)
        socket.cut()
      },
      (socket) => {
        if (socket.url.searchParams.get('offset') === null) return
        socket.send(...envelopes(hello()))
        socket.close(1000)
      },
    )
    const connection = open(server.url)
    const { events } = listen(connection)
    start(connection)
    await until(() => types(events).includes('RUN_FINISHED'))
    expect(events).toEqual(hello())
  })

  it.each([
    ['after a RUN_FINISHED that was not the last', FIRST_TURN],
    ['in the turn after it', FIRST_TURN + 3],
  ])('%s is followed all the same', async (_, cutAfter) => {
    const server = await durable(toolTurns, cutAfter)
    const chat = new ChatClient({ connection: open(server.url), threadId: 't1' })
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    expect(chatText(chat)).toBe('Hi|[tool-call]|Done')
    expect(server.sockets).toHaveLength(2)
  })

  it.each([
    ['in mid-run', 5],
    ['after a RUN_FINISHED that was not the last', FIRST_TURN],
    ['in the turn after it', FIRST_TURN + 3],
  ])('%s, without ids, ends the run as truncated and keeps what came', async (_, cutAfter) => {
    const server = await serveSockets(async (socket) => {
      socket.send(...toolTurns.slice(0, cutAfter))
      await tick(10)
      socket.cut()
    })
    const connection = open(server.url)
    const { events } = listen(connection)
    start(connection)
    await until(() => types(events).includes('RUN_ERROR'))
    expect(events.slice(0, -1)).toEqual(toolTurns.slice(0, cutAfter))
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'truncated', threadId: 't1', runId: 'r1' })
  })

  it.each([['in mid-run', 2], ['between turns', FIRST_TURN], ['in the turn after it', FIRST_TURN + 3]])('%s, without ids, is a chat’s truncated turn', async (_, cutAfter) => {
    const server = await serveSockets(async (socket) => {
      socket.send(...toolTurns.slice(0, cutAfter))
      await tick(10)
      socket.cut()
    })
    const chat = new ChatClient({ connection: open(server.url), threadId: 't1' })
    expect(await chat.sendMessage('Hi')).toMatchObject({ outcome: 'truncated', error: { name: 'StreamTruncatedError', code: 'truncated' } })
    expect(chatText(chat)).toContain('[tool-call]')
  })

  it('after a RUN_FINISHED that said more was due, with a log that has no more, is done', async () => {
    const server = await durable(toolTurns.slice(0, FIRST_TURN), FIRST_TURN)
    const chat = new ChatClient({ connection: open(server.url), threadId: 't1' })
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    expect(server.sockets).toHaveLength(2)
  })

  it('gives the first error if the server has nothing to resume from', async () => {
    const server = await serveSockets(
      async (socket) => {
        socket.send(...envelopes(hello()).slice(0, 4))
        await tick(10)
        socket.cut()
      },
      (socket) => socket.url.searchParams.has('offset') && socket.close(1008, 'no resume offset'),
    )
    const connection = open(server.url)
    const { events } = listen(connection)
    start(connection)
    await until(() => types(events).includes('RUN_ERROR'))
    expect(events.at(-1)).toMatchObject({ code: 'truncated' })
    expect(server.sockets).toHaveLength(2)
  })

  it('is given up after attempts that bring nothing, each told', async () => {
    const server = await serveSockets(
      async (socket) => {
        socket.send(...envelopes(hello()).slice(0, 4))
        await tick(10)
        socket.cut()
      },
      (socket) => socket.url.searchParams.has('offset') && socket.cut(),
    )
    const attempts: number[] = []
    const connection = open(server.url, { reconnect: { random: () => 0, maxAttempts: 3 }, onReconnect: ({ attempt }) => attempts.push(attempt) })
    const { events } = listen(connection)
    start(connection)
    await until(() => types(events).includes('RUN_ERROR'))
    expect(attempts).toEqual([1, 2, 3])
    expect(events.at(-1)).toMatchObject({ code: 'truncated' })
  })

  it('that is silent for too long counts as broken', async () => {
    const server = await serveSockets(
      (socket) => socket.send(...envelopes(hello()).slice(0, 4)),
      (socket) => {
        const offset = socket.url.searchParams.get('offset')
        if (offset === null) return
        socket.send(...envelopes(hello()).slice(Number(offset) + 1))
        socket.close(1000)
      },
    )
    const connection = open(server.url, { reconnect: { random: () => 0, idleMs: 30 } })
    const { events } = listen(connection)
    start(connection)
    await until(() => types(events).includes('RUN_FINISHED'))
    expect(events).toEqual(hello())
    await until(() => server.sockets[0]?.closed !== undefined)
  })

  it('can be aborted while it is resumed', async () => {
    const server = await serveSockets(
      async (socket) => {
        socket.send(...envelopes(hello()).slice(0, 4))
        await tick(10)
        socket.cut()
      },
    )
    const connection = open(server.url)
    const { events } = listen(connection)
    const controller = new AbortController()
    start(connection, context, controller.signal)
    await until(() => server.sockets.length === 2)
    controller.abort()
    await until(() => server.sockets[1]?.closed !== undefined)
    expect(events).toEqual(hello().slice(0, 4))
  })

  it('closed cleanly while a run is open is no success', async () => {
    const server = await serveSockets((socket) => {
      socket.send(started(), ...text('Half'))
      socket.close(1000)
    })
    for (const [missingTerminal, type] of [['error', 'RUN_ERROR'], ['finish', 'RUN_FINISHED']] as const) {
      const connection = open(server.url, { missingTerminal })
      const { events, stop } = listen(connection)
      start(connection)
      await until(() => types(events).includes(type))
      expect(events.slice(0, -1)).toEqual([started(), ...text('Half')])
      expect(events.at(-1)).toMatchObject({ type, ...context })
      stop()
    }
  })

  it('closed for a reason of the server gives that reason', async () => {
    const server = await serveSockets((socket) => socket.close(4401, 'sign in'))
    const connection = open(server.url)
    const { events } = listen(connection)
    start(connection)
    await until(() => events.length === 1)
    expect(events[0]).toMatchObject({ type: 'RUN_ERROR', code: 'refused' })
    expect(JSON.stringify(events[0])).toContain('sign in')
  })

  it('is opened again for those who listen', async () => {
    const server = await serveSockets(undefined, async (socket, count) => {
      socket.send(...hello(`r${count}`))
      await tick(10)
      if (count < 3) socket.close(count === 1 ? 1000 : 1001)
    })
    const { events } = listen(open(server.url))
    await until(() => types(events).filter((type) => type === 'RUN_FINISHED').length === 3)
    expect(events).toEqual([...hello('r1'), ...hello('r2'), ...hello('r3')])
  })

  it('again and again fails those who listen', async () => {
    const server = await serveSockets(undefined, (socket) => socket.close(1001))
    const connection = open(server.url, { reconnect: { random: () => 0, maxAttempts: 2 } })
    const error = await caught(() => listen(connection).reading)
    expect(error).toMatchObject({ name: 'StreamTruncatedError' })
    expect(server.sockets).toHaveLength(3)
  })
})

it('law 3, exactly once: cut after any number of events, any number of times, with any overlap, every event comes once', async () => {
  let cuts: { after: number; back: number }[] = []
  const server = await serveSockets(
    (socket) => sendFrom(socket, 0),
    (socket) => {
      const offset = socket.url.searchParams.get('offset')
      if (offset !== null) sendFrom(socket, Number(offset) + 1)
    },
  )
  function sendFrom(socket: ServedSocket, from: number): void {
    const cut = cuts.shift()
    // A server may begin further back than it was asked to.
    socket.send(...envelopes(toolTurns).slice(Math.max(0, from - (cut?.back ?? 0)), cut && from + cut.after))
    socket.close(cut === undefined ? 1000 : 1012)
  }
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ after: fc.integer({ min: 1, max: 5 }), back: fc.nat(4) }), { maxLength: 6 }), async (plan) => {
      cuts = [...plan]
      const connection = webSocket(server.url, { WebSocketImpl: WebSocket, reconnect: { random: () => 0 } })
      const { events, stop } = listen(connection)
      await connection.send([], undefined, undefined, context)
      await until(() => events.length >= toolTurns.length)
      stop()
      connection.close()
      expect(events).toEqual(toolTurns)
    }),
    { numRuns: 40 },
  )
})

describe('joinRun', () => {
  it('gives a run from its start over a socket of its own', async () => {
    const server = await serveSockets(undefined, (socket) => {
      if (!socket.url.searchParams.has('offset')) return
      socket.send(...envelopes(hello('old')))
      socket.close(1000)
    })
    const connection = open(server.url)
    expect(await collect(connection.joinRun('old'))).toEqual(hello('old'))
    expect(server.sockets.map(({ url }) => url.search)).toEqual(['?runId=old&offset=-1'])
  })

  it('says that there is nothing to join', async () => {
    const server = await serveSockets(undefined, (socket) => socket.close(1008, 'no such run'))
    const { error } = await collectUntilError(open(server.url).joinRun('old'))
    expect(error).toMatchObject({ name: 'TransportError', code: 'refused' })
  })

  it('ends quietly on abort and closes its socket; with close() it says so', async () => {
    const server = await serveSockets(undefined, (socket) => socket.send({ id: '0', chunk: started('old') }))
    const connection = open(server.url)
    const controller = new AbortController()
    const seen: StreamChunk[] = []
    for await (const event of connection.joinRun('old', controller.signal)) {
      seen.push(event)
      controller.abort()
    }
    expect(seen).toEqual([started('old')])
    await until(() => server.sockets[0]?.closed !== undefined)
    const error = await caught(async () => {
      for await (const _ of connection.joinRun('old')) connection.close()
    })
    expect(error).toMatchObject({ code: 'aborted' })
    await until(() => server.sockets[1]?.closed !== undefined)
  })
})
