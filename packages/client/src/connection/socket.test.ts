import { describe, expect, it, onTestFinished } from 'vitest'
import { caught } from '../../test/events.ts'
import { socketUrl } from './socket-url.ts'
import { Socket, type SocketEnd, type WebSocketLike } from './socket.ts'

describe('Socket', () => {
  function fake() {
    const calls: unknown[][] = []
    const socket = {
      binaryType: 'blob',
      readyState: 0,
      onopen: null,
      onmessage: null,
      onclose: null,
      onerror: null,
      send: (data: string) => void calls.push(['send', data]),
      close: (code?: number) => void calls.push(['close', code]),
    } as WebSocketLike & { readyState: number }
    return { socket, calls }
  }

  it('is silent once it was let go, whatever still comes', async () => {
    const { socket, calls } = fake()
    const told: unknown[] = []
    const own = new Socket(() => socket, 'ws://x', { message: (message) => told.push(message), closed: (end) => told.push(end) })
    const { onmessage, onclose } = socket as unknown as { onmessage(event: object): void; onclose(event: object): void }
    onmessage({ data: 'one' })
    own.release()
    own.release()
    onmessage({ data: 'late' })
    onclose({ code: 1006 })
    own.send('late')
    expect(told).toEqual(['one'])
    expect(calls).toEqual([['close', 1000]])
    expect(await caught(() => own.opened)).toMatchObject({ code: 'aborted' })
    // Node's `ws` throws errors that nobody listens for, also those of a socket that is closed while it opens.
    expect(socket.onerror).toBeTypeOf('function')
  })

  it('tells its end once, with what the implementation knows of it', () => {
    const { socket } = fake()
    const ends: SocketEnd[] = []
    const own = new Socket(() => socket, 'ws://x', { message: () => {}, closed: (end) => ends.push(end) })
    const { onclose } = socket as unknown as { onclose(event: object): void }
    onclose({})
    onclose({ code: 1000 })
    expect(ends).toEqual([{ code: 1006, reason: '' }])
    expect(own.ready).toBe(false)
  })

  it('reads binary messages as UTF-8', () => {
    const { socket } = fake()
    const told: string[] = []
    const own = new Socket(() => socket, 'ws://x', { message: (message) => told.push(message), closed: () => {} })
    expect(own.ready).toBe(false)
    expect(socket.binaryType).toBe('arraybuffer')
    const { onmessage } = socket as unknown as { onmessage(event: object): void }
    const bytes = new TextEncoder().encode('é')
    onmessage({ data: bytes })
    onmessage({ data: bytes.buffer })
    onmessage({ data: {} })
    expect(told).toEqual(['é', 'é'])
  })
})

describe('socketUrl', () => {
  it.each([
    ['ws://h/p', {}, 'ws://h/p'],
    ['http://h/p?a=1#frag', { runId: 'r 1' }, 'ws://h/p?a=1&runId=r%201'],
    ['https://h/p', { runId: 'r', offset: '1&2' }, 'wss://h/p?runId=r&offset=1%262'],
    ['HTTPS://h', {}, 'wsS://h'],
  ])('%s with %j', (url, query, expected) => {
    expect(socketUrl(url, query)).toBe(expected)
  })

  it('resolves against the page, if there is one', () => {
    expect(socketUrl('/chat', {})).toBe('/chat')
    Object.assign(globalThis, { location: { href: 'https://app.example/room/1' } })
    onTestFinished(() => void delete (globalThis as { location?: unknown }).location)
    expect(socketUrl('/chat', { runId: 'r' })).toBe('wss://app.example/chat?runId=r')
  })
})
