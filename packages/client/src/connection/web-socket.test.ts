import { ChatClient, webSocket } from '@millrace/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { caught, finished, hello, started, text, tick, types, until } from '../../test/events.ts'
import { serveSockets } from '../../test/serve-sockets.ts'
import { context, FIRST_TURN, isInput, listen, messages, open, start, toolTurns } from '../../test/socket-client.ts'

describe('one socket', () => {
  it('opens with the first send, for its run, and serves many', async () => {
    const server = await serveSockets((socket, { runId }) => socket.send(...hello(runId)))
    const connection = open(`${server.url}?key=1`)
    const { events } = listen(connection)
    for (const runId of ['r1', 'r2']) {
      start(connection, { ...context, runId })
      await until(() => types(events).filter((type) => type === 'RUN_FINISHED').length === Number(runId[1]))
    }
    expect(events).toEqual([...hello('r1'), ...hello('r2')])
    expect(server.sockets).toHaveLength(1)
    expect(server.sockets[0]?.url.search).toBe('?key=1&runId=r1')
  })

  it('opens for one who only listens, who gets what the server starts by itself', async () => {
    const server = await serveSockets(undefined, (socket) => socket.send(...hello('theirs')))
    const { events } = listen(open(server.url))
    await until(() => events.length === hello().length)
    expect(events).toEqual(hello('theirs'))
    expect(server.sockets[0]?.url.search).toBe('')
  })

  it('is shared by those who ask while it opens', async () => {
    const server = await serveSockets()
    const connection = open(server.url)
    listen(connection)
    for (const runId of ['r1', 'r2', 'r3']) start(connection, { ...context, runId })
    await until(() => server.sockets[0]?.received.length === 3)
    expect(server.sockets).toHaveLength(1)
  })

  it('gives each of two runs at once its own end', async () => {
    const server = await serveSockets((socket, { runId }, count) => {
      socket.send(started(runId))
      if (count === 2) socket.send(started('r1'), ...text('a', 'm1'), finished('r1'), started('r2'), ...text('b', 'm2'), finished('r2'))
    })
    const connection = open(server.url)
    const { events } = listen(connection)
    start(connection, { ...context, runId: 'r1' })
    start(connection, { ...context, runId: 'r2' })
    await until(() => types(events).filter((type) => type === 'RUN_FINISHED').length === 2)
    server.sockets[0]?.cut()
    await tick(30)
    expect(types(events)).not.toContain('RUN_ERROR')
  })

  it('drops pings, and answers them only if told to', async () => {
    const ping = '{"type":"ping"}'
    const server = await serveSockets((socket, message) => isInput(message) && socket.send(ping, ...hello(), ping))
    for (const answerPings of [false, true]) {
      const connection = open(server.url, { answerPings })
      const { events } = listen(connection)
      start(connection)
      await until(() => events.length === hello().length)
      await tick(10)
      expect(events).toEqual(hello())
    }
    expect(server.sockets.map(({ received }) => received.filter((message) => message.type === 'pong').length)).toEqual([0, 2])
  })

  it('sends pings if told to, and none once it is closed', async () => {
    const timers: { ms: number; run: () => void }[] = []
    const clock = {
      now: () => 0,
      after(ms: number, run: () => void) {
        const timer = { ms, run }
        timers.push(timer)
        return () => void timers.splice(timers.indexOf(timer), 1)
      },
    }
    const server = await serveSockets()
    const connection = open(server.url, { pingMs: 7, reconnect: { clock } })
    start(connection)
    for (const count of [1, 2]) {
      await until(() => timers.some(({ ms }) => ms === 7))
      const timer = timers.find(({ ms }) => ms === 7)
      timers.splice(0)
      timer?.run()
      await until(() => server.sockets[0]?.received.filter(({ type }) => type === 'ping').length === count)
    }
    connection.close()
    expect(timers).toEqual([])
  })

  it('is closed when nobody has needed it for a while, and opened again when somebody does', async () => {
    const server = await serveSockets((socket, { runId }) => socket.send(...hello(runId)))
    const connection = open(server.url, { lingerMs: 0 })
    const chat = new ChatClient({ connection })
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    await until(() => server.sockets[0]?.closed === 1000)
    expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    expect(server.sockets).toHaveLength(2)
  })

  it('stays open between turns by default', async () => {
    const server = await serveSockets((socket, { runId }) => socket.send(...hello(runId)))
    const chat = new ChatClient({ connection: open(server.url) })
    for (let turn = 0; turn < 3; turn++) expect(await chat.sendMessage('Hi')).toEqual({ outcome: 'finished' })
    expect(server.sockets).toHaveLength(1)
  })

  it('asks for its URL at each socket', async () => {
    const server = await serveSockets((socket, { runId }) => socket.send(...hello(runId)))
    let token = 0
    const connection = webSocket(async () => `${server.url}?token=${++token}`, { WebSocketImpl: WebSocket, lingerMs: 0 })
    const chat = new ChatClient({ connection })
    await chat.sendMessage('Hi')
    await until(() => server.sockets[0]?.closed !== undefined)
    await chat.sendMessage('Hi')
    await until(() => server.sockets[1]?.closed !== undefined)
    expect(server.sockets.map(({ url }) => url.searchParams.get('token'))).toEqual(['1', '2'])
  })
})

