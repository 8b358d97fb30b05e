/**
 * One turn: hands its request over, folds what comes back, and settles when the source has ended or the turn is stopped
 * or left. It knows nothing of other turns, of queues or of views.
 */
import type { RunAgentInputContext, ThreadBuilder } from '@millrace/protocol'
import type { StreamChunk } from '../connection/adapter.ts'
import { batchesOf } from '../connection/chunk-stream.ts'
import { batchRunId } from '../connection/stamps.ts'
import { StreamFold, type FoldOptions } from '../fold.ts'
import { macrotask, Slicer } from '../scheduler.ts'
import type { LateEvents } from '../connection/late-events.ts'
import type { TurnResult } from './options.ts'
import { mayGoOn } from './settled.ts'
import type { Source } from './source.ts'

export interface TurnPlan extends Omit<FoldOptions, 'ids'> {
  readonly source: Source
  readonly runContext: RunAgentInputContext
  readonly builder: ThreadBuilder
  readonly late: LateEvents
  /** Events were folded since the last call. */
  readonly onProgress: () => void
}

/** Events between two looks at the clock: looking costs about as much as folding a delta. */
const CLOCK_STRIDE = 32

type Handover = { readonly kind: 'pending' | 'done' } | { readonly kind: 'failed'; readonly thrown: unknown }

export class Turn {
  readonly runId: string
  /** How the turn ended; never rejects. */
  readonly result: Promise<TurnResult>
  /** Settles when something was heard of the run, or nothing will be. */
  readonly heard: Promise<void>
  readonly #plan: TurnPlan
  readonly #fold: StreamFold
  /** Ends the request. */
  readonly #request = new AbortController()
  /** Ends listening. */
  readonly #listen = new AbortController()
  readonly #slicer = new Slicer()
  #handover: Handover
  /** The last event may be followed by more of its run; see `settled.ts`. */
  #goesOn = false
  #over = false
  #settle: (result: TurnResult) => void = () => {}
  #hear: () => void = () => {}

  constructor(plan: TurnPlan) {
    const { threadId, runId, parentRunId } = plan.runContext
    this.#plan = plan
    this.runId = runId
    this.#handover = { kind: plan.source.send === undefined ? 'done' : 'pending' }
    this.#fold = new StreamFold({ ...plan, ids: { threadId, runId, ...(parentRunId !== undefined && { parentRunId }) } })
    this.result = new Promise((resolve) => {
      this.#settle = resolve
    })
    this.heard = new Promise((resolve) => {
      this.#hear = resolve
    })
  }

  start(): void {
    // A listener may have stopped it between making and starting.
    if (!this.#over) void this.#run()
  }

  /** Id of the run as the server names it. */
  get namedRunId(): string {
    return this.#fold.runId ?? this.runId
  }

  /** Events that came so far. */
  get seen(): number {
    return this.#fold.seen
  }

  /** Ends the turn at once: nothing more is pulled, and what still comes is ignored. */
  stop(): void {
    if (this.#over) return
    this.#bury()
    this.#end(this.#fold.cancelled())
  }

  /** Ends the reading alone: the run goes on at the server, and stays open in the thread. */
  leave(): void {
    if (this.#over) return
    this.#bury()
    if (this.seen > 0) return this.#end({ outcome: 'running' })
    // The request may not have arrived yet, and would be lost with us: it is let go once something is heard.
    this.#over = true
    this.#settle({ outcome: 'running' })
    this.#slicer.stop()
  }

  #bury(): void {
    if (this.#plan.source.shared) this.#plan.late.bury(this.runId, this.#fold.runId)
  }

  async #run(): Promise<void> {
    let result: TurnResult | undefined
    try {
      result = await this.#exchange()
    } catch (thrown) {
      if (!this.#over) result = this.#fold.failed(thrown)
    }
    if (!this.#over && result !== undefined) this.#end(result)
    this.#letGo()
  }

  #end(result: TurnResult): void {
    this.#over = true
    this.#settle(result)
    this.#letGo()
  }

  #letGo(): void {
    this.#hear()
    this.#request.abort()
    this.#listen.abort()
    this.#slicer.stop()
  }

  /** Undefined if the turn was stopped meanwhile. */
  async #exchange(): Promise<TurnResult | undefined> {
    const { source } = this.#plan
    const batches = batchesOf(source.subscribe(this.#listen.signal), this.#listen.signal)[Symbol.asyncIterator]()
    // Asked for the first events before sending: a connection may answer before send() has returned, and a subscribe
    // that is an async generator does not listen until it is pulled.
    let pending = batches.next()
    const sent = this.#send(source)
    try {
      for (let item = await pending; item.done !== true; item = await pending) {
        const ending = await this.#take(item.value)
        if (this.#over) return undefined
        if (ending !== undefined) return ending
        this.#plan.onProgress()
        this.#leaveIfDone()
        pending = batches.next()
      }
    } finally {
      this.#listen.abort()
      batches.return?.().catch(() => {})
    }
    if (this.#over) return undefined
    // A channel that broke may say why through send(), a moment later.
    if (this.#handover.kind === 'pending') await Promise.race([sent, loopTurn()])
    if (this.#over) return undefined
    const handover: Handover = this.#handover
    return handover.kind === 'failed' ? this.#fold.failed(handover.thrown) : this.#fold.ended()
  }

  async #send(source: Source): Promise<void> {
    if (source.send === undefined) return
    try {
      await source.send(this.#request.signal)
      this.#handover = { kind: 'done' }
    } catch (thrown) {
      this.#handover = { kind: 'failed', thrown }
    }
    if (this.#over) return
    if (source.drain !== undefined) return source.drain()
    // What came before the failure may still be on its way through the channel.
    if (this.#handover.kind === 'failed') await loopTurn()
    this.#leaveIfDone()
  }

  /** A shared channel does not end with the turn, so the turn ends with its last terminal event. */
  #leaveIfDone(): void {
    if (!this.#plan.source.shared || this.#handover.kind === 'pending') return
    if (this.#handover.kind === 'failed' || (this.#fold.outcome !== 'running' && !this.#goesOn)) this.#listen.abort()
  }

  /** An ending if the stream is over by what is in it, whatever else is sent. */
  async #take(batch: readonly StreamChunk[]): Promise<TurnResult | undefined> {
    // Left in the queue by a turn that was stopped.
    const from = batchRunId(batch)
    if (from !== undefined && from !== this.runId) return undefined
    this.#hear()
    let untilLook = CLOCK_STRIDE
    for (const chunk of batch) {
      if (this.#over) return undefined
      if (this.#plan.source.shared && this.#plan.late.isLate(chunk)) continue
      const ending = this.#fold.accept(chunk)
      if (ending !== undefined) return ending
      if (this.#plan.source.shared) this.#goesOn = mayGoOn(chunk, this.#plan)
      if (--untilLook > 0) continue
      untilLook = CLOCK_STRIDE
      await this.#pause()
    }
    await this.#pause()
    return undefined
  }

  async #pause(): Promise<void> {
    const pause = this.#slicer.pause()
    if (pause === undefined) return
    this.#plan.onProgress()
    await pause
  }
}

function loopTurn(): Promise<void> {
  return new Promise((resolve) => {
    macrotask(resolve)
  })
}
