/** Runs and faults over real WebSockets. */
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { both, byteByByte, closeAfter, cutAfter, cutAt, heartbeats, neverAnswer, recordedRun, resetAt, stallAfter, status, twice, unterminated, type FaultServer } from '../index.ts'
import { input, serverFor } from '../../test/raw.ts'

const events = recordedRun()

interface Client {
  readonly socket: WebSocket
  readonly messages: any[]
  /** The close code, and the error before it if there was one. */
  readonly closed: Promise<{ code: number; error: string | undefined }>
  got(count: number): Promise<void>
}

async function connect(server: FaultServer, query = '', send?: unknown): Promise<Client> {
  const socket = new WebSocket(server.wsUrl + query)
  const messages: any[] = []
  let wake = (): void => undefined
  socket.on('message', (data) => {
    messages.push(JSON.parse(String(data)))
    wake()
  })
  let error: string | undefined
  socket.on('error', (reason) => (error = reason.message))
  const closed = new Promise<{ code: number; error: string | undefined }>((resolve) => socket.on('close', (code) => resolve({ code, error })))
  await Promise.race([new Promise((resolve) => socket.on('open', resolve)), closed])
  if (send !== undefined) socket.send(JSON.stringify(send))
  return {
    socket,
    messages,
    closed,
    got: (count) =>
      new Promise((resolve) => {
        wake = () => void (messages.length >= count && resolve())
        wake()
      }),
  }
}

const idsIn = (messages: readonly { id?: string }[]) => messages.map(({ id }) => id)

describe('runs', () => {
  test('one socket, several runs; then the client closes', async () => {
    const server = await serverFor({ events })
    const client = await connect(server, '?runId=r1', input())
    await client.got(events.length)
    expect(client.messages).toEqual(events.map((chunk, i) => ({ id: String(i + 1), chunk })))
    client.socket.send(JSON.stringify(input('r2')))
    await client.got(2 * events.length)
    expect(client.messages.at(-1)?.chunk).toMatchObject({ type: 'RUN_FINISHED', runId: 'r2' })
    client.socket.close(1000)
    await server.until(({ requests }) => requests[0]?.closeCode === 1000)
    expect(server.requests).toMatchObject([{ transport: 'websocket', did: 'conversation', status: 101, ending: 'left', events: 2 * events.length }])
    expect(server.requests[0]?.messages).toHaveLength(2)
  })

  test('without ids, events are bare', async () => {
    const client = await connect(await serverFor({ events, ids: 'none' }), '', input())
    await client.got(events.length)
    expect(client.messages).toEqual(events)
  })

  test('a socket with an offset only reads, and is closed at the end of the run', async () => {
    const server = await serverFor({ events, hold: 60 })
    const first = await connect(server, '', input())
    await first.got(events.length)
    const client = await connect(server, '?runId=r1&offset=50', input('ignored'))
    expect(await client.closed).toMatchObject({ code: 1000 })
    expect(idsIn(client.messages)).toEqual(events.slice(50).map((_, i) => String(51 + i)))
    expect(server.started).toHaveLength(1)
    for (const query of ['?runId=nobody&offset=1', '?runId=r1&offset=x', '?offset=1']) {
      expect(await (await connect(server, query)).closed).toMatchObject({ code: 1008 })
    }
  })

  test('abort cancels the run, and nothing more comes of it', async () => {
    const server = await serverFor({ events, hold: 5 })
    const client = await connect(server, '', input())
    await client.got(5)
    client.socket.send('{"type":"abort","runId":"r1"}')
    client.socket.send('{"type":"ping"}')
    await client.got(6)
    expect(client.messages.at(-1)).toEqual({ type: 'pong' })
    const again = await connect(server, '?runId=r1&offset=5')
    await again.closed
    expect(again.messages).toMatchObject([{ chunk: { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } } }])
  })

  test('what is no input is told; the socket stays', async () => {
    const client = await connect(await serverFor({ events }), '', 'nonsense')
    await client.got(1)
    expect(client.messages).toMatchObject([{ type: 'RUN_ERROR', code: 'input.malformed' }])
    client.socket.send(JSON.stringify(input()))
    await client.got(1 + events.length)
  })
})