describe('send', () => {
  it('resolves with the last terminal event, not with one between turns', async () => {
    let goOn: () => void = () => {}
    const server = await serveSockets(async (socket) => {
      socket.send(...toolTurns.slice(0, FIRST_TURN))
      await new Promise<void>((resolve) => {
        goOn = resolve
      })
      socket.send(...toolTurns.slice(FIRST_TURN))
    })
    const connection = open(server.url)
    const { events } = listen(connection)
    let over = false
    const sending = connection.send(messages, undefined, undefined, context).then(() => {
      over = true
    })
    await until(() => events.length === FIRST_TURN)
    await tick(10)
    expect(over).toBe(false)
    goOn()
    await sending
    await until(() => events.length === toolTurns.length)
  })

  it('rejects with what the run fails with', async () => {
    const server = await serveSockets((socket) => socket.close(1011, 'broke'))
    const error = await caught(() => open(server.url).send(messages, undefined, undefined, context))
    expect(error).toMatchObject({ name: 'StreamTruncatedError', code: 'truncated' })
    expect(error.message).toContain('broke')
  })
})

describe('abort', () => {
  it('tells the server once, drops what still comes, and leaves the socket to the next run', async () => {
    const server = await serveSockets((socket, message) => {
      if (message.type === 'abort') socket.send({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm-r1', delta: 'late' }, { type: 'RUN_ERROR', message: 'aborted' })
      else socket.send(...hello(message.runId).slice(0, message.runId === 'r1' ? 3 : undefined))
    })
    const connection = open(server.url)
    const { events } = listen(connection)
    const controller = new AbortController()
    start(connection, context, controller.signal)
    await until(() => events.length === 3)
    controller.abort()
    await until(() => server.sockets[0]?.received.length === 2)
    start(connection, { ...context, runId: 'r2' })
    await until(() => types(events).includes('RUN_FINISHED'))
    expect(events).toEqual([...hello('r1').slice(0, 3), ...hello('r2')])
    expect(server.sockets[0]?.received.slice(1, 2)).toEqual([{ type: 'abort', runId: 'r1' }])
    expect(server.sockets).toHaveLength(1)
  })

  it('says nothing after a run that has ended', async () => {
    const server = await serveSockets((socket, { runId }) => socket.send(...hello(runId)))
    const chat = new ChatClient({ connection: open(server.url) })
    await chat.sendMessage('Hi')
    await tick(20)
    expect(server.sockets[0]?.received.filter((message) => !isInput(message))).toEqual([])
  })

  it('says nothing after a turn that ended with a call of a tool of ours', async () => {
    const server = await serveSockets((socket) => socket.send(...toolTurns.slice(0, FIRST_TURN)))
    const connection = open(server.url)
    const { events } = listen(connection)
    const controller = new AbortController()
    start(connection, { ...context, clientTools: [{ name: 'look', description: '', parameters: {} }] }, controller.signal)
    await until(() => events.length === FIRST_TURN)
    controller.abort()
    await tick(20)
    expect(server.sockets[0]?.received).toHaveLength(1)
  })

  it('tells the server between two turns of a run', async () => {
    const server = await serveSockets((socket, message) => isInput(message) && socket.send(...toolTurns.slice(0, FIRST_TURN)))
    const connection = open(server.url)
    const { events } = listen(connection)
    const controller = new AbortController()
    start(connection, context, controller.signal)
    await until(() => events.length === FIRST_TURN)
    controller.abort()
    await until(() => server.sockets[0]?.received.length === 2)
    expect(server.sockets[0]?.received[1]).toEqual({ type: 'abort', runId: 'r1' })
  })

  it.each([true, false])('what lies here of it is for nobody, also not for the next who reads (by one who goes on listening: %s)', async (same) => {
    const server = await serveSockets((socket, { runId }) => runId !== undefined && socket.send(...hello(runId).slice(0, runId === 'r1' ? 4 : undefined)))
    const connection = open(server.url)
    const listening = new AbortController()
    onTestFinished(() => listening.abort())
    const first = connection.subscribe(listening.signal)[Symbol.asyncIterator]()
    const controller = new AbortController()
    const head = first.next()
    start(connection, context, controller.signal)
    expect((await head).value).toEqual(hello()[0])
    // The rest has come as well, and nobody has asked for it.
    await tick(30)
    controller.abort()
    await tick(5)
    if (!same) await first.return?.()
    const next = same ? first : connection.subscribe(listening.signal)[Symbol.asyncIterator]()
    const event = next.next()
    start(connection, { ...context, runId: 'r2' })
    expect((await event).value).toEqual(hello('r2')[0])
  })

  it('while the socket opens closes it, and no run is sent', async () => {
    const server = await serveSockets()
    const connection = open(server.url)
    const controller = new AbortController()
    const sending = connection.send(messages, undefined, controller.signal, context)
    await tick()
    controller.abort()
    await sending
    await until(() => server.sockets.every(({ closed }) => closed !== undefined))
    expect(server.sockets.flatMap(({ received }) => received)).toEqual([])
  })
})

describe('close()', () => {
  it('fails open runs, ends subscriptions and leaves no socket; a later send opens one', async () => {
    const server = await serveSockets((socket, { runId }) => socket.send(...hello(runId).slice(0, runId === 'r1' ? 3 : undefined)))
    const connection = open(server.url)
    const { events, reading } = listen(connection)
    start(connection)
    await until(() => events.length === 3)
    connection.close()
    await reading
    await until(() => server.sockets[0]?.closed !== undefined)
    expect(server.sockets).toHaveLength(1)
    const again = listen(connection)
    start(connection, { ...context, runId: 'r2' })
    await until(() => types(again.events).includes('RUN_FINISHED'))
    expect(again.events.filter(({ type }) => type === 'RUN_ERROR')).toMatchObject([{ code: 'aborted', runId: 'r1' }])
  })
})

describe('what can be wrong', () => {
  it('a server that is not there fails the send, and the turn', async () => {
    const connection = open('ws://127.0.0.1:9/chat')
    expect(await caught(() => connection.send(messages, undefined, undefined, context))).toMatchObject({ name: 'TransportError', code: 'network', url: 'ws://127.0.0.1:9/chat?runId=r1' })
    expect(await new ChatClient({ connection }).sendMessage('Hi')).toMatchObject({ outcome: 'error', error: { code: 'network' } })
  })

  it('a URL that no socket takes is a typed error', async () => {
    expect(await caught(() => open('not a url').send(messages, undefined, undefined, context))).toMatchObject({ code: 'network' })
  })

  it('a message that is no JSON ends the run after what came before it, and closes the socket', async () => {
    const server = await serveSockets((socket) => socket.send(started(), '{nonsense'))
    const connection = open(server.url)
    const { events } = listen(connection)
    start(connection)
    await until(() => events.length === 2)
    expect(events).toMatchObject([started(), { type: 'RUN_ERROR', code: 'malformed' }])
    await until(() => server.sockets[0]?.closed !== undefined)
  })

  it('a message that is too long is refused by its limit', async () => {
    const server = await serveSockets((socket) => socket.send(started(), { type: 'CUSTOM', name: 'x', value: 'x'.repeat(200) }))
    const connection = open(server.url, { limits: { frameLength: 100 } })
    const { events } = listen(connection)
    start(connection)
    await until(() => events.length === 2)
    expect(events[1]).toMatchObject({ type: 'RUN_ERROR', code: 'limit' })
  })

  it.each([['null'], ['5'], ['"text"'], ['[]'], ['{}']])('an event that is %s is left to those who check events', async (odd) => {
    const server = await serveSockets((socket) => socket.send(started(), odd, finished()))
    const chat = new ChatClient({ connection: open(server.url), threadId: 't1' })
    expect(await chat.sendMessage('Hi')).toMatchObject({ outcome: 'malformed' })
  })

  it('a run that cannot be written as JSON is the caller’s, and opens nothing', async () => {
    const server = await serveSockets()
    const error = await caught(() => open(server.url).send(messages, { big: 1n }, undefined, context))
    expect(error).toMatchObject({ name: 'UsageError', code: 'not-serialisable' })
    expect(server.sockets).toHaveLength(0)
  })

  it.each([
    ['no-url', '', {}],
    ['bad-options', 'ws://x', null],
    ['bad-options', 'ws://x', { lingerMs: -1 }],
    ['bad-options', 'ws://x', { pingMs: 'often' }],
    ['bad-limit', 'ws://x', { limits: { frameLength: -1 } }],
    ['bad-reconnect', 'ws://x', { reconnect: { maxAttempts: -1 } }],
  ])('says %s at once (%j, %j)', async (code, url, options) => {
    expect(await caught(() => webSocket(url, options as never))).toMatchObject({ name: 'UsageError', code })
  })

  it('says that this runtime has no WebSocket', async () => {
    const { WebSocket: own } = globalThis as { WebSocket?: unknown }
    onTestFinished(() => void Object.assign(globalThis, { WebSocket: own }))
    Object.assign(globalThis, { WebSocket: undefined })
    expect(await caught(() => webSocket('ws://x'))).toMatchObject({ name: 'UsageError', code: 'no-web-socket' })
  })
})
