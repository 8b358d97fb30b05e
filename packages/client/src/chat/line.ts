/**
 * One subscription to a thread, from its beginning to its end: whose run the events are that come, ours or that of others, and
 * who takes them. It folds nothing, and knows nothing of why somebody listens.
 */
import type { LooseChunk, StreamChunk } from '../connection/adapter.ts'
import { batchesOf } from '../connection/chunk-stream.ts'
import { endsRun } from '../connection/finish-reason.ts'
import type { LateEvents } from '../connection/late-events.ts'
import type { NormalizedConnection } from '../connection/normalize.ts'
import { RunNames } from '../connection/run-names.ts'
import { batchRunId, isSynthetic } from '../connection/stamps.ts'
import { StreamTruncatedError, toCodedError } from '../errors.ts'
import { Feed } from './feed.ts'
import type { Source } from './source.ts'

/** Whether a chat hears what others do on its thread; see `ChatSnapshot.live`. */
export type LiveState = 'closed' | 'connecting' | 'open' | 'error'

export interface RunIds {
  readonly threadId: string
  readonly runId: string
  readonly parentRunId?: string
}

export interface LineParts {
  readonly connection: NormalizedConnection
  readonly late: LateEvents
  threadId(): string | undefined
  /** Settles when a run of others may be added to the thread; undefined: it may. */
  ready(): Promise<unknown> | undefined
  /** Whether the run is in the thread already. */
  knows(runId: string): boolean
  /** Whether a run is in the thread already, by an event of it; undefined: that cannot be seen yet. */
  has(runId: string, event: StreamChunk): boolean | undefined
  /** A run of others begins. */
  hear(ids: RunIds, source: Source): void
  /** A run of others was under way when we came; `over`: it is over now. */
  onMissed(over: boolean): void
  onState(state: LiveState, error?: Error): void
}

/** A run of ours, or one that we wait for. */
interface Own {
  readonly feed: Feed
  begunAs: string | undefined
  /** What came last of it ends it. */
  over: boolean
}

/** A run of others that may be in the thread already: what came of it waits until that is known. */
interface Doubtful {
  readonly feed: Feed
  readonly chunks: StreamChunk[]
  readonly ids: RunIds
}

export class Line {
  readonly #parts: LineParts
  readonly #controller = new AbortController()
  readonly #names = new RunNames()
  #own: Own | undefined
  /** The run whose events come now. */
  #taker: Feed | undefined
  #doubtful: Doubtful | undefined
  /** What comes now is of a run that is not shown. */
  #deaf = false
  /** Its start was not heard. */
  #missing = false
  #retired = false
  /** The subscription has ended. */
  over = false

  constructor(parts: LineParts) {
    this.#parts = parts
  }

  get connection(): NormalizedConnection {
    return this.#parts.connection
  }

  open(): void {
    void this.#listen()
  }

