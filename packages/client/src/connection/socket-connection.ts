/**
 * Runs over WebSockets: one socket on which all are sent, and a socket for each run that has to be read on. It joins its
 * parts and holds no rule of theirs: `shared-socket.ts` has the socket, `resume.ts` brings a run through breaks, `live.ts`
 * serves who listens.
 */
import { DEFAULT_LIMITS, type RunAgentInputContext, type UIMessage } from '@millrace/protocol'
import { systemClock, type Clock } from '../clock.ts'
import { toError, TransportError } from '../errors.ts'
import { generateId } from '../ids.ts'
import { linkSignals } from '../signals.ts'
import type { LinkState, RequestData, StreamChunk } from './adapter.ts'
import { ChunkStream } from './chunk-stream.ts'
import { Live } from './live.ts'
import { resumable, type ResumeOptions } from './resume.ts'
import type { Opened, RunSource } from './run-source.ts'
import { requireUrl, serialise, type UrlSource } from './run-request.ts'
import { SharedSocket } from './shared-socket.ts'
import { replay, type SocketMaker } from './socket-replay.ts'
import { SocketRun } from './socket-run.ts'
import { socketUrl } from './socket-url.ts'
import type { WebSocketConnectionOptions } from './socket-options.ts'
import { Socket, type WebSocketConstructor, type WebSocketLike } from './socket.ts'

const LINGER_MS = 60_000

export class SocketConnection {
  readonly #options: WebSocketConnectionOptions
  readonly #clock: Clock
  readonly #make: SocketMaker
  readonly #shared: SharedSocket
  readonly #live: Live
  /** Sends that are not handed over yet. */
  #sending = 0
  /** Runs that are read. */
  readonly #runs = new Set<SocketRun>()
  #stopLingering: (() => void) | undefined
  /** Aborts with `close()`. */
  #closing = new AbortController()

