/**
 * One producer, many readers, joined by the log alone: what a reader sees was appended before. It knows which runs
 * are produced here and who reads; it knows nothing of requests but to hand them to the agent, nor of bytes.
 */
import type { RunAgentInput } from '@millrace/protocol'
import type { Agent } from './agent.ts'
import type { Clock } from './clock.ts'
import { LogError, ServerLimitError } from './errors.ts'
import type { ServerLimits } from './limits.ts'
import type { EventLog, LogEntry, Offset, RunInfo } from './log/contract.ts'
import type { Logger } from './logger.ts'
import { Producer } from './producer.ts'

export interface HubOptions {
  readonly agent: Agent
  readonly log: EventLog
  readonly clock: Clock
  readonly logger: Logger
  readonly limits: ServerLimits
  readonly createId: () => string
  /** What happens to a run when its last reader is gone. */
  readonly onDisconnect: 'continue' | 'cancel'
  readonly leaseMs: number
}

/** A place in a run. Whoever opens one closes it. */
export interface Reader {
  /** The next batch, or undefined at the end of the run. Rejects if the log fails. */
  next(): Promise<readonly LogEntry[] | undefined>
  /** Gives up; a pending `next` gives undefined. */
  close(): void
}

export class Hub {
  readonly #options: HubOptions
  readonly #producers = new Map<string, Producer>()
  readonly #readers = new Map<string, Set<Reader>>()
  /** Runs being accepted: they count before they produce. */
  #starting = 0

  constructor(options: HubOptions) {
    this.#options = options
  }

  /**
   * Starts a run, unless it was accepted before: the same runId never runs twice.
   * @throws ServerLimitError `activeRuns`; LogError `conflict`, `limit`.
   */
  async start(input: RunAgentInput, request: Request): Promise<{ readonly created: boolean; readonly run?: RunInfo }> {
    const { log, leaseMs, limits } = this.#options
    const { threadId, runId } = input
    if (this.#producers.size + this.#starting >= limits.activeRuns) {
      const run = await log.get(runId)
      if (run?.threadId === threadId) return { created: false, run }
      throw new ServerLimitError('activeRuns', limits.activeRuns)
    }
    this.#starting += 1
    try {
      const accepted = await log.create({ threadId, runId, input: JSON.stringify(input), leaseMs })
      if (!accepted.created) return accepted
      const producer = new Producer({ ...this.#options, input, request, lease: accepted.lease })
      this.#producers.set(runId, producer)
      void producer.done.finally(() => this.#producers.delete(runId))
      return { created: true }
    } finally {
      this.#starting -= 1
    }
  }

  /**
   * Reads a run behind an offset, live.
   * @throws ServerLimitError `subscribersPerRun`. A run or offset the log does not have makes `next` reject.
   */
  open(runId: string, after: Offset): Reader {
    const { log, limits } = this.#options
    const readers = this.#readers.get(runId) ?? new Set<Reader>()
    if (readers.size >= limits.subscribersPerRun) throw new ServerLimitError('subscribersPerRun', limits.subscribersPerRun)
    const abort = new AbortController()
    const batches = log.tail(runId, { after, limit: limits.readEvents, signal: abort.signal })[Symbol.asyncIterator]()
    const close = (): void => {
      if (abort.signal.aborted) return
      abort.abort()
      // The tail ends by its signal; this frees one that waits between batches.
      void batches.return?.().catch(() => undefined)
      this.#left(runId, reader)
    }
    const reader: Reader = {
      close,
      next: async () => {
        try {
          const step = await batches.next()
          if (step.done !== true) return step.value
        } catch (error) {
          close()
          throw error
        }
        close()
        return undefined
      },
    }
    readers.add(reader)
    this.#readers.set(runId, readers)
    return reader
  }

  /** Asks for the run to be cancelled. Undefined if the log does not know it; `running` if another process has it. */
  async cancel(runId: string): Promise<RunInfo | undefined> {
    const { log } = this.#options
    const producer = this.#producers.get(runId)
    if (producer === undefined) {
      await this.reap(runId)
      return log.requestCancel(runId)
    }
    producer.cancel()
    await producer.done
    return log.get(runId)
  }

  /** Ends a run whose producer is dead: its lease has expired. Of all processes that try, one does it. */
  async reap(runId: string): Promise<void> {
    if (this.#producers.has(runId)) return
    const { log, leaseMs, logger } = this.#options
    try {
      const lease = await log.takeOver(runId, leaseMs)
      if (lease === undefined) return
      logger.error('The producer of a run is dead', { runId })
      const lost = { type: 'RUN_ERROR', message: 'The run was abandoned by its server', code: 'run.abandoned' }
      await log.close(lease, { outcome: 'error', data: [JSON.stringify(lost)] })
    } catch (error) {
      // Taken over in the meantime, or the store fails: then readers learn of it by themselves.
      if (!(error instanceof LogError)) logger.error('A dead run could not be ended', { runId, error })
    }
  }

  /** Cancels every run produced here and waits for their last events to be stored. */
  async stop(): Promise<void> {
    const producers = [...this.#producers.values()]
    for (const producer of producers) producer.cancel()
    await Promise.all(producers.map((producer) => producer.done))
  }

  /** What is held at this moment. */
  get counts(): { readonly producers: number; readonly readers: number } {
    const readers = [...this.#readers.values()].reduce((sum, set) => sum + set.size, 0)
    return { producers: this.#producers.size, readers }
  }

  #left(runId: string, reader: Reader): void {
    const readers = this.#readers.get(runId)
    readers?.delete(reader)
    if (readers === undefined || readers.size > 0) return
    this.#readers.delete(runId)
    if (this.#options.onDisconnect === 'cancel') this.#producers.get(runId)?.cancel()
  }
}
