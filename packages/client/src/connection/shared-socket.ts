/**
 * One socket for many runs, opened when it is needed; one after the other, as events do not say whose they are. It says which run
 * a message belongs to. When to open it again and what a run does when it closes is decided elsewhere.
 */
import { DEFAULT_LIMITS, DONE } from '@millrace/protocol'
import { LateEvents } from './late-events.ts'
import type { Clock } from '../clock.ts'
import { TransportError } from '../errors.ts'
import type { LooseChunk, StreamChunk } from './adapter.ts'
import { Fifo } from './fifo.ts'
import { endsRun } from './finish-reason.ts'
import { RunNames } from './run-names.ts'
import { abortMessage, errorOfEnd, PING, PONG, readMessage, type SocketMessage } from './socket-message.ts'
import type { SocketRun } from './socket-run.ts'
import type { Socket, SocketEnd, SocketHandlers } from './socket.ts'

type EventMessage = Extract<SocketMessage, { kind: 'event' }>

const BROKEN: SocketEnd = { code: 1006, reason: '' }

export interface SharedSocketOptions {
  /** Makes a socket, which may still be opening. `runId`: the run it is opened for. */
  connect(runId: string | undefined, handlers: SocketHandlers): Promise<Socket>
  /** An event that belongs to no run of ours. */
  stray(event: StreamChunk): void
  /** A socket is open. */
  opened(): void
  /** The socket is gone, and its runs were told. `error` if it broke. */
  closed(error: Error | undefined): void
  readonly clock: Clock
  readonly frameLength?: number | undefined
  readonly pingMs?: number | undefined
  readonly answerPings?: boolean | undefined
}

export class SharedSocket {
  readonly #options: SharedSocketOptions
  readonly #runs = new Set<SocketRun>()
  #socket: Socket | undefined
  #url = ''
  #opening: Promise<Socket> | undefined
  /** Counts sockets, so that one that was let go while it was made is not taken. */
  #generation = 0
  #current: SocketRun | undefined
  /** A run of others comes. */
  #theirs = false
  readonly #names = new RunNames()
  /** What came behind events of ours which are not read yet, from the first event of others on. */
  readonly #behind = new Fifo<{ readonly message: EventMessage; readonly run: SocketRun | undefined }>()
  #late = new LateEvents()
  #messages = 0
  #stopPinging: (() => void) | undefined

  constructor(options: SharedSocketOptions) {
    this.#options = options
  }

  /** There is a socket, or one is being made. */
  get alive(): boolean {
    return this.#socket !== undefined || this.#opening !== undefined
  }

  /** It can be sent on. */
  get ready(): boolean {
    return this.#socket?.ready === true
  }

