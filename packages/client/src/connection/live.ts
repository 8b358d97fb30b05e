/**
 * Those who listen to a socket, whoever makes it speak: what comes is queued for them, and while there is one the socket is
 * opened and opened again. It knows nothing of runs but that one may be open.
 */
import { StreamTruncatedError, toError } from '../errors.ts'
import { tell } from '../tell.ts'
import type { LinkState, LooseChunk, StreamChunk } from './adapter.ts'
import { Backoff, type ReconnectOptions } from './backoff.ts'
import { batchesOf, ChunkStream } from './chunk-stream.ts'
import { endsRun } from './finish-reason.ts'
import { ChunkQueue } from './queue.ts'
import { mayPass } from './retry.ts'
import { RunTracker } from './terminal.ts'

/** What is asked of the socket. */
export interface LiveSocket {
  readonly alive: boolean
  /** It is open. */
  readonly ready: boolean
  open(): Promise<unknown>
}

/** A socket that was open for so long, in ms, is no failed attempt when it closes. */
const STABLE_MS = 30_000

export class Live {
  /** One for each listener: two chats on one socket each hear all, and take what is theirs. */
  readonly #queues = new Set<ChunkQueue>()
  /** What comes while nobody listens is for the next who does. */
  #unheard = new ChunkQueue()
  readonly #socket: LiveSocket
  readonly #backoff: Backoff
  readonly #runsOpen: () => boolean
  #listeners = 0
  #attempts = 0
  #openedAt: number | undefined
  #reopening = false
  #failure: Error | undefined
  /** The run of others that comes, by its id. */
  #stray: { readonly runId: string; readonly tracker: RunTracker } | undefined
  readonly #watchers = new Set<(state: LinkState) => void>()
  #stop = new AbortController()

  /** `runsOpen`: runs are read, and care for their own sockets. */
  constructor(socket: LiveSocket, reconnect: ReconnectOptions | undefined, runsOpen: () => boolean) {
    this.#socket = socket
    this.#backoff = new Backoff(reconnect)
    this.#runsOpen = runsOpen
  }

  get listening(): boolean {
    return this.#listeners > 0
  }

  /** `left` is called when a listener has gone. */
  subscribe(signal: AbortSignal | undefined, left: () => void): AsyncIterable<StreamChunk> {
    const queue = this.#queues.size === 0 ? this.#unheard : new ChunkQueue()
    if (this.#queues.size === 0) this.#unheard = new ChunkQueue()
    this.#queues.add(queue)
    const supply = queue.subscribe(signal)
    return new ChunkStream(
      () => this.#listen(queue, batchesOf(supply), signal, left),
      () => this.#listen(queue, supply, signal, left),
    )
  }

  /** Events of a run; they wait if nobody listens yet. */
  push(chunks: readonly StreamChunk[], runId: string): void {
    this.#push(chunks, runId)
  }

  /** A run was given up: what lies here of it is for nobody. */
  discard(runId: string): void {
    this.#unheard.discard(runId)
    for (const queue of this.#queues) queue.discard(runId)
  }

  /** See `SubscribeConnectionAdapter.watchLink`. */
  watch(listener: (state: LinkState) => void): () => void {
    const entry = (state: LinkState): void => listener(state)
    this.#watchers.add(entry)
    listener(this.#socket.ready ? 'open' : 'connecting')
    return () => void this.#watchers.delete(entry)
  }

  /** An event of no run of ours is for those who listen now. */
  stray(event: StreamChunk): void {
    const { type, threadId, runId } = Object(event) as Partial<LooseChunk>
    if (type === 'RUN_STARTED') this.#stray = typeof threadId === 'string' && typeof runId === 'string' ? { runId, tracker: new RunTracker() } : undefined
    this.#stray?.tracker.see(event)
    if (this.listening) this.#push([event], this.#stray?.runId)
    if (endsRun(event)) this.#stray = undefined
  }

  /** There is a socket. */
  opened(): void {
    this.#tell('open')
  }

  /** The socket is gone. */
  closed(error: Error | undefined): void {
    const stray = this.#stray
    this.#stray = undefined
    // What follows of it over another socket would be told with a gap.
    if (stray !== undefined && this.listening) this.#push([stray.tracker.failed(error ?? new StreamTruncatedError('The server closed the WebSocket in the middle of a run.'))], stray.runId)
    this.#tell('connecting')
    void this.#reopen(error)
  }

  /** Runs that cared for the socket may be over. */
  keep(): void {
    void this.#reopen(undefined)
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#stop.abort()
    this.#stop = new AbortController()
    this.#drain()
  }

  #tell(state: LinkState): void {
    for (const listener of [...this.#watchers]) tell(listener, state)
  }

  #push(chunks: readonly StreamChunk[], runId: string | undefined): void {
    if (this.#queues.size === 0) this.#unheard.push(chunks, runId)
    for (const queue of this.#queues) queue.push(chunks, runId)
  }

  #drain(): void {
    for (const queue of this.#queues) queue.drain()
  }

  async *#listen<Item>(queue: ChunkQueue, supply: AsyncIterable<Item>, signal: AbortSignal | undefined, left: () => void): AsyncGenerator<Item, void, undefined> {
    this.#listeners++
    this.#failure = undefined
    // Not at once: whoever listens in order to send opens the socket for its run.
    queueMicrotask(() => this.#first())
    try {
      yield* supply
    } finally {
      this.#listeners--
      this.#queues.delete(queue)
      // What the last one left is for the next.
      if (this.#queues.size === 0) this.#unheard = queue
      if (this.#listeners === 0) {
        this.#stop.abort()
        this.#stop = new AbortController()
        this.#attempts = 0
      }
      left()
    }
    if (this.#failure !== undefined && !signal?.aborted) throw this.#failure
  }

  /** Somebody listens, there is no socket, and nobody else will open one. */
  get #wanting(): boolean {
    return this.listening && !this.#socket.alive && !this.#runsOpen()
  }

  #first(): void {
    if (this.#wanting) void this.#open().then((error) => error && this.#reopen(error))
  }

  async #open(): Promise<Error | undefined> {
    try {
      await this.#socket.open()
      this.#openedAt = this.#backoff.clock.now()
      return undefined
    } catch (error) {
      return toError(error)
    }
  }

  async #reopen(reason: Error | undefined): Promise<void> {
    if (this.#reopening) return
    this.#reopening = true
    const { signal } = this.#stop
    const { clock, maxAttempts } = this.#backoff
    if (this.#openedAt !== undefined && clock.now() - this.#openedAt >= STABLE_MS) this.#attempts = 0
    this.#openedAt = undefined
    let error = reason
    try {
      while (this.#wanting && !signal.aborted) {
        if (this.#attempts >= maxAttempts || (error !== undefined && !mayPass(error))) return this.#fail(error)
        this.#attempts++
        await this.#backoff.wait(this.#backoff.delay(this.#attempts), signal, true)
        if (this.#wanting && !signal.aborted) error = await this.#open()
      }
    } finally {
      this.#reopening = false
    }
  }

  #fail(error: Error | undefined): void {
    this.#failure = error ?? new StreamTruncatedError('The server closes the WebSocket again and again while we listen.')
    this.#drain()
  }
}
