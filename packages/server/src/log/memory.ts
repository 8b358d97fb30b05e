/**
 * The log of one process: runs in memory, gone with it, the oldest closed ones forgotten first. It knows nothing of
 * events, agents or readers.
 */
import { systemClock, type Clock } from '../clock.ts'
import { LogError } from '../errors.ts'
import {
  START,
  type Created,
  type EventLog,
  type Lease,
  type LeaseState,
  type LogEntry,
  type LogPage,
  type NewRun,
  type Offset,
  type ReadOptions,
  type RunEnd,
  type RunInfo,
  type TrimSelection,
} from './contract.ts'

/** Lengths are in UTF-16 units. */
export interface MemoryLogLimits {
  /** Closed runs that are kept. Hydration and late readers need them, memory does not grow with them. */
  readonly closedRuns: number
  /** Milliseconds a closed run is kept. A client that comes back later than this starts from its own copy. */
  readonly closedMs: number
  /** Length of one run, input included. An agent that never stops writing would otherwise fill the memory. */
  readonly runLength: number
  /** Length of all runs together. Closed runs make room; if none is left, new text is refused. */
  readonly totalLength: number
}

/** 1,000 closed runs, one hour, 64 Mi units a run, 256 Mi in all. */
export const DEFAULT_MEMORY_LOG_LIMITS: MemoryLogLimits = {
  closedRuns: 1_000,
  closedMs: 60 * 60 * 1000,
  runLength: 64 * 1024 * 1024,
  totalLength: 256 * 1024 * 1024,
}

interface StoredRun {
  readonly threadId: string
  readonly runId: string
  readonly input: string
  readonly createdAt: number
  readonly data: string[]
  readonly waiting: Set<() => void>
  length: number
  token: number
  leaseMs: number
  leaseEnds: number
  cancelRequested: boolean
  closed?: { readonly end: RunEnd; readonly at: number }
}

const OFFSET = /^(?:-1|0|[1-9]\d{0,14})$/

export class MemoryLog implements EventLog {
  readonly #clock: Clock
  readonly #limits: MemoryLogLimits
  readonly #runs = new Map<string, StoredRun>()
  readonly #threads = new Map<string, Set<StoredRun>>()
  /** In the order of closing: the first goes first. */
  readonly #closed = new Set<StoredRun>()
  #length = 0

  constructor(options: { clock?: Clock; limits?: Partial<MemoryLogLimits> } = {}) {
    this.#clock = options.clock ?? systemClock
    this.#limits = { ...DEFAULT_MEMORY_LOG_LIMITS, ...options.limits }
  }

  async create(run: NewRun): Promise<Created> {
    this.#expire()
    const known = this.#runs.get(run.runId)
    if (known !== undefined) {
      if (known.threadId === run.threadId) return { created: false, run: info(known) }
      throw new LogError('conflict', 'The runId belongs to another thread', { runId: run.runId })
    }
    const stored: StoredRun = {
      threadId: run.threadId,
      runId: run.runId,
      input: run.input,
      createdAt: this.#clock.now(),
      data: [],
      waiting: new Set(),
      length: 0,
      token: 1,
      leaseMs: run.leaseMs,
      leaseEnds: this.#clock.now() + run.leaseMs,
      cancelRequested: false,
    }
    this.#grow(stored, run.input.length)
    this.#runs.set(run.runId, stored)
    const thread = this.#threads.get(run.threadId)
    if (thread === undefined) this.#threads.set(run.threadId, new Set([stored]))
    else thread.add(stored)
    return { created: true, lease: { runId: run.runId, token: 1 } }
  }

  async append(lease: Lease, data: readonly string[]): Promise<LeaseState> {
    const run = this.#held(lease)
    this.#grow(run, lengthOf(data))
    this.#add(run, data)
    return this.#renewed(run)
  }

  async renew(lease: Lease): Promise<LeaseState> {
    return this.#renewed(this.#held(lease))
  }