  /**
   * The socket, once it is open: one for all who ask at the same time.
   * @throws TransportError `network`, or `aborted` if it was let go meanwhile.
   */
  async open(runId?: string): Promise<Socket> {
    if (this.#socket?.ready) return this.#socket
    this.#opening ??= this.#connect(runId)
    return this.#opening
  }

  async #connect(runId: string | undefined): Promise<Socket> {
    const mine = ++this.#generation
    const current = (): boolean => mine === this.#generation
    try {
      const socket = await this.#options.connect(runId, {
        message: (text) => this.#message(text),
        closed: (end) => {
          if (current()) this.#gone(end)
        },
      })
      if (!current()) {
        socket.release()
        throw new TransportError('The connection was closed while its WebSocket was being made.', { code: 'aborted' })
      }
      this.#socket = socket
      this.#url = socket.url
      await socket.opened
      this.#ping(socket)
      this.#options.opened()
      return socket
    } finally {
      if (current()) this.#opening = undefined
    }
  }

  /**
   * Sends the input of a run, whose events it gets from then on.
   * @throws TransportError as `open`.
   */
  async start(run: SocketRun, input: string, signal: AbortSignal | undefined): Promise<void> {
    const socket = await this.open(run.runId)
    if (signal?.aborted) return
    if (!socket.ready) {
      throw new TransportError(`The WebSocket to ${this.#url} closed before the run was sent.`, { code: 'network', url: this.#url })
    }
    // What was over by what it sent is so for good: what comes now is the new run's.
    for (const other of this.#runs) if (other.over) this.#end(other)
    this.#runs.add(run)
    this.#current = run
    run.inbox.onIdle = () => this.#catchUp()
    socket.send(input)
  }

  /** The run is of no interest any more; if it is open, the server is told, and what it still sends of it is dropped. */
  abandon(run: SocketRun): void {
    if (!this.#runs.has(run)) return
    if (!run.over) {
      this.#socket?.send(abortMessage(run.runId))
      this.#late.bury(run.runId, run.startedAs)
    }
    this.#end(run)
  }

  /** The run cannot be read on: the socket is dead, or its server makes no sense. */
  forsake(run: SocketRun): void {
    if (!this.#runs.has(run)) return
    if (run.over) this.#end(run)
    else this.release(errorOfEnd(BROKEN, this.#url))
  }

  /** Takes a run off, if it is on it. */
  leave(run: SocketRun): void {
    if (this.#runs.has(run)) this.#end(run)
  }

  /** Closes the socket. With `error` its runs are cut by that, else they end as if the server had meant it. */
  release(error: Error | undefined): void {
    const socket = this.#socket
    this.#generation++
    this.#opening = undefined
    socket?.release()
    this.#clear(error)
  }

  #end(run: SocketRun): void {
    this.#runs.delete(run)
    if (this.#current === run) this.#current = [...this.#runs].at(-1)
    run.inbox.end()
    this.#catchUp()
  }

  #gone(end: SocketEnd): void {
    this.#generation++
    this.#opening = undefined
    const error = errorOfEnd(end, this.#url)
    this.#clear(error)
    this.#options.closed(error)
  }

  #clear(error: Error | undefined): void {
    this.#socket = undefined
    this.#stopPinging?.()
    this.#stopPinging = undefined
    this.#current = undefined
    this.#theirs = false
    // It came over the old socket, or not at all.
    this.#late = new LateEvents()
    const runs = [...this.#runs]
    this.#runs.clear()
    this.#catchUp()
    for (const run of runs) run.ended(error)
  }

  #message(text: string): void {
    let message: SocketMessage
    try {
      message = readMessage(text, ++this.#messages, this.#options.frameLength ?? DEFAULT_LIMITS.frameLength)
    } catch (error) {
      // Whose it was cannot be told, and nothing after it can be trusted.
      const run = this.#current
      if (run !== undefined) run.inbox.end(error)
      else this.#break(error as Error)
      return
    }
    if (message.kind !== 'event') {
      if (message.kind === 'ping' && this.#options.answerPings === true) this.#socket?.send(PONG)
      for (const run of this.#runs) run.inbox.put([])
      return
    }
    this.#route(message)
  }

  #route(message: EventMessage): void {
    const { event } = message
    if (event !== DONE && this.#late.isLate(event)) return
    if (Object(event).type === 'RUN_STARTED') this.#begun(event as StreamChunk)
    const current = this.#theirs ? undefined : this.#current
    current?.note(event)
    if (current === undefined && event === DONE) return
    if (this.#behind.empty && !this.#hasToWait(current)) this.#tell(message, current)
    else {
      this.#behind.push({ message, run: current })
      this.#catchUp()
    }
    if (this.#theirs && endsRun(event as StreamChunk)) this.#theirs = false
  }

  /** Tells all in the order in which it came: what is of others not before what came of ours is read. */
  #catchUp(): void {
    for (let next = this.#behind.first; next !== undefined; next = this.#behind.first) {
      if (this.#hasToWait(next.run)) return
      this.#behind.shift()
      this.#tell(next.message, next.run)
    }
  }

  #tell(message: EventMessage, run: SocketRun | undefined): void {
    if (run === undefined) this.#options.stray(message.event as StreamChunk)
    else run.deliver(message)
  }

  /** It is of others, and something of ours is not read yet. */
  #hasToWait(run: SocketRun | undefined): boolean {
    if (run !== undefined) return false
    for (const { inbox } of this.#runs) if (!inbox.idle) return true
    return false
  }

  /** Whose events come now. Others may begin runs on the same thread; within one of ours, another id is a new name for it. */
  #begun(start: StreamChunk): void {
    const { runId: named } = start as LooseChunk
    const ours = [...this.#runs].find(({ runId }) => runId === named)
    this.#current = ours ?? this.#current
    const { runId, begunAs, terminal } = this.#current ?? {}
    if (runId === undefined) this.#theirs = true
    else if (begunAs === undefined) this.#theirs = !this.#names.isOurs(start, runId)
    else this.#theirs = terminal === true && named !== begunAs && named !== runId
  }

  #break(error: Error): void {
    this.release(error)
    this.#options.closed(error)
  }

  #ping(socket: Socket): void {
    const { pingMs, clock } = this.#options
    if (pingMs === undefined) return
    const again = (): void => {
      this.#stopPinging = clock.after(pingMs, () => {
        socket.send(PING)
        again()
      })
    }
    again()
  }
}