describe('faults', () => {
  test.each([1000, 1011, 4000])('closed with %i after some messages', async (code) => {
    const server = await serverFor({ events, faults: [closeAfter(3, code)] })
    const client = await connect(server, '', input())
    expect((await client.closed).code).toBe(code)
    expect(client.messages).toHaveLength(3)
    expect(server.requests[0]).toMatchObject({ ending: 'closed', events: 3 })
  })

  test.each([
    ['1006', closeAfter(3, 1006)],
    ['cut', cutAfter(3)],
  ])('gone without a close frame: %s', async (_, fault) => {
    const client = await connect(await serverFor({ events, faults: [fault] }), '', input())
    expect((await client.closed).code).toBe(1006)
    expect(client.messages).toHaveLength(3)
  })

  test('cut in the middle of a message', async () => {
    const server = await serverFor({ events, faults: [cutAt(300)] })
    const client = await connect(server, '', input())
    expect((await client.closed).code).toBe(1006)
    expect(server.requests[0]).toMatchObject({ bytes: 300, ending: 'cut' })
    expect(client.messages.length).toBe(server.requests[0]?.events)
  })

  test('cut before any message, before any run', async () => {
    const client = await connect(await serverFor({ events, faults: [cutAt(0)] }))
    expect(await client.closed).toMatchObject({ code: 1006 })
  })

  test('a reset', async () => {
    const client = await connect(await serverFor({ events, faults: [resetAt(300)] }))
    const { _socket: raw } = client.socket as unknown as { _socket: Socket }
    const failed = new Promise<NodeJS.ErrnoException>((resolve) => raw.on('error', resolve))
    client.socket.send(JSON.stringify(input()))
    expect(await client.closed).toMatchObject({ code: 1006 })
    expect((await failed).code).toBe('ECONNRESET')
  })

  test('a stall, and on it goes', async () => {
    const server = await serverFor({ events, faults: [stallAfter(4)] })
    const client = await connect(server, '', input())
    await server.until(({ requests }) => requests[0]?.ending === 'stalled')
    await client.got(4)
    server.unstall()
    await client.got(events.length)
  })

  test('byte by byte the messages are the same; pings in between do no harm', async () => {
    const server = await serverFor({ events, faults: [both(byteByByte, heartbeats(10))] })
    const client = await connect(server, '', input())
    const pong = new Promise((resolve) => client.socket.on('pong', (data) => resolve(String(data))))
    client.socket.ping('now')
    expect(await pong).toBe('now')
    await client.got(events.length + Math.floor(events.length / 10))
    expect(client.messages.filter(({ type }) => type === 'ping')).toHaveLength(Math.floor(events.length / 10))
    expect(client.messages.filter(({ type }) => type !== 'ping').map(({ chunk }) => chunk)).toEqual(events)
  })

  test('no pong, of either kind', async () => {
    const server = await serverFor({ events, faults: [{ pong: 'silent' }], hold: 1 })
    const client = await connect(server, '', input())
    let pongs = 0
    client.socket.on('pong', () => pongs++)
    client.socket.ping()
    client.socket.send('{"type":"ping"}')
    await server.until(({ requests }) => requests[0]?.messages.length === 2)
    server.release()
    await client.got(events.length)
    expect([pongs, client.messages.filter(({ type }) => type === 'pong').length]).toEqual([0, 0])
  })

  test('the handshake is refused, then taken', async () => {
    const server = await serverFor({ events, faults: [status(503)] })
    expect(await (await connect(server)).closed).toEqual({ code: 1006, error: 'Unexpected server response: 503' })
    const client = await connect(server, '', input())
    await client.got(events.length)
  })

  test('the handshake is cut, or not answered until it is released', async () => {
    const server = await serverFor({ events, faults: [{ ending: { at: { head: 20 }, how: 'cut' } }, neverAnswer] })
    expect(await (await connect(server)).closed).toMatchObject({ code: 1006 })
    const opening = connect(server, '', input())
    await server.until(({ requests }) => requests[1]?.ending === 'stalled')
    server.unstall()
    await (await opening).got(events.length)
  })

  test('a conversation ends cleanly before the terminal event', async () => {
    const client = await connect(await serverFor({ events, faults: [unterminated] }), '', input())
    expect(await client.closed).toMatchObject({ code: 1000 })
    expect(client.messages).toHaveLength(events.length - 1)
  })

  test('replays', async () => {
    const server = await serverFor({ events, faults: [cutAfter(10), twice] })
    await (await connect(server, '', input())).closed
    const client = await connect(server, '?runId=r1&offset=10')
    await client.closed
    expect(idsIn(client.messages).slice(0, 4)).toEqual(['11', '11', '12', '12'])
  })
})
