/**
 * Law 3, exactly once: a recorded run with text, tools, reasoning and state is cut at every byte of its answer, once and
 * again and again, over every transport that resumes. The thread is that of the run that was not cut, and the run was
 * started once. Real sockets; a few thousand connections for each row.
 */
import { cutAt, fine, recordedRun, startFaultServer, type Fault, type FaultServer, type IdStyle } from '@millrace/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import {
  ChatClient,
  fetchHttpStream,
  fetchServerSentEvents,
  webSocket,
  xhrHttpStream,
  xhrServerSentEvents,
  type ConnectionAdapter,
} from '@millrace/client'
import { nodeXhr } from './node-xhr.ts'

const reconnect = { delayMs: 0, maxAttempts: 5 }

const TRANSPORTS: readonly [name: string, stride: number, connect: (url: string, wsUrl: string) => ConnectionAdapter][] = [
  ['fetchServerSentEvents', 1, (url) => fetchServerSentEvents(url, { reconnect })],
  ['fetchHttpStream', 1, (url) => fetchHttpStream(url, { reconnect })],
  ['webSocket', 1, (_, wsUrl) => webSocket(wsUrl, { reconnect, lingerMs: 0, WebSocketImpl: WebSocket as never })],
  // The engine is that of fetch; what differs is who reads.
  ['xhrServerSentEvents', 13, (url) => xhrServerSentEvents(url, { reconnect, xhrFactory: nodeXhr })],
  ['xhrHttpStream', 13, (url) => xhrHttpStream(url, { reconnect, xhrFactory: nodeXhr })],
]

/** Plays the recorded run, each time with faults of its own. */
class Stage {
  readonly #connect: (url: string, wsUrl: string) => ConnectionAdapter
  readonly #faults = new Map<string, Fault[]>()
  #server: FaultServer | undefined
  #plays = 0

  constructor(connect: (url: string, wsUrl: string) => ConnectionAdapter) {
    this.#connect = connect
  }

  async open(ids: IdStyle): Promise<void> {
    this.#server = await startFaultServer({
      events: recordedRun('mixed'),
      ids,
      faults: ({ query }) => this.#faults.get(query['play'] ?? '')?.shift() ?? fine,
    })
  }

  async close(): Promise<void> {
    await this.#server?.close()
  }

  async play(faults: readonly Fault[]) {
    const play = String(this.#plays++)
    const server = this.#server as FaultServer
    const { url, wsUrl } = server
    this.#faults.set(play, [...faults])
    let n = 0
    const chat = new ChatClient({
      threadId: `t${play}`,
      connection: this.#connect(`${url}?play=${play}`, `${wsUrl}?play=${play}`),
      generateId: (kind) => `${kind}-${play}-${++n}`,
    })
    const { outcome } = await chat.sendMessage({ content: 'Hi', id: 'u1' })
    const { messages, state, interrupts, steps } = chat.getSnapshot()
    chat.dispose()
    const seen = messages.map(({ id, role, parts }) => ({ id, role, parts }))
    const mine = server.requests.filter(({ query }) => query['play'] === play)
    return {
      thread: JSON.stringify({ outcome, seen, state, interrupts, steps }),
      bytes: mine[0]?.bytes ?? 0,
      starts: server.started.filter(({ threadId }) => threadId === `t${play}`).length,
      asked: mine.length,
    }
  }

  /** The places, of those from `from` on, at which a cut shows or the run was started again. */
  async failures(from: number, stride: number, faults: (byte: number) => readonly Fault[]): Promise<{ bad: number[]; resumed: number; plays: number }> {
    const uncut = await this.play([])
    expect(uncut).toMatchObject({ starts: 1, asked: 1 })
    expect(uncut.bytes).toBeGreaterThan(3_000)
    const bytes = Array.from({ length: Math.ceil((uncut.bytes - from) / stride) }, (_, nth) => from + nth * stride)
    const bad: number[] = []
    let resumed = 0
    let next = 0
    const lane = async (): Promise<void> => {
      for (let byte = bytes[next++]; byte !== undefined; byte = bytes[next++]) {
        const { thread, starts, asked } = await this.play(faults(byte))
        if (thread !== uncut.thread || starts !== 1) bad.push(byte)
        if (asked > 1) resumed++
      }
    }
    await Promise.all(Array.from({ length: 8 }, lane))
    return { bad, resumed, plays: bytes.length }
  }
}

describe.each(TRANSPORTS)('%s', (name, stride, connect) => {
  let stage: Stage
  beforeEach(() => {
    stage = new Stage(connect)
  })
  afterEach(() => stage.close())

  it('cut at every byte, once', { timeout: 600_000 }, async () => {
    await stage.open({ every: 1, look: 'numeric' })
    // A WebSocket that is cut before its first byte has not heard of the run: then there is none, and not two.
    const from = name === 'webSocket' ? 1 : 0
    if (from === 1) expect((await stage.play([cutAt(0)])).starts).toBe(0)
    const { bad, resumed, plays } = await stage.failures(from, stride, (byte) => [cutAt(byte)])
    expect(bad).toEqual([])
    // All but those behind the terminal event needed another connection.
    expect(resumed).toBeGreaterThan(plays * 0.95)
  })

  it('cut anywhere, where only every third event has an id, and one that says nothing', { timeout: 600_000 }, async () => {
    await stage.open({ every: 3, look: 'opaque' })
    // Over HTTP a header offers resumption; over a WebSocket only an id does, and before the first one a cut is a cut.
    const from = name === 'webSocket' ? 400 : 0
    expect((await stage.failures(from, stride * 7, (byte) => [cutAt(byte)])).bad).toEqual([])
  })

  it('cut again and again, after as many bytes each time', { timeout: 600_000 }, async () => {
    await stage.open({ every: 1, look: 'numeric' })
    // Less than an event with its id at a time brings nothing new, which is another matter.
    expect((await stage.failures(700, 37, (byte) => Array.from({ length: 40 }, () => cutAt(byte)))).bad).toEqual([])
  })

  it('that never comes to an event gives up, and has started the run once', async () => {
    await stage.open({ every: 1, look: 'numeric' })
    const { thread, starts } = await stage.play(Array.from({ length: 40 }, () => cutAt(30)))
    expect(JSON.parse(thread)).toMatchObject({ outcome: 'truncated' })
    expect(starts).toBe(1)
  })
})