  /** Events of a run that is about to be sent by `send`. */
  source(runId: string, send: (signal: AbortSignal) => Promise<void>): Source {
    const feed = new Feed(runId, () => this.#left(feed))
    return {
      subscribe: (signal) => {
        // One that was left before it was heard of.
        this.#own?.feed.end()
        this.#own = { feed, begunAs: undefined, over: false }
        return feed.subscribe(signal)
      },
      send,
      shared: true,
    }
  }

  /** Nobody listens any more: it ends when the run of ours that is read over it does. */
  retire(): void {
    this.#retired = true
    if (this.#own === undefined) this.close()
  }

  /** Ends it now. */
  close(): void {
    this.#controller.abort()
  }

  #left(feed: Feed): void {
    if (this.#own?.feed === feed) this.#own = undefined
    if (this.#taker === feed) this.#taker = undefined
    if (this.#retired && this.#own === undefined) this.close()
  }

  async #listen(): Promise<void> {
    const { connection, onState } = this.#parts
    const { signal } = this.#controller
    let failure: Error | undefined
    let unwatch: (() => void) | undefined
    let batches: AsyncIterator<readonly StreamChunk[]> | undefined
    try {
      batches = batchesOf(connection.subscribe(signal), signal)[Symbol.asyncIterator]()
      // Listened to before anything is sent: asking for the first events is what opens a subscription.
      let pending = batches.next()
      pending.catch(() => {})
      if (connection.watchLink === undefined) onState('open')
      else unwatch = connection.watchLink((state) => this.#retired || onState(state))
      for (let item = await pending; item.done !== true; item = await pending) {
        await this.#take(item.value)
        pending = batches.next()
      }
    } catch (thrown) {
      failure = toCodedError(thrown)
    }
    unwatch?.()
    batches?.return?.().catch(() => {})
    this.over = true
    this.#own?.feed.end(failure)
    this.#taker?.end(failure)
    this.#own = this.#taker = undefined
    if (this.#retired || signal.aborted) return
    onState(failure === undefined ? 'closed' : 'error', failure)
  }

  async #take(batch: readonly StreamChunk[]): Promise<void> {
    const from = batchRunId(batch)
    let target: Feed | undefined
    let segment: StreamChunk[] = []
    const flush = async (): Promise<void> => {
      if (segment.length > 0) await target?.put(segment)
      segment = []
    }
    for (const chunk of batch) {
      if (isOf(chunk, 'RUN_STARTED')) {
        await flush()
        await this.#begin(chunk as LooseChunk, from)
      }
      const taker = this.#takerOf(chunk, from)
      if (taker !== target) await flush()
      target = taker
      if (this.#controller.signal.aborted) return
      if (taker !== undefined && taker === this.#doubtful?.feed) {
        await this.#weigh(this.#doubtful, chunk)
        if (endsRun(chunk)) this.#ended(chunk, this.#taker)
        continue
      }
      if (taker !== undefined && taker !== this.#own?.feed && isSynthetic(chunk) && chunk.type === 'RUN_ERROR') {
        await flush()
        taker.cut(new StreamTruncatedError(String((chunk as LooseChunk)['message'])))
        this.#taker = undefined
        continue
      }
      if (taker !== undefined) segment.push(chunk)
      if (isOf(chunk, 'RUN_FINISHED') || isOf(chunk, 'RUN_ERROR')) {
        await flush()
        this.#ended(chunk, taker)
      }
    }
    await flush()
  }

  /** Says whose the events are that come from now on. */
  async #begin(start: LooseChunk, from: string | undefined): Promise<void> {
    const { late, threadId, knows } = this.#parts
    const { runId, threadId: thread, parentRunId } = start
    const own = this.#own
    if (own !== undefined && this.#isOwn(start, from, own)) {
      own.begunAs = String(runId)
      own.over = false
      this.#deaf = false
      this.#taker = own.feed
      return
    }
    // What is marked as theirs and comes before the end of ours would be folded into it.
    if (from !== undefined && own?.begunAs !== undefined && !own.over) return
    const before = this.#taker
    if (before !== undefined && before !== own?.feed) {
      if (before.runId === runId) return
      // It was never ended: whoever began it has stopped it, perhaps.
      before.end()
    }
    this.#taker = this.#doubtful = undefined
    this.#missing = false
    this.#deaf = true
    // The same object may be asked about again by a turn.
    if (late.isLate(start) || typeof runId !== 'string' || thread !== threadId() || typeof thread !== 'string') return
    if (!(await this.#isReady()) || knows(runId)) return
    const feed = new Feed(runId, () => this.#left(feed))
    const doubtful = { feed, chunks: [], ids: { threadId: thread, runId, ...(typeof parentRunId === 'string' && { parentRunId }) } }
    this.#deaf = false
    this.#taker = feed
    const known = this.#parts.has(runId, start)
    if (known === undefined) this.#doubtful = doubtful
    else this.#decide(doubtful, known)
  }

  /** False if nobody listens any more. */
  async #isReady(): Promise<boolean> {
    const { ready } = this.#parts
    for (let waits = ready(); waits !== undefined; waits = ready()) {
      await waits
      if (this.#controller.signal.aborted) return false
    }
    return true
  }

  async #weigh(doubtful: Doubtful, chunk: StreamChunk): Promise<void> {
    const { chunks, feed } = doubtful
    const { has, knows } = this.#parts
    chunks.push(chunk)
    const { runId } = feed
    // What it came over broke: it is asked for when that is back.
    const isCut = isSynthetic(chunk) && chunk.type === 'RUN_ERROR'
    const seen = (): boolean | undefined => chunks.map((each) => has(runId, each)).find((known) => known !== undefined)
    if (!endsRun(chunk) && seen() === undefined) return
    // It may be told meanwhile.
    if (!(await this.#isReady())) return
    this.#decide(doubtful, isCut || knows(runId) || seen() === true)
    if (this.#taker === feed) await feed.put(chunks)
  }

  #decide({ feed, ids }: Doubtful, known: boolean): void {
    this.#doubtful = undefined
    this.#deaf = known
    this.#taker = known ? undefined : feed
    if (known) return
    this.#parts.hear(ids, { subscribe: (signal) => feed.subscribe(signal), shared: true, wasCut: () => feed.wasCut })
  }

  #isOwn(start: LooseChunk, from: string | undefined, { feed, begunAs, over }: Own): boolean {
    const ours = this.#names.isOurs(start, feed.runId)
    if (from !== undefined) return from === feed.runId
    if (begunAs === undefined) return ours
    // Within a run of ours another id is a new name for it: what comes after cannot be told apart.
    return !over || start['runId'] === begunAs || start['runId'] === feed.runId
  }

  #takerOf(chunk: StreamChunk, from: string | undefined): Feed | undefined {
    const own = this.#own?.feed
    if (own !== undefined && from === own.runId) return own
    const taker = this.#taker
    if (taker !== undefined) return taker === own && from !== undefined ? undefined : taker
    if (own !== undefined && from === undefined && !this.#deaf) return own
    // A note says nothing of which run it is.
    if (this.#deaf || isOf(chunk, 'CUSTOM') || isOf(chunk, 'RAW')) return undefined
    this.#deaf = true
    this.#missing = !this.#parts.late.isLate(chunk)
    if (this.#missing) this.#parts.onMissed(false)
    return undefined
  }

  #ended(end: StreamChunk, taker: Feed | undefined): void {
    const own = this.#own
    if (taker === undefined) this.#deaf = false
    if (this.#missing && endsRun(end)) {
      this.#missing = false
      this.#parts.onMissed(true)
    }
    if (own === undefined || taker !== own.feed || !endsRun(end)) return
    own.over = true
    this.#taker = undefined
  }
}

function isOf(chunk: StreamChunk, type: string): boolean {
  return (Object(chunk) as Partial<LooseChunk>).type === type
}