  constructor(url: UrlSource, options: WebSocketConnectionOptions, implementation: WebSocketConstructor) {
    const { reconnect, pingMs, answerPings, protocols } = options
    this.#options = options
    this.#clock = reconnect?.clock ?? systemClock
    this.#make = async (query, handlers) => {
      const target = socketUrl(requireUrl(typeof url === 'function' ? await url() : url), query)
      const make = (): WebSocketLike =>
        protocols === undefined
          ? new implementation(target)
          : new implementation(target, typeof protocols === 'string' ? protocols : [...protocols])
      return new Socket(make, target, handlers)
    }
    this.#shared = new SharedSocket({
      connect: (runId, handlers) => this.#make(runId === undefined ? {} : { runId }, handlers),
      stray: (event) => this.#live.stray(event),
      opened: () => this.#live.opened(),
      closed: (error) => this.#live.closed(error),
      clock: this.#clock,
      frameLength: this.#frameLength,
      pingMs,
      answerPings,
    })
    this.#live = new Live(this.#shared, reconnect, () => this.#sending > 0 || this.#runs.size > 0)
  }

  subscribe(signal: AbortSignal | undefined): AsyncIterable<StreamChunk> {
    return this.#live.subscribe(signal, () => this.#rest())
  }

  watchLink(listener: (state: LinkState) => void): () => void {
    return this.#live.watch(listener)
  }

  async send(
    messages: readonly UIMessage[],
    data: RequestData | undefined,
    signal: AbortSignal | undefined,
    runContext: RunAgentInputContext = { threadId: generateId('thread'), runId: generateId('run') },
  ): Promise<void> {
    if (signal?.aborted) return
    const input = serialise({ messages, data, runContext }, this.#options)
    const run = new SocketRun(runContext)
    let over: Promise<void> | undefined
    this.#sending++
    try {
      const sent = await untilAborted(this.#shared.start(run, input, signal), signal)
      if (sent) over = this.#untilOver(run, runContext, signal)
      else this.#unsent(run)
    } finally {
      this.#sending--
      this.#live.keep()
      this.#rest()
    }
    await over
  }

  /** Aborted before it was read, if not before it was sent. */
  #unsent(run: SocketRun): void {
    this.#shared.abandon(run)
    // A socket that was opening for this run alone is not needed any more.
    if (this.#sending === 1 && this.#runs.size === 0) this.#shared.release(undefined)
  }

  joinRun(runId: string, signal: AbortSignal | undefined): AsyncIterable<StreamChunk> {
    return new ChunkStream(() => this.#join(runId, signal))
  }

  async *#join(runId: string, signal: AbortSignal | undefined): AsyncGenerator<readonly StreamChunk[], void, undefined> {
    const closing = this.#closing.signal
    const linked = linkSignals(signal, closing)
    const source: RunSource = {
      reopen: 'always',
      // A server that keeps no runs says nothing at all.
      open: (request) => replay(this.#make, { ...request, runId, frameLength: this.#frameLength, clock: this.#clock }),
    }
    try {
      yield* resumable(source, { ...this.#resume(linked.signal), runContext: { runId }, from: { id: undefined, seen: 0 } })
    } finally {
      linked.release()
    }
    // The caller did not ask for this end, so it must not look like one of the run.
    if (closing.aborted && !signal?.aborted) throw closing.reason
  }

  close(): void {
    const closed = new TransportError('The connection was closed by close().', { code: 'aborted' })
    this.#stopLingering?.()
    this.#closing.abort(closed)
    this.#closing = new AbortController()
    this.#shared.release(closed)
    this.#live.close()
  }

  /** Reads a run. Settles when it has its last terminal event, as far as can be told; it is read on all the same. */
  #untilOver(run: SocketRun, runContext: RunAgentInputContext, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#read(run, runContext, signal, resolve).then(resolve, reject)
    })
  }

  /**
   * Brings what comes of a run to those who listen, over as many sockets as it takes. Of a failure they get a RUN_ERROR, and
   * who sent it the error itself.
   */
  async #read(run: SocketRun, runContext: RunAgentInputContext, signal: AbortSignal | undefined, over: () => void): Promise<void> {
    const closing = this.#closing.signal
    const linked = linkSignals(signal, closing)
    const { runId } = runContext
    this.#runs.add(run)
    try {
      const batches = resumable(this.#source(run, signal), { ...this.#resume(linked.signal), runContext })
      for await (const batch of batches) {
        for (const chunk of batch) run.see(chunk)
        this.#live.push(batch, runId)
        if (run.over) over()
      }
      if (signal?.aborted) return
      if (closing.aborted) throw closing.reason
      // Another turn was due. That there is none is the server's word, or the fault of a socket that was not replaced.
      if (run.goesOn && run.cut !== undefined) throw run.cut
      if (run.goesOn) this.#live.push([run.finished()], runId)
    } catch (error) {
      if (signal?.aborted || run.over) return
      this.#live.push([run.failed(toError(error))], runId)
      throw error
    } finally {
      linked.release()
      if (signal?.aborted) this.#live.discard(runId)
      this.#shared.leave(run)
      this.#runs.delete(run)
      this.#live.keep()
      this.#rest()
    }
  }

  /**
   * First the shared socket, on which the run was sent; then sockets of its own: behind an id, or at the start of the run if
   * nothing was heard of it, which the server may have been told of all the same.
   */
  #source(run: SocketRun, caller: AbortSignal | undefined): RunSource {
    return {
      reopen: 'unheard',
      open: async ({ position, signal }) => {
        if (position === undefined) return this.#onShared(run, signal, caller)
        return replay(this.#make, {
          runId: run.runId,
          position,
          signal,
          frameLength: this.#frameLength,
          clock: this.#clock,
          ended: (cut) => {
            run.cut = cut
          },
        })
      },
    }
  }

  #onShared(run: SocketRun, link: AbortSignal, caller: AbortSignal | undefined): Opened {
    const onAbort = (): void => {
      if (caller?.aborted) this.#shared.abandon(run)
      else this.#shared.forsake(run)
    }
    if (link.aborted) onAbort()
    else link.addEventListener('abort', onAbort, { once: true })
    return { batches: run.inbox, offersResume: 'unknown' }
  }

  #resume(signal: AbortSignal | undefined): ResumeOptions {
    const { limits, reconnect, onReconnect, missingTerminal } = this.#options
    return {
      signal,
      ...(limits !== undefined && { limits }),
      ...(reconnect !== undefined && { reconnect }),
      ...(onReconnect !== undefined && { onReconnect }),
      ...(missingTerminal !== undefined && { missingTerminal }),
    }
  }

  get #frameLength(): number {
    return this.#options.limits?.frameLength ?? DEFAULT_LIMITS.frameLength
  }

  /** Somebody sends, listens, or waits for a run. */
  get #needed(): boolean {
    return this.#sending > 0 || this.#live.listening || [...this.#runs].some((run) => !run.over)
  }

  /** Closes the socket after a while in which nobody needs it. */
  #rest(): void {
    this.#stopLingering?.()
    const { lingerMs = LINGER_MS } = this.#options
    if (!this.#shared.alive || this.#needed || lingerMs === Number.POSITIVE_INFINITY) return
    this.#stopLingering = this.#clock.after(lingerMs, () => {
      if (!this.#needed) this.#shared.release(undefined)
    })
  }
}

/** Whether `promise` was fulfilled; false as soon as the signal aborts. */
function untilAborted(promise: Promise<unknown>, signal: AbortSignal | undefined): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve(false)
    signal?.addEventListener('abort', onAbort, { once: true })
    promise
      .then(
        () => resolve(!signal?.aborted),
        (error: unknown) => (signal?.aborted ? resolve(false) : reject(error)),
      )
      .finally(() => signal?.removeEventListener('abort', onAbort))
    if (signal?.aborted) onAbort()
  })
}