  async close(lease: Lease, end: RunEnd): Promise<void> {
    const run = this.#held(lease)
    const length = lengthOf(end.data)
    run.length += length
    this.#length += length
    run.closed = { end, at: this.#clock.now() }
    this.#add(run, end.data)
    this.#closed.add(run)
    this.#expire()
  }

  async takeOver(runId: string, leaseMs: number): Promise<Lease | undefined> {
    const run = this.#runs.get(runId)
    if (run === undefined || run.closed !== undefined || run.leaseEnds > this.#clock.now()) return undefined
    run.token += 1
    run.leaseMs = leaseMs
    run.leaseEnds = this.#clock.now() + leaseMs
    return { runId, token: run.token }
  }

  async requestCancel(runId: string): Promise<RunInfo | undefined> {
    const run = this.#runs.get(runId)
    if (run !== undefined && run.closed === undefined) run.cancelRequested = true
    return run && info(run)
  }

  async get(runId: string): Promise<RunInfo | undefined> {
    const run = this.#runs.get(runId)
    return run && info(run)
  }

  async input(runId: string): Promise<string | undefined> {
    return this.#runs.get(runId)?.input
  }

  async list(threadId: string): Promise<readonly RunInfo[]> {
    return Array.from(this.#threads.get(threadId) ?? [], info)
  }

  async read(runId: string, options: ReadOptions = {}): Promise<LogPage> {
    const run = this.#known(runId)
    return page(run, position(run, options.after), options.limit)
  }

  async *tail(
    runId: string,
    options: ReadOptions & { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<readonly LogEntry[], void, undefined> {
    const { signal, limit } = options
    const run = this.#known(runId)
    let next = position(run, options.after)
    while (signal?.aborted !== true) {
      // A slow reader must not hold on to a run that was forgotten.
      if (this.#runs.get(runId) !== run) throw unknown(runId)
      const { entries, end } = page(run, next, limit)
      next += entries.length
      if (entries.length > 0) yield entries
      else if (!end) await changed(run, signal)
      if (end) return
    }
  }

  async trim(selection: TrimSelection): Promise<number> {
    const { closedBefore, threadId } = selection
    const gone = [...this.#closed].filter(
      (run) =>
        (threadId === undefined || run.threadId === threadId) &&
        (closedBefore === undefined || (run.closed !== undefined && run.closed.at < closedBefore)),
    )
    for (const run of gone) this.#forget(run)
    return gone.length
  }

  #known(runId: string): StoredRun {
    const run = this.#runs.get(runId)
    if (run === undefined) throw unknown(runId)
    return run
  }

  #held(lease: Lease): StoredRun {
    const run = this.#known(lease.runId)
    if (run.closed !== undefined) throw new LogError('closed', 'The run is closed', { runId: lease.runId })
    if (run.token !== lease.token) throw new LogError('fenced', 'The lease was taken over', { runId: lease.runId })
    return run
  }

  #renewed(run: StoredRun): LeaseState {
    run.leaseEnds = this.#clock.now() + run.leaseMs
    return { cancelRequested: run.cancelRequested }
  }

  #add(run: StoredRun, data: readonly string[]): void {
    for (const text of data) run.data.push(text)
    const waiting = [...run.waiting]
    run.waiting.clear()
    for (const wake of waiting) wake()
  }

  /** Counts text in, or refuses it before anything has changed. */
  #grow(run: StoredRun, length: number): void {
    const { runLength, totalLength } = this.#limits
    if (run.length + length > runLength) {
      throw new LogError('limit', `A run may hold ${runLength} units`, { runId: run.runId, limit: 'runLength' })
    }
    for (const closed of this.#closed) {
      if (this.#length + length <= totalLength) break
      this.#forget(closed)
    }
    if (this.#length + length > totalLength) {
      throw new LogError('limit', `The log may hold ${totalLength} units`, { runId: run.runId, limit: 'totalLength' })
    }
    run.length += length
    this.#length += length
  }

  /** No timer: what is too old goes when something happens. */
  #expire(): void {
    const oldest = this.#clock.now() - this.#limits.closedMs
    for (const run of this.#closed) {
      if (this.#closed.size <= this.#limits.closedRuns && run.closed !== undefined && run.closed.at >= oldest) return
      this.#forget(run)
    }
  }

  #forget(run: StoredRun): void {
    this.#closed.delete(run)
    this.#runs.delete(run.runId)
    this.#length -= run.length
    const thread = this.#threads.get(run.threadId)
    thread?.delete(run)
    if (thread?.size === 0) this.#threads.delete(run.threadId)
  }
}

function info(run: StoredRun): RunInfo {
  const { threadId, runId, createdAt, cancelRequested, closed } = run
  if (closed === undefined) return { threadId, runId, createdAt, cancelRequested, status: 'running' }
  const { outcome, interruptIds } = closed.end
  return {
    threadId,
    runId,
    createdAt,
    cancelRequested,
    status: 'closed',
    closedAt: closed.at,
    outcome,
    ...(interruptIds !== undefined && { interruptIds }),
  }
}

function unknown(runId: string): LogError {
  return new LogError('unknown', 'The log does not have this run', { runId })
}

function lengthOf(data: readonly string[]): number {
  return data.reduce((sum, text) => sum + text.length, 0)
}

/** Index of the entry behind an offset; entry n has offset n. */
function position(run: StoredRun, after: Offset = START): number {
  const index = OFFSET.test(after) ? Number(after) : Number.NaN
  if (index < run.data.length) return index + 1
  throw new LogError('offset', 'The run has no such offset', { runId: run.runId })
}

function page(run: StoredRun, from: number, limit = Number.POSITIVE_INFINITY): LogPage {
  const entries = run.data.slice(from, from + limit).map((data, index) => ({ offset: String(from + index), data }))
  return { entries, end: run.closed !== undefined && from + entries.length === run.data.length }
}

/** Settles when the run has changed or the signal aborts, and leaves neither waiter nor listener. */
function changed(run: StoredRun, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      run.waiting.delete(wake)
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    run.waiting.add(wake)
    signal?.addEventListener('abort', wake)
  })
}
